/* SPDX-License-Identifier: MIT */
/* gpu/base/words.cuh - random words on a device: those of emu/core/stream.h. Instructions for products of 32 by 32
 * digits are named, since nvcc makes more than one of each product. */
#ifndef HALFULP_GPU_WORDS_CUH
#define HALFULP_GPU_WORDS_CUH

#include "emu/core/stream.h"
#include "gpu/base/launch.cuh"

/* The keys of all rounds. As a parameter of a kernel they are operands of its instructions and need no addition. */
typedef struct hu_word_keys {
  uint32_t k[2 * HU_PHILOX_ROUNDS];
} hu_word_keys;

static __host__ __device__ inline hu_word_keys hui_word_keys_of(uint64_t key) {
  hu_word_keys keys;
  for (uint32_t round = 0; round < HU_PHILOX_ROUNDS; round++) {
    keys.k[2 * round] = (uint32_t)key + round * HU_PHILOX_W0;
    keys.k[2 * round + 1] = (uint32_t)(key >> 32) + round * HU_PHILOX_W1;
  }
  return keys;
}

#if defined(__CUDA_ARCH__)
/* Computes the two halves of M a. */
template <uint32_t M>
HU_DEVICE void hui_wide_product(uint32_t a, uint32_t *high, uint32_t *low) {
  asm("{\n\t.reg .b64 p;\n\tmul.wide.u32 p, %2, %3;\n\tmov.b64 {%0, %1}, p;\n\t}"
      : "=r"(*low), "=r"(*high)
      : "r"(a), "n"(M));
}

HU_DEVICE uint32_t hui_xor_of_three(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t z;
  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(z) : "r"(a), "r"(b), "r"(c));
  return z;
}

/* Computes hui_stream_block. In the first round the operand of the second product is zero. */
HU_DEVICE hu_philox hui_words_block(const hu_word_keys &keys, uint64_t block) {
  uint32_t high, c0, c1 = 0, c2, c3;
  hui_wide_product<HU_PHILOX_M0>((uint32_t)block, &high, &c3);
  c0 = (uint32_t)(block >> 32) ^ keys.k[0];
  c2 = high ^ keys.k[1];
#pragma unroll
  for (int round = 1; round < HU_PHILOX_ROUNDS; round++) {
    uint32_t high0, low0, high1, low1;
    hui_wide_product<HU_PHILOX_M0>(c0, &high0, &low0);
    hui_wide_product<HU_PHILOX_M1>(c2, &high1, &low1);
    c0 = round == 1 ? high1 ^ keys.k[2 * round] : hui_xor_of_three(high1, c1, keys.k[2 * round]);
    c1 = low1;
    c2 = hui_xor_of_three(high0, c3, keys.k[2 * round + 1]);
    c3 = low0;
  }
  hu_philox z = {{c0, c1, c2, c3}};
  return z;
}
#else
HU_DEVICE hu_philox hui_words_block(const hu_word_keys &keys, uint64_t block) {
  return hui_stream_block((uint64_t)keys.k[1] << 32 | keys.k[0], block);
}
#endif

/* Makes random words c .. c + 4 Fours - 1 from `Fours` blocks, and one more where c is not a multiple of four. */
template <int Fours>
HU_DEVICE void hui_words_run(const hu_word_keys &keys, uint64_t c, uint32_t words[4 * Fours]) {
#pragma unroll
  for (int four = 0; four < Fours; four++) {
    hu_philox block = hui_words_block(keys, ((c >> 2) + (uint64_t)four) & (~(uint64_t)0 >> 2));
#pragma unroll
    for (int j = 0; j < 4; j++) words[4 * four + j] = block.words[j];
  }
  if ((c & 3) == 0) return;
  hu_philox last = hui_words_block(keys, ((c >> 2) + Fours) & (~(uint64_t)0 >> 2));
#pragma unroll
  for (int j = 0; j < 4 * Fours; j++) { /* c % 4 places down */
    uint32_t one = j + 1 < 4 * Fours ? words[(j + 1) % (4 * Fours)] : last.words[(j + 1) & 3];
    uint32_t two = j + 2 < 4 * Fours ? words[(j + 2) % (4 * Fours)] : last.words[(j + 2) & 3];
    uint32_t three = j + 3 < 4 * Fours ? words[(j + 3) % (4 * Fours)] : last.words[(j + 3) & 3];
    words[j] = (c & 3) == 1 ? one : (c & 3) == 2 ? two : three;
  }
}

/* Makes the random words of elements i .. i + 3. */
HU_DEVICE void hui_words(hu_stream stream, uint64_t i, uint32_t words[4]) {
  hui_words_run<1>(hui_word_keys_of(stream.key), stream.counter + i, words);
}

/* Returns word i, without an index into registers, which would go through local memory. */
HU_DEVICE uint32_t hui_word(hu_stream stream, uint64_t i) {
  uint64_t c = stream.counter + i;
  hu_philox block = hui_words_block(hui_word_keys_of(stream.key), c >> 2);
  uint32_t lo = c & 1 ? block.words[1] : block.words[0], hi = c & 1 ? block.words[3] : block.words[2];
  return c & 2 ? hi : lo;
}

#endif
