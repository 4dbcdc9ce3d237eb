/* What must hold whatever happens: what was said and pinned stands in requests and journals. */
#include "sim/session.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/fs.h"

static bool
must_stand(const struct said *s)
{
    return s->state == SAID_KEPT && !s->compacted && !s->cleared;
}

void
checks_request(const struct view *v)
{
    struct str all = buf_str(&v->body);
    size_t from = sim->n_said > 400 ? sim->n_said - 400 : 0;
    for (size_t i = from; i < sim->n_said; i++)
        if (must_stand(&sim->said[i]) && !view_has_tag(v, sim->said[i].tag))
            sim_fail("request %u lacks the person's message m%u", sim->server.n_requests,
                     sim->said[i].tag);
    for (size_t i = 0; i < sim->n_facts; i++) {
        const struct fact *f = &sim->facts[i];
        if (!f->said)
            continue;
        bool there = str_contains(all, str_from(f->text));
        sim->report->checks++;
        if (f->pinned && !there)
            sim_fail("request %u lacks what was pinned: %s", sim->server.n_requests, f->text);
    }
}

static struct buf journals;

static int
add_file(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st;
    (void)ftw;
    struct err err = {0};
    if (kind == FTW_F && str_ends(str_from(path), ".jsonl"))
        if (!fs_read(path, BUF_MAX, &journals, &err))
            sim_fail("%s", err.text);
    return 0;
}

static bool
has_pin_note(const char *text)
{
    char *note = xasprintf("\"fact\":\"%s\"", text);
    bool has = str_contains(buf_str(&journals), str_from(note));
    free(note);
    return has;
}

/* Whatever was acknowledged stands in a journal. */
static void
check_journals(void)
{
    buf_init(&journals, BUF_MAX);
    nftw(sim->data, add_file, 16, FTW_PHYS);
    for (size_t i = 0; i < sim->n_said; i++) {
        char mark[16];
        snprintf(mark, sizeof mark, "[m%u]", sim->said[i].tag);
        if (sim->said[i].state == SAID_KEPT && !str_contains(buf_str(&journals), str_from(mark)))
            sim_fail("the person's message m%u is in no journal", sim->said[i].tag);
    }
    for (size_t i = 0; i < sim->n_facts; i++)
        if (sim->facts[i].pinned && !has_pin_note(sim->facts[i].text))
            sim_fail("what was pinned is in no journal: %s", sim->facts[i].text);
    buf_release(&journals);
}

/* A pin that no request came after (a budget was used up, say) stands in the journal alone. */
static void
check_pin(const struct fact *f, bool there)
{
    bool due = f->pinned && sim->report->requests > f->pinned_at;
    sim->report->pins_said += due;
    sim->report->pins_kept += due && there;
    sim->report->pins_late += f->pinned && !due;
    if (due && !there)
        sim_fail("the last request lacks what was pinned: %s", f->text);
}

void
checks_end(void)
{
    for (size_t i = 0; i < sim->n_said; i++)
        if (sim->said[i].state == SAID_SENT)
            sim_fail("the person's message m%u was never acknowledged", sim->said[i].tag);
    if (!sim->profile->quiet_disk)
        check_journals();
    for (size_t i = 0; i < sim->n_facts; i++) {
        const struct fact *f = &sim->facts[i];
        bool there = str_contains(buf_str(&sim->server.last.body), str_from(f->text));
        sim->report->facts_kept += f->said && there;
        check_pin(f, there);
    }
}
