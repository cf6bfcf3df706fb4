/* SPDX-License-Identifier: MIT */
/* train/data/file.h - turns bytes into data sets: the part of the loaders that touches no file, and what they share. */
#ifndef HALFULP_TRAIN_DATA_FILE_H
#define HALFULP_TRAIN_DATA_FILE_H

#include "halfulp/train/data.h"
#include "halfulp/view.h"

/* A file in memory. */
typedef struct hu_bytes {
  const char *name;
  const uint8_t *data;
  size_t size;
} hu_bytes;

/* The whole file; name is the path. */
hu_status hui_bytes_read(hu_bytes *bytes, const char *path, char *why);
void hui_bytes_free(hu_bytes *bytes);
/* HU_E_DATA: the file is empty, or compressed by gzip. */
hu_status hui_bytes_check_plain(const hu_bytes *file, char *why);

/* "name: sentence" into why if it is not NULL, a long name's end alone; returns s. */
__attribute__((format(printf, 4, 5))) hu_status hui_data_wrong(char *why, hu_status status, const char *name,
                                                               const char *format, ...);

/* Space for n elements of a size, at least one byte, zeroed; NULL where n size does not fit or there is no memory. */
void *hui_data_allocate(size_t n, size_t size);
/* *z = a b; 0 where that does not fit. */
int hui_size_product(size_t *z, size_t a, size_t b);

/* Makes a data set of this shape with space for all its arrays, zeroed. HU_E_SHAPE, HU_E_MEMORY. */
hu_status hui_data_make(hu_data *data, size_t count, const size_t shape[3], uint32_t classes, size_t targets);

/* Makes x[i] the result of an operation of one operand, HU_OP_, of x[i], binary32 to binary32, ties to even. */
void hui_apply_n(int op, size_t n, float *x);
/* Returns e^x in binary64, within 2 units in the last place, with the same bits on every machine: single operations
 * of IEEE 754 alone. NaN of NaN; above 709.78 infinity. */
double hui_exp_of(double x);
/* Draws numbers as hu_init_uniform does, between +-bound. */
void hui_init_within(size_t n, float *z, float bound, hu_stream stream);
/* Draws N(0, deviation^2) cut at 2 deviations: docs/training/data.md section 2. */
void hui_init_cut(size_t n, float *z, float deviation, hu_stream stream);

/* What the loaders of data.h do with their files' bytes. labels of npy: NULL, or the file. */
hu_status hui_data_read_cifar(hu_data *data, const hu_bytes *files, size_t n, unsigned classes, int coarse, char *why);
hu_status hui_data_read_idx(hu_data *data, const hu_bytes *images, const hu_bytes *labels, uint32_t classes,
                            int by_columns, char *why);
hu_status hui_data_read_npy(hu_data *data, const hu_bytes *images, const hu_bytes *labels, uint32_t classes,
                            float divisor, char *why);
/* Labels of a .npy file alone, one of each of count images, which are not compared with a number of classes. */
hu_status hui_labels_read(uint32_t *labels, size_t count, const hu_bytes *file, char *why);
hu_status hui_text_read(hu_text *text, const hu_bytes *file, char *why);
hu_status hui_movielens_read(hu_movielens *movielens, const hu_bytes *file, char *why);
hu_status hui_words_read(hu_words *words, const hu_bytes *files, size_t n, uint32_t most, int by_count, char *why);
hu_status hui_parallel_read(hu_parallel *parallel, const hu_bytes *source, const hu_bytes *target, size_t n,
                            size_t window, uint32_t most, int by_count, char *why);
/* How words become tokens. */
struct hu_subwords;
typedef struct hu_word_rules {
  uint32_t most;                /* words of the vocabulary; 0: all */
  int by_count;                 /* 1: numbered by how often they are there */
  struct hu_subwords *subwords; /* NULL: tokens are whole words */
  size_t learn;                 /* merges that are learnt from the training part; 0: those that subwords has hold */
} hu_word_rules;
/* The same and hu_words_load, hu_parallel_load with these rules. Parts of words need a file for each part of the
 * text; those of both languages have one vocabulary. */
hu_status hui_parallel_read_by(hu_parallel *parallel, const hu_bytes *source, const hu_bytes *target, size_t n,
                               size_t window, const hu_word_rules *rules, char *why);
hu_status hui_parallel_load(hu_parallel *parallel, const char *const *source, const char *const *target, size_t files,
                            size_t window, const hu_word_rules *rules, char *why);
hu_status hui_words_load(hu_words *words, const char *const *paths, size_t files, const hu_word_rules *rules,
                         char *why);
hu_status hui_criteo_read(hu_data *data, const hu_bytes *file, uint32_t rows, char *why);
/* HU_E_SHAPE: no size that a vocabulary can be cut to. */
hu_status hui_words_check_most(uint32_t most, char *why);

#endif
