/* SPDX-License-Identifier: MIT */
#include "tests/scaled/draw.h"

#include <stdio.h>
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
  hu_format format;
  if (hu_format_parse(&format, text, NULL) != HU_OK) abort();
  return format;
}

static uint32_t random_side(t_random *random) {
  static const uint32_t sides[] = {1, 1, 1, 2, 3, 5, 8, 16, 32, 32, 40, 128, 0};
  return sides[t_below(random, 13)];
}

/* Any of the rules that choose by errors, under any shape that they take. */
static void make_four_six(t_random *random, hu_scaling *scaling) {
  scaling->element = parsed("float4_e2m1fn");
  scaling->scale = parsed(t_below(random, 4) ? "ue4m3" : "float8_e4m3fn");
  scaling->rule = (uint8_t)(HU_SCALE_4OVER6_MAE + t_below(random, HU_SCALE_RULES - 1 - HU_SCALE_4OVER6_MAE));
  if (scaling->rule >= HU_SCALE_FORMULAS) scaling->rule++;
  scaling->steps = HU_STEPS_MULTIPLY;
  if (scaling->rule == HU_SCALE_SWEEP_MSE && t_below(random, 2)) scaling->steps = HU_STEPS_DIVIDE;
  scaling->round = t_below(random, 4) ? 0 : (uint8_t)t_below(random, HU_RAZ + 1);
  scaling->tensor = (uint8_t)(HU_TENSOR_MAX + t_below(random, 2));
  if (scaling->rule == HU_SCALE_SWEEP_MSE) scaling->tensor = (uint8_t)t_below(random, 2);
  scaling->coding = HU_CODING_FORMAT;
  if (scaling->rule >= HU_SCALE_INTFLOAT_MAE) {
    scaling->element = parsed(elements[2 + t_below(random, 3)]);
    scaling->scale = parsed("float8_e4m3fn");
    scaling->tensor = HU_TENSOR_MAX;
  }
  scaling->rows = t_below(random, 2) ? 1 : 1 + t_below(random, 16);
  scaling->cols = t_below(random, 2) ? 16 : 1 + t_below(random, 16);
}

hu_scaling random_scaling(t_random *random) {
  for (;;) {
    hu_scaling scaling;
    memset(&scaling, 0, sizeof scaling);
    if (t_below(random, 3) == 0) {
      if (hu_scaling_parse(&scaling, hu_scaling_at(t_below(random, (uint32_t)hu_scaling_count())).name, NULL) != HU_OK)
        abort();
      if (t_below(random, 2) == 0) return scaling;
    } else {
      scaling.element = parsed(elements[t_below(random, sizeof elements / sizeof *elements)]);
      scaling.scale = parsed(scales[t_below(random, sizeof scales / sizeof *scales)]);
      scaling.rule = (uint8_t)t_below(random, HU_SCALE_FORMULAS);
      scaling.tensor = t_below(random, 3) == 0;
      scaling.coding = t_below(random, 3) == 0;
    }
    scaling.rows = random_side(random);
    scaling.cols = random_side(random);
    if (t_below(random, 10) == 0) make_four_six(random, &scaling);
    if (scaling.rule == HU_SCALE_RATIO) {
      scaling.steps = (uint8_t)t_below(random, HU_STEPS_COUNT);
      scaling.round = t_below(random, 2) ? 0 : (uint8_t)t_below(random, HU_RAZ + 1);
    }
    scaling.special = (uint8_t)t_below(random, 3);
    scaling.blank = (uint8_t)t_below(random, 3);
    scaling.amin = t_below(random, 8) ? 0 : 1 + t_below(random, 0x7F7FFFFE);
    if (hu_scaling_check(&scaling, NULL) == HU_OK) return scaling;
  }
}

/* ---- formulas ---- */

/* Appends a formula of these names, one letter each; depth: of operations at most. */
static void draw_formula(t_random *random, char *text, size_t size, const char *names, unsigned depth) {
  static const char *const ones[] = {"bf",    "h",     "hz",    "up",    "down", "near",
                                     "even1", "even3", "even7", "scale", "rna",  "rnz"};
  static const char *const twos[] = {"max", "min", "or", "and"};
  static const char *const numbers[] = {"1", "6", "448", "2688", "0x2edbe6ff", "0x3f9d70a4", "3"};
  size_t length = strlen(text), kind = depth ? t_below(random, 8) : 8;
  if (kind < 4) { /* an infix operation, its right operand in parentheses */
    draw_formula(random, text, size, names, kind < 2 ? 0 : depth - 1);
    length = strlen(text);
    snprintf(text + length, size - length, "%c(", kind == 3 && t_below(random, 2) ? '+' : "*/"[t_below(random, 2)]);
    draw_formula(random, text, size, names, depth - 1);
  } else if (kind < 7) {
    snprintf(text + length, size - length, "%s(", kind < 6 ? ones[t_below(random, 12)] : twos[t_below(random, 4)]);
    draw_formula(random, text, size, names, depth - 1);
    if (kind == 6) {
      length = strlen(text);
      snprintf(text + length, size - length, ",");
      draw_formula(random, text, size, names, depth - 1);
    }
  } else {
    if (t_below(random, 4))
      snprintf(text + length, size - length, "%c", names[t_below(random, (uint32_t)strlen(names))]);
    else
      snprintf(text + length, size - length, "%s", numbers[t_below(random, 7)]);
    return;
  }
  length = strlen(text);
  snprintf(text + length, size - length, ")");
}

