/* SPDX-License-Identifier: MIT */
/* tests/gen/golden.c - the list of golden files, growing texts, and the formats with all their axes spelled out. */
#include "tests/gen/golden.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/oracle.h"
#include "tests/support/known_formats.h"

void text_add(text *t, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  size_t need = (size_t)vsnprintf(NULL, 0, format, args);
  va_end(args);
  if (t->n + need + 1 > t->room) {
    t->room = 2 * (t->n + need + 1);
    t->at = realloc(t->at, t->room);
    if (t->at == NULL) abort();
  }
  vsnprintf(t->at + t->n, need + 1, format, again);
  va_end(again);
  t->n += need;
}

void text_free(text *t) {
  free(t->at);
  t->at = NULL;
  t->n = t->room = 0;
}

static hu_format with_subnormals(hu_format f, uint8_t subnormal) {
  f.subnormal = subnormal;
  return f;
}

enum { FORMATS = 22 };

golden_format golden_format_at(size_t i) {
  static const char *const names[FORMATS] = {
      "float8_e4m3fn",   "float8_e5m2",   "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu",  "float6_e3m2fn",
      "float6_e2m3fn",   "float4_e2m1fn", "binary8p4se",     "binary8p1uf",     "ue5m3",           "uf11",
      "binary16",        "bfloat16",      "binary32",        "dlfloat16",       "fp_4_3_4_finite", "fp_5_2_0_finite",
      "fp_6_9_0_finite", "e4m3_flush",    "e4m3_nosub",      "fixed_0_7"};
  hu_format formats[FORMATS] = {known_e4m3fn(),
                                known_e5m2(),
                                known_e4m3fnuz(),
                                known_e5m2fnuz(),
                                known_e8m0(),
                                known_finite(3, 2, 0),
                                known_finite(2, 3, 0),
                                known_e2m1(),
                                known_binary8p4se(),
                                known_binary8p1uf(),
                                known_ue5m3(),
                                known_uf11(),
                                known_binary16(),
                                known_bfloat16(),
                                known_binary32(),
                                known_dlfloat16(),
                                known_finite(4, 3, 4),
                                known_finite(5, 2, 0),
                                known_finite(6, 9, 0),
                                with_subnormals(known_finite(4, 3, 0), HU_SUBNORMAL_FLUSH),
                                with_subnormals(known_finite(4, 3, 0), HU_SUBNORMAL_NONE),
                                known_finite(0, 7, 1)};
  golden_format g = {names[i], formats[i]};
  return g;
}

size_t golden_format_count(void) { return FORMATS; }

hu_format golden_format_named(const char *name) {
  for (size_t i = 0; i < FORMATS; i++)
    if (strcmp(golden_format_at(i).name, name) == 0) return golden_format_at(i).format;
  fprintf(stderr, "no format %s\n", name);
  exit(1);
}

static uint32_t code_of(hu_format f, unsigned round, unsigned saturate, double x) {
  hu_mode mode;
  uint32_t code;
  memset(&mode, 0, sizeof mode);
  mode.round = (uint8_t)round;
  mode.saturate = (uint8_t)saturate;
  if (hu_oracle_encode64(&code, NULL, f, mode, x, 0) != HU_OK) abort();
  return code;
}

void golden_format_line(text *t, const char *name, hu_format f) {
  static const char *const zeros[] = {"field", "code", "none"}, *const subnormals[] = {"gradual", "none", "flush"};
  static const char *const infs[] = {"none", "ieee", "top"}, *const overflows[] = {"inf", "nan", "max"};
  static const char *const nans[] = {"none", "ieee", "ieee1", "ones", "negzero", "top"};
  static const char *const negatives[] = {"nan", "low", "stop"};
  text_add(t, "%s sign=%u e=%u m=%u b=%d zero=%s sub=%s inf=%s nan=%s negzero=%u ovf=%s neg=%s", name, f.sign, f.e, f.m,
           f.b, zeros[f.zero], subnormals[f.subnormal], infs[f.inf], nans[f.nan], f.negzero, overflows[f.overflow],
           negatives[f.negative]);
  text_add(t, " max=%x", code_of(f, HU_RTZ, HU_SAT_FINITE, INFINITY));
  if (f.inf != HU_INF_NONE)
    text_add(t, " infcode=%x", code_of(f, HU_RNE, HU_SAT_NONE, INFINITY));
  else
    text_add(t, " infcode=-");
  if (f.nan != HU_NAN_NONE)
    text_add(t, " nancode=%x", code_of(f, HU_RNE, HU_SAT_DEFAULT, NAN));
  else
    text_add(t, " nancode=-");
  text_add(t, "\n");
}

/* ---- The files: one for each format, then the stochastic lines, then the sums. */

enum { NAME = 64 };

size_t golden_count(void) { return FORMATS + 2; }

const char *golden_name(size_t i) {
  static char names[FORMATS + 2][NAME];
  if (i < FORMATS)
    snprintf(names[i], NAME, "convert_%s.txt", golden_format_at(i).name);
  else
    snprintf(names[i], NAME, "%s", i == FORMATS ? "stochastic.txt" : "sums.txt");
  return names[i];
}

void golden_make(size_t i, text *t) {
  if (i < FORMATS)
    golden_conversions(t, i);
  else if (i == FORMATS)
    golden_stochastic(t);
  else
    golden_sums(t);
}
