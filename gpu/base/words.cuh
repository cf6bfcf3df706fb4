/* SPDX-License-Identifier: MIT */
/* gpu/base/words.cuh - random words on a device: those of emu/core/stream.h, whose products of 32 by 32 digits are
 * named, since nvcc makes more of them than one instruction each. */
#ifndef HALFULP_GPU_WORDS_CUH
#define HALFULP_GPU_WORDS_CUH

#include "emu/core/stream.h"
#include "gpu/base/launch.cuh"

#if defined(__CUDA_ARCH__)
HU_DEVICE uint64_t hu_wide_product(uint32_t a, uint32_t b) {
  uint64_t z;
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(z) : "r"(a), "r"(b));
  return z;
}

/* hu_stream_block. */
HU_DEVICE hu_philox hu_words_block(uint64_t key, uint64_t block) {
  uint32_t c0 = (uint32_t)block, c1 = (uint32_t)(block >> 32), c2 = 0, c3 = 0;
  uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
#pragma unroll
  for (int r = 0; r < HU_PHILOX_ROUNDS; r++) {
    uint64_t p0 = hu_wide_product(HU_PHILOX_M0, c0), p1 = hu_wide_product(HU_PHILOX_M1, c2);
    c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
    c1 = (uint32_t)p1;
    c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
    c3 = (uint32_t)p0;
    k0 += HU_PHILOX_W0;
    k1 += HU_PHILOX_W1;
  }
  hu_philox z = {{c0, c1, c2, c3}};
  return z;
}
#else
HU_DEVICE hu_philox hu_words_block(uint64_t key, uint64_t block) { return hu_stream_block(key, block); }
#endif

/* The random words of elements i .. i + 3. Where the stream's counter is no multiple of four, two blocks. */
HU_DEVICE void hu_words(hu_stream s, uint64_t i, uint32_t w[4]) {
  uint64_t c = s.counter + i;
  uint32_t phase = (uint32_t)c & 3;
  hu_philox b = hu_words_block(s.key, c >> 2);
  hu_philox d = b;
  if (phase) d = hu_words_block(s.key, ((c >> 2) + 1) & (~(uint64_t)0 >> 2));
  w[0] = phase == 0 ? b.w[0] : phase == 1 ? b.w[1] : phase == 2 ? b.w[2] : b.w[3];
  w[1] = phase == 0 ? b.w[1] : phase == 1 ? b.w[2] : phase == 2 ? b.w[3] : d.w[0];
  w[2] = phase == 0 ? b.w[2] : phase == 1 ? b.w[3] : phase == 2 ? d.w[0] : d.w[1];
  w[3] = phase == 0 ? b.w[3] : phase == 1 ? d.w[0] : phase == 2 ? d.w[1] : d.w[2];
}

/* Word i; run-time indices into registers would go through local memory. */
HU_DEVICE uint32_t hu_word(hu_stream s, uint64_t i) {
  uint64_t c = s.counter + i;
  hu_philox b = hu_words_block(s.key, c >> 2);
  uint32_t lo = c & 1 ? b.w[1] : b.w[0], hi = c & 1 ? b.w[3] : b.w[2];
  return c & 2 ? hi : lo;
}

#endif
