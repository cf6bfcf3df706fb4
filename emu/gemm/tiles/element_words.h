/* SPDX-License-Identifier: MIT */
/* emu/gemm/tiles/element_words.h - the random words of the elements of a tile, those of docs/numerics.md section 11.3,
 * in lanes: element e's block q has the words of four roundings. The first two rounds of Philox mostly depend on e or q
 * alone. For kernels, on the hooks that emu/gemm/seq_lanes.c describes. */
#ifndef HALFULP_EMU_GEMM_TILES_ELEMENT_WORDS_H
#define HALFULP_EMU_GEMM_TILES_ELEMENT_WORDS_H

#include "emu/core/stream.h"

#define WORD_FN static inline __attribute__((always_inline, unused))

/* Rows side by side in modes with random words. */
#define MODE_DRAWN (HU_LEVEL_REGISTERS == 32 ? 2 : 1)
#define MODE_GROUPS (2 * MODE_DRAWN)

/* The blocks of SEQ_LANES elements of MODE_DRAWN rows, of each those of even columns and those of odd ones, one to a
 * 64-bit lane. What is known of them before k is: of the first round the product of word 0, of the second that of
 * word 2. */
typedef struct mode_blocks {
  seq_u high[MODE_GROUPS], first[MODE_GROUPS], second[MODE_GROUPS];
} mode_blocks;

typedef struct mode_keys {
  seq_u k0[HU_PHILOX_ROUNDS], k1[HU_PHILOX_ROUNDS];
  uint32_t low;
} mode_keys;

WORD_FN mode_keys keys_of(uint64_t key) {
  mode_keys z;
  for (uint32_t i = 0; i < HU_PHILOX_ROUNDS; i++) {
    z.k0[i] = wide_all((uint32_t)key + i * HU_PHILOX_W0);
    z.k1[i] = wide_all((uint32_t)(key >> 32) + i * HU_PHILOX_W1);
  }
  z.low = (uint32_t)key;
  return z;
}

/* Returns the blocks of an element; q_high: word 3 of the counter; pitch: elements of a row. */
WORD_FN mode_blocks blocks_of(const mode_keys *key, uint64_t element, uint64_t pitch, uint32_t q_high) {
  mode_blocks z;
  for (uint32_t group = 0; group < MODE_GROUPS; group++) {
    seq_u counter = wide_plus(wide_all(element + group / 2 * pitch + group % 2), wide_twice_order());
    z.high[group] = wide_high(counter);
    z.first[group] = wide_mul(counter, wide_all(HU_PHILOX_M0));
    seq_u word2 = wide_xor3(wide_high(z.first[group]), wide_all(q_high), key->k1[0]);
    z.second[group] = wide_mul(word2, wide_all(HU_PHILOX_M1));
  }
  return z;
}

/* The words of steps 4 (q - 1) ... of all lanes, those of row r from 4 r on. The high halves of 64-bit lanes may hold
 * anything. */
WORD_FN void words_of(const mode_keys *key, const mode_blocks *from, uint32_t q_low, seq_u *words) {
  const seq_u m0 = wide_all(HU_PHILOX_M0), m1 = wide_all(HU_PHILOX_M1);
  const uint64_t p1 = (uint64_t)HU_PHILOX_M1 * q_low;
  seq_u c0[MODE_GROUPS], c1[MODE_GROUPS], c2[MODE_GROUPS], c3[MODE_GROUPS];
  HU_UNROLL
  for (size_t group = 0; group < MODE_GROUPS; group++) {
    seq_u word0 = wide_xor(from->high[group], wide_all((uint32_t)(p1 >> 32) ^ key->low));
    c3[group] = wide_mul(word0, m0);
    c2[group] = wide_xor3(wide_high(c3[group]), from->first[group], key->k1[1]);
    c1[group] = from->second[group];
    c0[group] = wide_xor(wide_high(from->second[group]), wide_all((uint32_t)p1 ^ (key->low + HU_PHILOX_W0)));
  }
  HU_UNROLL
  for (size_t i = 2; i < HU_PHILOX_ROUNDS; i++) {
    HU_UNROLL
    for (size_t group = 0; group < MODE_GROUPS; group++) {
      seq_u p0 = wide_mul(c0[group], m0), p2 = wide_mul(c2[group], m1);
      c0[group] = wide_xor3(wide_high(p2), c1[group], key->k0[i]);
      c2[group] = wide_xor3(wide_high(p0), c3[group], key->k1[i]);
      c1[group] = p2;
      c3[group] = p0;
    }
  }
  HU_UNROLL
  for (size_t i = 0; i < MODE_DRAWN; i++) {
    words[4 * i] = wide_join(c0[2 * i], c0[2 * i + 1]);
    words[4 * i + 1] = wide_join(c1[2 * i], c1[2 * i + 1]);
    words[4 * i + 2] = wide_join(c2[2 * i], c2[2 * i + 1]);
    words[4 * i + 3] = wide_join(c3[2 * i], c3[2 * i + 1]);
  }
}

#endif
