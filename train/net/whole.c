/* SPDX-License-Identifier: MIT */
/* Column sums over the nets of all shards. They are exact until the one rounding, so that it does not matter which net
 * or process has a row. */
#include <stdlib.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/sum.h"
#include "train/net/net.h"

enum {
  AT_ONCE = 256, /* terms that one call adds, each to a sum of its own: a call has its price */
  DIGITS = 2,    /* of 32 bits in a word */
  KINDS = 7      /* of terms: bits of HU_SUM_ */
};

static hu_sum_range range_of(void) { return hu_sum_range_of(hu_binary32()); }

/* Returns the number of words of a sum: its terms, its digits. */
static size_t words_of(void) { return 1 + (size_t)range_of().words; }

hu_status hui_exact_columns_open(hu_exact_columns *columns, size_t cols) {
  memset(columns, 0, sizeof *columns);
  columns->cols = cols;
  columns->side = cols < AT_ONCE ? AT_ONCE / cols : 1;
  columns->sums = calloc(columns->side * cols * words_of(), sizeof *columns->sums);
  columns->z = calloc(cols, sizeof *columns->z);
  return columns->sums && columns->z ? HU_OK : HU_E_MEMORY;
}

void hui_exact_columns_close(hu_exact_columns *columns) {
  free(columns->sums);
  free(columns->terms);
  free(columns->z);
  memset(columns, 0, sizeof *columns);
}

/* The terms where the host sees them. */
static const float *look(hu_exact_columns *columns, hu_net *net, const hu_task *task) {
  size_t bytes = task->rows * task->cols * sizeof(float);
  if (net->engine->on_host) return task->z;
  if (!columns->terms) columns->terms = malloc(bytes); /* all nets are alike */
  if (columns->terms) hui_do_get(net, columns->terms, task->z, bytes);
  return columns->terms;
}

hu_status hui_exact_columns_add(hu_exact_columns *columns, hu_net *net, int kernel, hu_task task) {
  size_t rows = task.rows;
  task.z = net->work[HU_BUFFERS - 1];
  task.columns.rows = rows;
  task.columns.chunk = 1; /* each row is a sum of its own: from +0 */
  hui_do(net, kernel, &task);
  const float *terms = look(columns, net, &task);
  hu_status status = terms ? hui_done(net) : HU_E_MEMORY;
  for (size_t i = 0; i < rows && status == HU_OK; i += columns->side) {
    size_t n = rows - i < columns->side ? rows - i : columns->side;
    status = hu_sum_add_n(n * columns->cols, columns->sums, range_of(),
                          hu_codes(terms + i * columns->cols, 1, hu_binary32()), NULL);
  }
  return status;
}

/* ---- over processes: digits of 32 bits, and how many have a kind of term, are whole numbers ---- */

static size_t shared_words(void) { return DIGITS * (size_t)range_of().words + KINDS; }

static void write_sum(double *z, const uint64_t *sum) {
  size_t words = range_of().words;
  for (size_t l = 0; l < words; l++) {
    *z++ = (double)(sum[1 + l] & 0xFFFFFFFFu);
    *z++ = (double)(sum[1 + l] >> 32);
  }
  for (int k = 0; k < KINDS; k++) *z++ = (double)(sum[0] >> k & 1);
}

/* What carries out of the highest digit is that of a two's complement integer. */
static void read_sum(uint64_t *sum, const double *x) {
  size_t words = range_of().words;
  uint64_t carry = 0;
  for (size_t l = 0; l < words; l++) {
    uint64_t low = (uint64_t)*x++ + carry, high = (uint64_t)*x++ + (low >> 32);
    sum[1 + l] = (low & 0xFFFFFFFFu) | high << 32;
    carry = high >> 32;
  }
  sum[0] = 0;
  for (int k = 0; k < KINDS; k++) sum[0] |= (uint64_t)(*x++ > 0) << k;
}

static hu_status sum_over_processes(hu_exact_columns *columns, const hu_whole *whole) {
  size_t each = shared_words();
  double *shared = malloc(columns->cols * each * sizeof *shared);
  if (!shared) return HU_E_MEMORY;
  for (size_t j = 0; j < columns->cols; j++) write_sum(shared + j * each, columns->sums + j * words_of());
  hu_status status = whole->sum(whole->context, columns->cols * each, shared);
  for (size_t j = 0; j < columns->cols && status == HU_OK; j++)
    read_sum(columns->sums + j * words_of(), shared + j * each);
  free(shared);
  return status;
}

hu_status hui_exact_columns_round(hu_exact_columns *columns, const hu_whole *whole) {
  hu_status status = HU_OK;
  for (size_t k = 1; k < columns->side && status == HU_OK; k++)
    status =
        hu_sum_merge_n(columns->cols, columns->sums, range_of(), columns->sums + k * columns->cols * words_of(), NULL);
  if (status == HU_OK && whole->sum) status = sum_over_processes(columns, whole);
  if (status != HU_OK) return status;
  return hu_sum_round_n(columns->cols, hu_codes_out(columns->z, 1, hu_binary32()), columns->sums, range_of(), NULL);
}
