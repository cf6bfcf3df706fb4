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

void table_start(table *data, const char *const *names, size_t columns, char *csv, char *json) {
  *data = (table){names, columns, 0, 0, NULL, csv, json, -1, -1};
}

void table_free(table *data) {
  if (data->csv_file >= 0) close(data->csv_file);
  if (data->json_file >= 0) close(data->json_file);
  free(data->cells);
  free(data->csv);
  free(data->json);
  table_start(data, data->names, data->columns, NULL, NULL);
}

/* ---- text ---- */

static void print_head(FILE *out, const table *data) {
  for (size_t i = 0; i < data->columns; i++) fprintf(out, "%s%s", i ? "," : "", data->names[i]);
  fputc('\n', out);
}

static void print_csv(FILE *out, const table *data, const double *row) {
  char text[NUMBER_TEXT_MAX];
  for (size_t i = 0; i < data->columns; i++)
    fprintf(out, "%s%s", i ? "," : "", isnan(row[i]) ? "" : number_decimal(text, row[i]));
  fputc('\n', out);
}

static void print_json(FILE *out, const table *data, const double *row) {
  char text[NUMBER_TEXT_MAX];
  for (size_t i = 0; i < data->columns; i++)
    fprintf(out, "%s\"%s\": %s", i ? ", " : "{", data->names[i],
            isfinite(row[i]) ? number_decimal(text, row[i]) : "null");
  fputs("}\n", out);
}

static void print_all_csv(FILE *out, const void *what) {
  const table *data = what;
  print_head(out, data);
  for (size_t i = 0; i < data->rows; i++) print_csv(out, data, data->cells + i * data->columns);
}

static void print_all_json(FILE *out, const void *what) {
  const table *data = what;
  for (size_t i = 0; i < data->rows; i++) print_json(out, data, data->cells + i * data->columns);
}

/* ---- files ---- */

static int open_end(int *file, const char *path) {
  *file = open(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  return *file >= 0 ? CLI_OK : cli_fail(path, "cannot write: %s", strerror(errno));
}

int table_rewrite(table *data) {
  int status = data->csv ? cli_own_text(data->csv, print_all_csv, data) : CLI_OK;
  if (status == CLI_OK && data->json) status = cli_own_text(data->json, print_all_json, data);
  if (status == CLI_OK && data->csv) status = open_end(&data->csv_file, data->csv);
  if (status == CLI_OK && data->json) status = open_end(&data->json_file, data->json);
  return status;
}

int table_create(table *data) {
  data->rows = 0;
  return table_rewrite(data);
}

static int remember(table *data, const double *row) {
  if (data->rows == data->capacity) {
    size_t more = data->capacity ? 2 * data->capacity : 256;
    double *z = realloc(data->cells, more * data->columns * sizeof *z);
    if (!z) return cli_fail(NULL, "out of memory");
    data->cells = z;
    data->capacity = more;
  }
  memcpy(data->cells + data->rows++ * data->columns, row, data->columns * sizeof *row);
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
static int append(int file, const char *path, const table *data, const double *row,
                  void (*print)(FILE *out, const table *rows, const double *row)) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out) return cli_fail(path, "out of memory");
  print(out, data, row);
  int status = fclose(out) ? cli_fail(path, "out of memory") : CLI_OK;
  int error = status == CLI_OK ? write_all(file, text, size) : 0;
  if (error) status = cli_fail(path, "cannot write: %s", strerror(error));
  free(text);
  return status;
}

int table_add(table *data, const double *row) {
  int status = remember(data, row);
  if (status == CLI_OK && data->csv_file >= 0) status = append(data->csv_file, data->csv, data, row, print_csv);
  if (status == CLI_OK && data->json_file >= 0) status = append(data->json_file, data->json, data, row, print_json);
  return status;
}

static int sync_file(int file, const char *path) {
  if (file < 0 || fsync(file) == 0 || errno == EINVAL) return CLI_OK;
  return cli_fail(path, "cannot write: %s", strerror(errno));
}

int table_sync(const table *data) {
  int status = sync_file(data->csv_file, data->csv);
  return status == CLI_OK ? sync_file(data->json_file, data->json) : status;
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

static int read_head(const table *data, const cli_bytes *bytes, size_t *at) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out) return cli_fail(data->csv, "out of memory");
  print_head(out, data);
  int good = !fclose(out) && bytes->size >= size && !memcmp(bytes->data, text, size);
  *at = size;
  free(text);
  return good ? CLI_OK : cli_fail(data->csv, "its head is not that of this version's files");
}

static int read_lines(table *data, const cli_bytes *bytes, size_t at, double last, double *row) {
  const char *cursor = (const char *)bytes->data + at, *end = (const char *)bytes->data + bytes->size, *stop;
  for (unsigned line_number = 2; cursor < end && (stop = memchr(cursor, '\n', (size_t)(end - cursor))) != NULL;
       cursor = stop + 1, line_number++) {
    char *line = strndup(cursor, (size_t)(stop - cursor));
    int good = line && read_row(row, data->columns, line);
    free(line);
    if (!good) return cli_fail(NULL, "%s:%u: not a row of %zu numbers", data->csv, line_number, data->columns);
    if (row[0] <= last && remember(data, row)) return CLI_BAD;
  }
  return CLI_OK;
}

int table_read_back(table *data, double last) {
  cli_bytes bytes;
  size_t at = 0;
  if (cli_own_read(&bytes, data->csv)) return CLI_BAD;
  double *row = calloc(data->columns, sizeof *row);
  int status = row ? read_head(data, &bytes, &at) : cli_fail(data->csv, "out of memory");
  if (status == CLI_OK) status = read_lines(data, &bytes, at, last, row);
  free(row);
  cli_bytes_free(&bytes);
  return status;
}
