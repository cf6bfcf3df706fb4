/* SPDX-License-Identifier: MIT */
/* Sums without rounding (emu/core/exact_digits.h), as functions that return 0, whatever they are given: merging is the
 * addition of two's complement integers, word by word. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define inline __attribute__((always_inline)) inline
#define noinline always_inline
#include "emu/core/exact_digits.h"

#ifndef PROOF_WORDS
#define PROOF_WORDS 2
#endif

/* Words of three sums; digits, their place and their sign. */
#define ARGUMENTS                                                                                                      \
  uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t b0, uint64_t b1, uint64_t b2, uint64_t b3, uint64_t c0, \
      uint64_t c1, uint64_t c2, uint64_t c3, uint64_t digits, uint8_t at, uint8_t sign

typedef struct words {
  uint64_t w[4];
} words;

static inline words merged(words x, words y) {
  hui_digits_merge(x.w, PROOF_WORDS, y.w);
  return x;
}
static inline int same(words x, words y) {
  uint64_t differ = 0;
  for (int i = 0; i < PROOF_WORDS; i++) differ |= x.w[i] ^ y.w[i];
  return differ == 0;
}

#define THREE                                                                         \
  const words a = {{a0, a1, a2, a3}}, b = {{b0, b1, b2, b3}}, c = {{c0, c1, c2, c3}}; \
  (void)a, (void)b, (void)c, (void)digits, (void)at, (void)sign;

int merge_associates(ARGUMENTS) {
  THREE
  return !same(merged(merged(a, b), c), merged(a, merged(b, c)));
}
int merge_commutes(ARGUMENTS) {
  THREE
  return !same(merged(a, b), merged(b, a));
}

/* Of three words, against the compiler's integers of 128 bits: the upper two take the carry out of the lowest one. */
int merge_adds(ARGUMENTS) {
  THREE
  __extension__ typedef unsigned __int128 wide;
  words x = a;
  hui_digits_merge(x.w, 3, b.w);
  wide sum = ((wide)a2 << 64 | a1) + ((wide)b2 << 64 | b1) + (a0 + b0 < a0);
  return x.w[0] != a0 + b0 || x.w[1] != (uint64_t)sum || x.w[2] != (uint64_t)(sum >> 64);
}

/* Adding digits at a place, or subtracting them, is merging the integer that they are there. */
int digits_are_merged(ARGUMENTS) {
  THREE
  words x = a, y = {{0, 0, 0, 0}};
  if (at >= 64 * PROOF_WORDS || sign > 1) return 0;
  for (int i = 0; i < PROOF_WORDS; i++) {
    if (i == at / 64) y.w[i] = digits << at % 64;
    if (i == at / 64 + 1 && at % 64) y.w[i] = digits >> (64 - at % 64);
  }
  hui_digits_add(x.w, PROOF_WORDS, digits, at, sign);
  if (!sign) return !same(x, merged(a, y));
  return !same(merged(x, y), a);
}

/* A term before another merge or after it: sums of parts are the sum of the whole. */
int terms_before_or_after(ARGUMENTS) {
  THREE
  words x = a, z = merged(a, b);
  if (at >= 64 * PROOF_WORDS || sign > 1) return 0;
  hui_digits_add(x.w, PROOF_WORDS, digits, at, sign);
  hui_digits_add(z.w, PROOF_WORDS, digits, at, sign);
  return !same(merged(x, b), z);
}
