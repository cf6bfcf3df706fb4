/* SPDX-License-Identifier: MIT */
/* cli/target/target.h - what -f may name for arrays: kinds of number systems behind one table (kinds.c), a file each.
 *
 * An array of any rank is a matrix here: its last axis is the row, all axes before it count the rows; an array of one
 * axis is one row, a scalar 1 x 1. With --rows out the first axis of an array of three or more counts the rows, and a
 * row holds the others in the order of a convolution's patch: the second axis, the channels, is the fastest. */
#ifndef HALFULP_CLI_TARGET_TARGET_H
#define HALFULP_CLI_TARGET_TARGET_H

#include "cli/base/cli.h"
#include "cli/tensors/array.h"
#include "halfulp/conversion.h"
#include "halfulp/number.h"
#include "halfulp/s2fp8.h"
#include "halfulp/scaled.h"

enum { CLI_TARGET_MAX = 3072 };

typedef struct cli_target_kind cli_target_kind;
typedef struct cli_target {
  const cli_target_kind *kind;
  const char *given;        /* the text of -f */
  hu_format format;         /* of a plain format */
  hu_scaling scaling;       /* of a scaled one */
  int by_rows;              /* 1: each row has a second level of its own */
  hu_s2fp8 s2fp8;           /* of a shifted and squeezed one */
  hu_hif4 hif4;             /* of HiFloat4 */
  hu_number number;         /* of another number system */
  hu_conversion conversion; /* of a preset */
  uint32_t ggml;            /* of a block of ggml, its type in GGUF */
  int has_mode;             /* 1: the preset says how to round, and what not */
  int rounds_before;        /* 1: it rounds before its last rounding */
  float table[HU_TABLE_MAX];
} cli_target;

/* The blocks of an array in short; count 0: there are none. */
typedef struct cli_blocks {
  uint64_t count, zero, special, saturated, to_zero; /* blocks of zeros; blocks with an infinity or a NaN, with a
                                                        saturated element, with an element that became 0 */
  double amax_low, amax_high;                        /* of blocks that are not zero; 0 if there is none */
  double scale_low, scale_high;                      /* of the scales that are numbers */
} cli_blocks;

/* How a row of the matrix lies in the array: as it is, or `channels` x `places` of it turned into places x channels.
 * Codes, values and errors are in the array's own order; blocks, scales and random words in the matrix's. */
typedef struct cli_transpose {
  size_t channels, places; /* 0: as it is */
} cli_transpose;

/* How important the columns of a matrix are, finite and from 0 up; by_column NULL: all are the same. Rows are cut into
 * `matrices` equal parts, the experts of a layer, with `cols` numbers each. */
typedef struct cli_importance {
  const float *by_column;
  size_t matrices;
} cli_importance;

/* One array to be brought into a target. */
typedef struct cli_job {
  const char *name; /* for error lines */
  cli_source x;
  size_t rows, cols;
  cli_transpose transpose;
  hu_mode mode;
  hu_exec exec;
  const float *amax; /* NULL: the array's own */
  cli_importance importance;
  hu_events events;  /* out */
  cli_blocks blocks; /* out */
  uint64_t twice;    /* out: elements whose code is another than by one rounding, of presets that round before that */
} cli_job;

/* What an array in codes is made of. Part 0 are the codes: one to 1, 2 or 4 bytes, with the array's own shape. */
typedef struct cli_part {
  const char *suffix; /* "codes", "scales", "tensor", ... */
  char kind;          /* 'u': codes, 'f': binary32, binary64 */
  uint8_t size;       /* bytes of an element */
  uint8_t dims;       /* 2: rows x cols; 0: one number */
  size_t rows, cols;
  void *data;
  uint8_t width, twos; /* of codes: their bits, 0: all; 1: in two's complement */
} cli_part;
enum { CLI_PARTS_MAX = 5 };
typedef struct cli_parts {
  cli_part part[CLI_PARTS_MAX];
  int count;
  unsigned width;                 /* bits of a code */
  size_t packed_rows, packed_row; /* the packed codes: rows, bytes of one; 0: wider than 8 bits, not packed */
  double bits;                    /* of all that is stored, packed */
  cli_transpose transpose;        /* of part 0 */
} cli_parts;

