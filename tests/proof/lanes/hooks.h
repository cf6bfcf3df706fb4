/* SPDX-License-Identifier: MIT */
/* tests/proof/lanes/hooks.h - the hooks that theorems stand on, as functions of arrays: one table of a level's own
 * (hooks_level.c, compiled once a level), one of the texts of one_lane.h (hooks_plain.c). */
#ifndef HALFULP_TESTS_PROOF_LANES_HOOKS_H
#define HALFULP_TESTS_PROOF_LANES_HOOKS_H

#include <stddef.h>
#include <stdint.h>

/* z = the hook of n elements; n is a multiple of 16. A mask is 1 or 0. */
typedef void (*hook)(size_t n, uint32_t *z, const uint32_t *a, const uint32_t *b, const uint32_t *c);

/* X(name, what it is in terms of A, B and C, kind of operands, instruction of AVX2, of AVX-512, of NEON). Without an
 * instruction of its own: the compiler's vectors, on which GCC and clang define C's operators lane by lane. */
#define HOOKS(X)                                                                                            \
  X(add, A + B, ANY, "paddd", "vpaddd", "add")                                                              \
  X(subtract, A - B, ANY, "psubd", "vpsubd", "sub")                                                         \
  X(both, A &B, ANY, "pand", "vpandd", "and")                                                               \
  X(either, A | B, ANY, "por", "vpord", "orr")                                                              \
  X(differ, A ^ B, ANY, "pxor", "vpxord", "eor")                                                            \
  X(inverse, ~A, ANY, "pxor", "vpternlogd", "mvn")                                                          \
  X(up, A << (B & 31), ANY, "vpsllvd", "vpsllvd", "ushl")                                                   \
  X(down, A >> (B & 31), ANY, "vpsrlvd", "vpsrlvd", "ushl")                                                 \
  X(down_signed, (hu_lane)((hu_ilane)A >> 31), ANY, "psrad", "vpsrad", "sshr")                              \
  X(mask, HU_MASK(A == B), ANY, "pcmpeqd", "vpcmpeqd", "cmeq")                                              \
  X(mask_unsigned, HU_MASK(A <= B), ANY, "pminud, pcmpeqd", "vpcmpud", "cmhs")                              \
  X(mask_signed, HU_MASK((hu_ilane)A < (hu_ilane)B), ANY, "pcmpgtd", "vpcmpd", "cmgt")                      \
  X(all, HU_ALL(0x80000001u) + A, ANY, "vpbroadcastd", "vpbroadcastd", "dup")                               \
  X(hold, HU_HOLD(A), ANY, "none", "none", "none")                                                          \
  X(mask_lt, BIT(hui_mask_lt(A, B)), ANY, "pcmpgtd", "vpcmpd", "cmgt")                                      \
  X(mask_eq, BIT(hui_mask_eq(A, B)), ANY, "pcmpeqd", "vpcmpd", "cmeq")                                      \
  X(mask_test, BIT(hui_mask_test(A, B & 0x7FFFFFFFu)), ANY, "pand, pcmpgtd", "vptestmd", "cmtst")           \
  X(mask_or, BIT(hui_mask_or(hui_mask_lt(A, B), hui_mask_lt(B, C))), ANY, "por", "korw", "orr")             \
  X(mask_andnot, BIT(hui_mask_andnot(hui_mask_lt(A, B), hui_mask_lt(B, C))), ANY, "pandn", "kandnw", "bic") \
  X(mask_sel, hui_mask_sel(hui_mask_lt(A, B), B, C), ANY, "vpblendvb", "vpblendmd", "bsl")                  \
  X(mask_keep, hui_mask_keep(hui_mask_lt(A, B), C), ANY, "pand", "vmovdqa32", "and")                        \
  X(mask_larger, hui_mask_larger(A & 0x7F800000u, B & 0x7F800000u), ANY, "vpmaxsd", "vpmaxsd", "smax")      \
  X(lane_larger, hui_lane_larger(A, B), ANY, "vpmaxsd", "vpmaxsd", "smax")                                  \
  X(lane_smaller, hui_lane_smaller(A, B), ANY, "vpminsd", "vpminsd", "smin")                                \
  X(lane_signed, hui_lane_signed(A & 0x7FFFFFFFu, B), ANY, "pand, por", "vpternlogd", "bsl")                \
  X(lane_float, hui_lane_float(A & 0xFFFFFFu), ANY, "cvtdq2ps", "vcvtdq2ps", "scvtf")                       \
  X(lane_uint, hui_lane_uint(A), BELOW_2_32, "cvttps2dq", "vcvttps2udq", "fcvtzu")                          \
  X(count, COUNT(hui_mask_lt(A, B), hui_mask_lt(B, C)), ANY, "psubd", "popcnt", "sub, uaddlv")

/* Hooks of whole vectors: what they say must follow from the lanes. */
#define WHOLE_HOOKS(X)                                                                           \
  X(any, hui_lane_any(HU_MASK(A == B)), "ptest", "vpmovd2m", "umaxv")                            \
  X(lane_count, hui_lane_count(HU_MASK(A == B)), "movmskps, popcnt", "vpmovd2m, popcnt", "addv") \
  X(mask_any, hui_mask_any(hui_mask_eq(A, B)), "ptest", "kortestw", "umaxv")                     \
  X(within, hui_all_within(A, B), "pminud, pcmpeqd, movmskps", "vpcmpud", "cmhs, uminv")         \
  X(within4, WITHIN4(A, B, C), "pmaxud", "vpcmpud, kortestw", "umax, cmhs, uminv")               \
  X(largest, hui_lane_largest(A), "pmaxsd, pshufd", "vpmaxsd", "smaxv")

/* Sums and differences as the processor is set, quotients; of floats. */
#define FLOAT_HOOKS(X)                                       \
  X(plus, hui_lane_plus(0, A, B), "addps", "vaddps", "fadd") \
  X(minus, hui_lane_minus(A, B), "subps", "vsubps", "fsub")  \
  X(times, hui_lane_times(A, B), "mulps", "vmulps", "fmul")  \
  X(over, hui_lane_over(A, B), "divps", "vdivps", "fdiv")

enum {
#define X(name, ...) HOOK_##name,
  HOOKS(X) WHOLE_HOOKS(X) FLOAT_HOOKS(X)
#undef X
      HOOK_COUNT
};

typedef struct hooks {
  const char *level;
  size_t width;
  hook of[HOOK_COUNT];
  /* n codes of 8, 16 bits into lanes and back. */
  void (*load8)(size_t n, uint32_t *z, const uint8_t *x);
  void (*load16)(size_t n, uint32_t *z, const uint16_t *x);
  void (*store8)(size_t n, uint8_t *z, const uint32_t *x);
  void (*store16)(size_t n, uint16_t *z, const uint32_t *x);
  void (*few)(size_t n, uint32_t *z, const uint32_t *x); /* n < width lanes through load_few and store_few */
} hooks;

extern const hooks hooks_plain, hooks_vector, hooks_avx2, hooks_avx512, hooks_neon;

#endif
