/* SPDX-License-Identifier: MIT */
#include "tests/scaled/draw.h"

#include <stdlib.h>
#include <string.h>

static const char *const elements[] = {"float8_e4m3fn",     "float8_e5m2",
                                       "float6_e3m2fn",     "float6_e2m3fn",
                                       "float4_e2m1fn",     "fp(0,7,0):finite,nonegzero",
                                       "fp(0,3,0):finite",  "float8_e4m3fnuz",
                                       "binary8p4se",       "dlfloat16",
                                       "fp(3,0,0):finite",  "bfloat16",
                                       "binary16",          "fp(4,3,0):finite,nosub",
                                       "fp(0,7,30):finite", "fp(0,20,0):finite,nonegzero",
                                       "fp(0,4,0):fn",      "fp(0,7,-3):p3109e"};
static const char *const scales[] = {"float8_e8m0fnu",
                                     "float8_e8m0fnu",
                                     "ue4m3",
                                     "binary32",
                                     "bfloat16",
                                     "ue5m3",
                                     "fp(5,0,0):finite,unsigned,zero=none,nosub",
                                     "fp(10,0,0):finite,unsigned,zero=none,nosub",
                                     "float8_e5m2"};

static hu_format parsed(const char *text) {
  hu_format f;
  if (hu_format_parse(&f, text, NULL) != HU_OK) abort();
  return f;
}

static uint32_t random_side(t_random *r) {
  static const uint32_t sides[] = {1, 1, 1, 2, 3, 5, 8, 16, 32, 32, 40, 128, 0};
  return sides[t_below(r, 13)];
}

/* Any of the rules that choose by errors, under any shape that they take. */
static void make_four_six(t_random *r, hu_scaling *d) {
  d->element = parsed("float4_e2m1fn");
  d->scale = parsed(t_below(r, 4) ? "ue4m3" : "float8_e4m3fn");
  d->rule = (uint8_t)(HU_SCALE_4OVER6_MAE + t_below(r, HU_SCALE_RULES - HU_SCALE_4OVER6_MAE));
  d->steps = HU_STEPS_MULTIPLY;
  if (d->rule == HU_SCALE_SWEEP_MSE && t_below(r, 2)) d->steps = HU_STEPS_DIVIDE;
  d->round = t_below(r, 4) ? 0 : (uint8_t)t_below(r, HU_RAZ + 1);
  d->tensor = (uint8_t)(HU_TENSOR_MAX + t_below(r, 2));
  if (d->rule == HU_SCALE_SWEEP_MSE) d->tensor = (uint8_t)t_below(r, 2);
  d->coding = HU_CODING_FORMAT;
  d->rows = t_below(r, 2) ? 1 : 1 + t_below(r, 16);
  d->cols = t_below(r, 2) ? 16 : 1 + t_below(r, 16);
}

hu_scaling random_scaling(t_random *r) {
  for (;;) {
    hu_scaling d;
    memset(&d, 0, sizeof d);
    if (t_below(r, 3) == 0) {
      if (hu_scaling_parse(&d, hu_scaling_at(t_below(r, (uint32_t)hu_scaling_count())).name, NULL) != HU_OK) abort();
      if (t_below(r, 2) == 0) return d;
    } else {
      d.element = parsed(elements[t_below(r, sizeof elements / sizeof *elements)]);
      d.scale = parsed(scales[t_below(r, sizeof scales / sizeof *scales)]);
      d.rule = (uint8_t)t_below(r, HU_SCALE_RULES);
      d.tensor = t_below(r, 3) == 0;
      d.coding = t_below(r, 3) == 0;
    }
    d.rows = random_side(r);
    d.cols = random_side(r);
    if (t_below(r, 10) == 0) make_four_six(r, &d);
    if (d.rule == HU_SCALE_RATIO) {
      d.steps = (uint8_t)t_below(r, HU_STEPS_COUNT);
      d.round = t_below(r, 2) ? 0 : (uint8_t)t_below(r, HU_RAZ + 1);
    }
    d.special = (uint8_t)t_below(r, 3);
    d.blank = (uint8_t)t_below(r, 3);
    d.amin = t_below(r, 8) ? 0 : 1 + t_below(r, 0x7F7FFFFE);
    if (hu_scaling_check(&d, NULL) == HU_OK) return d;
  }
}

/* A magnitude at one of the places where a rule changes its mind. */
static uint32_t edge(t_random *r, const hu_scaling *d) {
  static const uint32_t fields[] = {0, 1, 2, 100, 119, 126, 127, 128, 150, 253, 254};
  uint32_t field = t_below(r, 2) ? fields[t_below(r, 11)] : t_below(r, 255), frac = 0, m = d->element.m;
  double top = hu_limits_of(d->element).max;
  float t = (float)top;
  switch (t_below(r, 4)) {
    case 0: break;
    case 1: frac = 0x7FFFFF & ~(((uint32_t)1 << (m < 22 ? 22 - m : 0)) - 1); break; /* 2 - 2^-(m+1) */
    case 2: frac = t_bits32(t) & 0x7FFFFF; break;
    default: frac = t_next32(r) & 0x7FFFFF;
  }
  return (field << 23) + frac + t_below(r, 3) - (field || frac ? 1 : 0);
}

void random_matrix(t_random *r, size_t n, float *x, const hu_scaling *d) {
  uint32_t base = edge(r, d), kind = t_below(r, 12);
  for (size_t i = 0; i < n; i++) {
    uint32_t u = base, draw = t_below(r, 64);
    if (t_below(r, 40) == 0) base = edge(r, d);
    if (draw > 3) {
      uint32_t field = u >> 23, down = t_below(r, kind < 6 ? 14 : 60);
      u = (field > down ? field - down : 0) << 23 | (t_next32(r) & (kind & 1 ? 0x7FFFFF : 0x7E0000));
      if (u > base) u = base;
    }
    if (draw == 4 || kind == 10) u = 0;
    if (draw == 5 && kind >= 8) u = t_below(r, 2) ? 0x7F800000 : 0x7F800000 + 1 + t_below(r, 0x7FFFFF);
    if (u > 0x7F7FFFFF && !(draw == 5 && kind >= 8)) u = 0x7F7FFFFF;
    x[i] = t_float(u | (t_next32(r) & 0x80000000));
  }
}
