#include "perm/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "perm/check_record.h"

/* A longer line is answered without being kept. */
enum { LINE_MAX_BYTES = 32 << 20 };

/* One answer, one line, for whoever splits it: what ends a line in Unicode or does not show is written as an escape. Such code
 * points stand inside strings only. */
static void
print_line(FILE *out, struct str json)
{
    struct buf b;
    buf_init(&b, 2 * BUF_MAX);
    for (size_t i = 0; i < json.len;) {
        int32_t cp;
        size_t n = text_decode(json, i, &cp);
        bool ends_line = cp == 0x85 || cp == 0x2028 || cp == 0x2029;
        if (n == 1 || !(ends_line || text_is_unsafe_cp(cp)))
            buf_add(&b, json.ptr + i, n);
        else if (cp >= 0x10000)
            buf_addf(&b, "\\u%04x\\u%04x", 0xD800 + (unsigned)((cp - 0x10000) >> 10),
                     0xDC00 + (unsigned)((cp - 0x10000) & 0x3FF));
        else
            buf_addf(&b, "\\u%04x", (unsigned)cp);
        i += n;
    }
    fwrite(b.data, 1, b.len, out);
    fputc('\n', out);
    (void)fflush(out); /* who asks line by line waits for it; a failure stays in ferror */
    buf_release(&b);
}

static void
answer_error(FILE *out, const char *text)
{
    struct buf b;
    struct jw w;
    buf_init(&b, BUF_MAX);
    jw_init(&w, &b);
    jw_object(&w);
    jw_kcstr(&w, "decision", "deny");
    jw_kcstr(&w, "error", text);
    jw_end(&w);
    print_line(out, buf_str(&b));
    buf_release(&b);
}

/* Rules that are not in force are told with the answer. */
static void
add_problems(const struct check_record *r, struct decision *d)
{
    for (size_t i = 0; i < r->rules.n_problems; i++)
        decision_add(d, "rules", VERDICT_NONE, NULL, NULL, "%s", r->rules.problems[i].text);
}

static void
answer(FILE *out, const struct check_record *r, const struct decision *d)
{
    const struct cJSON *id = json_at(r->tree, "id");
    struct buf b, printed;
    struct jw w;
    buf_init(&b, BUF_MAX);
    buf_init(&printed, BUF_MAX);
    jw_init(&w, &b);
    jw_object(&w);
    if (id) {
        json_print(id, &printed);
        jw_kraw(&w, "id", buf_str(&printed));
    }
    decision_write(d, &w);
    jw_end(&w);
    if (buf_full(&b))
        answer_error(out, "the answer is too long");
    else
        print_line(out, buf_str(&b));
    buf_release(&printed);
    buf_release(&b);
}

/* The record says what its classifier answers: "allow", "block", or anything that is no verdict ("error", "timeout"). */
static void
apply_stub(const struct check_record *r, struct decision *d)
{
    static const char *const verdicts[] = {"allow", "block", "ask", "low_confidence"};
    struct perm_opinion o = {
        .verdict = r->classifier, .confidence = r->confidence, .failure = r->classifier};
    for (size_t i = 0; i < ARRAY_LEN(verdicts); i++)
        if (strcmp(r->classifier, verdicts[i]) == 0)
            o.failure = NULL;
    perm_chain_apply_classifier(d, &o, r->req.interactive);
}

static void
check_line(struct str line, FILE *out)
{
    struct check_record r;
    struct decision d;
    struct err err;
    const char *problem;

    err_clear(&err);
    if (!check_record_parse(&r, line, &problem, &err)) {
        answer_error(out, err.text);
        check_record_release(&r);
        return;
    }
    if (problem) {
        decision_init(&d);
        decision_add(&d, "L1", VERDICT_DENY, NULL, NULL, "%s", problem);
        d.verdict = VERDICT_DENY;
    } else {
        perm_chain_check(&r.req, &d);
        if (perm_chain_classifier_may(&d))
            apply_stub(&r, &d);
        add_problems(&r, &d);
    }
    answer(out, &r, &d);
    decision_release(&d);
    check_record_release(&r);
}

/* The next line without its end; false at the end of input. *ret_long: past the maximum, the rest was dropped. */
static bool
next_line(FILE *in, struct buf *line, bool *ret_long)
{
    char chunk[65536];
    bool any = false, more = true;
    buf_clear(line);
    *ret_long = false;
    while (more) {
        size_t n = 0;
        int ch = 0;
        while (n < sizeof chunk && (ch = getc_unlocked(in)) != EOF && ch != '\n')
            chunk[n++] = (char)ch;
        any = any || n || ch == '\n';
        more = n == sizeof chunk && ch != EOF && ch != '\n';
        if (!buf_add(line, chunk, n))
            *ret_long = true;
    }
    return any;
}

int
perm_check_run(FILE *in, FILE *out)
{
    struct buf line;
    bool too_long;
    buf_init(&line, LINE_MAX_BYTES);
    while (!ferror(out) && next_line(in, &line, &too_long)) {
        if (too_long)
            answer_error(out, "the line is too long");
        else
            check_line(buf_str(&line), out);
    }
    buf_release(&line);
    return fflush(out) == 0 && !ferror(out) && !ferror(in) ? 0 : 1;
}
