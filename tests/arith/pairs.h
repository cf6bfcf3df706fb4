/* SPDX-License-Identifier: MIT */
/* tests/arith/pairs.h - all pairs of binary16 and of bfloat16 under add and mul, ties to even, as one number each: of
 * every 1021st first operand ("some"), and of all 65,536 ("all": 2^32 pairs). The same on the CPU and on a device. */
#ifndef HALFULP_TESTS_ARITH_PAIRS_H
#define HALFULP_TESTS_ARITH_PAIRS_H

#include <string.h>

#include "halfulp/formats/ieee.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

enum { PAIRS_CODES = 65536, PAIRS_SOME = 1021 };

typedef struct pairs_row {
  const char *name;
  int mul, bfloat;
  uint64_t some, all; /* recorded from the lanes of a CPU */
} pairs_row;

static const pairs_row pairs_rows[] = {
    {"binary16 add", 0, 0, 0xb07e1c1ccdaa1941, 0x7a7e291f656e5ed2},
    {"binary16 mul", 1, 0, 0x32c6091df7bd9ff9, 0xd1aa73f8f44f1ecd},
    {"bfloat16 add", 0, 1, 0x53eaeec2a9bd799a, 0xce0ecd9c9a85dcc7},
    {"bfloat16 mul", 1, 1, 0x2d8a0531f1d5a842, 0xbfde69f2aab912c3},
};
enum { PAIRS_ROWS = sizeof pairs_rows / sizeof pairs_rows[0] };

static inline hu_format pairs_format(const pairs_row *row) { return row->bfloat ? hu_bfloat16() : hu_binary16(); }

/* Every code, the second operands of each call. */
static inline void pairs_fill(uint16_t b[PAIRS_CODES]) {
  for (uint32_t i = 0; i < PAIRS_CODES; i++) b[i] = (uint16_t)i;
}

/* z = a op b for every b; counts added to *events. */
typedef void (*pairs_operate)(void *context, const pairs_row *row, uint16_t a, uint16_t z[PAIRS_CODES],
                              hu_events *events);

static inline uint64_t pairs_mix(uint64_t z) {
  z *= 0x9E3779B97F4A7C15u;
  z ^= z >> 32;
  z *= 0xD6E8FEB86659FD93u;
  return z ^ (z >> 32);
}

/* The sum of the mixed (a, b, result) mod 2^64 and of the mixed event counts. */
static inline uint64_t pairs_digest(const pairs_row *row, uint32_t step, pairs_operate operate, void *context) {
  static uint16_t z[PAIRS_CODES];
  uint64_t counts[10], sum = 0;
  hu_events events = {0};
  for (uint32_t a = 0; a < PAIRS_CODES; a += step) {
    operate(context, row, (uint16_t)a, z, &events);
    for (uint32_t i = 0; i < PAIRS_CODES; i++) sum += pairs_mix((uint64_t)a << 48 | (uint64_t)i << 32 | z[i]);
  }
  memcpy(counts, &events, sizeof counts); /* ten counts in the order of the event bits */
  for (unsigned i = 0; i < 10; i++) sum += pairs_mix(counts[i] + ((uint64_t)i << 60));
  return sum;
}

/* Compares with what is recorded. */
static inline void pairs_check(const pairs_row *row, uint32_t step, pairs_operate operate, void *context,
                               const char *how) {
  uint64_t got = pairs_digest(row, step, operate, context), expected = step == 1 ? row->all : row->some;
  uint64_t pairs = (uint64_t)((PAIRS_CODES - 1) / step + 1) * PAIRS_CODES;
  if (got != expected)
    fail_msg("%s, %s: %016llx, recorded %016llx", row->name, how, (unsigned long long)got,
             (unsigned long long)expected);
  print_message("%s, %s: %llu pairs, digest %016llx\n", row->name, how, (unsigned long long)pairs,
                (unsigned long long)got);
}

#endif
