/* SPDX-License-Identifier: MIT */
/* emu/core/hadamard.h - docs/hadamard.md in integers: one block at a time. C11, C++17 and CUDA compile the same
 * text. */
#ifndef HALFULP_EMU_CORE_HADAMARD_H
#define HALFULP_EMU_CORE_HADAMARD_H

#include "halfulp/hadamard.h"

#include "emu/core/arith.h"
#include "emu/core/stream.h"

#define HU_HADAMARD_WORDS (HU_HADAMARD_MAX / 32)

/* n = 2^k. */
HU_FN uint32_t hui_hadamard_log2(uint32_t n) { return n == 16 ? 4 : n == 32 ? 5 : n == 64 ? 6 : 7; }

/* Returns the pattern of c or c'. */
HU_FN uint32_t hui_hadamard_factor(uint32_t n, uint32_t norm, uint32_t inverse) {
  uint32_t k = hui_hadamard_log2(n), half = k >> 1, odd = k & 1;
  if (norm == HU_HADAMARD_SUM) return (127 - (inverse ? k : 0)) << 23;
  if (norm == HU_HADAMARD_POWER) return (127 - half - (inverse ? odd : 0)) << 23;
  return odd ? 0x3F3504F3 - (half << 23) : (127 - half) << 23; /* 2^-0.5 is 0x3F3504F3 */
}

/* The words of n signs that all blocks share, as they repeat in every 32 elements. Those of a mask are given. */
HU_FN void hui_hadamard_words(uint32_t words[HU_HADAMARD_WORDS], uint32_t n, uint32_t signs, const uint32_t *mask,
                              uint64_t key, uint64_t counter) {
  for (uint32_t i = 0; i < HU_HADAMARD_WORDS; i++) {
    words[i] = 0;
    if (i * 32 >= n || signs == HU_HADAMARD_SIGNS_NONE) continue;
    words[i] = signs == HU_HADAMARD_SIGNS_MASK ? mask[i] : hui_stream_at(key, counter + i);
    if (n == 16) words[i] = (words[i] & 0xFFFF) | words[i] << 16;
  }
}

/* The signs of elements 32 w ... are in word w & period, w counted from the beginning of a block, or of the axis. */
HU_FN size_t hui_hadamard_period(uint32_t n, uint32_t whole) { return whole ? ~(size_t)0 : (n - 1) >> 5; }

/* Returns 0 or the sign bit. */
HU_FN uint32_t hui_hadamard_sign(const uint32_t *words, size_t period, size_t j) {
  return words[j >> 5 & period] >> (j & 31) << 31;
}

/* ---- binary32 operations on patterns ---- */

HU_FN uint32_t hui_hadamard_add(uint32_t a, uint32_t b) {
  uint32_t ignored = 0;
  return hui_pack32(hui_exact_add(hui_unpack32(a), hui_unpack32(b), 0, &ignored));
}

HU_FN uint32_t hui_hadamard_mul(uint32_t a, uint32_t b) {
  uint32_t ignored = 0;
  return hui_pack32(hui_exact_mul(hui_unpack32(a), hui_unpack32(b), &ignored));
}

/* Does the steps between the signs, on n patterns. */
HU_OUTLINE void hui_hadamard_block(uint32_t *pattern, uint32_t n, uint32_t factor) {
  for (uint32_t step = 1; step < n; step <<= 1) {
    uint32_t h = step;
    for (uint32_t i = 0; i < n; i++) {
      if (i & h) continue;
      uint32_t a = pattern[i], b = pattern[i + h];
      pattern[i] = hui_hadamard_add(a, b);
      pattern[i + h] = hui_hadamard_add(a, b ^ 0x80000000);
    }
  }
  for (uint32_t i = 0; i < n; i++) pattern[i] = hui_hadamard_mul(pattern[i], factor);
}

#endif
