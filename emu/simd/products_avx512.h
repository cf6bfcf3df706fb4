/* SPDX-License-Identifier: MIT */
/* emu/simd/products_avx512.h - the vectors of emu/gemm/seq_lanes_body.h and emu/gemm/unfused_lanes_body.h under
 * AVX-512: sixteen lanes, rounding in either direction within the instruction. */
#ifndef HALFULP_EMU_SIMD_PRODUCTS_AVX512_H
#define HALFULP_EMU_SIMD_PRODUCTS_AVX512_H

#include "emu/core/port.h"

#if HU_X86_LEVELS
#include <immintrin.h>

#define SEQ_LANES 16
#define SEQ_OP static inline __attribute__((always_inline))

typedef __m512 seq_f;
typedef __m512i seq_u;

SEQ_OP seq_f seq_all(float x) { return _mm512_set1_ps(x); }
SEQ_OP seq_u seq_each(uint32_t u) { return _mm512_set1_epi32((int)u); }
SEQ_OP seq_f seq_load(const float *x) { return _mm512_loadu_ps(x); }
SEQ_OP void seq_store(float *z, seq_f x) { _mm512_storeu_ps(z, x); }
SEQ_OP seq_u seq_bits(seq_f x) { return _mm512_castps_si512(x); }
SEQ_OP seq_f seq_value(seq_u u) { return _mm512_castsi512_ps(u); }
SEQ_OP seq_f seq_mul(seq_f a, seq_f b) { return _mm512_mul_ps(a, b); }
SEQ_OP seq_f seq_add(seq_f a, seq_f b) { return _mm512_add_ps(a, b); }
SEQ_OP seq_f seq_sub(seq_f a, seq_f b) { return _mm512_sub_ps(a, b); }
SEQ_OP seq_f seq_fma(seq_f a, seq_f b, seq_f c) { return _mm512_fmadd_ps(a, b, c); }
SEQ_OP seq_f seq_fnma(seq_f a, seq_f b, seq_f c) { return _mm512_fnmadd_ps(a, b, c); }
SEQ_OP seq_u seq_and(seq_u x, seq_u y) { return _mm512_and_si512(x, y); }
SEQ_OP seq_u seq_or_and(seq_u x, seq_u y, seq_u m) { return _mm512_ternarylogic_epi32(x, y, m, 0xF8); }
SEQ_OP seq_u seq_and_or(seq_u x, seq_u m, seq_u y) { return _mm512_ternarylogic_epi32(x, m, y, 0xEA); }
SEQ_OP seq_u seq_plus(seq_u x, seq_u y) { return _mm512_add_epi32(x, y); }
SEQ_OP seq_u seq_max(seq_u x, seq_u y) { return _mm512_max_epi32(x, y); }
SEQ_OP seq_u seq_min(seq_u x, seq_u y) { return _mm512_min_epi32(x, y); }
SEQ_OP seq_u seq_least(seq_u x, seq_u y) { return _mm512_min_epu32(x, y); }
SEQ_OP seq_u seq_min16(seq_u x, seq_u y) { return _mm512_min_epi16(x, y); }
SEQ_OP seq_u seq_up(seq_u x, uint32_t n) { return _mm512_sllv_epi32(x, seq_each(n)); }
SEQ_OP seq_u seq_minus(seq_u x, seq_u y) { return _mm512_sub_epi32(x, y); }
SEQ_OP seq_u seq_if_zero(seq_u x, seq_u yes, seq_u no) {
  return _mm512_mask_mov_epi32(no, _mm512_testn_epi32_mask(x, x), yes);
}
/* |x| >= |y| ? yes : no */
SEQ_OP seq_f seq_if_larger(seq_f x, seq_f y, seq_f yes, seq_f no) {
  seq_u u = _mm512_slli_epi32(seq_bits(x), 1), v = _mm512_slli_epi32(seq_bits(y), 1);
  return _mm512_mask_mov_ps(no, _mm512_cmpge_epu32_mask(u, v), yes);
}
SEQ_OP int seq_any_from(seq_u x, uint32_t u, size_t n) {
  return (_mm512_cmpge_epu32_mask(x, seq_each(u)) & ((1u << n) - 1)) != 0;
}
SEQ_OP seq_f seq_first(size_t n, seq_f x, seq_f y) { return _mm512_mask_mov_ps(y, (__mmask16)((1u << n) - 1), x); }
SEQ_OP int seq_any_tie(seq_u x, int word, seq_u y, uint32_t u) {
  __mmask16 least = _mm512_cmpeq_epi32_mask(word ? _mm512_slli_epi32(x, 16) : x, seq_each(0x80000000u));
  if (u) return !_kortestz_mask16_u8(least, _mm512_cmplt_epi32_mask(y, seq_each(u)));
  return !_kortestz_mask16_u8(least, least);
}
SEQ_OP seq_f seq_odd(seq_f a, seq_f b, seq_f c) {
  seq_f down = _mm512_fmadd_round_ps(a, b, c, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  seq_f up = _mm512_fmadd_round_ps(a, b, c, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
  return _mm512_mask_mov_ps(up, _mm512_test_epi32_mask(seq_bits(down), seq_each(1)), down);
}

SEQ_OP seq_u seq_most(seq_u x, seq_u y) { return _mm512_max_epu32(x, y); }
SEQ_OP seq_u seq_and_not(seq_u x, seq_u y) { return _mm512_andnot_si512(y, x); }
SEQ_OP seq_u seq_negative(seq_u x) { return _mm512_srai_epi32(x, 31); }
SEQ_OP seq_u seq_down(seq_u x, uint32_t n) { return _mm512_srl_epi32(x, _mm_cvtsi32_si128((int)n)); }

/* The same register as lanes of 64 bits, for random words (emu/simd/philox.h). */
SEQ_OP seq_u wide_all(uint64_t x) { return _mm512_set1_epi64((long long)x); }
SEQ_OP seq_u wide_plus(seq_u x, seq_u y) { return _mm512_add_epi64(x, y); }
SEQ_OP seq_u wide_mul(seq_u x, seq_u y) { return _mm512_mul_epu32(x, y); }
SEQ_OP seq_u wide_high(seq_u x) { return _mm512_srli_epi64(x, 32); }
SEQ_OP seq_u wide_xor(seq_u x, seq_u y) { return _mm512_xor_si512(x, y); }
SEQ_OP seq_u wide_xor3(seq_u x, seq_u y, seq_u z) { return _mm512_ternarylogic_epi64(x, y, z, 0x96); }
SEQ_OP seq_u wide_twice_order(void) { return _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14); }
/* The low halves of x in even lanes, of y in odd ones. */
SEQ_OP seq_u wide_join(seq_u x, seq_u y) { return _mm512_mask_shuffle_epi32(x, 0xAAAA, y, (_MM_PERM_ENUM)0xA0); }
/* The lanes of x, a bit each, that are those of u or more, as integers without a sign. */
SEQ_OP uint32_t seq_which_from(seq_u x, seq_u u) { return _mm512_cmpge_epu32_mask(x, u); }
#endif

#endif
