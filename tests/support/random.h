/* SPDX-License-Identifier: MIT */
/* tests/support/random.h - deterministic pseudo-random numbers for tests and generators (SplitMix64). Header only, so
 * that the golden generator can use it without libhalfulp. One state is one stream; nothing global. */
#ifndef HALFULP_TESTS_RANDOM_H
#define HALFULP_TESTS_RANDOM_H

#include <stdint.h>

typedef struct t_random {
  uint64_t state;
} t_random;

static inline uint64_t t_next64(t_random *random) {
  uint64_t z = (random->state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/* The generator number `seed` of many: their states lie far apart. Seeds that differ by the constant above would make
 * one sequence, each begun a step later. */
static inline t_random t_random_of(uint64_t seed) {
  t_random random = {seed};
  random.state = t_next64(&random);
  return random;
}

static inline uint32_t t_next32(t_random *random) { return (uint32_t)(t_next64(random) >> 32); }

/* 0 .. n-1; n >= 1. The bias of less than n / 2^32 does not matter in tests. */
static inline uint32_t t_below(t_random *random, uint32_t n) {
  return (uint32_t)(((uint64_t)t_next32(random) * n) >> 32);
}

/* lo .. hi, both included. */
static inline int t_between(t_random *random, int lo, int hi) {
  return lo + (int)t_below(random, (uint32_t)(hi - lo) + 1u);
}

#endif
