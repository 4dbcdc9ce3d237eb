/*
 * The input schema of a tool is data; this checks an input against it (the part of JSON Schema that the tools use: type,
 * properties, required, additionalProperties, enum, minLength 1, items,
 * minItems, maxItems, minimum, maximum) and writes the API form.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "tools/args.h"
#include "tools/tool.h"

struct check {
    const struct tool *tool;
    struct err *err;
    struct buf path; /* "todos[0].status" */
};

static bool check_value(struct check *c, const struct cJSON *schema, const struct cJSON *value);

/* Checks the value under a path one step longer. */
static bool
check_below(struct check *c, const char *key, size_t index, const struct cJSON *schema,
            const struct cJSON *value)
{
    size_t len = c->path.len;

    if (key)
        buf_addf(&c->path, "%s%s", len ? "." : "", key);
    else
        buf_addf(&c->path, "[%zu]", index);
    bool ok = check_value(c, schema, value);
    buf_truncate(&c->path, len);
    return ok;
}

static bool
fail_member(struct check *c, const char *key, const char *what)
{
    return err_set(c->err, ERR_INVALID, "%s: '%s%s%s' %s", c->tool->name, buf_cstr(&c->path),
                   c->path.len ? "." : "", key, what);
}

static bool
check_required(struct check *c, const struct cJSON *schema, const struct cJSON *value)
{
    const struct cJSON *required = json_at(schema, "required");

    for (const struct cJSON *r = json_first(required); r; r = json_next(r)) {
        char *key = str_dup(json_value_str(r));
        const struct cJSON *m = json_get(value, key);
        bool ok = m && !json_is_null(m);
        if (!ok)
            fail_member(c, key, "is required");
        free(key);
        if (!ok)
            return false;
    }
    return true;
}

static bool
fail_unknown(struct check *c, const char *key, const struct cJSON *properties)
{
    struct buf known;

    buf_init(&known, 300);
    for (const struct cJSON *p = json_first(properties); p; p = json_next(p))
        buf_addf(&known, "%s%s", known.len ? ", " : "", json_key(p));
    char *name = str_dup(str_sub(str_from(key), 0, tool_char_start(str_from(key), 80)));
    err_set(c->err, ERR_INVALID, "%s: '%s%s%s' is not a known parameter (known: %s)", c->tool->name,
            buf_cstr(&c->path), c->path.len ? "." : "", name, buf_cstr(&known));
    free(name);
    buf_release(&known);
    return false;
}

static bool
check_object(struct check *c, const struct cJSON *schema, const struct cJSON *value)
{
    const struct cJSON *properties = json_at(schema, "properties");
    bool open = json_bool(schema, "additionalProperties", true);

    if (!check_required(c, schema, value))
        return false;
    for (const struct cJSON *m = json_first(value); m; m = json_next(m)) {
        const struct cJSON *p = json_get(properties, json_key(m));
        if (!p && !open)
            return fail_unknown(c, json_key(m), properties);
        if (p && !json_is_null(m) && !check_below(c, json_key(m), 0, p, m))
            return false;
    }
    return true;
}

static const char *
subject(struct check *c)
{
    return c->path.len ? buf_cstr(&c->path) : "input";
}

static bool
check_array(struct check *c, const struct cJSON *schema, const struct cJSON *value)
{
    const struct cJSON *items = json_at(schema, "items");
    int64_t n = (int64_t)json_len(value), lo = json_int(schema, "minItems", 0);
    int64_t hi = json_int(schema, "maxItems", INT64_MAX);
    size_t i = 0;

    if (n < lo || n > hi)
        return err_set(c->err, ERR_INVALID, "%s: '%s' must have %s %lld entries", c->tool->name,
                       subject(c), n < lo ? "at least" : "at most", (long long)(n < lo ? lo : hi));
    for (const struct cJSON *m = json_first(value); items && m; m = json_next(m))
        if (!check_below(c, NULL, i++, items, m))
            return false;
    return true;
}

static bool
check_number(struct check *c, const struct cJSON *schema, double v)
{
    double lo = json_num(schema, "minimum", -HUGE_VAL), hi = json_num(schema, "maximum", HUGE_VAL);

    if (v < lo)
        return err_set(c->err, ERR_INVALID, "%s: '%s' must be at least %g", c->tool->name,
                       subject(c), lo);
    if (v > hi)
        return err_set(c->err, ERR_INVALID, "%s: '%s' must be at most %g", c->tool->name,
                       subject(c), hi);
    return true;
}

static bool
check_enum(struct check *c, const struct cJSON *schema, struct str value)
{
    const struct cJSON *list = json_at(schema, "enum");
    struct buf names;

    if (!list)
        return true;
    buf_init(&names, 300);
    for (const struct cJSON *e = json_first(list); e; e = json_next(e)) {
        if (str_eq(json_value_str(e), value)) {
            buf_release(&names);
            return true;
        }
        buf_addf(&names, "%s%s", names.len ? ", " : "", json_value_str(e).ptr);
    }
    err_set(c->err, ERR_INVALID, "%s: '%s' must be one of %s", c->tool->name, subject(c),
            buf_cstr(&names));
    buf_release(&names);
    return false;
}

