#pragma once
/* A journal in a folder of its own, and what a conversation read from it is to be. */
#include "unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/json.h"
#include "store/conversation.h"
#include "store/journal.h"
#include "store/records.h"
#include "unit/session_record.h"
#include "unit/temp_dir.h"

#define SESSION "3f2b1c00-0000-4000-8000-000000000001"

struct fixture {
    char *dir, *path;
    struct journal *j;
};
#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

static inline int
set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    f->dir = temp_dir_make();
    f->path = fs_join(f->dir, "projects/-work/" SESSION ".jsonl");
    *state = f;
    return 0;
}

static inline int
tear_down(void **state)
{
    struct fixture *f = *state;
    journal_close(f->j);
    temp_dir_remove(f->dir);
    free(f->path);
    free(f);
    return 0;
}

static inline void
open_journal(struct fixture *f)
{
    struct err err;
    journal_close(f->j);
    f->j = journal_open(f->path, &err);
    if (!f->j)
        fail_msg("%s", err.text);
}

static inline struct message *
text_message(enum role role, const char *text)
{
    struct message_builder *b = message_builder_new(role);
    message_add_text(b, str_from(text));
    return message_build(b);
}

static inline void
append(struct fixture *f, enum role role, const char *text, char ret_uuid[37])
{
    struct message *m = text_message(role, text);
    struct err err;
    if (!journal_append_message(f->j, SESSION, "/work", m, &err))
        fail_msg("%s", err.text);
    if (ret_uuid)
        memcpy(ret_uuid, m->uuid, 37);
    message_free(m);
}

/* "text|text|..." of the conversation as it would be resumed; what cannot be read is left out. */
static inline void
expect_conversation(struct fixture *f, const char *want)
{
    struct err err;
    struct buf got;
    buf_init(&got, 65536);
    struct conversation *t = conversation_open(f->path, NULL, NULL, &err);
    assert_non_null(t);
    for (size_t i = 0; i < conversation_len(t); i++) {
        struct message *m = conversation_message(t, i);
        if (!m)
            continue;
        if (got.len)
            buf_addc(&got, '|');
        for (size_t k = 0; k < m->n_blocks; k++)
            buf_add_str(&got, m->blocks[k].text);
        message_free(m);
    }
    conversation_free(t);
    assert_string_equal(buf_cstr(&got), want);
    buf_release(&got);
}

static inline void
write_raw(struct fixture *f, const char *text)
{
    temp_file_write(f->dir, "projects/-work/" SESSION ".jsonl", text);
}

static inline void
note_types(void *user, struct str type, struct str record)
{
    assert_true(str_contains(record, type));
    buf_add_str(user, type);
    buf_addc(user, ' ');
}
