/* SPDX-License-Identifier: MIT */
/* A block of block(align,...) in the lanes of emu/gemm/unit_lanes.c against the model of emu/core/accum_block.h, as
 * functions that return 0, whatever they are given. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The translator reads functions without calls. */
#define inline __attribute__((always_inline)) inline
#define noinline always_inline
#include "emu/core/port.h"
#undef HU_NOINLINE
#define HU_NOINLINE inline

#include "halfulp/format.h"
__attribute__((always_inline)) hu_status hu_format_check(hu_format f, const char **axis);
#include "emu/format/format.c"

#include "emu/core/accum_block.h"

/* One row and one column. */
#define HALFULP_EMU_SIMD_LANES_H
#include "emu/gemm/unit.h"
#undef HU_UNIT_MR
#define HU_UNIT_MR 1
#undef HU_OF_LEVEL
#define HU_OF_LEVEL(name) \
  not_a_table;            \
  static const hu_unit_kernels unread __attribute__((unused))
#include "one_unit_lane.h"
#include "emu/gemm/unit_lanes.c"

enum { WRONG_SUM = 1, WRONG_CUT = 2, WRONG_ADDITION = 4 };

/* The format of A and B: m, e, b; F, the least exponent of the unit, C as a binary32 number; the elements' codes, a
 * byte each, from the lowest on. */
#define ARGUMENTS uint8_t m, uint8_t e, int8_t b, uint8_t f, int16_t emin, uint32_t c, uint32_t as, uint32_t bs
#define GIVEN m, e, b, f, emin, c, as, bs

#ifndef PROOF_LENGTH
#define PROOF_LENGTH 1
#endif
#ifndef PROOF_CUT
#define PROOF_CUT HU_BLOCK_CUT_TRUNC
#endif

static inline double power_of_two(int32_t e) {
  uint64_t u = (uint64_t)(e + 1023) << 52;
  double x;
  memcpy(&x, &u, sizeof x);
  return x;
}

/* An operand as prepare() leaves it: the value, and its power, at least 2^emin, 0 of a zero. */
static inline void prepared(const hu_spec *s, uint32_t code, double *v, double *p) {
  uint64_t u = hui_pack64(hui_unpack(s, code)), power = u & BLK_EXPONENT, least = (uint64_t)(s->emin + 1023) << 52;
  if (power < least) power = least;
  if ((u & ~BLK_SIGN) == 0) power = 0;
  memcpy(v, &u, sizeof u);
  memcpy(p, &power, sizeof power);
}

/* A signed format of 8 bits whose codes are all finite. */
static inline int operands_of(hu_spec *s, uint8_t m, uint8_t e, int8_t b) {
  hu_mode rne;
  hu_format z;
  memset(&z, 0, sizeof z);
  memset(&rne, 0, sizeof rne);
  z.sign = 1;
  z.e = e;
  z.m = m;
  z.b = b;
  z.negzero = 1;
  z.overflow = HU_OVERFLOW_MAX;
  if (e + m != 7 || hu_format_check(z, NULL) != HU_OK) return 0;
  *s = hui_spec_of(z, rne);
  return s->fits_binary32 && s->emin >= -300 && s->emin <= 300;
}

/* The lanes' sum of cut terms before it is rounded into `out`, which is binary32 here: a binary64 pattern. */
static inline uint64_t sum_of_lanes(const hu_spec *s, uint8_t f, int16_t emin, uint32_t c, uint32_t as, uint32_t bs) {
  hu_unit_plan q;
  double va[2 * HU_UNIT_MB * HU_UNIT_KC], vb[2 * HU_UNIT_NB * HU_UNIT_KC];
  memset(&q, 0, sizeof q);
  q.out.narrow = 1;
  q.emin = power_of_two(emin);
  q.acc_emin = power_of_two(-126);
  q.top = (uint64_t)(2046 + f) << 52;
  q.kept = (uint64_t)f << 52;
  q.length = PROOF_LENGTH;
  for (int i = 0; i < PROOF_LENGTH; i++) {
    prepared(s, as >> (8 * i) & 0xFF, &va[i], &va[HU_UNIT_MB * HU_UNIT_KC + i]);
    prepared(s, bs >> (8 * i) & 0xFF, &vb[i * HU_UNIT_NR], &vb[HU_UNIT_NB * HU_UNIT_KC + i * HU_UNIT_NR]);
  }
  blk_d z[1] = {hui_pack64(hui_unpack32(c))};
  unit_align(PROOF_CUT, 0, &q, va, vb, z);
  return z[0];
}

/* The model's plan for it. */
static inline void plan_of(hu_accum_plan *p, const hu_spec *s, uint8_t f, int16_t emin) {
  memset(p, 0, sizeof *p);
  p->model.block.rule = HU_BLOCK_ALIGN;
  p->model.block.cut = PROOF_CUT;
  p->model.block.length = PROOF_LENGTH;
  p->model.block.kept = f;
  p->model.block.emin = emin;
  p->a.spec = p->b.spec = *s;
  p->a.emin = p->b.emin = s->emin;
  p->a.size = p->b.size = 1;
  p->sum = hui_grid_of(hui_format_binary32(), hui_plain_mode());
  p->acc_emin = -126;
}

static inline int is_asked(hu_spec *s, uint8_t m, uint8_t e, int8_t b, uint8_t f, int16_t emin, uint32_t c) {
  return operands_of(s, m, e, b) && f <= 40 && emin >= -700 && emin <= 300 && (c & 0x7F800000) != 0x7F800000;
}

