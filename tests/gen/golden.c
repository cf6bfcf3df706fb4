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

void text_add(t_text *text, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  size_t need = (size_t)vsnprintf(NULL, 0, format, args);
  va_end(args);
  if (text->n + need + 1 > text->buffer) {
    text->buffer = 2 * (text->n + need + 1);
    text->at = realloc(text->at, text->buffer);
    if (text->at == NULL) abort();
  }
  vsnprintf(text->at + text->n, need + 1, format, again);
  va_end(again);
  text->n += need;
}

void text_free(t_text *text) {
  free(text->at);
  text->at = NULL;
  text->n = text->buffer = 0;
}

static hu_format with_subnormals(hu_format format, uint8_t subnormal) {
  format.subnormal = subnormal;
  return format;
}

enum { FORMATS = 22 };

golden_format golden_format_at(size_t i) {
  const golden_format formats[FORMATS] = {
      {"float8_e4m3fn", known_e4m3fn(), 1},
      {"float8_e5m2", known_e5m2(), 1},
      {"float8_e4m3fnuz", known_e4m3fnuz(), 1},
      {"float8_e5m2fnuz", known_e5m2fnuz(), 1},
      {"float8_e8m0fnu", known_e8m0(), 1},
      {"float6_e3m2fn", known_finite(3, 2, 0), 1},
      {"float6_e2m3fn", known_finite(2, 3, 0), 1},
      {"float4_e2m1fn", known_e2m1(), 1},
      {"binary8p4se", known_binary8p4se(), 0},
      {"binary8p1uf", known_binary8p1uf(), 0},
      {"ue5m3", known_ue5m3(), 0},
      {"uf11", known_uf11(), 0},
      {"binary16", known_binary16(), 1},
      {"bfloat16", known_bfloat16(), 1},
      {"binary32", known_binary32(), 0},
      {"dlfloat16", known_dlfloat16(), 0},
      {"fp_4_3_4_finite", known_finite(4, 3, 4), 0},
      {"fp_5_2_0_finite", known_finite(5, 2, 0), 0},
      {"fp_6_9_0_finite", known_finite(6, 9, 0), 0},
      {"e4m3_flush", with_subnormals(known_finite(4, 3, 0), HU_SUBNORMAL_FLUSH), 0},
      {"e4m3_nosub", with_subnormals(known_finite(4, 3, 0), HU_SUBNORMAL_NONE), 0},
      {"fixed_0_7", known_finite(0, 7, 1), 0},
  };
  return formats[i];
}

size_t golden_format_count(void) { return FORMATS; }

golden_format golden_format_named(const char *name) {
  for (size_t i = 0; i < FORMATS; i++)
    if (strcmp(golden_format_at(i).name, name) == 0) return golden_format_at(i);
  fprintf(stderr, "no format %s\n", name);
  exit(1);
}

static uint32_t code_of(hu_format format, unsigned round, unsigned saturate, double x) {
  hu_mode mode;
  uint32_t code;
  memset(&mode, 0, sizeof mode);
  mode.round = (uint8_t)round;
  mode.saturate = (uint8_t)saturate;
  if (hu_oracle_encode64(&code, NULL, format, mode, x, 0) != HU_OK) abort();
  return code;
}

uint32_t golden_max_code(hu_format format) { return code_of(format, HU_RTZ, HU_SAT_FINITE, INFINITY); }

void golden_format_line(t_text *text, golden_format format) {
  hu_format own = format.format;
  static const char *const zeros[] = {"field", "code", "none"}, *const subnormals[] = {"gradual", "none", "flush"};
  static const char *const infs[] = {"none", "ieee", "top"}, *const overflows[] = {"inf", "nan", "max"};
  static const char *const nans[] = {"none", "ieee", "ieee1", "ones", "negzero", "top"};
  static const char *const negatives[] = {"nan", "low", "stop"};
  text_add(text, "%s sign=%u e=%u m=%u b=%d zero=%s sub=%s inf=%s nan=%s negzero=%u ovf=%s neg=%s", format.name,
           own.sign, own.e, own.m, own.b, zeros[own.zero], subnormals[own.subnormal], infs[own.inf], nans[own.nan],
           own.negzero, overflows[own.overflow], negatives[own.negative]);
  text_add(text, " max=%x", golden_max_code(own));
  if (own.inf != HU_INF_NONE)
    text_add(text, " infcode=%x", code_of(own, HU_RNE, HU_SAT_NONE, INFINITY));
  else
    text_add(text, " infcode=-");
  if (own.nan != HU_NAN_NONE)
    text_add(text, " nancode=%x", code_of(own, HU_RNE, HU_SAT_DEFAULT, NAN));
  else
    text_add(text, " nancode=-");
  text_add(text, "\n");
}

/* ---- The texts: one for each format, then stochastic lines and sums, and the digests of all. */

/* In the order of their kinds. */
static const char *const others[] = {"stochastic.txt", "sums.txt", "gen/digests.txt"};

size_t golden_count(void) { return FORMATS + sizeof others / sizeof others[0]; }

const char *golden_name(size_t i) {
  enum { NAME = 64 };
  static char names[FORMATS][NAME];
  if (i >= FORMATS) return others[i - FORMATS];
  snprintf(names[i], NAME, "convert_%s.txt", golden_format_at(i).name);
  return names[i];
}

int golden_kind(size_t i) { return i < FORMATS ? GOLDEN_CONVERSIONS : GOLDEN_STOCHASTIC + (int)(i - FORMATS); }

int golden_stored(size_t i) { return i >= FORMATS || golden_format_at(i).exchanged; }

static void digests(t_text *text) {
  text_add(
      text,
      "# Texts of tests/gen with all their lines: NAME LINES DIGEST, FNV-1a of 64 bits over all bytes of the text\n"
      "# SPDX-License-Identifier: MIT\n"
      "# made by tests/gen (the MPFR oracle), not by the emulator; regenerate with: ninja regenerate-golden\n");
  for (size_t i = 0; i < golden_count(); i++) {
    uint64_t digest = UINT64_C(0xCBF29CE484222325);
    size_t lines = 0;
    t_text of = {NULL, 0, 0};
    if (golden_kind(i) == GOLDEN_DIGESTS) continue;
    golden_make(i, 0, &of);
    for (size_t k = 0; k < of.n; k++) {
      digest = (digest ^ (uint8_t)of.at[k]) * UINT64_C(0x100000001B3);
      lines += of.at[k] == '\n';
    }
    text_add(text, "%s %zu %016llx\n", golden_name(i), lines, (unsigned long long)digest);
    text_free(&of);
  }
}

void golden_make(size_t i, int stored, t_text *text) {
  switch (golden_kind(i)) {
    case GOLDEN_CONVERSIONS: golden_conversions(text, i, stored); break;
    case GOLDEN_STOCHASTIC: golden_stochastic(text, stored); break;
    case GOLDEN_SUMS: golden_sums(text, stored); break;
    default: digests(text);
  }
}
