/* SPDX-License-Identifier: MIT */
/* The hardest cases of the elementary functions in binary16 and bfloat16: the operands whose result lies nearest to a
 * place where a rounding changes, with MPFR.
 *
 * usage: hardest FUNCTION    every operand (of pow: every pair, minutes); prints the lines of tests/golden/function
 *
 * Two kinds of places: the numbers of the format (`grid`: where rtz, rtp, rtn, raz and rto change) and the middles
 * between them (`half`: where rne, rna and rnz change). Left out are results that are such a place exactly, that lie
 * beyond the largest number or below half of the smallest, and those within a quarter of a unit of a number that the
 * function tends to (see `limits`): there the first term of a series says all. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpfr.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/halfulp.h"
#include "halfulp/oracle.h"

enum { DIGITS = 320, KEPT = 8, MODES = 8 };

static const char *const names[] = {"exp", "exp2", "expm1", "log",        "log2", "log1p", "tanh", "sigmoid",
                                    "erf", "gelu", "rsqrt", "reciprocal", "sin",  "cos",   "pow"};

typedef struct t_layout {
  const char *name;
  hu_format format;
  int bits, e_min, e_max; /* of the significand; of the smallest and largest normal number */
} t_layout;

typedef struct t_hard {
  double distance; /* in units of the last place; signed, away from zero */
  uint32_t x, y;
} t_hard;

typedef struct t_list {
  t_hard kept[KEPT];
  size_t n;
} t_list;

static void keep(t_list *list, t_hard hard) {
  size_t at = list->n;
  while (at > 0 && fabs(list->kept[at - 1].distance) > fabs(hard.distance)) at--;
  if (at == KEPT) return;
  if (list->n < KEPT) list->n++;
  memmove(&list->kept[at + 1], &list->kept[at], (list->n - 1 - at) * sizeof hard);
  list->kept[at] = hard;
}

/* ---- the value ---- */

static int sigmoid(mpfr_ptr z, mpfr_srcptr x) {
  mpfr_neg(z, x, MPFR_RNDN);
  mpfr_exp(z, z, MPFR_RNDN);
  mpfr_add_ui(z, z, 1, MPFR_RNDN);
  mpfr_ui_div(z, 1, z, MPFR_RNDN);
  return 1;
}

static int gelu(mpfr_ptr z, mpfr_srcptr x) {
  mpfr_t t;
  mpfr_init2(t, DIGITS);
  mpfr_sqrt_ui(t, 2, MPFR_RNDN);
  mpfr_div(t, x, t, MPFR_RNDN);
  mpfr_neg(t, t, MPFR_RNDN);
  mpfr_erfc(t, t, MPFR_RNDN);
  mpfr_mul(z, t, x, MPFR_RNDN);
  mpfr_div_2ui(z, z, 1, MPFR_RNDN);
  mpfr_clear(t);
  return 1;
}

/* 0 where the result is exact. */
static int value(mpfr_ptr z, int function, mpfr_srcptr x, mpfr_srcptr y) {
  switch (function) {
    case HU_ORACLE_EXP: return mpfr_exp(z, x, MPFR_RNDN);
    case HU_ORACLE_EXP2: return mpfr_exp2(z, x, MPFR_RNDN);
    case HU_ORACLE_EXPM1: return mpfr_expm1(z, x, MPFR_RNDN);
    case HU_ORACLE_LOG: return mpfr_log(z, x, MPFR_RNDN);
    case HU_ORACLE_LOG2: return mpfr_log2(z, x, MPFR_RNDN);
    case HU_ORACLE_LOG1P: return mpfr_log1p(z, x, MPFR_RNDN);
    case HU_ORACLE_TANH: return mpfr_tanh(z, x, MPFR_RNDN);
    case HU_ORACLE_SIGMOID: return sigmoid(z, x);
    case HU_ORACLE_ERF: return mpfr_erf(z, x, MPFR_RNDN);
    case HU_ORACLE_GELU: return gelu(z, x);
    case HU_ORACLE_RSQRT: return mpfr_rec_sqrt(z, x, MPFR_RNDN);
    case HU_ORACLE_RECIPROCAL: return mpfr_ui_div(z, 1, x, MPFR_RNDN);
    case HU_ORACLE_SIN: return mpfr_sin(z, x, MPFR_RNDN);
    case HU_ORACLE_COS: return mpfr_cos(z, x, MPFR_RNDN);
    default: return mpfr_pow(z, x, y, MPFR_RNDN);
  }
}

