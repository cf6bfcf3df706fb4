/* SPDX-License-Identifier: MIT */
/* cli/question/random.h - random numbers of a search: the same seed asks the same questions. */
#ifndef HALFULP_CLI_QUESTION_RANDOM_H
#define HALFULP_CLI_QUESTION_RANDOM_H

#include <stdint.h>

typedef struct id_random {
  uint64_t state;
} id_random;

/* Returns the next word of SplitMix64 (G. Steele, D. Lea, C. Flood 2014). */
static inline uint64_t id_random_next(id_random *random) {
  uint64_t z = random->state += 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}

/* Draws one of 0 ... n - 1. */
static inline uint64_t id_random_below(id_random *random, uint64_t n) { return id_random_next(random) % n; }
/* Draws one of low ... high, both included. */
static inline int id_random_from(id_random *random, int low, int high) {
  return high <= low ? low : low + (int)id_random_below(random, (uint64_t)(high - low) + 1);
}
/* Returns 1 in `times` cases of a hundred. */
static inline int id_random_chance(id_random *random, unsigned times) { return id_random_below(random, 100) < times; }

#endif
