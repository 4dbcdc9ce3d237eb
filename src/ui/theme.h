#pragma once
/*
 * Which colours the roles of canvas.h have, as plain data: a dark and a light theme in the 256-colour palette and in the
 * eight of old terminals, with attributes that tell the same without colour. Pure.
 */
#include <stdbool.h>
#include <stdint.h>

#include "ui/canvas.h"

enum theme_attr { TA_BOLD = 1, TA_DIM = 2, TA_UNDERLINE = 4, TA_REVERSE = 8, TA_ITALIC = 16 };

#define THEME_DEFAULT (-1) /* the terminal's own foreground */

struct theme_style {
    int color; /* palette index, THEME_DEFAULT: the terminal's own */
    int attrs; /* enum theme_attr bits */
};
/* The look of a role on a terminal with `colors` colours (0: none; below 256: the eight). */
struct theme_style theme_style(enum style st, bool light, int colors);
/* 0xRRGGBB of a 256-colour index (16 and up; below it the terminal decides and the usual value is given). */
uint32_t theme_rgb(int color);
/* From COLORFGBG ("15;0"): true when it says the background is light. NULL: false. */
bool theme_is_light(const char *colorfgbg);
/* What a cluster looks like where only ASCII can be shown; always `width` columns or fewer ASCII characters. */
const char *theme_ascii(const char *cluster, int width);
