/* SPDX-License-Identifier: MIT */
/* tests/support/support.h - helpers shared by all tests. Needs libhalfulp (public headers only), not cmocka.
 *
 *   uint64_t seed = t_seed("array", 1);             // HU_TEST_SEED if set, else 1; printed
 *   t_random random = {seed};
 *   hu_format format = t_random_format(&random, 1, 16); // any valid descriptor of 1 to 16 bits
 *   for (size_t i = 0; i < T_DETERMINISTIC; i++) ... t_mode(i) ...
 *
 * "Equal" is t_same_*: equal bits, so -0 differs from +0 and two NaNs are equal only with equal payloads. */
#ifndef HALFULP_TESTS_SUPPORT_H
#define HALFULP_TESTS_SUPPORT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "halfulp/format.h"
#include "halfulp/mode.h"
#include "tests/support/random.h"

/* The seed of a test: the environment variable HU_TEST_SEED (decimal or 0x hex) if it is set, else `fallback`. Prints
 * "name: seed N (HU_TEST_SEED overrides)" to stdout, so that a failing run can be repeated. */
uint64_t t_seed(const char *name, uint64_t fallback);

/* n repetitions of a random test, or as many percent of them as the environment variable HU_TEST_COUNT (1 ... 100)
 * says, at least one: for tools that make a test a hundred times as slow. What a test says about all of its cases it
 * says only where t_part(100) is 100. */
unsigned t_part(unsigned n);
/* The same; and a quarter of them under a sanitizer, which looks for other things than wrong bits. */
static inline unsigned t_runs(unsigned n) {
#ifdef __SANITIZE_ADDRESS__
  return t_part(n / 4);
#else
  return t_part(n);
#endif
}

/* Bits of floats and back; here, so that loops over them become vectors. */
static inline uint32_t t_bits32(float x) {
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}

static inline uint64_t t_bits64(double x) {
  uint64_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}

static inline float t_float(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static inline double t_double(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

int t_same32(float a, float b);
int t_same64(double a, double b);

/* Code number i of an array of codes of 1, 2 or 4 bytes. */
uint32_t t_get(const void *x, size_t size, ptrdiff_t i);
void t_put(void *z, size_t size, ptrdiff_t i, uint32_t code);

/* Fills n bytes with a pattern (0xA5 ^ index low bits) so that "never written" shows; t_is_pattern says whether all n
 * bytes at offset 0 still hold it. */
void t_fill_pattern(void *z, size_t n);
int t_is_pattern(const void *z, size_t n);

/* Modes. t_mode(i), i < T_DETERMINISTIC: the deterministic roundings in order of their numbers, all else zero.
 * t_stochastic(round, bits): one of HU_SRA, HU_SRB, HU_SRC. t_policy returns `mode` with these policies. */
#define T_DETERMINISTIC 8
hu_mode t_mode(unsigned round);
hu_mode t_stochastic(unsigned round, unsigned bits);
hu_mode t_policy(hu_mode mode, unsigned saturate, unsigned tiny, unsigned nan);
/* Any valid mode, stochastic ones included. */
hu_mode t_random_mode(t_random *random);
/* "rne sat=0 tiny=0 nan=0 fma=0"; returns text. */
#define T_MODE_TEXT 64
const char *t_mode_text(char text[T_MODE_TEXT], hu_mode mode);

/* Formats. t_random_format: a valid descriptor (hu_format_check) of min_width to max_width bits; every axis and every
 * legal combination can come out. t_random_descriptor: any descriptor near validity, valid or not.
 * t_format_text: all axes as numbers, for messages about any descriptor; the fp(...) text as well if it is valid. */
hu_format t_random_format(t_random *random, unsigned min_width, unsigned max_width);
hu_format t_random_descriptor(t_random *random);
/* Any code of the format; and of an integer of `width` bits, below its sign bit's repetition in all bits above, or
 * nothing. */
uint32_t t_random_code(t_random *random, hu_format format);
uint32_t t_random_integer(t_random *random, unsigned width);
#define T_FORMAT_TEXT 256
const char *t_format_text(char text[T_FORMAT_TEXT], hu_format format);
/* Index of the next catalogue entry at or after `i` with at most `max_width` bits; hu_format_count() if none:
 *   for (size_t i = t_next_format(0, 8); i < hu_format_count(); i = t_next_format(i + 1, 8)) */
size_t t_next_format(size_t i, unsigned max_width);

/* A double that is interesting for a format: zeros, infinities, NaNs, its values, midpoints of neighbours, these moved
 * by a few units of the double's last place, edges of the range, random bits, powers of two around the range. */
double t_random_operand(t_random *random, hu_format format);

/* Events. t_same_events: all counts equal. t_events_text: "overflow+inexact" of a set; returns text. */
int t_same_events(const hu_events *a, const hu_events *b);
#define T_EVENTS_TEXT 128
const char *t_events_text(char text[T_EVENTS_TEXT], uint32_t events);

#endif
