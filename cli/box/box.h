/* SPDX-License-Identifier: MIT */
/* cli/box/box.h - a black box: something that answers dot products, whatever stands behind it. */
#ifndef HALFULP_CLI_BOX_BOX_H
#define HALFULP_CLI_BOX_BOX_H

#include "cli/question/vectors.h"
#include "cli/train/interrupt.h"

/* Answers `count` dot products: arrays of n elements of A and B and of their scales, one of C, one after another;
 * results gets an element of D each. 0, or an exit code after an error line. */
typedef int id_answer(void *context, size_t count, const void *a, const void *b, const void *c, const void *sa,
                      const void *sb, void *results);

typedef struct id_box {
  id_shape shape;
  id_answer *answer;
  void *context;
  uint64_t asked;    /* questions so far */
  size_t batch;      /* of a program that answers so many lines at once, or none; 0: each when it comes */
  const char *doing; /* what is looked for with them, for the line of id_progress; NULL: nothing yet */
  double reported;   /* when the last one was */
} id_box;

/* Returns how many questions are best put at once, where many are there: about 1000, whole batches. */
size_t id_rows_at_once(const id_box *box);

/* Says now and then on standard error how far long work is, also where that is no terminal (progress_due). */
void id_progress(id_box *box);

/* Ends a search early, with what it has found: after SIGINT, SIGTERM or SIGHUP, or after so many seconds; 0: no end.
 * One search at a time. */
enum { ID_STOPPED = 100 }; /* stands in for an exit code then */
void id_stop_begin(interrupt *before, double seconds);
void id_stop_end(const interrupt *before);
/* Returns 1 from then on. */
int id_stop_due(void);
/* Returns the seconds that are left, infinity without an end. */
double id_stop_left(void);

/* Fills in the answers of rows first ... first + count - 1. 0, an exit code or ID_STOPPED. */
int id_ask(id_box *box, id_vectors *questions, size_t first, size_t count);

/* A program that is asked by lines, as `halfulp mma` is: standard input and output, one answer for each line, in order.
 * `seconds`: how long an answer may take. `batch`: lines are sent in whole batches of so many, the last one repeated
 * where there are fewer, and the answers to these dropped; 0 is 1. */
typedef struct id_program id_program;
id_program *id_program_start(const id_shape *shape, char *const *command, double seconds, size_t batch, FILE *log);
int id_program_answer(void *program, size_t count, const void *a, const void *b, const void *c, const void *sa,
                      const void *sb, void *results);
/* Ends the program if it does not end by itself when its input does. */
void id_program_end(id_program *program);
/* Uses standard input and output of this process instead: questions go out, answers come in. */
id_program *id_program_beside(const id_shape *shape, double seconds, FILE *log);

/* A shared library's function void dot(size_t n, const void *a, const void *b, const void *c, void *d), with scales
 * void dot_scaled(size_t n, a, b, c, sa, sb, d); or, with tile > 0, void gemm(size_t m, size_t n, size_t k, const void
 * *a, const void *b, const void *c, void *d), row-major. */
typedef struct id_library id_library;
id_library *id_library_open(const id_shape *shape, const char *path, const char *function, size_t tile);
int id_library_answer(void *library, size_t count, const void *a, const void *b, const void *c, const void *sa,
                      const void *sb, void *results);
void id_library_close(id_library *library);

/* A command that is run once for each product of matrices, with the names of four .npy files: A, B and C to read, D to
 * write. */
typedef struct id_files id_files;
id_files *id_files_start(const id_shape *shape, char *const *command, int words, size_t tile, double seconds);
int id_files_answer(void *files, size_t count, const void *a, const void *b, const void *c, const void *sa,
                    const void *sb, void *results);
void id_files_end(id_files *files);

/* Questions first ... first + count - 1 as one product of tile x n and n x tile: question i is row i and column i, and
 * its answer stands on the diagonal. */
typedef struct id_tile {
  void *a, *b, *c, *result;
  size_t rows;
} id_tile;
int id_tile_make(id_tile *tile, const id_shape *shape, size_t rows);
void id_tile_fill(id_tile *tile, const id_shape *shape, size_t first, size_t count, const void *a, const void *b,
                  const void *c);
void id_tile_take(const id_tile *tile, const id_shape *shape, size_t first, size_t count, void *results);
void id_tile_free(id_tile *tile);

/* Return the tile that holds the last product, all elements of it; of a library that multiplies matrices. */
const id_tile *id_files_tile(const id_files *files);
const id_tile *id_library_tile(const id_library *library);

/* A model of this library, for tests and for distinguishing models. */
typedef struct id_model {
  hu_accum accum;
  const id_shape *shape;
} id_model;
int id_model_answer(void *model, size_t count, const void *a, const void *b, const void *c, const void *sa,
                    const void *sb, void *results);

#endif