static void draw_key(t_random *random, char *text, size_t size, const char *key, const char *names) {
  size_t length = strlen(text);
  snprintf(text + length, size - length, ";%s", key);
  draw_formula(random, text, size, names, 1 + t_below(random, 3));
}

hu_scaling random_formulas(t_random *random) {
  static const char *const elements_of[] = {"float4_e2m1fn", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz",
                                            "bfloat16"};
  static const char *const scales_of[] = {"ue4m3", "binary32", "float8_e8m0fnu", "float8_e4m3fn", "bfloat16"};
  static const char *const minus[] = {"", ";minus=none", ";minus=own", ";minus=all"};
  static const char *const zeros[] = {"low", "one", "zero", "formula"};
  for (;;) {
    char text[HU_SCALING_TEXT_MAX];
    hu_scaling scaling;
    if (t_below(random, 3) == 0) {
      hu_scaling_entry entry = hu_scaling_rule_at(t_below(random, (uint32_t)hu_scaling_rule_count()));
      if (hu_scaling_parse(&scaling, entry.name, NULL) == HU_OK) return scaling;
      continue;
    }
    unsigned level = t_below(random, 4); /* none, S, t, both */
    const char *names = level == 0 ? "A" : level == 1 ? "ATS" : level == 2 ? "ATt" : "ATSt";
    const char *all = level == 0 ? "Asx" : level == 1 ? "ATSsx" : level == 2 ? "ATtsx" : "ATStsx";
    snprintf(text, sizeof text, "scaled(%s;scale=%s;block=%dx%d;zero=%s;special=%s%s%s%s",
             elements_of[t_below(random, 5)], scales_of[t_below(random, 5)], t_below(random, 3) ? 1 : 3,
             1 + (int)t_below(random, 40), zeros[t_below(random, 4)], t_below(random, 2) ? "element" : "saturate",
             minus[t_below(random, 4)], t_below(random, 4) ? "" : ";amin=0x2edbe6ff",
             t_below(random, 4) ? "" : ";round=rtp");
    if (level & 1) draw_key(random, text, sizeof text, "S=", level == 3 && t_below(random, 2) ? "Tt" : "T");
    if (level & 2) draw_key(random, text, sizeof text, "t=", level == 3 ? "TS" : "T");
    draw_key(random, text, sizeof text, "s=", names);
    draw_key(random, text, sizeof text, t_below(random, 2) ? "x=x*(" : "x=", all);
    size_t length = strlen(text), opened = strstr(text, "x=x*(") != NULL;
    if (opened) snprintf(text + length, sizeof text - length, ")");
    if (level == 1 || t_below(random, 3) == 0)
      draw_key(random, text, sizeof text, "v=", level == 0 ? "Ps" : level == 1 ? "PsS" : "Pst");
    length = strlen(text);
    snprintf(text + length, sizeof text - length, ")");
    if (hu_scaling_parse(&scaling, text, NULL) == HU_OK) return scaling;
  }
}

/* A magnitude at one of the places where a rule changes its mind. */
static uint32_t edge(t_random *random, const hu_scaling *scaling) {
  static const uint32_t fields[] = {0, 1, 2, 100, 119, 126, 127, 128, 150, 253, 254};
  uint32_t field = t_below(random, 2) ? fields[t_below(random, 11)] : t_below(random, 255), frac = 0,
           m = scaling->element.m;
  double top = hu_limits_of(scaling->element).max;
  float t = (float)top;
  switch (t_below(random, 4)) {
    case 0: break;
    case 1: frac = 0x7FFFFF & ~(((uint32_t)1 << (m < 22 ? 22 - m : 0)) - 1); break; /* 2 - 2^-(m+1) */
    case 2: frac = t_bits32(t) & 0x7FFFFF; break;
    default: frac = t_next32(random) & 0x7FFFFF;
  }
  return (field << 23) + frac + t_below(random, 3) - (field || frac ? 1 : 0);
}

void random_matrix(t_random *random, size_t n, float *x, const hu_scaling *scaling) {
  uint32_t base = edge(random, scaling), kind = t_below(random, 12);
  for (size_t i = 0; i < n; i++) {
    uint32_t u = base, draw = t_below(random, 64);
    if (t_below(random, 40) == 0) base = edge(random, scaling);
    if (draw > 3) {
      uint32_t field = u >> 23, down = t_below(random, kind < 6 ? 14 : 60);
      u = (field > down ? field - down : 0) << 23 | (t_next32(random) & (kind & 1 ? 0x7FFFFF : 0x7E0000));
      if (u > base) u = base;
    }
    if (draw == 4 || kind == 10) u = 0;
    if (draw == 5 && kind >= 8) u = t_below(random, 2) ? 0x7F800000 : 0x7F800000 + 1 + t_below(random, 0x7FFFFF);
    if (u > 0x7F7FFFFF && !(draw == 5 && kind >= 8)) u = 0x7F7FFFFF;
    x[i] = t_float(u | (t_next32(random) & 0x80000000));
  }
}
