/* SPDX-License-Identifier: MIT */
/* cli/draw/page.h - an HTML page of one file: nothing outside it, readable in light and dark and without scripts.
 * Drawings take its colours: var(--ink), var(--soft), var(--rule), var(--paper), var(--before), var(--after), var(--c1)
 * to var(--c10). */
#ifndef HALFULP_CLI_DRAW_PAGE_H
#define HALFULP_CLI_DRAW_PAGE_H

#include <stdio.h>

#include "cli/draw/svg.h"

/* Writes the page up to the beginning of <main>. The title is escaped. */
void page_open(FILE *out, const char *title);
/* Ends the page. script: "" or a whole element. */
void page_close(FILE *out, const char *script);
/* Sorts tables of class "sort" by a click on a column's head, on the number or the text that a cell has in data-v. */
extern const char page_sorting[];
/* Writes an entry of a <dl>: a figure and what it is. */
void page_card(FILE *out, const char *what, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Writes a cell of a table of class "words"; head: the column's name, for narrow screens. The text is escaped. */
void page_cell(FILE *out, const char *head, const char *text);
/* Writes a text of several lines as a <pre>, escaped. */
void page_pre(FILE *out, const char *text);
/* Begins a drawing within the page, to be ended with page_end_drawing. id: unique on the page. */
void page_begin_drawing(svg *image, FILE *out, const char *id, int width, int height, const char *title,
                        const char *text);
void page_end_drawing(svg *image);

#endif
