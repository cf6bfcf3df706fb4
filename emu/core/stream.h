/* SPDX-License-Identifier: MIT */
/* emu/core/stream.h - random words as a pure function: Philox4x32-10.
 *
 * Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011); the constants and the order of
 * the words are those of Random123, whose known-answer vectors the tests hold this against. */
#ifndef HALFULP_EMU_CORE_STREAM_H
#define HALFULP_EMU_CORE_STREAM_H

#include "port.h"

#define HU_PHILOX_M0 0xD2511F53u
#define HU_PHILOX_M1 0xCD9E8D57u
#define HU_PHILOX_W0 0x9E3779B9u
#define HU_PHILOX_W1 0xBB67AE85u
#define HU_PHILOX_ROUNDS 10

typedef struct hu_philox {
  uint32_t words[4];
} hu_philox;

HU_FN hu_philox hui_philox4x32(hu_philox counter, uint32_t k0, uint32_t k1) {
  for (int r = 0; r < HU_PHILOX_ROUNDS; r++) {
    uint64_t p0 = (uint64_t)HU_PHILOX_M0 * counter.words[0];
    uint64_t p1 = (uint64_t)HU_PHILOX_M1 * counter.words[2];
    hu_philox digits;
    digits.words[0] = (uint32_t)(p1 >> 32) ^ counter.words[1] ^ k0;
    digits.words[1] = (uint32_t)p1;
    digits.words[2] = (uint32_t)(p0 >> 32) ^ counter.words[3] ^ k1;
    digits.words[3] = (uint32_t)p0;
    counter = digits;
    k0 += HU_PHILOX_W0;
    k1 += HU_PHILOX_W1;
  }
  return counter;
}

/* Returns the four words number 4 block ... 4 block + 3 of a key. */
HU_FN hu_philox hui_stream_block(uint64_t key, uint64_t block) {
  hu_philox counter;
  counter.words[0] = (uint32_t)block;
  counter.words[1] = (uint32_t)(block >> 32);
  counter.words[2] = 0;
  counter.words[3] = 0;
  return hui_philox4x32(counter, (uint32_t)key, (uint32_t)(key >> 32));
}

/* Word number c of a key (c = counter + i). */
HU_FN uint32_t hui_stream_at(uint64_t key, uint64_t c) { return hui_stream_block(key, c >> 2).words[c & 3]; }

#endif
