#include "unit/tool_bench.h"

#include <fcntl.h>

static void
test_lines(void **state)
{
    (void)state;
    struct bench b;

    bench_init(&b);
    bench_put(&b, "f", STR("one\n\ttwo\r\n\nfour"));
    assert_string_equal(bench_run(&b, "Read", "{'file_path':'f'}"),
                        "     1\tone\n     2\t\ttwo\n     3\t\n     4\tfour");
    assert_string_equal(b.r.summary, "4 lines");
    assert_string_equal(bench_run(&b, "Read", "{'file_path':'f','offset':2,'limit':'2'}"),
                        "     2\t\ttwo\n     3\t");
    assert_has(buf_cstr(&b.r.data), "\"startLine\":2,\"totalLines\":4");
    assert_has(bench_run(&b, "Read", "{'file_path':'f','offset':9}"), "has only 4 lines");
    bench_put(&b, "empty", STR(""));
    assert_has(bench_run(&b, "Read", "{'file_path':'empty'}"), "is empty");
    assert_false(b.r.is_error);
    bench_release(&b);
}

static void
test_refusals(void **state)
{
    (void)state;
    struct bench b;

    bench_init(&b);
    bench_put(&b, "bin", str_make("ab\0cd", 5));
    bench_put(&b, "x.pdf", STR("%PDF-1.4\n"));
    bench_put(&b, "x.ipynb", STR("{}"));
    bench_put(&b, "main.c", STR("x"));
    char *fifo = bench_path(&b, "fifo");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    free(fifo);
    assert_has(bench_run(&b, "Read", "{'file_path':'bin'}"), "binary file");
    assert_true(b.r.is_error);
    assert_has(bench_run(&b, "Read", "{'file_path':'x.pdf'}"), "PDF");
    assert_has(bench_run(&b, "Read", "{'file_path':'x.ipynb'}"), "notebook");
    assert_has(bench_run(&b, "Read", "{'file_path':'.'}"), "is a folder");
    assert_has(bench_run(&b, "Read", "{'file_path':'fifo'}"), "FIFO");
    assert_has(bench_run(&b, "Read", "{'file_path':'/dev/zero'}"), "device");
    assert_has(bench_run(&b, "Read", "{'file_path':'Main.cpp'}"), "Did you mean main.c?");
    assert_has(bench_run(&b, "Read", "{'file_path':'nothing/here'}"), "does not exist");
    bench_release(&b);
}

static void
test_encodings(void **state)
{
    (void)state;
    struct bench b;

    bench_init(&b);
    bench_put(&b, "le", str_make("\xff\xfeh\0\xe9\0\n\0", 8));
    bench_put(&b, "be", str_make("\xfe\xff\0h\0\xe9\0\n", 8));
    bench_put(&b, "latin", STR("caf\xe9\n"));
    bench_put(&b, "bom", STR("\xef\xbb\xbfx\n"));
    assert_string_equal(bench_run(&b, "Read", "{'file_path':'le'}"), "     1\thé");
    assert_string_equal(bench_run(&b, "Read", "{'file_path':'be'}"), "     1\thé");
    assert_string_equal(bench_run(&b, "Read", "{'file_path':'latin'}"), "     1\tcafé");
    assert_string_equal(bench_run(&b, "Read", "{'file_path':'bom'}"), "     1\tx");
    bench_release(&b);
}

static void
test_image(void **state)
{
    (void)state;
    struct bench b;

    bench_init(&b);
    bench_put(&b, "i.png", str_make("\x89PNG\r\n\x1a\n12", 10));
    bench_run(&b, "Read", "{'file_path':'i.png'}");
    assert_false(b.r.is_error);
    assert_string_equal(b.r.image_type, "image/png");
    assert_string_equal(buf_cstr(&b.r.image), "iVBORw0KGgoxMg==");
    bench_release(&b);
}

static void
test_long(void **state)
{
    (void)state;
    struct bench b;
    struct buf text;

    bench_init(&b);
    buf_init(&text, BUF_MAX);
    for (int i = 1; i <= 20000; i++)
        buf_addf(&text, "this is line number %d of a long file\n", i);
    bench_put(&b, "long", buf_str(&text));
    const char *out = bench_run(&b, "Read", "{'file_path':'long'}");
    assert_false(b.r.is_error);
    assert_has(out, "[PARTIAL view: lines 1-");
    assert_has(out, "of 20000; ");
    assert_true(b.r.text.len <= 50000);
    assert_has(bench_run(&b, "Read", "{'file_path':'long','offset':5,'limit':20000}"),
               "use limit ");
    assert_true(b.r.is_error);
    buf_clear(&text);
    for (int i = 0; i < 10000; i++)
        buf_adds(&text, "0123456789é");
    bench_put(&b, "line", buf_str(&text));
    assert_has(bench_run(&b, "Read", "{'file_path':'line'}"),
               "[... line cut here, 120000 bytes in all]");
    buf_release(&text);
    bench_release(&b);
}

/* 1 TB, sparse past its first lines: who read on to its end, or into memory, would not come back. */
static void
test_huge(void **state)
{
    (void)state;
    struct bench b;
    struct buf text;

    bench_init(&b);
    buf_init(&text, BUF_MAX);
    for (int i = 1; i <= 200000; i++)
        buf_addf(&text, "line %d\n", i);
    bench_put(&b, "huge", buf_str(&text));
    char *path = bench_path(&b, "huge");
    assert_int_equal(truncate(path, (off_t)1 << 40), 0);
    free(path);
    buf_release(&text);
    assert_string_equal(bench_run(&b, "Read", "{'file_path':'huge','offset':150000,'limit':2}"),
                        "150000\tline 150000\n150001\tline 150001");
    bench_release(&b);
}

/* 10 MB in one line, and a middle-sized file read in pieces that can then be edited. */
static void
test_pieces(void **state)
{
    (void)state;
    struct bench b;
    struct buf text;

    bench_init(&b);
    buf_init(&text, BUF_MAX);
    char *at = buf_reserve(&text, 10 << 20);
    memset(at, 'x', 10 << 20);
    buf_commit(&text, 10 << 20);
    bench_put(&b, "one", buf_str(&text));
    assert_has(bench_run(&b, "Read", "{'file_path':'one'}"),
               "[... line cut here, 10485760 bytes in all]");
    buf_clear(&text);
    for (int i = 1; text.len < 6 << 20; i++)
        buf_addf(&text, "number %d caf\xe9\r\n", i);
    bench_put(&b, "mid", buf_str(&text));
    assert_string_equal(bench_run(&b, "Read", "{'file_path':'mid','offset':250000,'limit':1}"),
                        "250000\tnumber 250000 café");
    bench_run(&b, "Edit",
              "{'file_path':'mid','old_string':'number 250000 ','new_string':'NUMBER '}");
    assert_false(b.r.is_error);
    buf_release(&text);
    bench_release(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),     cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_encodings), cmocka_unit_test(test_image),
        cmocka_unit_test(test_huge),      cmocka_unit_test(test_long),
        cmocka_unit_test(test_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
