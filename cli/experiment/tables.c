/* SPDX-License-Identifier: MIT */
/* Looks into the tables of the papers: see tables.h. */
#include "cli/experiment/tables.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "cli/base/numbers.h"

static const paper_table *const tables[] = {
    &table_fp16_1,        &table_fp16_2,       &table_fp16_3,     &table_fp16_f4,    &table_fp16_f5,
    &table_fp16_f6,       &table_openseq2seq,  &table_s2fp8_1,    &table_s2fp8_2,    &table_s2fp8_3,
    &table_s2fp8_4,       &table_s2fp8_a2,     &table_bfloat16_1, &table_bfloat16_2, &table_assignments_4,
    &table_assignments_5, &table_assignments_6};

size_t table_count(void) { return TABLE_COUNT(tables); }
const paper_table *table_at(size_t i) { return tables[i]; }

int table_has(const paper_table *table, const table_row *row, size_t column) {
  if (column >= table->columns) return 0;
  if (table->drawn) return !row->without || strcmp(row->without, table->column[column].slug) != 0;
  return row->figure[column] != NULL;
}

const char *table_cell_figure(const table_cell *cell) {
  return cell->table->drawn ? "" : cell->row->figure[cell->column - cell->table->column];
}

/* Writes "table1", "figure4", "page": what has a letter stands alone, except for tables of an appendix. */
const char *table_cell_name(char text[TABLE_NAME_MAX], const table_cell *cell) {
  const char *name = cell->table->name;
  const char *word = strlen(name) < 3 ? "table" : "";
  snprintf(text, TABLE_NAME_MAX, "%s-%s%s-%s-%s", cell->table->paper, word, name, cell->row->slug, cell->column->slug);
  for (char *at = text; *at; at++) *at = (char)tolower((unsigned char)*at);
  return text;
}

int table_has_width(const table_row *row) { return strstr(row->net, "%s") != NULL; }

const char *table_net(char text[TABLE_NET_MAX], const table_row *row, double part) {
  const char *at = strstr(row->net, "%s");
  if (!at) {
    snprintf(text, TABLE_NET_MAX, "%s", row->net);
  } else {
    snprintf(text, TABLE_NET_MAX, "%.*s%s%s", (int)(at - row->net), row->net, DECIMAL(row->width * part), at + 2);
  }
  return text;
}

typedef struct setter {
  int (*set)(void *context, const char *key, const char *value);
  void *context;
} setter;

static int set_pairs(const setter *sink, const char *const *pairs) {
  int status = 0;
  for (; pairs && pairs[0] && !status; pairs += 2) status = sink->set(sink->context, pairs[0], pairs[1]);
  return status;
}

/* Returns keys with which an assignment is not refused: other sizes of tensors have other shares of all elements. */
static const char *const free_pairs[] = {"assignment.ratio_max", "1", NULL};
static const char *const *free_ratio(const table_cell *cell) {
  const char *const *pair = cell->column->pairs;
  while (pair[0] && strcmp(pair[0], "assignment.ratio_max") != 0) pair += 2;
  return pair[0] ? free_pairs : NULL;
}

int table_cell_keys(const table_cell *cell, int stand_in, double part,
                    int (*set)(void *context, const char *key, const char *value), void *context) {
  char net[TABLE_NET_MAX];
  const setter sink = {set, context};
  const char *const model[] = {"model.net", table_net(net, cell->row, part), NULL};
  const char *const *all[] = {cell->row->data->pairs, model,
                              cell->table->pairs,     cell->row->pairs,
                              cell->column->pairs,    stand_in ? cell->row->data->stand_in : NULL};
  int status = 0;
  for (size_t i = 0; i < TABLE_COUNT(all) && !status; i++) status = set_pairs(&sink, all[i]);
  return !status && (stand_in || part != 1) ? set_pairs(&sink, free_ratio(cell)) : status;
}

static const struct {
  const char *measure, *unit;
} figures[] = {[TABLE_ACCURACY] = {"accuracy on the test set", " %"},
               [TABLE_HIT_RATE] = {"HR@10", ""},
               [TABLE_AUC] = {"AUC on the test set", " %"},
               [TABLE_BLEU] = {"BLEU on the test set", ""},
               [TABLE_PERPLEXITY] = {"perplexity on the test set", ""}};

const char *table_unit(const table_row *row) { return figures[row->data->figure].unit; }
const char *table_measure(const table_row *row) { return figures[row->data->figure].measure; }

double table_seeing(const table_row *row) {
  const double words = 30;
  return row->data->figure == TABLE_BLEU ? TABLE_PASS * words : TABLE_PASS;
}

const char *table_time(char text[TABLE_TIME_MAX], double seconds) {
  static const struct {
    double seconds, below;
    const char *unit;
  } units[] = {{1, 120, "s"}, {60, 120, "min"}, {3600, 72, "h"}, {86400, INFINITY, "days"}};
  size_t i = 0;
  while (seconds / units[i].seconds >= units[i].below) i++;
  snprintf(text, TABLE_TIME_MAX, "%s %s", ROUNDED(seconds / units[i].seconds, 2), units[i].unit);
  return text;
}
