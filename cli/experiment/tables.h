/* SPDX-License-Identifier: MIT */
/* cli/experiment/tables.h - the tables of the papers as training runs: what `halfulp experiment --paper` runs and
 * writes configurations of.
 *
 * A table has rows (networks) and columns (precisions); each cell that the paper has is one training run, at the
 * paper's own size. Its keys are those of the data, the network, the table, the row and the column, in this order. */
#ifndef HALFULP_CLI_EXPERIMENT_TABLES_H
#define HALFULP_CLI_EXPERIMENT_TABLES_H

#include <stddef.h>
#include <stdio.h>

#include "halfulp/train/trainer.h"

/* Makes a list of key, value, key, value ... NULL. */
#define TABLE_PAIRS(...) \
  (const char *const[]) { __VA_ARGS__, NULL }

/* What differs in all runs on ImageNet. */
#define TABLE_BOXES                                                                                                 \
  "Boxes of images are cut out of the middle 256 x 256 of each image and interpolated without a filter, where the " \
  "common programs cut them out of the whole image."

/* What the figures of a table are. */
enum { TABLE_ACCURACY, TABLE_HIT_RATE, TABLE_AUC, TABLE_BLEU, TABLE_PERPLEXITY };

/* Files that the user has to have, and generated data that stand in for them. */
typedef struct table_data {
  const char *name;         /* "CIFAR-10" */
  const char *folder;       /* as its archive unpacks */
  const char *const *files; /* in the folder, up to a NULL */
  const char *from;         /* where they can be had */
  const char *const *pairs;
  unsigned long long count, test; /* samples of an epoch; of the test set */
  int figure;                     /* TABLE_ACCURACY ... */
  const char *const *stand_in;    /* keys that replace them */
  const char *stand_in_is;        /* what the stand-in is, in words */
} table_data;
extern const table_data table_imagenet, table_cifar10, table_cifar100, table_movielens;
extern const table_data table_iwslt, table_kaggle, table_terabyte, table_wiki103;

typedef struct table_column {
  const char *name, *slug;
  const char *const *pairs;
} table_column;

enum { TABLE_COLUMNS = 8 };
typedef struct table_row {
  const char *name, *slug;
  const char *net; /* model.net; "%s" is its width; without one the network has no width */
  double width;    /* of the paper's network */
  const table_data *data;
  const char *const *pairs;
  const char *const *cut; /* what of the keys is another thing in a run of fewer steps; NULL: nothing */
  const char *folder;     /* of its configurations; NULL: the paper's id */
  /* What the paper prints, as text; "": no figure, since the row is not the paper's; NULL: there is no such cell. Not
   * looked at where the paper draws its cells. */
  const char *figure[TABLE_COLUMNS];
  const char *without;          /* the slug of a column that this row of drawings has not; NULL: it has all */
  const char *chosen, *differs; /* as a table's, of this row alone */
} table_row;

/* What a paper has and this is not, and why. */
typedef struct table_left_out {
  const char *what, *why;
} table_left_out;

typedef struct paper_table {
  const char *paper, *name;   /* "s2fp8", "1" */
  const char *source, *place; /* the paper; "table 1" */
  const char *title;          /* what it compares */
  const char *chosen;         /* what the paper does not say and is chosen here, as sentences; NULL: nothing */
  /* What of the paper's networks, recipes or data is another one here, as sentences; NULL: nothing that is known. Rows
   * of which something differs, by the table or by the row, have no figures. */
  const char *differs;
  const char *const *pairs;
  int best;  /* 1: the paper has the best epoch of each run, too */
  int drawn; /* 1: the paper draws its cells, and prints no figures */
  const table_column *column;
  size_t columns;
  const table_row *row;
  size_t rows;
  const table_left_out *left_out;
  size_t left_outs;
} paper_table;
#define TABLE_COUNT(list) (sizeof(list) / sizeof *(list))

