/* SPDX-License-Identifier: MIT */
/* tests/s2fp8/model.h - shifted and squeezed tensors by MPFR, written from docs/s2fp8.md alone. Shares no code with the
 * emulator. Aborts where memory or the oracle fails. */
#ifndef HALFULP_TESTS_S2FP8_MODEL_H
#define HALFULP_TESTS_S2FP8_MODEL_H

#include <gmp.h>

#include "halfulp/s2fp8.h"

/* What section 3 says of n elements; sum is initialised by the caller. */
typedef struct model_stats {
  mpz_t sum;
  uint64_t count, special;
  int64_t mean, mu, m;
  float alpha, beta, top;
} model_stats;
void model_look(model_stats *z, size_t n, const float *x, int target);
/* L of a finite x other than 0, in units. */
int64_t model_log2(float x);
/* The map in doubt of which all else is. */
typedef struct model_map {
  hu_s2fp8 kind;
  int target;
  int64_t mu, m;
} model_map;
/* alpha and beta of a map; and mu and m from a stored pair: 0 if it is refused. */
void model_record(const model_map *map, float *alpha, float *beta);
int model_stored(model_map *map, float alpha, float beta);
uint32_t model_code(const model_map *map, hu_mode mode, float x, uint32_t random, uint32_t *events);
float model_value(const model_map *map, uint32_t code);

#endif
