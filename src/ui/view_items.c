#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ui/view_parts.h"

void
view_item_release(struct item *it)
{
    buf_release(&it->text);
    free(it->tool_use_id);
    free(it->name);
    free(it->what);
    free(it->summary);
    free(it->last_line);
    free(it->over);
    free(it->judged);
}

/* Lets the first n go. */
static void
drop_front(struct view *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        v->text_bytes -= v->items[i].text.len;
        view_item_release(&v->items[i]);
    }
    if (n)
        memmove(v->items, v->items + n, (v->n_items - n) * sizeof(*v->items));
    v->n_items -= n;
    v->dropped += n;
    v->shape++;
}

void
view_items_clear(struct view *v)
{
    drop_front(v, v->n_items);
    view_past_clear(v);
    v->epoch++;
}

/* Lets the older half go when too much is held, whole messages where their places are known: the rest of one could not be read
 * back. The newest few always stay. */
static void
trim(struct view *v)
{
    size_t most = v->hold ? 2 : 1;
    if (v->n_items < most * VIEW_ITEMS && v->text_bytes < most * VIEW_BYTES)
        return;
    size_t n = v->n_items / 2;
    while (n > 0 && n < v->n_items && v->items[n].place &&
           v->items[n].place == v->items[n - 1].place)
        n++;
    if (n == 0 || n == v->n_items)
        return;
    drop_front(v, n);
    v->past.joined = false;
}

void
view_item_touch(struct view *v, struct item *it)
{
    it->version = ++v->version;
}

struct item *
view_item_add(struct view *v, enum item_kind kind, const char *text)
{
    trim(v);
    ARRAY_GROW(v->items, v->n_items, v->cap_items);
    struct item *it = &v->items[v->n_items++];
    uint64_t of_place = (uint64_t)v->at_place << VIEW_PLACE_BITS;
    v->last_no = v->last_no + 1 > of_place ? v->last_no + 1 : of_place;
    v->shape++;
    *it = (struct item){
        .kind = kind, .block_index = -1, .done = true, .no = v->last_no, .place = v->at_place};
    buf_init(&it->text, BUF_MAX);
    if (text)
        view_item_text(v, it, str_from(text));
    view_item_touch(v, it);
    return it;
}

void
view_item_text(struct view *v, struct item *it, struct str s)
{
    size_t before = it->text.len;
    if (buf_add_str(&it->text, s))
        v->text_bytes += it->text.len - before;
    view_item_touch(v, it);
}

struct item *
view_tool_item(struct view *v, const char *id)
{
    if (!id)
        return NULL;
    for (size_t i = v->n_items; i-- > 0;) {
        struct item *it = &v->items[i];
        if (it->kind == ITEM_TOOL && it->tool_use_id && strcmp(it->tool_use_id, id) == 0)
            return it;
    }
    return NULL;
}

/* ---- blocks of the model's message ---- */

static struct item *
open_block(struct view *v, enum item_kind kind, int index)
{
    for (size_t i = v->n_items; i-- > 0 && i + 64 > v->n_items;) {
        struct item *it = &v->items[i];
        if (it->kind == kind && it->block_index == index)
            return it;
    }
    return NULL;
}

static void
close_block(struct view *v, struct item *it)
{
    it->block_index = -1;
    if (it->kind != ITEM_TOOL)
        it->done = true;
    if (it->kind == ITEM_TEXT && it->text.len) {
        free(v->last_answer);
        v->last_answer = xstrdup(buf_cstr(&it->text));
    }
    view_item_touch(v, it);
}

static struct item *
start_block(struct view *v, enum item_kind kind, const struct event *e)
{
    struct item *it = open_block(v, kind, e->u.block.index);
    if (it) /* its end never came */
        close_block(v, it);
    it = kind == ITEM_TOOL ? view_tool_item(v, e->u.block.tool_use_id) : NULL;
    if (!it) {
        it = view_item_add(v, kind, NULL);
        it->done = false;
        view_set(&it->tool_use_id, e->u.block.tool_use_id);
        view_set(&it->name, e->u.block.name);
    }
    it->block_index = e->u.block.index;
    return it;
}