/* Count and return all tables, paper by paper. */
size_t table_count(void);
const paper_table *table_at(size_t i);

/* ---- cells ---- */

typedef struct table_cell {
  const paper_table *table;
  const table_row *row;
  const table_column *column;
} table_cell;

/* "s2fp8-table1-resnet20-s2fp8": the name of its file. */
enum { TABLE_NAME_MAX = 96, TABLE_NET_MAX = 96 };
const char *table_cell_name(char text[TABLE_NAME_MAX], const table_cell *cell);
/* Returns what the paper prints; "" if nothing. */
const char *table_cell_figure(const table_cell *cell);
/* Returns 1 if the paper has this cell. */
int table_has(const paper_table *table, const table_row *row, size_t column);
/* Writes the network with `part` of the paper's width (1, 0.5, 0.25). */
const char *table_net(char text[TABLE_NET_MAX], const table_row *row, double part);
/* Returns 1 if there is a narrower one. */
int table_has_width(const table_row *row);
/* Returns the seconds of a step at the paper's size with one thread, as measured (tables_steps.c); NaN: it was not. */
double table_step_seconds(const table_cell *cell);
/* Returns 1 if that was not measured, but follows from numbers of multiplications and of weights, or from a network. */
int table_step_is_counted(const table_cell *cell);

/* What a pass without gradients takes, in steps. */
#define TABLE_PASS 0.4
/* Returns what an evaluation of a batch costs, in steps of training: a pass, and of translations about as many passes
 * as a sentence has words. */
double table_seeing(const table_row *row);

/* Calls set(context, key, value) for all keys of a cell, in order; stops at the first answer that is not 0, and returns
 * it. */
int table_cell_keys(const table_cell *cell, int stand_in, double part,
                    int (*set)(void *context, const char *key, const char *value), void *context);

/* Returns " %", or "" where figures are no percentages; and what a figure is: "accuracy on the test set". */
const char *table_unit(const table_row *row);
const char *table_measure(const table_row *row);

/* "35 s", "12 min", "15 h", "3.4 days". */
enum { TABLE_TIME_MAX = 32 };
const char *table_time(char text[TABLE_TIME_MAX], double seconds);

/* Steps and seconds of a cell at full size, with the recorded step and the evaluations of both sets after each epoch,
 * which `halfulp train` makes; seconds NaN where it was not measured. */
typedef struct table_size {
  double steps, seconds;
  unsigned long long batch, epochs;
} table_size;
table_size table_full_size(const table_cell *cell);

/* Keys with their last values, in the order of their first ones. */
enum { TABLE_KEYS_MAX = 192 };
typedef struct table_keys {
  const char *key[TABLE_KEYS_MAX], *value[TABLE_KEYS_MAX];
  size_t count;
  char net[TABLE_NET_MAX];
} table_keys;
/* Adds a key. Keys and values, except for model.net's, have to outlive *keys. Returns 1 if there are too many. */
int table_keys_add(void *keys, const char *key, const char *value);
/* Prints a configuration file: the keys of a section stand together. */
void table_keys_print(FILE *out, const table_keys *keys);

/* Prints the configuration file of a cell. */
void table_print_config(FILE *out, const void *cell);
/* Writes those of all cells of a paper to folders under `folder`. Returns 0, or an exit code after an error line. */
int table_write_configs(const char *folder, const char *paper);

/* ---- the tables ---- */

extern const paper_table table_fp16_1, table_fp16_2, table_fp16_3, table_fp16_f4, table_fp16_f5, table_fp16_f6;
extern const paper_table table_openseq2seq;
extern const paper_table table_s2fp8_1, table_s2fp8_2, table_s2fp8_3, table_s2fp8_4, table_s2fp8_a2;
extern const paper_table table_bfloat16_1, table_bfloat16_2;
extern const paper_table table_assignments_4, table_assignments_5, table_assignments_6;

#endif
