/* SPDX-License-Identifier: MIT */
/* emu/gemm/tiles/vector_floats.h - the hooks of emu/gemm/seq_lanes.c that steps ask for, on the compiler's own vectors
 * (emu/simd/vector.h). */
#ifndef HALFULP_EMU_GEMM_TILES_VECTOR_FLOATS_H
#define HALFULP_EMU_GEMM_TILES_VECTOR_FLOATS_H

#include <string.h>

#include "emu/simd/vector.h"

#define SEQ_LANES 4
#define SEQ_OP static inline __attribute__((always_inline, unused))

typedef lane_floats seq_f;
typedef hu_lane seq_u;

SEQ_OP seq_f seq_all(float x) { return (seq_f){x, x, x, x}; }
SEQ_OP seq_u seq_each(uint32_t bits) { return HU_ALL(bits); }
SEQ_OP seq_f seq_load(const float *x) {
  seq_f z;
  memcpy(&z, x, sizeof z);
  return z;
}
SEQ_OP void seq_store(float *z, seq_f x) { memcpy(z, &x, sizeof x); }
SEQ_OP seq_u seq_bits(seq_f x) { return (seq_u)x; }
SEQ_OP seq_f seq_value(seq_u bits) { return (seq_f)bits; }
SEQ_OP seq_f seq_mul(seq_f a, seq_f b) { return a * b; }
SEQ_OP seq_f seq_add(seq_f a, seq_f b) { return a + b; }
SEQ_OP seq_f seq_sub(seq_f a, seq_f b) { return a - b; }
SEQ_OP seq_u seq_and(seq_u x, seq_u y) { return x & y; }
SEQ_OP seq_u seq_or_and(seq_u x, seq_u y, seq_u m) { return x | (y & m); }
SEQ_OP seq_u seq_and_not(seq_u x, seq_u y) { return x & ~y; }
SEQ_OP seq_u seq_plus(seq_u x, seq_u y) { return x + y; }
SEQ_OP seq_u seq_minus(seq_u x, seq_u y) { return x - y; }
SEQ_OP seq_u seq_down(seq_u x, uint32_t n) { return x >> n; }
SEQ_OP seq_u seq_negative(seq_u x) { return (seq_u)((hu_ilane)x >> 31); }
/* Compares as integers with a sign, 2^31 taken away from both. */
SEQ_OP seq_u vector_below(seq_u x, seq_u y) {
  const seq_u half = HU_ALL(0x80000000u);
  return (seq_u)((hu_ilane)(x ^ half) < (hu_ilane)(y ^ half));
}
SEQ_OP seq_u seq_least(seq_u x, seq_u y) { return hui_mask_sel(vector_below(x, y), x, y); }
SEQ_OP seq_u seq_most(seq_u x, seq_u y) { return hui_mask_sel(vector_below(x, y), y, x); }
SEQ_OP seq_u seq_if_zero(seq_u x, seq_u yes, seq_u no) { return hui_mask_sel((seq_u)(x == HU_ALL(0)), yes, no); }
SEQ_OP seq_f seq_if_larger(seq_f x, seq_f y, seq_f yes, seq_f no) {
  const seq_u size = HU_ALL(0x7FFFFFFFu);
  seq_u less = (seq_u)((hu_ilane)((seq_u)y & size) > (hu_ilane)((seq_u)x & size));
  return (seq_f)hui_mask_sel(less, (seq_u)no, (seq_u)yes);
}
SEQ_OP uint32_t seq_which_from(seq_u x, seq_u bits) { return mask_bits(~vector_below(x, bits)); }

SEQ_OP seq_u wide_all(uint64_t x) { return (seq_u)hui_lane64_all(x); }
SEQ_OP seq_u wide_plus(seq_u x, seq_u y) { return (seq_u)((hu_lane64)x + (hu_lane64)y); }
SEQ_OP seq_u wide_mul(seq_u x, seq_u y) { return (seq_u)hui_lane64_mul((hu_lane64)x, (hu_lane64)y); }
SEQ_OP seq_u wide_high(seq_u x) { return (seq_u)((hu_lane64)x >> 32); }
SEQ_OP seq_u wide_xor(seq_u x, seq_u y) { return x ^ y; }
SEQ_OP seq_u wide_xor3(seq_u x, seq_u y, seq_u z) { return x ^ y ^ z; }
SEQ_OP seq_u wide_twice_order(void) { return (seq_u)(hu_lane64){0, 2}; }
SEQ_OP seq_u wide_join(seq_u x, seq_u y) {
  return (seq_u)(((hu_lane64)x & hui_lane64_all(0xFFFFFFFFu)) | ((hu_lane64)y << 32));
}

#endif
