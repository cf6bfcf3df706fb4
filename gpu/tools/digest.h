/* SPDX-License-Identifier: MIT */
/* gpu/tools/digest.h - computes one number from the codes and event counts of very many inputs, the same on the CPU and
 * on a device.
 *
 * Inputs are the binary32 patterns 0, stride, 2 stride, ... Each (input, code) pair is mixed into 64 bits, and these
 * words are added mod 2^64, so that the order does not matter. At the end the nine event counts of a conversion are
 * mixed in, in their order. The digest of a sum without rounding is that of the words of its record. */
#ifndef HALFULP_GPU_TOOLS_DIGEST_H
#define HALFULP_GPU_TOOLS_DIGEST_H

#include "emu/core/port.h"
#include "halfulp/mode.h"
#include "halfulp/sum.h"

HU_FN uint64_t hui_digest_mix(uint64_t z) {
  z *= 0x9E3779B97F4A7C15u;
  z ^= z >> 32;
  z *= 0xD6E8FEB86659FD93u;
  return z ^ (z >> 32);
}

HU_FN uint64_t hui_digest_pair(uint32_t input, uint32_t code) { return hui_digest_mix((uint64_t)input << 32 | code); }

static inline uint64_t hui_digest_finish(uint64_t sum, const hu_events *events) {
  const uint64_t counts[9] = {events->overflow, events->saturated, events->underflow,
                              events->to_zero,  events->subnormal, events->inexact,
                              events->invalid,  events->nan_in,    events->inf_in};
  for (int i = 0; i < 9; i++) sum = hui_digest_mix(sum + counts[i] + 1);
  return sum;
}

static inline uint64_t hui_digest_sum(const hu_sum *sum) {
  uint64_t z = hui_digest_mix(sum->terms + (uint64_t)1);
  for (int i = 0; i < HU_SUM_WORDS; i++) z = hui_digest_mix(z + sum->word[i] + 1);
  return z;
}

#ifdef __cplusplus
extern "C" {
#endif

/* Run on the device, in the default stream. The first makes x[i] = the pattern of input number first + i; the second
 * takes their codes of `storage` bits and adds the mixed pairs to *sum (device memory). */
hu_status hui_digest_inputs(uint32_t *x, uint64_t first, uint32_t stride, size_t n);
hu_status hui_digest_add(unsigned long long *sum, const void *codes, uint32_t storage, uint64_t first, uint32_t stride,
                         size_t n);

#ifdef __cplusplus
}
#endif
#endif
