/* SPDX-License-Identifier: MIT */
/* tests/spec/lines.c - see lines.h. */
#include "tests/spec/lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/formats/ieee.h"

void line_begin(const char *operation) { fputs(operation, stdout); }
void line_end(void) { putchar('\n'); }
void line_text(const char *name, const char *value) { printf("\t%s=%s", name, value); }
void line_hex(const char *name, uint64_t value) { printf("\t%s=%" PRIx64, name, value); }
void line_decimal(const char *name, int64_t value) { printf("\t%s=%" PRId64, name, value); }
void line_pattern(const char *name, uint64_t bits, int digits) { printf("\t%s=%0*" PRIx64, name, digits, bits); }

void line_patterns(const char *name, const uint64_t *bits, size_t n, int digits) {
  printf("\t%s=%s", name, n ? "" : "-");
  for (size_t i = 0; i < n; i++) printf("%s%0*" PRIx64, i ? "," : "", digits ? digits : 1, bits[i]);
}

static void print_axes(hu_format format) {
  static const char *const zero[] = {"field", "code", "none"}, *const sub[] = {"gradual", "none", "flush"};
  static const char *const inf[] = {"none", "ieee", "top"};
  static const char *const nan[] = {"none", "ieee", "ieee1", "ones", "negzero", "top"};
  static const char *const over[] = {"inf", "nan", "max"}, *const negative[] = {"nan", "low", "stop"};
  printf("s=%u e=%u m=%u b=%d zero=%s sub=%s inf=%s nan=%s nz=%u over=%s neg=%s", format.sign, format.e, format.m,
         format.b, zero[format.zero], sub[format.subnormal], inf[format.inf], nan[format.nan], format.negzero,
         over[format.overflow], negative[format.negative]);
}

void line_format(const char *name, hu_format format) {
  printf("\t%s=", name);
  print_axes(format);
}

void line_element(const char *name, hu_type element) {
  static const char *const kinds[] = {"binary64", "s8", "u8", "s4", "u4", "s32"};
  if (element.kind == HU_TYPE_CODES)
    line_format(name, element.format);
  else
    line_text(name, kinds[element.kind - HU_TYPE_BINARY64]);
}

void line_mode(hu_mode mode) {
  static const char *const sat[] = {"default", "none", "finite", "propagate"}, *const nan[] = {"max", "zero", "error"};
  char text[8];
  printf("\tmode=%s sat=%s tiny=%s nan=%s fma=%s", hu_mode_round_text(text, mode), sat[mode.saturate],
         mode.tiny ? "before" : "after", nan[mode.nan], mode.nan_fma ? "invalid" : "quiet");
}

/* In the order of section 5. */
static const struct {
  const char *name;
  uint32_t bit;
  size_t at;
} events_of[] = {
    {"nan_in", HU_EVENT_NAN_IN, offsetof(hu_events, nan_in)},
    {"inf_in", HU_EVENT_INF_IN, offsetof(hu_events, inf_in)},
    {"invalid", HU_EVENT_INVALID, offsetof(hu_events, invalid)},
    {"overflow", HU_EVENT_OVERFLOW, offsetof(hu_events, overflow)},
    {"saturated", HU_EVENT_SATURATED, offsetof(hu_events, saturated)},
    {"inexact", HU_EVENT_INEXACT, offsetof(hu_events, inexact)},
    {"underflow", HU_EVENT_UNDERFLOW, offsetof(hu_events, underflow)},
    {"to_zero", HU_EVENT_TO_ZERO, offsetof(hu_events, to_zero)},
    {"subnormal", HU_EVENT_SUBNORMAL, offsetof(hu_events, subnormal)},
    {"divide_by_zero", HU_EVENT_DIVIDE_BY_ZERO, offsetof(hu_events, divide_by_zero)},
};

void line_events(uint32_t events) { line_set_of(">events", events); }

void line_set_of(const char *name, uint32_t events) {
  const char *between = "";
  printf("\t%s=%s", name, events ? "" : "-");
  for (size_t i = 0; i < sizeof events_of / sizeof *events_of; i++) {
    if (!(events & events_of[i].bit)) continue;
    printf("%s%s", between, events_of[i].name);
    between = ",";
  }
}

static uint64_t count_of(const hu_events *counts, size_t i) {
  uint64_t n;
  memcpy(&n, (const char *)counts + events_of[i].at, sizeof n);
  return n;
}

uint32_t line_set(const hu_events *counts) {
  uint32_t set = 0;
  for (size_t i = 0; i < sizeof events_of / sizeof *events_of; i++) set |= count_of(counts, i) ? events_of[i].bit : 0;
  return set;
}

void line_counts(const hu_events *counts) {
  const char *between = "";
  printf("\t>events=");
  for (size_t i = 0; i < sizeof events_of / sizeof *events_of; i++) {
    uint64_t n = count_of(counts, i);
    if (n) printf("%s%s:%" PRIu64, between, events_of[i].name, n);
    if (n) between = ",";
  }
  if (!*between) putchar('-');
}

/* As texts of models write a format: by its first name, else by its text. */
static void print_name(hu_format format) {
  char text[HU_FORMAT_TEXT_MAX];
  const char *name = hu_format_id(format);
  (void)hu_format_text(text, sizeof text, format);
  printf("%s~", name ? name : text);
  print_axes(format);
}

void line_formats_of(const hu_accum *accum) {
  const hu_format in[] = {hu_binary32(),      accum->product,   accum->sum,      accum->promoted, accum->block.as,
                          accum->block.scale, accum->block.via, accum->a.format, accum->b.format, accum->c.format};
  printf("\tformats=");
  for (size_t i = 0; i < sizeof in / sizeof *in; i++) {
    size_t before = 0;
    while (before < i && !hu_format_equal(in[before], in[i])) before++;
    if (before < i || hu_format_check(in[i], NULL) != HU_OK) continue;
    if (i) putchar('|');
    print_name(in[i]);
  }
}

void line_same(const char *what, uint64_t library, uint64_t model) {
  if (library == model) return;
  fflush(stdout);
  fprintf(stderr, "%s: the library %" PRIx64 ", the second model %" PRIx64 ", in the case of the last line\n", what,
          library, model);
  exit(1);
}
