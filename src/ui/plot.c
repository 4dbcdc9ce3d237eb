#include "ui/plot.h"

static void
repeat(struct lines *out, enum style st, const char *sign, int n)
{
    for (int i = 0; i < n; i++)
        lines_raw(out, st, str_from(sign));
}

/* A share of `all` cells; what lies outside ends at the edges. */
static int
share_of(double share, int all)
{
    return !(share > 0) ? 0 : share >= 1 ? all : (int)(share * all + 0.5);
}

void
plot_bar(const struct plot_part *parts, size_t n, double total, int width, bool ascii,
         struct lines *out)
{
    double sum = 0;
    int used = 0;
    for (size_t i = 0; i < n; i++) {
        sum += parts[i].value > 0 ? parts[i].value : 0;
        int end = total > 0 ? share_of(sum / total, width) : 0;
        /* something that is there is seen, be it as one cell */
        if (end <= used && parts[i].value > 0 && used < width)
            end = used + 1;
        if (end > used) {
            repeat(out, parts[i].style, ascii ? parts[i].sign_ascii : parts[i].sign, end - used);
            used = end;
        }
    }
    repeat(out, ST_METER_OFF, ascii ? "." : "·", width - used);
}

size_t
plot_shown(const struct plot *p)
{
    size_t room = p->width > 0 ? (size_t)p->width : 0;
    return p->n < room ? p->n : room;
}

static const char *
cell_of(int eighths, bool ascii)
{
    static const char *const fine[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const rough[] = {".", ".", ":", ":", "|", "|", "#", "#"};
    return (ascii ? rough : fine)[eighths > 8 ? 7 : eighths - 1];
}

void
plot_row(const struct plot *p, int row, bool ascii, struct lines *out)
{
    size_t shown = plot_shown(p);
    for (int x = 0; x < p->width; x++) {
        const char *empty = row == p->mark_row ? (ascii ? "-" : "┄") : " ";
        if ((size_t)x >= shown) {
            lines_raw(out, ST_DIM, str_from(empty));
            continue;
        }
        double v = p->values[p->n - shown + (size_t)x];
        int full = share_of(v / p->max, p->height * 8);
        if (v > 0 && full == 0)
            full = 1;
        int here = full - (p->height - 1 - row) * 8;
        if (v < 0 && row == p->height - 1)
            lines_raw(out, ST_DIM, STR("?"));
        else if (here >= 1)
            lines_raw(out, p->style, str_from(cell_of(here, ascii)));
        else
            lines_raw(out, ST_DIM, str_from(empty));
    }
}
