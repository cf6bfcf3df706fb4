/* SPDX-License-Identifier: MIT */
/* tests/dpi/handles.h - handles of descriptions, and a simulator's open arrays, for the one file of a test. */
#ifndef HALFULP_TESTS_DPI_HANDLES_H
#define HALFULP_TESTS_DPI_HANDLES_H

#include "dpi/halfulp_dpi.h"
#include "halfulp/format.h"
#include "halfulp/mode.h"
#include "tests/support/cmocka.h"

enum { LONGEST = 256 };

/* ---- open arrays ---- */

typedef struct open_array {
  int low, size, width; /* of the index; bytes of an element */
  uint64_t data[LONGEST];
} open_array;

int svLow(const svOpenArrayHandle array, int dimension) {
  assert_int_equal(dimension, 1);
  return ((const open_array *)array)->low;
}

int svSize(const svOpenArrayHandle array, int dimension) {
  assert_int_equal(dimension, 1);
  return ((const open_array *)array)->size;
}

void *svGetArrElemPtr1(const svOpenArrayHandle array, int i) {
  open_array *x = array;
  if (i < x->low || i >= x->low + x->size) return NULL;
  return (uint8_t *)x->data + (i - x->low) * x->width;
}

/* ---- handles ---- */

static inline void *format_handle(hu_format format) {
  char text[HU_FORMAT_TEXT_MAX];
  void *h;
  int where;
  hu_format_text(text, sizeof text, format);
  assert_int_equal(hu_dpi_format(text, &h, &where), HU_OK);
  assert_string_equal(hu_dpi_name(h), text);
  assert_int_equal(hu_dpi_width(h), hu_limits_of(format).width);
  return h;
}

static inline void *mode_handle(hu_mode m) {
  static const char *const saturate[] = {"default", "none", "finite", "propagate"};
  static const char *const nan[] = {"max", "zero", "error"};
  char text[8];
  void *h;
  hu_mode_round_text(text, m);
  assert_int_equal(hu_dpi_mode(text, saturate[m.saturate], nan[m.nan], m.tiny ? "before" : "after",
                               m.nan_fma ? "invalid" : "quiet", &h),
                   HU_OK);
  return h;
}

static inline void *model_handle(const char *text, const char *a, const char *b, const char *d) {
  void *h;
  int where, part;
  assert_int_equal(hu_dpi_model(text, a, b, "", d, &h, &where, &part), HU_OK);
  assert_int_equal(part, 0);
  return h;
}

#endif