void
view_on_block(struct view *v, const struct event *e)
{
    static const enum item_kind kinds[] = {[EVBLOCK_TEXT] = ITEM_TEXT,
                                           [EVBLOCK_THINKING] = ITEM_THINKING,
                                           [EVBLOCK_TOOL_USE] = ITEM_TOOL};
    if ((size_t)e->u.block.type >= ARRAY_LEN(kinds))
        return;
    enum item_kind kind = kinds[e->u.block.type];
    struct item *it = open_block(v, kind, e->u.block.index);
    if (e->phase == PHASE_START || (e->phase == PHASE_DELTA && !it))
        it = start_block(v, kind, e);
    if (!it)
        return;
    if (e->u.block.text && kind == ITEM_TOOL) {
        it->bytes += (int64_t)strlen(e->u.block.text);
        view_item_touch(v, it);
    } else if (e->u.block.text) {
        view_item_text(v, it, str_from(e->u.block.text));
    }
    if (e->phase == PHASE_END)
        close_block(v, it);
}

/* ---- tools ---- */

static void
take_output(struct view *v, struct item *it, const char *output)
{
    struct str s = str_from(output);
    v->text_bytes -= it->text.len;
    buf_clear(&it->text);
    if (s.len > VIEW_OUTPUT) {
        size_t cut = VIEW_OUTPUT;
        while (cut > 0 && ((unsigned char)s.ptr[cut] & 0xC0) == 0x80)
            cut--;
        buf_add_str(&it->text, str_sub(s, 0, cut));
        buf_addf(&it->text, "\n(%zu more bytes in the session file)", s.len - cut);
    } else {
        buf_add_str(&it->text, s);
    }
    v->text_bytes += it->text.len;
}

static bool
is_over(enum tool_state s)
{
    return s == TOOL_DONE || s == TOOL_FAILED || s == TOOL_DENIED || s == TOOL_CANCELLED;
}

void
view_on_tool_item(struct view *v, struct event *e)
{
    struct item *it = view_tool_item(v, e->u.tool.id);
    if (!it) {
        it = view_item_add(v, ITEM_TOOL, NULL);
        it->done = false;
        view_set(&it->tool_use_id, e->u.tool.id);
    }
    if (it->done && e->phase != PHASE_END)
        return; /* late: the end stands */
    view_set(&it->name, e->u.tool.name);
    view_set(&it->what, e->u.tool.what);
    view_set(&it->summary, e->u.tool.summary);
    bool news = it->state != e->u.tool.state || e->phase != PHASE_DELTA;
    it->state = e->u.tool.state;
    it->elapsed_ms = e->u.tool.elapsed_ms;
    if (e->phase == PHASE_DELTA && e->u.tool.output && *e->u.tool.output) {
        view_set(&it->last_line, e->u.tool.output);
        news = true;
    }
    if (e->phase == PHASE_END) {
        free(it->last_line);
        it->last_line = NULL;
        it->done = true;
        it->is_error = e->u.tool.is_error;
        it->is_diff = e->u.tool.is_diff;
        if (!is_over(it->state))
            it->state = it->is_error ? TOOL_FAILED : TOOL_DONE;
        if (e->u.tool.output)
            take_output(v, it, e->u.tool.output);
    }
    if (news)
        view_item_touch(v, it);
}

void
view_items_take_back(struct view *v, uint64_t no, bool but_text)
{
    for (size_t i = v->n_items; i-- > 0 && v->items[i].no > no;) {
        struct item *it = &v->items[i];
        bool idle = it->kind == ITEM_TOOL && it->state == TOOL_WAITING && !it->done;
        if (it->kind == ITEM_TEXT && but_text) {
            if (it->block_index >= 0)
                close_block(v, it);
            continue;
        }
        if (it->kind != ITEM_TEXT && it->kind != ITEM_THINKING && !idle)
            continue;
        v->text_bytes -= it->text.len;
        view_item_release(it);
        v->n_items--;
        memmove(it, it + 1, (v->n_items - i) * sizeof *it);
        v->shape++;
        v->version++;
    }
}

void
view_items_settle(struct view *v)
{
    for (size_t i = v->n_items; i-- > 0 && i + 256 > v->n_items;) {
        struct item *it = &v->items[i];
        if (it->block_index >= 0)
            close_block(v, it);
        if (it->kind == ITEM_TOOL && !it->done) {
            it->done = true;
            it->state = TOOL_CANCELLED;
            view_item_touch(v, it);
        }
    }
}