/* The exponent of the unit of the last place of a number like z. */
static long unit(const t_layout *layout, mpfr_srcptr z) {
  long e = mpfr_get_exp(z) - 1;
  return (e < layout->e_min ? layout->e_min : e) - (layout->bits - 1);
}

/* Is |z - limit| below a quarter of a unit? */
static int beside(const t_layout *layout, mpfr_srcptr z, double limit) {
  mpfr_t d;
  mpfr_init2(d, DIGITS);
  mpfr_sub_d(d, z, limit, MPFR_RNDN);
  int small = mpfr_zero_p(d) || mpfr_get_exp(d) <= unit(layout, z) - 2;
  mpfr_clear(d);
  return small;
}

/* What the function tends to for a small operand, and for a large one; 2: none. */
static void limits(int function, double x, double *few, double *many) {
  *few = *many = 2;
  switch (function) {
    case HU_ORACLE_EXP:
    case HU_ORACLE_EXP2:
    case HU_ORACLE_POW: *few = 1; break;
    case HU_ORACLE_EXPM1: *few = x, *many = -1; break;
    case HU_ORACLE_LOG1P: *few = x; break;
    case HU_ORACLE_TANH: *few = x, *many = x < 0 ? -1 : 1; break;
    case HU_ORACLE_SIGMOID: *few = 0.5, *many = 1; break;
    case HU_ORACLE_ERF: *many = x < 0 ? -1 : 1; break;
    case HU_ORACLE_GELU: *few = x / 2, *many = x; break;
    case HU_ORACLE_SIN: *few = fabs(x) < 1 ? x : 2; break;
    case HU_ORACLE_COS: *few = fabs(x) < 1 ? 1 : 2; break;
    default: break;
  }
}

/* ---- one operand ---- */

static double number(const t_layout *layout, uint32_t code) { return hu_decode64(layout->format, code); }

/* The distances of z from the nearest number and the nearest middle, kept; z of either sign. */
static void measure(t_list *grid, t_list *half, const t_layout *layout, mpfr_ptr z, uint32_t x, uint32_t y) {
  mpfr_t d, whole;
  if (mpfr_get_exp(z) - 1 > layout->e_max || mpfr_get_exp(z) <= layout->e_min - layout->bits) return;
  mpfr_init2(d, DIGITS);
  mpfr_init2(whole, DIGITS);
  mpfr_abs(z, z, MPFR_RNDN);
  mpfr_mul_2si(z, z, -unit(layout, z), MPFR_RNDN);
  mpfr_rint(whole, z, MPFR_RNDN);
  mpfr_sub(d, z, whole, MPFR_RNDN);
  /* Below the smallest number there is one middle and no grid but 0, which no rounding mistakes. */
  if (!mpfr_zero_p(whole)) keep(grid, (t_hard){mpfr_get_d(d, MPFR_RNDN), x, y});
  mpfr_floor(whole, z);
  mpfr_sub(d, z, whole, MPFR_RNDN);
  mpfr_sub_d(d, d, 0.5, MPFR_RNDN);
  keep(half, (t_hard){mpfr_get_d(d, MPFR_RNDN), x, y});
  mpfr_clear(d);
  mpfr_clear(whole);
}

static void consider(t_list *grid, t_list *half, int function, const t_layout *layout, uint32_t x, uint32_t y) {
  mpfr_t z, a, b;
  double few, many, v = number(layout, x);
  mpfr_init2(z, DIGITS);
  mpfr_init2(a, 53);
  mpfr_init2(b, 53);
  mpfr_set_d(a, v, MPFR_RNDN);
  mpfr_set_d(b, number(layout, y), MPFR_RNDN);
  limits(function, v, &few, &many);
  if (value(z, function, a, b) != 0 && mpfr_regular_p(z) && !beside(layout, z, few) && !beside(layout, z, many))
    measure(grid, half, layout, z, x, y);
  mpfr_clear(z);
  mpfr_clear(a);
  mpfr_clear(b);
}

