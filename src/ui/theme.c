#include "ui/theme.h"

#include <stdlib.h>
#include <string.h>

#define D THEME_DEFAULT

/* 256-colour index on dark and on light, one of eight on dark and on light, attributes with and without colour. */
static const struct {
    short dark, light, dark8, light8;
    unsigned char attrs, plain;
} looks[ST_COUNT] = {
    [ST_TEXT] = {D, D, D, D, 0, 0},
    [ST_DIM] = {246, 242, D, D, 0, TA_DIM},
    [ST_BOLD] = {D, D, D, D, TA_BOLD, TA_BOLD},
    [ST_TITLE] = {252, 236, D, D, 0, 0},
    [ST_BORDER] = {246, 241, D, D, 0, TA_DIM},
    [ST_BORDER_FOCUS] = {80, 24, 6, 4, TA_BOLD, TA_BOLD},
    [ST_PROMPT] = {80, 24, 6, 4, TA_BOLD, TA_BOLD},
    [ST_USER] = {117, 24, 6, 4, TA_BOLD, TA_BOLD},
    [ST_TOOL] = {75, 25, 6, 4, 0, 0},
    [ST_OK] = {78, 22, 2, 4, 0, 0},
    [ST_WARN] = {221, 94, 3, 5, 0, TA_BOLD},
    [ST_ERROR] = {203, 160, 1, 1, TA_BOLD, TA_BOLD},
    [ST_ADD] = {114, 22, 2, 4, 0, 0},
    [ST_DEL] = {210, 124, 1, 1, 0, TA_DIM},
    [ST_HUNK] = {80, 24, 6, 5, 0, TA_UNDERLINE},
    [ST_CODE] = {152, 54, 6, 4, 0, 0},
    [ST_HEADING] = {117, 25, 6, 4, TA_BOLD, TA_BOLD},
    [ST_LINK] = {75, 25, 6, 4, TA_UNDERLINE, TA_UNDERLINE},
    [ST_STATUS] = {250, 238, D, D, 0, 0},
    [ST_METER_ON] = {75, 25, 6, 4, 0, TA_BOLD},
    [ST_METER_OFF] = {246, 241, D, D, 0, TA_DIM},
    [ST_KEY] = {221, 94, 3, 5, TA_BOLD, TA_BOLD},
    [ST_SELECT] = {D, D, D, D, TA_REVERSE, TA_REVERSE},
    [ST_THINK] = {246, 242, D, D, TA_ITALIC, TA_DIM},
    [ST_FOUND] = {221, 94, 3, 5, TA_REVERSE | TA_BOLD, TA_REVERSE | TA_BOLD},
    [ST_SYN_KEYWORD] = {176, 90, 5, 5, 0, TA_BOLD},
    [ST_SYN_STRING] = {114, 22, 2, 4, 0, 0},
    [ST_SYN_COMMENT] = {246, 242, D, D, 0, TA_DIM},
    [ST_SYN_FUNCTION] = {117, 25, 6, 4, 0, 0},
    [ST_SYN_TYPE] = {80, 24, 6, 4, 0, 0},
    [ST_SYN_NUMBER] = {215, 94, 3, 5, 0, 0},
    [ST_SYN_CONSTANT] = {180, 94, 3, 5, 0, 0},
    [ST_SYN_OPERATOR] = {250, 238, D, D, 0, 0},
};

#undef D

struct theme_style
theme_style(enum style st, bool light, int colors)
{
    if ((unsigned)st >= ST_COUNT)
        st = ST_TEXT;
    if (colors >= 256)
        return (struct theme_style){light ? looks[st].light : looks[st].dark, looks[st].attrs};
    if (colors < 8)
        return (struct theme_style){THEME_DEFAULT, looks[st].plain};
    int color = light ? looks[st].light8 : looks[st].dark8;
    int attrs = color == THEME_DEFAULT ? looks[st].plain : looks[st].attrs;
    /* Plain red and magenta of old palettes are too dark on black: the bright one where there are sixteen, bold, which such terminals
     * show brighter, where there are eight. */
    if (!light && (color == 1 || color == 5) && colors >= 16)
        color += 8;
    else if (!light && (color == 1 || color == 5))
        attrs |= TA_BOLD;
    return (struct theme_style){color, attrs};
}

uint32_t
theme_rgb(int color)
{
    static const uint32_t basic[16] = {0x000000, 0xCD0000, 0x00CD00, 0xCDCD00, 0x0000EE, 0xCD00CD,
                                       0x00CDCD, 0xE5E5E5, 0x7F7F7F, 0xFF0000, 0x00FF00, 0xFFFF00,
                                       0x5C5CFF, 0xFF00FF, 0x00FFFF, 0xFFFFFF};
    static const uint32_t steps[6] = {0, 0x5F, 0x87, 0xAF, 0xD7, 0xFF};
    if (color < 0 || color > 255)
        return 0;
    if (color < 16)
        return basic[color];
    if (color >= 232) {
        uint32_t v = 8 + 10 * (uint32_t)(color - 232);
        return v << 16 | v << 8 | v;
    }
    int i = color - 16;
    return steps[i / 36] << 16 | steps[i / 6 % 6] << 8 | steps[i % 6];
}

bool
theme_is_light(const char *colorfgbg)
{
    const char *last = colorfgbg ? strrchr(colorfgbg, ';') : NULL;
    if (!last || last[1] < '0' || last[1] > '9')
        return false;
    long bg = strtol(last + 1, NULL, 10);
    return bg == 7 || (bg >= 9 && bg <= 15);
}

const char *
theme_ascii(const char *cluster, int width)
{
    static const struct {
        const char *from, *to;
    } glyphs[] = {
        {"─", "-"},  {"│", "|"}, {"┌", "+"}, {"┐", "+"}, {"└", "+"}, {"┘", "+"}, {"├", "+"},
        {"┤", "+"},  {"┬", "+"}, {"┴", "+"}, {"┼", "+"}, {"━", "-"}, {"┃", "|"}, {"╭", "+"},
        {"╮", "+"},  {"╰", "+"}, {"╯", "+"}, {"█", "#"}, {"▓", "#"}, {"▒", "="}, {"░", "."},
        {"●", "*"},  {"•", "*"}, {"○", "o"}, {"◦", "o"}, {"✓", "+"}, {"✗", "x"}, {"✘", "x"},
        {"…", "~"},  {"·", "."}, {"–", "-"}, {"—", "-"}, {"‘", "'"}, {"’", "'"}, {"“", "\""},
        {"”", "\""}, {"→", ">"}, {"←", "<"}, {"↑", "^"}, {"↓", "v"}, {"▸", ">"}, {"▾", "v"},
        {"▶", ">"},  {"▼", "v"}, {"▲", "^"}, {"↵", "/"}, {"×", "x"}, {"«", "<"}, {"»", ">"},
    };
    for (size_t i = 0; i < sizeof(glyphs) / sizeof(glyphs[0]); i++) {
        if (strcmp(cluster, glyphs[i].from) == 0)
            return glyphs[i].to;
    }
    return width == 2 ? "??" : "?";
}