/* The block as a whole: the sum of hui_cut of each term in units of 2^(E - F), E as docs/numerics.md has it. */
int align_sum(ARGUMENTS) {
  hu_spec s;
  hu_accum_plan p;
  int32_t top = emin;
  int64_t n = 0;
  if (!is_asked(&s, m, e, b, f, emin, c)) return 0;
  plan_of(&p, &s, f, emin);
  hu_term t[PROOF_LENGTH + 1];
  t[0] = hui_term_of_c(&p, hui_unpack32(c));
  for (int i = 0; i < PROOF_LENGTH; i++) {
    uint8_t x = as >> (8 * i) & 0xFF, y = bs >> (8 * i) & 0xFF;
    hu_lines in = {{&x, 1}, {&y, 1}, {&x, 0}, {&y, 0}};
    t[i + 1] = hui_term_at(&p, &in, 0);
  }
  for (int i = 0; i <= PROOF_LENGTH; i++) {
    if (t[i].kind == HU_KIND_FINITE) top = hui_later(top, t[i].alignment);
  }
  for (int i = 0; i <= PROOF_LENGTH; i++) {
    if (t[i].kind == HU_KIND_FINITE) n += hui_cut(PROOF_CUT, t[i].sign, t[i].sig, top - f - t[i].exp);
  }
  uint64_t right = n ? product_by_power(of_integer(n), (uint64_t)(top - f + 1023) << 52) : 0;
  return sum_of_lanes(&s, f, emin, c, as, bs) == right ? 0 : WRONG_SUM;
}
int align_sum_reached(ARGUMENTS) {
  hu_spec s;
  if (!is_asked(&s, m, e, b, f, emin, c) || f != 5) return 0;
  return sum_of_lanes(&s, f, emin, c, as, bs) == 0x4014000000000000u; /* 5 */
}

/* ---- the same step by step; the steps make a block of any length ---- */

static inline uint64_t pattern_of_power(int32_t e) { return (uint64_t)(e + 1023) << 52; }

/* A term, of the first elements, is the model's cut in integers, -0 or +0 where that is 0. top: E. */
static inline int wrong_term(blk_d x, const hu_term *t, uint8_t f, int32_t top) {
  uint64_t z = cut(PROOF_CUT, blk_mul(x, over((uint64_t)(2046 + f) << 52, pattern_of_power(top))));
  int64_t n = t->kind == HU_KIND_FINITE ? hui_cut(PROOF_CUT, t->sign, t->sig, top - f - t->exp) : 0;
  if (n == 0) return (z & ~BLK_SIGN) == 0 ? 0 : WRONG_CUT;
  return z == of_integer(n) ? 0 : WRONG_CUT;
}

int align_product(ARGUMENTS) {
  hu_spec s;
  hu_accum_plan p;
  double va, vb, power;
  uint8_t x = as & 0xFF, y = bs & 0xFF;
  (void)c;
  if (!is_asked(&s, m, e, b, f, -700, 0)) return 0;
  plan_of(&p, &s, f, -700);
  hu_lines in = {{&x, 1}, {&y, 1}, {&x, 0}, {&y, 0}};
  hu_term t = hui_term_at(&p, &in, 0);
  if (emin < -600 || emin > 600 || (t.kind == HU_KIND_FINITE && emin < t.alignment)) return 0; /* emin stands for E */
  prepared(&s, x, &va, &power);
  prepared(&s, y, &vb, &power);
  return wrong_term(blk_mul(blk_all(va), blk_all(vb)), &t, f, emin);
}
int align_addend(ARGUMENTS) {
  hu_spec s;
  hu_accum_plan p;
  (void)as, (void)bs;
  if (!is_asked(&s, m, e, b, f, -700, c)) return 0;
  plan_of(&p, &s, f, -700);
  hu_term t = hui_term_of_c(&p, hui_unpack32(c));
  if (emin < -600 || emin > 600 || emin < t.alignment) return 0;
  return wrong_term(hui_pack64(hui_unpack32(c)), &t, f, emin);
}

/* One more product in the largest exponent; e: 2^emin before it, or 0 if there was nothing. */
int align_largest(ARGUMENTS) {
  hu_spec s;
  hu_accum_plan p;
  double va[2 * HU_UNIT_MB * HU_UNIT_KC], vb[2 * HU_UNIT_NB * HU_UNIT_KC];
  uint8_t x = as & 0xFF, y = bs & 0xFF;
  (void)c;
  if (!is_asked(&s, m, e, b, f, -700, 0) || emin < -700 || emin > 600) return 0;
  plan_of(&p, &s, f, -700);
  hu_lines in = {{&x, 1}, {&y, 1}, {&x, 0}, {&y, 0}};
  hu_term t = hui_term_at(&p, &in, 0);
  prepared(&s, x, &va[0], &va[HU_UNIT_MB * HU_UNIT_KC]);
  prepared(&s, y, &vb[0], &vb[HU_UNIT_NB * HU_UNIT_KC]);
  blk_d largest_power[1] = {pattern_of_power(emin)};
  largest(1, 1, va, vb, largest_power);
  int32_t right = t.kind == HU_KIND_FINITE ? hui_later(emin, t.alignment) : emin;
  return largest_power[0] == pattern_of_power(right) ? 0 : WRONG_SUM;
}

/* One more term in the sum: integers below 2^51 in size, the second one perhaps -0. c, as, bs: their digits. */
int align_add(ARGUMENTS) {
  int64_t n = (int64_t)((uint64_t)c << 32 | as) >> 12,
          k = (int64_t)((uint64_t)bs << 32 | ((uint32_t)(uint16_t)emin << 16)) >> 12;
  (void)m, (void)e, (void)b;
  uint64_t term = k == 0 && f ? BLK_SIGN : of_integer(k);
  return blk_add(of_integer(n), term) == of_integer(n + k) ? 0 : WRONG_ADDITION;
}