struct cli_target_kind {
  int elementwise;                                                   /* 1: rows and columns do not matter */
  int (*claims)(const char *text);                                   /* 1: a text of this kind, right or wrong */
  int (*read)(cli_target *target, const char *text);                 /* 0, or an exit code after an error line */
  void (*text)(char text[CLI_TARGET_MAX], const cli_target *target); /* the canonical one, read() takes it back */
  int (*check)(const cli_target *target, const cli_job *job);        /* mode and amax; 0 or an exit code */
  int (*fits)(const cli_target *target, unsigned size);              /* 1: float arrays of 2, 4 bytes hold its values */
  void (*layout)(cli_parts *parts, const cli_target *target, size_t rows, size_t cols); /* all but data */
  /* The values in floats of `size` bytes, 4 or 8, that hold them. 0 or an exit code. */
  int (*values)(void *z, unsigned size, const cli_target *target, cli_job *job);
  int (*encode)(const cli_parts *parts, const cli_target *target, cli_job *job);
  int (*decode)(void *z, unsigned size, const cli_parts *parts, const cli_target *target, const cli_job *job);
  /* Codes of up to 8 bits to the packed layout and back. */
  hu_status (*pack)(uint8_t *z, const cli_parts *parts, const cli_target *target);
  hu_status (*unpack)(const cli_parts *parts, const uint8_t *x, const cli_target *target);
};
extern const cli_target_kind cli_kind_format, cli_kind_conversion, cli_kind_scaled, cli_kind_s2fp8, cli_kind_number,
    cli_kind_ggml, cli_kind_hif4;

/* Reads what -f names. Returns 0, or an exit code after an error line. */
int cli_target_read(cli_target *target, const char *text);
/* Sets the rounding of a preset in place of -r, -s, --nan and --tiny, which must not be given then. Returns 0 or an
 * exit code. */
int cli_preset_mode(cli_numeric *numeric, const cli_target *target);
/* Returns CLI_OK for HU_OK, else prints an error line on a text that a parser of the library refused. */
int cli_target_fail(const char *text, hu_status status, size_t where);
/* Writes the name to show: as given, where a name was given. */
const char *cli_target_name(char text[CLI_TARGET_MAX], const cli_target *target);
/* Describes the parts of an array, without memory for them. */
void cli_parts_plan(cli_parts *parts, const cli_target *target, const cli_job *job);
/* Also allocates every part. Returns 0, or an exit code after an error line; then there is nothing to free. */
int cli_parts_alloc(cli_parts *parts, const cli_target *target, const cli_job *job);
void cli_parts_free(cli_parts *parts);
/* Lays out part 0 and the packed codes in rows that begin at a byte; then these are all. */
void cli_codes_layout(cli_parts *parts, unsigned width, unsigned storage, size_t rows, size_t cols);
/* Put one code after the other in rows that begin at a byte: what pack and unpack are where there are no blocks. */
hu_status cli_pack_rows(uint8_t *z, const cli_parts *parts, const cli_target *target);
hu_status cli_unpack_rows(const cli_parts *parts, const uint8_t *x, const cli_target *target);
/* Does what values() does where there is no shorter method: the codes, and these decoded. */
int cli_values_by_codes(void *z, unsigned size, const cli_target *target, cli_job *job);
/* Returns the array as binary32: the source's own, or new memory in *owned (else NULL) to be freed. binary64 must be
 * exact in it. NULL after an error line. */
const float *cli_job_floats(float **owned, const cli_job *job);
/* Returns an array of integers as binary64 (integers.h), to be freed; exact: an integer that binary64 lacks is an
 * error. NULL after an error line. */
double *cli_job_wide(const cli_job *job, int exact);
/* Makes the floats in the front of z doubles, where values of binary32 are required as binary64. */
void cli_widen(void *z, size_t count);
/* Returns 1 if scales are searched for under the importance of columns. */
int cli_target_weighs(const cli_target *target);
/* Returns the importance of a row's columns; NULL: none was given. */
const float *cli_job_weights(const cli_job *job, size_t row);
/* Computes the matrix that an array of this shape is; 0 x 0 if it is empty. */
void cli_matrix(size_t *rows, size_t *cols, uint32_t dims, const size_t *shape);
/* Sets rows, columns and turn; rows_out: those of --rows out, for formats with blocks. 1: this changed them. */
int cli_job_shape(cli_job *job, const cli_target *target, int rows_out, uint32_t dims, const size_t *shape);
/* Brings elements of `size` bytes into the matrix's order, or (back) into the array's. z and x do not overlap. */
void cli_transpose_rows(void *z, const void *x, size_t rows, cli_transpose transpose, int back, unsigned size);
/* Rows that are shorter than a block: each takes a scale of its own, and more bits than the format says. */
typedef struct cli_row_shape {
  size_t rows, cols;
  size_t block;    /* columns of a block, more than a row has; 0: rows are as long as blocks, or there are none */
  double bits;     /* per element, scales among them */
  size_t out_rows; /* with --rows out, where that makes rows longer; else 0 */
  size_t out_cols;
  double out_bits;
} cli_row_shape;
cli_row_shape cli_row_shape_of(const cli_target *target, const cli_job *job, uint32_t dims, const size_t *shape);
/* Print a sentence on short rows; ", "matrix": [...], ..." of any. */
void cli_print_row_shape(FILE *out, const cli_row_shape *shape);
cli_value cli_row_shape_value(const cli_row_shape *shape);

void cli_print_blocks(FILE *out, const char *indent, const cli_blocks *blocks);
cli_value cli_blocks_value(const cli_blocks *blocks);

#endif
