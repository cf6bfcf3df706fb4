/* SPDX-License-Identifier: MIT */
/* See svg.h. */
#include "cli/draw/svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"

/* Writes a character, ? for what XML does not allow (C0 and bytes that are not UTF-8), and for DEL and C1, which would
 * show nothing. Returns how many bytes of the text it used. */
static size_t put_text(FILE *out, const unsigned char *text) {
  int wide = text[0] == 0xC2 && text[1] >= 0x80 && text[1] < 0xA0;
  size_t n = cli_character((const char *)text);
  if (!n || *text < 0x20 || *text == 0x7F || wide)
    fputc('?', out);
  else
    (void)fwrite(text, 1, n, out);
  return n ? n : 1;
}

void svg_escaped(FILE *out, const char *text) {
  for (; *text; text++) {
    if (*text == '&')
      fputs("&amp;", out);
    else if (*text == '<')
      fputs("&lt;", out);
    else if (*text == '>')
      fputs("&gt;", out);
    else if (*text == '"')
      fputs("&quot;", out);
    else
      text += put_text(out, (const unsigned char *)text) - 1;
  }
}

int svg_open(svg *image, int width, int height, const char *title) {
  *image = (svg){0};
  image->out = open_memstream(&image->text, &image->size);
  if (!image->out) return cli_fail(NULL, "out of memory");
  fprintf(image->out,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
          "font-family=\"DejaVu Sans, Verdana, Helvetica, Arial, sans-serif\">\n<title>",
          width, height, width, height);
  svg_escaped(image->out, title);
  fputs("</title>\n", image->out);
  svg_rect(image, 0, 0, width, height, "#ffffff");
  return CLI_OK;
}

void svg_rect(svg *image, double x, double y, double width, double height, const char *fill) {
  fprintf(image->out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"/>\n", x, y, width, height,
          fill);
}

void svg_line(svg *image, double x1, double y1, double x2, double y2, const char *stroke, double width) {
  fprintf(image->out, "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"%s\" stroke-width=\"%.2f\"/>\n",
          x1, y1, x2, y2, stroke, width);
}

/* Returns the series of that look, a new one if there is none yet, NULL if there is no memory for it. */
static svg_series *series_of(svg *image, const char *style) {
  for (int i = 0; i < image->count; i++)
    if (!strcmp(image->series[i].style, style)) return &image->series[i];
  if (image->count == SVG_SERIES_MAX) return NULL;
  svg_series *series = &image->series[image->count];
  series->out = open_memstream(&series->path, &series->size);
  if (!series->out) return NULL;
  snprintf(series->style, sizeof series->style, "%s", style);
  image->count++;
  return series;
}

/* Keeps a mark for its series; without one it is an element of its own. */
static void keep(svg *image, const char *style, const char *path) {
  svg_series *series = series_of(image, style);
  if (series)
    fputs(path, series->out);
  else
    fprintf(image->out, "<path d=\"%s\" %s/>\n", path, style);
}

void svg_end_series(svg *image) {
  for (int i = 0; i < image->count; i++) {
    svg_series *series = &image->series[i];
    if (!fclose(series->out)) fprintf(image->out, "<path d=\"%s\" %s/>\n", series->path, series->style);
    free(series->path);
  }
  image->count = 0;
}

void svg_tick(svg *image, double x1, double y1, double x2, double y2, const char *stroke, double width) {
  char style[96], path[96];
  int upright = x1 == x2;
  snprintf(style, sizeof style, "stroke=\"%s\" stroke-width=\"%.2f\"", stroke, width);
  snprintf(path, sizeof path, "M%.2f %.2f%c%.2f", x1, y1, upright ? 'V' : 'H', upright ? y2 : x2);
  keep(image, style, path);
}

void svg_bar(svg *image, double x, double y, double width, double height, const char *fill) {
  char style[96], path[96];
  snprintf(style, sizeof style, "fill=\"%s\"", fill);
  snprintf(path, sizeof path, "M%.2f %.2fh%.2fv%.2fh-%.2fz", x, y, width, height, width);
  keep(image, style, path);
}

/* Draws a line without length, whose round ends are the dot. */
void svg_dot(svg *image, double x, double y, double radius, const char *fill) {
  char style[96], path[96];
  snprintf(style, sizeof style, "stroke=\"%s\" stroke-width=\"%.1f\" stroke-linecap=\"round\"", fill, 2 * radius);
  snprintf(path, sizeof path, "M%.1f %.1fh0", x, y);
  keep(image, style, path);
}

void svg_text(svg *image, double x, double y, int size, enum svg_anchor anchor, const char *fill, const char *style,
              const char *text) {
  static const char *const anchors[] = {"start", "middle", "end"};
  fprintf(image->out, "<text x=\"%.2f\" y=\"%.2f\" font-size=\"%d\" text-anchor=\"%s\" fill=\"%s\"%s%s>", x, y, size,
          anchors[anchor], fill, *style ? " " : "", style);
  svg_escaped(image->out, text);
  fputs("</text>\n", image->out);
}

/* Draws the edge as a text of its own, below the other one: not every program that shows SVG knows paint-order. */
void svg_power(svg *image, double x, double y, int size, const char *fill, const char *edge, int k) {
  char stroke[96];
  snprintf(stroke, sizeof stroke, " stroke=\"%s\" stroke-width=\"5\" stroke-linejoin=\"round\"", edge);
  for (int below = 1; below >= 0; below--)
    fprintf(image->out,
            "<text x=\"%.2f\" y=\"%.2f\" font-size=\"%d\" text-anchor=\"middle\" fill=\"%s\"%s%s>2<tspan dy=\"-5\" "
            "font-size=\"%d\">%s%d</tspan></text>\n",
            x, y, size, below ? edge : fill, below ? stroke : "", below ? " aria-hidden=\"true\"" : "", size - 3,
            k < 0 ? "\xe2\x88\x92" : "", k < 0 ? -k : k);
}

double svg_nice_step(double range, int count) {
  static const double steps[] = {1, 2, 5, 10};
  double rough = range / count, power = pow(10, floor(log10(rough)));
  int i = 0;
  while (i < 3 && steps[i] * power < rough * (1 - 1e-9)) i++;
  return steps[i] * power;
}

int svg_end(svg *image, cli_piece *text) {
  fputs("</svg>\n", image->out);
  int failed = fclose(image->out);
  *text = (cli_piece){failed ? NULL : image->text, image->size};
  if (!failed) return CLI_OK;
  free(image->text);
  return cli_fail(NULL, "out of memory");
}

int svg_close(svg *image, const char *path) {
  cli_piece text;
  int status = svg_end(image, &text);
  if (status == CLI_OK && path) status = cli_file_write(path, &text, 1);
  free((void *)text.data);
  return status;
}
