/* SPDX-License-Identifier: MIT */
/* See pictures.h. */
#include "cli/pictures/pictures.h"

#include <stdlib.h>
#include <string.h>

#include "cli/draw/page.h"
#include "cli/draw/rounded.h"
#include "cli/plot/plot.h"

/* A text that grows, and the lines of errors meanwhile. */
typedef struct writing {
  char *text, *lines;
  size_t size, line_size;
  FILE *out, *errors;
} writing;

static int begin(writing *page) {
  memset(page, 0, sizeof *page);
  page->out = open_memstream(&page->text, &page->size);
  page->errors = open_memstream(&page->lines, &page->line_size);
  if (page->out && page->errors) cli_take_lines(page->errors);
  return page->out && page->errors ? CLI_OK : CLI_BAD;
}

/* Gives the text, or where `status` is not CLI_OK the lines. */
static int end(writing *page, int status, char **text) {
  cli_take_lines(NULL);
  if (page->out && fclose(page->out)) status = CLI_BAD;
  if (page->errors && fclose(page->errors)) status = CLI_BAD;
  *text = status == CLI_OK ? page->text : page->lines;
  free(status == CLI_OK ? page->lines : page->text);
  return status;
}

static int gather(histogram *data, plot_state *list, size_t count, const picture_data *from) {
  cli_source source = cli_floats_source(from->values, from->size);
  for (size_t i = 0; i < count; i++) {
    list[i].data = from->name;
    if (plot_gather(&data[i], &list[i], &source, from->rows, from->cols)) return CLI_BAD;
  }
  return CLI_OK;
}

static int draw(FILE *out, plot_state *list, size_t count, const histogram *data) {
  plot_counts counts[PLOT_FORMATS_MAX];
  cli_piece made = {NULL, 0};
  for (size_t i = 0; !data && i < count; i++)
    if (list[i].scaled && plot_block_of_one(&list[i])) return CLI_BAD;
  int status = plot_draw(&made, list, count, data, counts);
  if (status == CLI_OK) (void)fwrite(made.data, 1, made.size, out);
  free((void *)made.data);
  return status;
}

static int plot(FILE *out, plot_state *list, size_t count, const picture_data *from) {
  if (!from) return draw(out, list, count, NULL);
  histogram *data = calloc(count, sizeof *data);
  if (!data) return cli_fail(NULL, "out of memory");
  int status = gather(data, list, count, from);
  if (status == CLI_OK) status = draw(out, list, count, data);
  for (size_t i = 0; i < count; i++) plot_histogram_free(&data[i]);
  free(data);
  return status;
}

static int read_all(plot_state *list, const char *const *formats, size_t count, hu_mode mode, hu_stream stream) {
  for (size_t i = 0; i < count; i++) {
    if (plot_read(&list[i], formats[i])) return CLI_BAD;
    list[i].numeric.mode = mode;
    list[i].numeric.stream = stream;
  }
  return CLI_OK;
}

int hui_picture_plot(char **text, const char *const *formats, size_t count, hu_mode mode, hu_stream stream,
                     const picture_data *data) {
  writing page;
  int status = begin(&page);
  plot_state *list = status == CLI_OK ? calloc(PLOT_FORMATS_MAX, sizeof *list) : NULL;
  if (status == CLI_OK && (count < 1 || count > PLOT_FORMATS_MAX))
    status = cli_fail(NULL, "1 to %d formats can be drawn, not %zu", PLOT_FORMATS_MAX, count);
  else
    status = list ? read_all(list, formats, count, mode, stream) : CLI_BAD;
  if (status == CLI_OK) status = plot(page.out, list, count, data);
  for (size_t i = 0; list && i < PLOT_FORMATS_MAX; i++) plot_state_free(&list[i]);
  free(list);
  return end(&page, status, text);
}

int hui_picture_exponents(char **text, const char *id, const uint64_t *before, const uint64_t *after, int low,
                          int count, const uint64_t *zeros) {
  writing page;
  int status = begin(&page);
  exponent_counts first = {before, low, count, zeros[0]}, second = {after, low, count, zeros[1]};
  if (status == CLI_OK) rounded_exponents(page.out, id, &first, &second);
  return end(&page, status, text);
}

int hui_picture_ratios(char **text, const char *id, const char *what, const char *const *names, const double *decibels,
                       const char *why, size_t count) {
  writing page;
  char title[256];
  int status = begin(&page);
  rounded_ratio *list = status == CLI_OK ? calloc(count + 1, sizeof *list) : NULL;
  if (!list) status = CLI_BAD;
  for (size_t i = 0; list && i < count; i++) list[i] = (rounded_ratio){names[i], why, decibels[i]};
  snprintf(title, sizeof title, "Signal to quantization noise of %s", what);
  if (list) rounded_ratios(page.out, id, title, "One bar each, in decibels.", what, list, count);
  free(list);
  return end(&page, status, text);
}

int hui_picture_page(char **text, const char *title, const char *body) {
  writing page;
  int status = begin(&page);
  if (status == CLI_OK) {
    page_open(page.out, title);
    fputs(body, page.out);
    page_close(page.out, page_sorting);
  }
  return end(&page, status, text);
}

void hui_picture_free(char *text) { free(text); }
