/* SPDX-License-Identifier: MIT */
/* layouts/write/piece.h - a piece of a tensor that is being written: its values, the factors of its blocks, its codes,
 * and what changed. */
#ifndef HALFULP_LAYOUTS_WRITE_PIECE_H
#define HALFULP_LAYOUTS_WRITE_PIECE_H

#include "layouts/write/write.h"

enum { HUI_PIECE = 1 << 18 /* elements */ };

/* A tensor, and the buffers of a piece. */
typedef struct hui_work {
  hui_writing *all;
  const hui_tensor *source;
  const hui_target *target;
  size_t place;
  hui_calc calc;
  hu_scaling scaling; /* the rule, where it is no rule of integers */
  hu_format element;
  double numbers[256]; /* of codes */
  double *exact;
  uint32_t *x, *by, *quotient;
  uint8_t *codes, *bytes;
  hui_factor *factors; /* of the piece's blocks */
  int ieee;            /* 1: this CPU's own binary32 operations are those of IEEE 754, ties to even */
  size_t rows, cols;   /* of each of its matrices */
  size_t block_rows, block_cols;
  int scale_dtype;
} hui_work;

/* Some rows and columns of matrix m. */
typedef struct hui_piece {
  size_t m, r, c, rows, cols;
  size_t down, across; /* its blocks */
} hui_piece;

/* Reads the piece: exact values, and these in binary32; finite: others are an error. */
hu_status hui_piece_read(hui_work *work, const hui_piece *piece, int finite);
/* Lets go of pages of the source that were read, so that memory does not grow with a mapped file. */
void hui_work_let_go(const hui_work *work, size_t first, size_t n);
/* Returns the largest magnitude of the first n values. */
uint32_t hui_piece_amax(const hui_work *work, size_t n);
/* Makes factors and codes of the values. */
hu_status hui_piece_round(hui_work *work, const hui_piece *piece);
/* Count what changed: of one value, of the piece, of the conversion into binary32. */
void hui_change_count(hu_checkpoint_change *change, double before, double after);
void hui_piece_count(hui_work *work, const hui_piece *piece);
void hui_piece_count_narrowed(hui_work *work, const hui_piece *piece);

#endif
