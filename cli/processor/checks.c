/* SPDX-License-Identifier: MIT */
/* cli/processor/checks.c - instructions that no preset models, each against the library's scalar functions or integers
 * of C. */
#include "cli/processor/processor.h"

#include <stdio.h>
#include <string.h>

#include "halfulp/scalar.h"

enum { SHOWN_MAX = 5, EIGHT = PROCESSOR_LANES };

/* Compares one result of `digits` digits; `from`: what was asked. */
static void compare(processor_tally *tally, uint64_t from, uint32_t got, uint32_t right, int digits) {
  tally->compared++;
  if (got == right) return;
  if (tally->different++ < SHOWN_MAX && !tally->quiet) {
    printf("    %llx  processor %0*x, library %0*x\n", (unsigned long long)from, digits, got, digits, right);
  }
}

/* ---- conversions ---- */

/* Makes all NaN one: which digits stay is for the CPU to choose. */
static uint32_t one_nan(uint32_t x, uint32_t infinity, uint32_t sign) {
  return (x & ~sign) > infinity ? infinity + 1 : x;
}

static uint32_t bits_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

void processor_check_widen(processor_tally *tally, void (*widen)(float *z, const uint16_t *x)) {
  const hu_format format = hu_format_ieee(5, 10, 0);
  for (uint32_t code = 0; code < 0x10000; code += EIGHT) {
    uint16_t x[EIGHT];
    float z[EIGHT];
    for (uint32_t i = 0; i < EIGHT; i++) x[i] = (uint16_t)(code + i);
    widen(z, x);
    for (uint32_t i = 0; i < EIGHT; i++) {
      const uint32_t right = bits_of(hu_decode(format, code + i)), infinity = 0x7F800000, sign = 0x80000000;
      compare(tally, code + i, one_nan(bits_of(z[i]), infinity, sign), one_nan(right, infinity, sign), 8);
    }
  }
}

/* Draws a number of any exponent, or of those that binary16 has and some below them; of all digits, or of few, so that
 * it is half way between two codes or one itself. */
static float drawn(uint32_t word, uint32_t choice) {
  enum { LOWEST = 127 - 26, EXPONENTS = 43 };
  uint32_t z = choice % 4 ? (word & 0x807FFFFFu) | (LOWEST + word % EXPONENTS) << 23 : word;
  if (choice >> 2 & 1) z &= 0xFFFFFFFFu << (choice >> 3 & 15);
  float x;
  memcpy(&x, &z, sizeof x);
  return x;
}

void processor_check_narrow(processor_tally *tally, uint32_t round, void (*narrow)(uint16_t *z, const float *x)) {
  const hu_format format = hu_format_ieee(5, 10, 0);
  const hu_stream words = {tally->key, (uint64_t)1 << 60};
  hu_mode mode = {.round = (uint8_t)round};
  for (uint64_t done = 0; done < tally->count; done += EIGHT) {
    float x[EIGHT];
    uint16_t z[EIGHT];
    for (uint32_t i = 0; i < EIGHT; i++) {
      x[i] = drawn(hu_stream_word(words, 2 * (done + i)), hu_stream_word(words, 2 * (done + i) + 1));
    }
    narrow(z, x);
    for (uint32_t i = 0; i < EIGHT; i++) {
      const uint32_t right = hu_encode(format, mode, x[i], 0, NULL);
      compare(tally, bits_of(x[i]), one_nan(z[i], 0x7C00, 0x8000), one_nan(right, 0x7C00, 0x8000), 4);
    }
  }
}

/* ---- 8-bit formats ---- */

/* Returns the first magnitude that may be a NaN, less one. */
static uint32_t last_of(hu_format format) {
  const hu_limits x = hu_limits_of(format);
  return x.inf_code <= 0xFF ? x.inf_code : x.max_code;
}