static void print_list(const t_list *list, const char *kind, int function, const t_layout *layout) {
  for (size_t i = 0; i < list->n; i++) {
    hu_mode modes[MODES];
    uint32_t random[MODES] = {0}, code[MODES];
    hu_oracle_code x[2] = {{layout->format, list->kept[i].x}, {layout->format, list->kept[i].y}};
    for (int k = 0; k < MODES; k++) modes[k] = (hu_mode){.round = (uint8_t)k};
    if (hu_oracle_functions(code, NULL, function, layout->format, MODES, modes, random, x) != HU_OK) exit(1);
    printf("%s %s %s %04x", names[function], layout->name, kind, list->kept[i].x);
    if (function == HU_ORACLE_POW) printf(",%04x", list->kept[i].y);
    printf(" %c%.3f", list->kept[i].distance < 0 ? '-' : '+', -log2(fabs(list->kept[i].distance)));
    for (int k = 0; k < MODES; k++) printf(" %04x", code[k]);
    putchar('\n');
  }
}

/* ---- pow: every pair of x > 0 and y, in binary64 first ---- */

enum { NEAR = 24 }; /* pairs whose distance is below 2^-NEAR go to MPFR */

/* z > 0 is 2^(y log2 x) within 2^-42 of itself: is it nearer than 2^-NEAR units to a number or a middle? The digits of
 * its pattern behind those that a middle has say so; subnormal numbers, which have fewer, go through ldexp. */
static int is_near(const t_layout *layout, double z) {
  uint64_t u;
  memcpy(&u, &z, sizeof u);
  int e = (int)(u >> 52) - 1023;
  if (e > layout->e_max || e < layout->e_min - layout->bits) return 0;
  if (e >= layout->e_min) {
    uint64_t behind = ((uint64_t)1 << (52 - layout->bits)) - 1, near = (uint64_t)1 << (52 - layout->bits + 1 - NEAR);
    return ((u + near) & behind) < 2 * near;
  }
  double twice = ldexp(z, layout->bits - layout->e_min);
  return fabs(twice - rint(twice)) < ldexp(1, 1 - NEAR);
}

static void pairs(t_list *grid, t_list *half, const t_layout *layout) {
  uint32_t top = hu_limits_of(layout->format).max_code;
  for (uint32_t x = 1; x <= top; x++) {
    double a = number(layout, x), log = log2(a);
    if (a == 1) continue;
    for (uint32_t y = 1; y <= 0x8000 + top; y++) {
      if (y > top && y <= 0x8000) continue;
      double b = number(layout, y), e = b * log;
      if (fabs(e) < ldexp(1, -layout->bits - 4) || fabs(e) > 200) continue;
      if (is_near(layout, exp2(e))) consider(grid, half, HU_ORACLE_POW, layout, x, y);
    }
  }
}

int main(int argc, char **argv) {
  const t_layout formats[] = {{"binary16", hu_binary16(), 11, -14, 15}, {"bfloat16", hu_bfloat16(), 8, -126, 127}};
  int function = 0;
  while (argc == 2 && function < HU_ORACLE_FUNCTIONS && strcmp(names[function], argv[1]) != 0) function++;
  if (argc != 2 || function == HU_ORACLE_FUNCTIONS) {
    fprintf(stderr, "usage: hardest FUNCTION\n");
    return 2;
  }
  for (int i = 0; i < 2; i++) {
    t_list grid = {.n = 0}, half = {.n = 0};
    if (function == HU_ORACLE_POW) {
      pairs(&grid, &half, &formats[i]);
    } else {
      for (uint32_t x = 1; x < 0x10000; x++)
        if (isfinite(number(&formats[i], x)) && (x & 0x7FFF)) consider(&grid, &half, function, &formats[i], x, x);
    }
    print_list(&grid, "grid", function, &formats[i]);
    print_list(&half, "half", function, &formats[i]);
  }
  mpfr_free_cache();
  return 0;
}
