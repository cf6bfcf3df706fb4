/* SPDX-License-Identifier: MIT */
/* emu/gemm/words.h - operands for kernels that take some neighbours of K at a time: a word of 32 bits holds two or four
 * of them, the first in its low digits. Static, as in float_block.h: a way includes it. */
#ifndef HALFULP_EMU_GEMM_WORDS_H
#define HALFULP_EMU_GEMM_WORDS_H

#include "emu/gemm/call.h"

/* Blocks of D and pieces of K: at most so many rows, columns and words. Layouts are those of tiles/kernels.h, a word in
 * place of a number; KC there is `words` here. */
enum { MR = HU_GEMM_MR, NR = HU_GEMM32_NR, MB = HU_GEMM32_MB, NB = HU_GEMM32_NB };
enum { WORDS_MOST = 80 };

typedef struct words_rule {
  size_t group; /* elements in a word: 2 of 16 bits, 4 of 8 */
  size_t words; /* of a piece */
  size_t step;  /* pieces come up to a multiple of so many words; what they lack is filled up */
  /* Reads n elements of a stored row, into a buffer with 64 more bytes. */
  void (*read)(const hu_gemm_call *call, const hu_matrix *x, size_t row, size_t column, size_t n, void *z);
  /* z[i] = the word of element i of `group` lines, which are so many bytes apart; n is a multiple of 16. */
  void (*weave)(size_t n, uint32_t *z, const void *lines, size_t pitch);
} words_rule;

/* Bytes of a line: elements of 16 bits across a block, and what kernels touch behind them. */
enum { LINE = 2 * NB + 128 };
_Static_assert(LINE % 64 == 0 && 4 * WORDS_MOST <= 2 * NB && MB <= NB, "lines are short");

static void fill(const words_rule *rule, uint8_t *line, size_t from, size_t past, uint32_t element) {
  for (size_t i = from; i < past; i++) {
    uint16_t half = (uint16_t)element;
    if (rule->group == 4) line[i] = (uint8_t)element;
    if (rule->group == 2) memcpy(line + 2 * i, &half, 2);
  }
}

/* Where K runs along the stored rows: MR of them, those behind the last one as zeros, become columns of words. */
/* Rounds kc elements up to whole steps. */
static size_t in_steps(const words_rule *rule, size_t kc) { return hui_up_to(kc, rule->group * rule->step); }

static void pack_along(const hu_gemm_call *call, const words_rule *rule, const hu_matrix *x, size_t row, size_t rows,
                       size_t k0, size_t kc, uint32_t lacking, uint32_t *z, size_t ldz) {
  _Alignas(64) uint8_t lines[MR][LINE];
  for (size_t i = 0; i < MR; i++) {
    if (i < rows) {
      rule->read(call, x, row + i, k0, kc, lines[i]);
      fill(rule, lines[i], kc, in_steps(rule, kc), lacking);
    } else {
      memset(lines[i], 0, sizeof lines[i]);
    }
  }
  call->kernels->transpose32(in_steps(rule, kc) / rule->group, (float *)(void *)z, ldz,
                             (const float *)(const void *)lines, LINE / 4);
}

/* Where it runs across them: rows k ... of n elements, those from `past` on of `lacking`, become a line of words. */
static void weave_rows(const hu_gemm_call *call, const words_rule *rule, const hu_matrix *x, size_t k, size_t past,
                       size_t column, size_t n, uint32_t lacking, uint32_t *z) {
  _Alignas(64) uint8_t lines[4][LINE];
  size_t whole = hui_up_to(n, 16);
  for (size_t i = 0; i < rule->group; i++) {
    size_t there = k + i < past ? n : 0;
    if (there) rule->read(call, x, k + i, column, n, lines[i]);
    fill(rule, lines[i], there, whole, there ? 0 : lacking);
  }
  rule->weave(whole, z, lines, LINE);
}

/* kc elements of K from k0 on, at most group * words, of the rows from i0 on, or the columns from j0 on, into panels.
 * Elements that the last words lack are `lacking`. */
static inline void pack_words_a(const hu_gemm_call *call, const words_rule *rule, size_t i0, size_t k0, size_t rows,
                                size_t kc, uint32_t lacking, uint32_t *z) {
  _Alignas(64) uint32_t line[MB];
  if (!call->a.transposed) {
    for (size_t i = 0; i < rows; i += MR) {
      pack_along(call, rule, &call->a, i0 + i, hui_least(rows - i, MR), k0, kc, lacking, z + i * rule->words, MR);
    }
    return;
  }
  for (size_t k = 0; k < in_steps(rule, kc); k += rule->group) {
    weave_rows(call, rule, &call->a, k0 + k, k0 + kc, i0, rows, lacking, line);
    for (size_t i = 0; i < rows; i += MR) memcpy(z + i * rule->words + k / rule->group * MR, line + i, MR * sizeof *z);
  }
}

/* Packs the rows, and zeros up to a multiple of `high` rows, one after another: word p of row i at i words + p, where
 * `words` is a multiple of MR. 64 more bytes lie behind them. */
static void pack_word_rows(const hu_gemm_call *call, const words_rule *rule, size_t i0, size_t k0, size_t rows,
                           size_t kc, uint32_t lacking, size_t high, uint32_t *z) {
  _Alignas(64) uint32_t lines[MR][MB];
  size_t words = in_steps(rule, kc) / rule->group;
  for (size_t i = 0; i < rows && !call->a.transposed; i++) {
    uint8_t *row = (uint8_t *)(z + i * rule->words);
    rule->read(call, &call->a, i0 + i, k0, kc, row);
    fill(rule, row, kc, in_steps(rule, kc), lacking);
  }
  for (size_t p = 0; p < words && call->a.transposed; p += MR) {
    for (size_t l = 0; l < MR; l++) {
      weave_rows(call, rule, &call->a, k0 + (p + l) * rule->group, k0 + kc, i0, rows, lacking, lines[l]);
    }
    call->kernels->transpose32(rows, (float *)(void *)(z + p), rule->words, (const float *)(const void *)lines, MB);
  }
  memset(z + rows * rule->words, 0, (hui_up_to(rows, high) - rows) * rule->words * sizeof *z);
}

static void pack_words_b(const hu_gemm_call *call, const words_rule *rule, size_t j0, size_t k0, size_t cols, size_t kc,
                         uint32_t lacking, uint32_t *z) {
  _Alignas(64) uint32_t line[NB] = {0};
  if (call->b.transposed) {
    for (size_t j = 0; j < hui_up_to(cols, NR); j += MR) {
      uint32_t *to = z + j / NR * (rule->words * NR) + j % NR;
      pack_along(call, rule, &call->b, j0 + j, j < cols ? hui_least(cols - j, MR) : 0, k0, kc, lacking, to, NR);
    }
    return;
  }
  for (size_t k = 0; k < in_steps(rule, kc); k += rule->group) {
    weave_rows(call, rule, &call->b, k0 + k, k0 + kc, j0, cols, lacking, line);
    for (size_t j = 0; j < cols; j += NR) memcpy(z + j * rule->words + k / rule->group * NR, line + j, NR * sizeof *z);
  }
}

#endif