void processor_check_widen8(processor_tally *tally, hu_format format, void (*widen)(uint16_t *z, const uint8_t *x)) {
  const hu_format half = hu_format_ieee(5, 10, 0);
  const hu_mode rne = {0};
  for (uint32_t code = 0; code < 0x100; code += EIGHT) {
    uint8_t x[EIGHT];
    uint16_t z[EIGHT];
    for (uint32_t i = 0; i < EIGHT; i++) x[i] = (uint8_t)(code + i);
    widen(z, x);
    for (uint32_t i = 0; i < EIGHT; i++) {
      const uint32_t right = hu_encode(half, rne, hu_decode(format, code + i), 0, NULL);
      compare(tally, code + i, one_nan(z[i], 0x7C00, 0x8000), one_nan(right, 0x7C00, 0x8000), 4);
    }
  }
}

/* Compares what eight values have become with what they should have. */
static void compare_bytes(processor_tally *tally, hu_format format, const float *x, const uint8_t *z) {
  const hu_mode to_infinity = {.round = HU_RNE, .saturate = HU_SAT_NONE};
  for (uint32_t i = 0; i < EIGHT; i++) {
    const uint32_t right = hu_encode(format, to_infinity, x[i], 0, NULL);
    compare(tally, bits_of(x[i]), one_nan(z[i], last_of(format), 0x80), one_nan(right, last_of(format), 0x80), 2);
  }
}

void processor_check_narrow16(processor_tally *tally, hu_format format, void (*narrow)(uint8_t *z, const uint16_t *x)) {
  const hu_format half = hu_format_ieee(5, 10, 0);
  for (uint32_t code = 0; code < 0x10000; code += EIGHT) {
    uint16_t x[EIGHT];
    float values[EIGHT];
    uint8_t z[EIGHT];
    for (uint32_t i = 0; i < EIGHT; i++) {
      x[i] = (uint16_t)(code + i);
      values[i] = hu_decode(half, code + i);
    }
    narrow(z, x);
    compare_bytes(tally, format, values, z);
  }
}

void processor_check_narrow32(processor_tally *tally, hu_format format, void (*narrow)(uint8_t *z, const float *x)) {
  const hu_stream words = {tally->key, (uint64_t)1 << 62};
  for (uint64_t done = 0; done < tally->count; done += EIGHT) {
    float x[EIGHT];
    uint8_t z[EIGHT];
    for (uint32_t i = 0; i < EIGHT; i++) {
      x[i] = drawn(hu_stream_word(words, 2 * (done + i)), hu_stream_word(words, 2 * (done + i) + 1));
    }
    narrow(z, x);
    compare_bytes(tally, format, x, z);
  }
}

/* ---- sums of two products of 16 bits ---- */

static int16_t half_at(uint32_t word, int at) {
  const int32_t x = (int32_t)(word >> 16 * at & 0xFFFF);
  return (int16_t)(x >= 0x8000 ? x - 0x10000 : x);
}

/* Adds modulo 2^32: a sum does not saturate. */
static uint32_t two_products(uint32_t c, uint32_t a, uint32_t b) {
  const int64_t sum = (int64_t)half_at(a, 0) * half_at(b, 0) + (int64_t)half_at(a, 1) * half_at(b, 1);
  return c + (uint32_t)(uint64_t)sum;
}

/* Draws two halves; every fourth one is at an end of its range. */
static uint32_t drawn_halves(uint32_t bits) {
  static const uint16_t ends[] = {0x8000, 0x7FFF, 0x8001, 0xFFFF};
  return bits % 4 ? bits : (uint32_t)ends[bits >> 8 & 3] << 16 | ends[bits >> 10 & 3];
}

void processor_check_pairs(processor_tally *tally, void (*add)(uint32_t *c, const uint32_t *a, const uint32_t *b)) {
  const hu_stream words = {tally->key, (uint64_t)1 << 61};
  for (uint64_t done = 0; done < tally->count; done += EIGHT) {
    uint32_t a[EIGHT], b[EIGHT], c[EIGHT], z[EIGHT];
    for (uint32_t i = 0; i < EIGHT; i++) {
      a[i] = drawn_halves(hu_stream_word(words, 3 * (done + i)));
      b[i] = drawn_halves(hu_stream_word(words, 3 * (done + i) + 1));
      c[i] = z[i] = hu_stream_word(words, 3 * (done + i) + 2);
    }
    add(z, a, b);
    for (uint32_t i = 0; i < EIGHT; i++) {
      compare(tally, (uint64_t)a[i] << 32 | b[i], z[i], two_products(c[i], a[i], b[i]), 8);
    }
  }
}
