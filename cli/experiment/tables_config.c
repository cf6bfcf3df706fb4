/* SPDX-License-Identifier: MIT */
/* Writes a configuration file for each cell of a paper: see tables.h. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/base/cli.h"
#include "cli/base/io.h"
#include "cli/base/numbers.h"
#include "cli/experiment/tables.h"

enum { WIDTH = 116 };

/* Writes sentences as lines of a comment. */
static void comment(FILE *out, const char *text) {
  while (*text) {
    size_t n = strlen(text);
    if (n > WIDTH) {
      n = WIDTH;
      while (n && text[n] != ' ') n--;
    }
    fprintf(out, "; %.*s\n", (int)n, text);
    text += n + (text[n] == ' ');
  }
}

static void say_figure(char *text, size_t size, const table_cell *cell) {
  const char *figure = table_cell_figure(cell);
  if (*figure) {
    snprintf(text, size, "Row %s, column %s: the paper has %s%s (%s).", cell->row->name, cell->column->name, figure,
             table_unit(cell->row), table_measure(cell->row));
  } else {
    snprintf(text, size, "%s, %s: no figure of the paper (%s).", cell->row->name, cell->column->name,
             table_measure(cell->row));
  }
}

static void say_data(char *text, size_t size, const table_cell *cell) {
  const table_data *data = cell->row->data;
  snprintf(text, size,
           "Data: %s, %s, as its archive unpacks: the folder %s beside this file, or in the folder that --data names. "
           "They are no part of halfulp.",
           data->name, data->from, data->folder);
}

static void say_time(char *text, size_t size, const table_cell *cell) {
  table_size full = table_full_size(cell);
  char time[TABLE_TIME_MAX];
  int n = snprintf(text, size, "Full size: %.0f steps of %llu samples. ", full.steps, full.batch);
  if (isfinite(full.seconds))
    snprintf(text + n, size - (size_t)n,
             "About %s with one thread of the CPU of bench/README.md and an evaluation of both sets after each epoch, "
             "estimated from a %s step of %s s.",
             table_time(time, full.seconds), table_step_is_counted(cell) ? "counted, not measured," : "measured",
             ROUNDED(table_step_seconds(cell), 2));
}

static void head(FILE *out, const table_cell *cell) {
  char text[1200];
  const paper_table *table = cell->table;
  snprintf(text, sizeof text, "%s, %s: %s.", table->source, table->place, table->title);
  comment(out, text);
  say_figure(text, sizeof text, cell);
  comment(out, text);
  if (table->differs || cell->row->differs) comment(out, "Not the paper's run:");
  if (table->differs) comment(out, table->differs);
  if (cell->row->differs) comment(out, cell->row->differs);
  say_data(text, sizeof text, cell);
  comment(out, text);
  say_time(text, sizeof text, cell);
  comment(out, text);
  if (table->chosen) comment(out, table->chosen);
  if (cell->row->chosen) comment(out, cell->row->chosen);
  snprintf(text, sizeof text, "`halfulp experiment --paper %s --configs FOLDER` writes this file.", table->paper);
  comment(out, text);
}

int table_keys_add(void *context, const char *key, const char *value) {
  table_keys *keys = context;
  size_t i = 0;
  while (i < keys->count && strcmp(keys->key[i], key) != 0) i++;
  if (i == TABLE_KEYS_MAX) return 1;
  keys->count += i == keys->count;
  keys->key[i] = key;
  keys->value[i] = value;
  if (strcmp(key, "model.net") == 0) { /* a text of the caller's stack */
    snprintf(keys->net, sizeof keys->net, "%s", value);
    keys->value[i] = keys->net;
  }
  return 0;
}

static int same_section(const char *a, const char *b) {
  size_t n = strcspn(a, ".");
  return n == strcspn(b, ".") && strncmp(a, b, n) == 0;
}

/* Prints all keys of a section together, where its first one stands. */
void table_keys_print(FILE *out, const table_keys *keys) {
  for (size_t i = 0; i < keys->count; i++) {
    size_t first = 0;
    while (!same_section(keys->key[first], keys->key[i])) first++;
    if (first < i) continue;
    fprintf(out, "\n[%.*s]\n", (int)strcspn(keys->key[i], "."), keys->key[i]);
    for (size_t k = i; k < keys->count; k++) {
      if (same_section(keys->key[i], keys->key[k]))
        fprintf(out, "%s = %s\n", strchr(keys->key[k], '.') + 1, keys->value[k]);
    }
  }
}

void table_print_config(FILE *out, const void *cell) {
  const table_cell *one = cell;
  char name[TABLE_NAME_MAX];
  table_keys keys = {.count = 0};
  head(out, one);
  (void)table_keys_add(&keys, "run.name", table_cell_name(name, one));
  (void)table_cell_keys(one, 0, 1, table_keys_add, &keys);
  table_keys_print(out, &keys);
}

/* ---- all of a paper ---- */

static int make_folder(const char *path) {
  if (mkdir(path, 0777) == 0 || errno == EEXIST) return CLI_OK;
  return cli_fail(path, "%s", strerror(errno));
}

/* Makes FOLDER, and the folders of a row's files in it, one in the other. */
static int make_folders(const char *folder, const char *inner) {
  char path[4096];
  int status = make_folder(folder);
  for (const char *end = inner; status == CLI_OK && *end;) {
    end += strcspn(end, "/");
    snprintf(path, sizeof path, "%s/%.*s", folder, (int)(end - inner), inner);
    status = make_folder(path);
    end += *end == '/';
  }
  return status;
}

static int write_cell(const char *folder, const table_cell *cell) {
  char path[4096], name[TABLE_NAME_MAX];
  const char *inner = cell->row->folder ? cell->row->folder : cell->table->paper;
  int status = make_folders(folder, inner);
  int n = snprintf(path, sizeof path, "%s/%s/%s.ini", folder, inner, table_cell_name(name, cell));
  if (status == CLI_OK && (n < 0 || (size_t)n >= sizeof path)) status = cli_fail(folder, "too long a name");
  return status == CLI_OK ? cli_own_text(path, table_print_config, cell) : status;
}

int table_write_configs(const char *folder, const char *paper) {
  int status = CLI_OK;
  for (size_t i = 0; i < table_count(); i++) {
    const paper_table *table = table_at(i);
    for (size_t k = 0; k < table->rows * table->columns && status == CLI_OK; k++) {
      const table_cell cell = {table, &table->row[k / table->columns], &table->column[k % table->columns]};
      if (strcmp(table->paper, paper) == 0 && table_has(table, cell.row, k % table->columns))
        status = write_cell(folder, &cell);
    }
  }
  return status;
}
