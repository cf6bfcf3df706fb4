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

/* Words of a sum: its terms, its digits. */
static size_t words_of(void) { return 1 + (size_t)range_of().words; }

hu_status hu_exact_columns_open(hu_exact_columns *c, size_t cols) {
  memset(c, 0, sizeof *c);
  c->cols = cols;
  c->side = cols < AT_ONCE ? AT_ONCE / cols : 1;
  c->sums = calloc(c->side * cols * words_of(), sizeof *c->sums);
  c->z = calloc(cols, sizeof *c->z);
  return c->sums && c->z ? HU_OK : HU_E_MEMORY;
}

void hu_exact_columns_close(hu_exact_columns *c) {
  free(c->sums);
  free(c->terms);
  free(c->z);
  memset(c, 0, sizeof *c);
}

/* The terms where the host sees them. */
static const float *look(hu_exact_columns *c, hu_net *net, const hu_task *t) {
  size_t bytes = t->rows * t->cols * sizeof(float);
  if (net->engine->on_host) return t->z;
  if (!c->terms) c->terms = malloc(bytes); /* all nets are alike */
  if (c->terms) hu_do_get(net, c->terms, t->z, bytes);
  return c->terms;
}

hu_status hu_exact_columns_add(hu_exact_columns *c, hu_net *net, int kernel, hu_task t) {
  size_t rows = t.rows;
  t.z = net->work[HU_ROOMS - 1];
  t.n[0] = rows;
  t.n[1] = 1; /* each row is a sum of its own: from +0 */
  hu_do(net, kernel, &t);
  const float *terms = look(c, net, &t);
  hu_status s = terms ? hu_done(net) : HU_E_MEMORY;
  for (size_t i = 0; i < rows && s == HU_OK; i += c->side) {
    size_t n = rows - i < c->side ? rows - i : c->side;
    s = hu_sum_add_n(n * c->cols, c->sums, range_of(), terms + i * c->cols, 1, hu_binary32(), NULL);
  }
  return s;
}

/* ---- over processes: digits of 32 bits, and how many have a kind of term, are whole numbers ---- */

static size_t told_words(void) { return DIGITS * (size_t)range_of().words + KINDS; }

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

static hu_status sum_over_processes(hu_exact_columns *c, const hu_whole *whole) {
  size_t each = told_words();
  double *told = malloc(c->cols * each * sizeof *told);
  if (!told) return HU_E_MEMORY;
  for (size_t j = 0; j < c->cols; j++) write_sum(told + j * each, c->sums + j * words_of());
  hu_status s = whole->sum(whole->context, c->cols * each, told);
  for (size_t j = 0; j < c->cols && s == HU_OK; j++) read_sum(c->sums + j * words_of(), told + j * each);
  free(told);
  return s;
}

hu_status hu_exact_columns_round(hu_exact_columns *c, const hu_whole *whole) {
  const hu_mode rne = {0};
  hu_status s = HU_OK;
  for (size_t k = 1; k < c->side && s == HU_OK; k++)
    s = hu_sum_merge_n(c->cols, c->sums, range_of(), c->sums + k * c->cols * words_of(), NULL);
  if (s == HU_OK && whole->sum) s = sum_over_processes(c, whole);
  if (s != HU_OK) return s;
  return hu_sum_round_n(c->cols, c->z, 1, hu_binary32(), c->sums, range_of(), rne, NULL, NULL);
}
