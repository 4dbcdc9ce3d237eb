#include "engine/judge_answer.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"

#define REASON_MIN 3

void
judge_reason_set(struct judge_answer *a, struct str text)
{
    struct buf shown;
    buf_init(&shown, JUDGE_ANSWER_MAX * 16);
    text_visible(&shown, str_trim(text));
    struct str s = buf_str(&shown);
    size_t n = 0;
    for (size_t i = 0; i < s.len;) {
        int32_t cp;
        size_t len = text_decode(s, i, &cp);
        if (n + len >= sizeof a->reason)
            break;
        bool blank = cp == '\n' || cp == '\t';
        memcpy(a->reason + n, blank ? " " : s.ptr + i, blank ? 1 : len);
        n += blank ? 1 : len;
        i += len;
    }
    a->reason[n] = '\0';
    buf_release(&shown);
}

/* The tree's reader takes more spellings of a number than JSON has. */
static bool
is_share(struct str raw)
{
    size_t i = 0;
    raw = str_trim(raw);
    if (raw.len == 0 || (raw.ptr[0] != '0' && raw.ptr[0] != '1'))
        return false;
    for (i = 1; i < raw.len; i++) {
        bool digit = raw.ptr[i] >= '0' && raw.ptr[i] <= '9';
        if (i == 1 ? raw.ptr[i] != '.' : !digit)
            return false;
    }
    return raw.len != 2; /* "0." */
}

static const char *
read_members(struct str text, const struct cJSON *tree, struct judge_answer *ret)
{
    struct str verdict = json_value_str(json_get(tree, "verdict"));
    struct str reason = str_trim(json_value_str(json_get(tree, "reason")));
    const struct cJSON *confidence = json_get(tree, "confidence");
    if (json_len(tree) != 3)
        return "it must have exactly verdict, confidence and reason";
    if (!str_is(verdict, "allow") && !str_is(verdict, "block") && !str_is(verdict, "ask"))
        return "its verdict is none of allow, block and ask";
    if (!json_is_num(confidence) || !is_share(json_raw_member(text, "confidence")))
        return "its confidence is no number from 0 to 1";
    double value = json_value_num(confidence);
    if (!(value >= 0 && value <= 1))
        return "its confidence is no number from 0 to 1";
    if (!reason.ptr || reason.len < REASON_MIN)
        return "it gives no reason";
    (void)snprintf(ret->verdict, sizeof ret->verdict, "%.*s", (int)verdict.len, verdict.ptr);
    ret->confidence = value;
    judge_reason_set(ret, reason);
    return NULL;
}

bool
judge_answer_parse(struct str text, struct judge_answer *ret, const char **ret_why)
{
    text = str_trim(text);
    *ret_why = NULL;
    if (!text.len)
        *ret_why = "it is empty";
    else if (text.len > JUDGE_ANSWER_MAX)
        *ret_why = "it is too long";
    else if (text.ptr[0] != '{')
        *ret_why = "it is more or less than one JSON object";
    if (*ret_why)
        return false;
    struct err err = {0};
    struct cJSON *tree = json_parse(text, &err);
    if (!json_is_object(tree))
        *ret_why = "it is more or less than one JSON object";
    else
        *ret_why = read_members(text, tree, ret);
    json_free(tree);
    return !*ret_why;
}
