/* SPDX-License-Identifier: MIT */
/* emu/simd/philox.h - the random words of emu/core/stream.h, HU_W Philox blocks a time. A convert_lanes_*.c defines
 * first
 *
 *   HU_W                    32-bit lanes in a vector
 *   hu_lane                 vectors of them
 *   hu_lane64               the same register as HU_W / 2 lanes of 64 bits
 *   hui_lane64_all(x)       the uint64_t x in every lane
 *   hui_lane64_order()      the lanes' block numbers: lane 2l + h has h HU_W / 4 + l
 *   hui_lane64_mul(a, b)    the 64-bit products of the low halves
 *   hui_lane64_high(a)      a >> 32
 *   hui_lane64_xor3(a, b, c)
 *   hui_lane64_join(z, c0, c1, c2, c3)  z[0], z[1]: the low halves of the four, lane 0 first, grouped by block, in the
 *                           order of block numbers
 *
 * A block has a 64-bit lane in each of four vectors, its words in their low halves. So a product comes out in its
 * place: the low half is one word, the high one, shifted down, what is xor-ed to another; what the high halves of the
 * words hold does not matter, as products take low halves only. */
#include "emu/core/stream.h"

typedef struct hu_schedule {
  hu_lane64 k0[HU_PHILOX_ROUNDS], k1[HU_PHILOX_ROUNDS];
} hu_schedule;

static inline hu_schedule hui_schedule_of(uint64_t key) {
  hu_schedule schedule;
  for (uint32_t r = 0; r < HU_PHILOX_ROUNDS; r++) {
    schedule.k0[r] = hui_lane64_all((uint32_t)key + r * HU_PHILOX_W0);
    schedule.k1[r] = hui_lane64_all((uint32_t)(key >> 32) + r * HU_PHILOX_W1);
  }
  return schedule;
}

/* Two groups of HU_W / 2 blocks side by side, as each waits for its own products. */
typedef struct hu_philox_blocks {
  hu_lane64 c0[2], c1[2], c2[2], c3[2];
} hu_philox_blocks;

/* The blocks block, block + 1, ... after the first two rounds, which know that words 2 and 3 of the counter are 0. */
static inline __attribute__((always_inline)) hu_philox_blocks hui_philox_blocks_at(const hu_schedule *key,
                                                                                   uint64_t block) {
  const hu_lane64 m0 = hui_lane64_all(HU_PHILOX_M0), m1 = hui_lane64_all(HU_PHILOX_M1);
  hu_philox_blocks state;
  HU_UNROLL for (int group = 0; group < 2; group++) {
    hu_lane64 counter = hui_lane64_all(block + (uint64_t)group * (HU_W / 2)) + hui_lane64_order();
    counter &= hui_lane64_all(0x3FFFFFFFFFFFFFFFu);
    hu_lane64 first = hui_lane64_mul(counter, m0), second = hui_lane64_mul(hui_lane64_high(counter) ^ key->k0[0], m0);
    state.c1[group] = hui_lane64_mul(hui_lane64_high(first) ^ key->k1[0], m1);
    state.c0[group] = hui_lane64_high(state.c1[group]) ^ key->k0[1];
    state.c2[group] = hui_lane64_xor3(hui_lane64_high(second), first, key->k1[1]);
    state.c3[group] = second;
  }
  return state;
}

/* Computes the remaining rounds; returns the 4 HU_W words, in order. */
static inline __attribute__((always_inline)) void hui_philox_words(hu_lane z[4], const hu_schedule *key,
                                                                   hu_philox_blocks state) {
  const hu_lane64 m0 = hui_lane64_all(HU_PHILOX_M0), m1 = hui_lane64_all(HU_PHILOX_M1);
  HU_UNROLL for (int r = 2; r < HU_PHILOX_ROUNDS; r++) {
    HU_UNROLL for (int group = 0; group < 2; group++) {
      hu_lane64 p0 = hui_lane64_mul(state.c0[group], m0), p1 = hui_lane64_mul(state.c2[group], m1);
      state.c0[group] = hui_lane64_xor3(hui_lane64_high(p1), state.c1[group], key->k0[r]);
      state.c2[group] = hui_lane64_xor3(hui_lane64_high(p0), state.c3[group], key->k1[r]);
      state.c1[group] = p1;
      state.c3[group] = p0;
    }
  }
  HU_UNROLL for (int group = 0; group < 2; group++)
      hui_lane64_join(z + 2 * group, state.c0[group], state.c1[group], state.c2[group], state.c3[group]);
}

/* A run of consecutive blocks whose numbers have one upper half: what follows from it alone is made once, and the
 * product of the lower half goes up by steps. */
typedef struct hu_philox_run {
  hu_lane64 first[2], /* the first round's product */
      c3,             /* word 3 after the second round */
      c2;             /* what word 2 is made with */
} hu_philox_run;

/* How many times HU_W blocks such a run has from `block` on. */
static inline uint64_t hui_philox_run_length(uint64_t block) { return (0x100000000u - (uint32_t)block) / HU_W; }

static inline __attribute__((always_inline)) hu_philox_run hui_philox_run_at(uint64_t key, uint64_t block) {
  hu_philox_run series;
  uint32_t upper = (uint32_t)(block >> 32) & 0x3FFFFFFFu;
  uint64_t second = (uint64_t)HU_PHILOX_M0 * (upper ^ (uint32_t)key);
  for (int group = 0; group < 2; group++) {
    series.first[group] =
        hui_lane64_mul(hui_lane64_all((uint32_t)block + (uint64_t)group * (HU_W / 2)) + hui_lane64_order(),
                       hui_lane64_all(HU_PHILOX_M0));
  }
  series.c3 = hui_lane64_all((uint32_t)second);
  series.c2 = hui_lane64_all((uint32_t)(second >> 32) ^ ((uint32_t)(key >> 32) + HU_PHILOX_W1));
  return series;
}

static inline __attribute__((always_inline)) hu_philox_blocks hui_philox_run_next(hu_philox_run *series,
                                                                                  const hu_schedule *key) {
  hu_philox_blocks state;
  HU_UNROLL for (int group = 0; group < 2; group++) {
    state.c1[group] = hui_lane64_mul(hui_lane64_high(series->first[group]) ^ key->k1[0], hui_lane64_all(HU_PHILOX_M1));
    state.c0[group] = hui_lane64_high(state.c1[group]) ^ key->k0[1];
    state.c2[group] = series->first[group] ^ series->c2;
    state.c3[group] = series->c3;
    series->first[group] += hui_lane64_all((uint64_t)HU_W * HU_PHILOX_M0);
  }
  return state;
}
