/* SPDX-License-Identifier: MIT */
/* See table.h. */
#include "cli/base/table.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/io.h"
#include "cli/base/numbers.h"

void table_start(table *t, const char *const *names, size_t columns, char *csv, char *json) {
  *t = (table){names, columns, 0, 0, NULL, csv, json, -1, -1};
}

void table_free(table *t) {
  if (t->csv_file >= 0) close(t->csv_file);
  if (t->json_file >= 0) close(t->json_file);
  free(t->cells);
  free(t->csv);
  free(t->json);
  table_start(t, t->names, t->columns, NULL, NULL);
}

/* ---- text ---- */

static void print_head(FILE *out, const table *t) {
  for (size_t i = 0; i < t->columns; i++) fprintf(out, "%s%s", i ? "," : "", t->names[i]);
  fputc('\n', out);
}

static void print_csv(FILE *out, const table *t, const double *row) {
  char text[NUMBER_TEXT_MAX];
  for (size_t i = 0; i < t->columns; i++)
    fprintf(out, "%s%s", i ? "," : "", isnan(row[i]) ? "" : number_decimal(text, row[i]));
  fputc('\n', out);
}

static void print_json(FILE *out, const table *t, const double *row) {
  char text[NUMBER_TEXT_MAX];
  for (size_t i = 0; i < t->columns; i++)
    fprintf(out, "%s\"%s\": %s", i ? ", " : "{", t->names[i], isfinite(row[i]) ? number_decimal(text, row[i]) : "null");
  fputs("}\n", out);
}

static void print_all_csv(FILE *out, const void *what) {
  const table *t = what;
  print_head(out, t);
  for (size_t i = 0; i < t->rows; i++) print_csv(out, t, t->cells + i * t->columns);
}

static void print_all_json(FILE *out, const void *what) {
  const table *t = what;
  for (size_t i = 0; i < t->rows; i++) print_json(out, t, t->cells + i * t->columns);
}

/* ---- files ---- */

static int open_end(int *file, const char *path) {
  *file = open(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  return *file >= 0 ? CLI_OK : cli_fail(path, "cannot write: %s", strerror(errno));
}

int table_rewrite(table *t) {
  int status = t->csv ? cli_own_text(t->csv, print_all_csv, t) : CLI_OK;
  if (status == CLI_OK && t->json) status = cli_own_text(t->json, print_all_json, t);
  if (status == CLI_OK && t->csv) status = open_end(&t->csv_file, t->csv);
  if (status == CLI_OK && t->json) status = open_end(&t->json_file, t->json);
  return status;
}

int table_create(table *t) {
  t->rows = 0;
  return table_rewrite(t);
}

static int remember(table *t, const double *row) {
  if (t->rows == t->room) {
    size_t more = t->room ? 2 * t->room : 256;
    double *z = realloc(t->cells, more * t->columns * sizeof *z);
    if (!z) return cli_fail(NULL, "out of memory");
    t->cells = z;
    t->room = more;
  }
  memcpy(t->cells + t->rows++ * t->columns, row, t->columns * sizeof *row);
  return CLI_OK;
}

/* Writes all of it, in as many calls as that takes. Returns 0 or errno. */
static int write_all(int file, const char *text, size_t size) {
  while (size) {
    ssize_t n = write(file, text, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : EIO;
    text += n;
    size -= (size_t)n;
  }
  return 0;
}

/* Appends a line, which is made whole before it is written, so that a reader rarely sees half of it. */
static int append(int file, const char *path, const table *t, const double *row,
                  void (*print)(FILE *out, const table *t, const double *row)) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out) return cli_fail(path, "out of memory");
  print(out, t, row);
  int status = fclose(out) ? cli_fail(path, "out of memory") : CLI_OK;
  int error = status == CLI_OK ? write_all(file, text, size) : 0;
  if (error) status = cli_fail(path, "cannot write: %s", strerror(error));
  free(text);
  return status;
}

int table_add(table *t, const double *row) {
  int status = remember(t, row);
  if (status == CLI_OK && t->csv_file >= 0) status = append(t->csv_file, t->csv, t, row, print_csv);
  if (status == CLI_OK && t->json_file >= 0) status = append(t->json_file, t->json, t, row, print_json);
  return status;
}

static int sync_file(int file, const char *path) {
  if (file < 0 || fsync(file) == 0 || errno == EINVAL) return CLI_OK;
  return cli_fail(path, "cannot write: %s", strerror(errno));
}

int table_sync(const table *t) {
  int status = sync_file(t->csv_file, t->csv);
  return status == CLI_OK ? sync_file(t->json_file, t->json) : status;
}

/* ---- reading back ---- */

static int read_row(double *row, size_t columns, const char *line) {
  for (size_t i = 0; i < columns; i++) {
    char *end = (char *)(uintptr_t)line;
    row[i] = *line == ',' || !*line ? (double)NAN : strtod(line, &end);
    if (*end != (i + 1 < columns ? ',' : 0)) return 0;
    line = end + 1;
  }
  return 1;
}

static int read_head(const table *t, const cli_bytes *bytes, size_t *at) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out) return cli_fail(t->csv, "out of memory");
  print_head(out, t);
  int good = !fclose(out) && bytes->size >= size && !memcmp(bytes->data, text, size);
  *at = size;
  free(text);
  return good ? CLI_OK : cli_fail(t->csv, "its head is not that of this version's files");
}

static int read_lines(table *t, const cli_bytes *bytes, size_t at, double last, double *row) {
  const char *p = (const char *)bytes->data + at, *end = (const char *)bytes->data + bytes->size, *stop;
  for (unsigned line_number = 2; p < end && (stop = memchr(p, '\n', (size_t)(end - p))) != NULL;
       p = stop + 1, line_number++) {
    char *line = strndup(p, (size_t)(stop - p));
    int good = line && read_row(row, t->columns, line);
    free(line);
    if (!good) return cli_fail(NULL, "%s:%u: not a row of %zu numbers", t->csv, line_number, t->columns);
    if (row[0] <= last && remember(t, row)) return CLI_BAD;
  }
  return CLI_OK;
}

int table_read_back(table *t, double last) {
  cli_bytes bytes;
  size_t at = 0;
  if (cli_own_read(&bytes, t->csv)) return CLI_BAD;
  double *row = calloc(t->columns, sizeof *row);
  int status = row ? read_head(t, &bytes, &at) : cli_fail(t->csv, "out of memory");
  if (status == CLI_OK) status = read_lines(t, &bytes, at, last, row);
  free(row);
  cli_bytes_free(&bytes);
  return status;
}
