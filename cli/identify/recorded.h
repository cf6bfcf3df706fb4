/* SPDX-License-Identifier: MIT */
/* cli/identify/recorded.h - which models give the recorded results of a kernel that cannot be asked. */
#ifndef HALFULP_CLI_IDENTIFY_RECORDED_H
#define HALFULP_CLI_IDENTIFY_RECORDED_H

#include "cli/identify/identify.h"

/* Arrays A, B, C, D as .npy files. Rows: A and B are count x K, C and D have count elements. A product: A is M x K, B
 * K x N, C and D are M x N, and each element of D is a row. Of very many elements some are taken, spread evenly. */
typedef struct id_recorded {
  id_vectors rows;
  size_t *place;    /* of each row: its number, or the place of the element in D */
  size_t all, m, n; /* rows (count); M, N of a product, else 0 */
} id_recorded;

/* Loads three files, A B D, or four. `shape` has the elements' types; its n and without_c are set. Returns 0, or an
 * exit code after an error line. */
int id_recorded_load(id_recorded *recorded, id_shape *shape, char *const *path, int count, int product);
/* Asks the box, which multiplies matrices in this tile, for one product of numbers near 1, and takes all its elements.
 * Returns 0 or an exit code. */
int id_recorded_ask(id_recorded *recorded, id_box *box, const id_tile *tile, uint64_t seed);
void id_recorded_free(id_recorded *recorded);

enum { ID_PARTS_MOST = 4 };

/* A model and the rows that it gives. */
typedef struct id_part {
  hu_accum model;
  size_t count;           /* rows */
  size_t low[2], high[2]; /* of a product: the first and the last row and column of D among them */
} id_part;

typedef struct id_explained {
  id_set models;                 /* that give all rows, the simplest first; presets are counted in names */
  char names[ID_NAMES_MOST][48]; /* presets that give all rows */
  int count;
  struct {
    char name[48];
    size_t differs, first; /* rows that it does not give, and the first of them */
  } others[ID_NAMES_MOST];
  int other_count;
  id_part parts[ID_PARTS_MOST]; /* where no model gives all: models, each of some of the rows that are left */
  int part_count;
  size_t left; /* rows that no part has */
  int stopped; /* 1: the search ended early, so that more models may give all rows */
} id_explained;

/* Finds the models of the rows, presets, sums of parts of them, and where K is small those of the language. `search`
 * has been started. Stopped, it has what is known by then, and `stopped` is 1. Returns 0 or an exit code. */
int id_explain_recorded(id_search *search, const id_recorded *recorded, id_explained *found);
void id_print_recorded(FILE *out, const id_search *search, const id_recorded *recorded, const id_explained *found);
void id_print_recorded_json(FILE *out, const id_search *search, const id_recorded *recorded, const id_explained *found);

#endif