static bool
check_string(struct check *c, const struct cJSON *schema, struct str value)
{
    if (!value.len && json_int(schema, "minLength", 0) > 0)
        return err_set(c->err, ERR_INVALID, "%s: '%s' must not be empty", c->tool->name,
                       subject(c));
    return check_enum(c, schema, value);
}

static const char *
type_of(const struct cJSON *v)
{
    if (json_is_object(v))
        return "an object";
    if (json_is_array(v))
        return "an array";
    if (json_is_str(v))
        return "a string";
    if (json_is_num(v))
        return "a number";
    return json_is_bool(v) ? "a boolean" : "null";
}

/* An array that arrived as its own JSON text is read as the array it holds. */
static bool
check_array_text(struct check *c, const struct cJSON *schema, const struct cJSON *value,
                 bool *ret_ok)
{
    struct cJSON *tree = NULL;

    if (!json_is_str(value) || !(tree = json_parse(json_value_str(value), NULL)))
        return false;
    bool is_array = json_is_array(tree);
    if (is_array)
        *ret_ok = check_array(c, schema, tree);
    json_free(tree);
    return is_array;
}

static bool
check_value(struct check *c, const struct cJSON *schema, const struct cJSON *value)
{
    const char *type = json_cstr(schema, "type", ""), *want = "";
    double num;
    int64_t whole;
    bool flag, ok;

    if (strcmp(type, "object") == 0) {
        if (json_is_object(value))
            return check_object(c, schema, value);
        want = "an object";
    } else if (strcmp(type, "array") == 0) {
        if (json_is_array(value))
            return check_array(c, schema, value);
        if (check_array_text(c, schema, value, &ok))
            return ok;
        want = "an array";
    } else if (strcmp(type, "string") == 0) {
        if (json_is_str(value))
            return check_string(c, schema, json_value_str(value));
        want = "a string";
    } else if (strcmp(type, "integer") == 0) {
        if (tool_read_int(value, &whole))
            return check_number(c, schema, (double)whole);
        want = "a whole number";
    } else if (strcmp(type, "number") == 0) {
        if (tool_read_num(value, &num))
            return check_number(c, schema, num);
        want = "a number";
    } else if (strcmp(type, "boolean") == 0) {
        if (tool_read_bool(value, &flag))
            return true;
        want = "true or false";
    } else {
        return true;
    }
    return err_set(c->err, ERR_INVALID, "%s: '%s' must be %s, not %s", c->tool->name, subject(c),
                   want, type_of(value));
}

bool
tool_validate(const struct tool *t, const struct cJSON *input, struct err *err)
{
    struct check c = {.tool = t, .err = err};
    struct err own;
    struct cJSON *schema = json_parse(str_from(t->schema), &own);

    if (!schema)
        return err_set(err, ERR_INVALID, "%s: the tool's own schema is broken: %s", t->name,
                       own.text);
    if (!json_is_object(input)) {
        json_free(schema);
        return err_set(err, ERR_INVALID, "%s: the input must be a JSON object, not %s", t->name,
                       input ? type_of(input) : "empty");
    }
    buf_init(&c.path, 200);
    bool ok = check_value(&c, schema, input);
    buf_release(&c.path);
    json_free(schema);
    return ok && (!t->validate || t->validate(input, err));
}

/* Schemas are laid out for people in the assets; blanks outside strings are left out on the way to the model. */
static void
add_compact(struct buf *out, const char *json)
{
    bool in_string = false;

    for (const char *p = json; *p; p++) {
        if (in_string && *p == '\\' && p[1]) {
            buf_addc(out, *p++);
        } else if (*p == '"') {
            in_string = !in_string;
        } else if (!in_string && strchr(" \t\r\n", *p)) {
            continue;
        }
        buf_addc(out, *p);
    }
}

void
tool_schema_write(const struct tool *t, struct buf *out)
{
    buf_adds(out, "{\"name\":");
    json_quote(out, str_from(t->name));
    buf_adds(out, ",\"description\":");
    json_quote(out, str_trim(str_from(t->description)));
    buf_adds(out, ",\"input_schema\":");
    add_compact(out, t->schema);
    buf_addc(out, '}');
}

static bool
is_denied(const struct tool *t, const char *const *denied)
{
    for (; denied && *denied; denied++)
        if (strcmp(*denied, t->name) == 0)
            return true;
    return false;
}

void
tools_schema_write(const char *const *denied, struct buf *out)
{
    const struct tool *t;
    bool first = true;

    buf_addc(out, '[');
    for (size_t i = 0; (t = tool_at(i)); i++) {
        if (is_denied(t, denied))
            continue;
        if (!first)
            buf_addc(out, ',');
        tool_schema_write(t, out);
        first = false;
    }
    buf_addc(out, ']');
}
