/* SPDX-License-Identifier: MIT */
/* tests/accum/dots.h - one dot product as patterns of elements, to be given to hu_dot and to the reference alike. */
#ifndef HALFULP_TESTS_DOTS_H
#define HALFULP_TESTS_DOTS_H

#include "halfulp/accum.h"
#include "tests/support/support.h"

enum { DOT_TERMS = 1100, DOT_SCALES = 80 };

typedef struct t_dot {
  hu_accum accum;
  hu_mode mode;    /* of the last rounding */
  hu_type a, b, c; /* c: also of the result */
  hu_format scale; /* of sa, sb */
  size_t n, scales;
  int has_c;
  uint64_t at[DOT_TERMS], bt[DOT_TERMS], ct, sa[DOT_SCALES], sb[DOT_SCALES];
  uint64_t key, element; /* random words */
} t_dot;

/* "binary16", "fp(6,9,0)", "binary64", "s8", "s32". Ends the test if it is none. */
hu_type dot_element(const char *name);
/* Elements as hex digits, fixed width each, element 0 first: their number. Ends the test if the text is not that. */
size_t dot_read_hex(uint64_t *z, size_t buffer, const char *text, unsigned width);

/* hu_dot's answer. *events: its set. A status other than HU_OK ends the test. */
uint64_t dot_library(const t_dot *x, uint32_t *events);
/* The same, watched. */
uint64_t dot_watched(const t_dot *x, uint32_t *events, hu_watch *watch);
/* Likewise hu_dot_trace's. */
uint64_t dot_traced(const t_dot *x, uint32_t *events, hu_watch *watch, hu_trace_visit *visit, void *context);
/* tests/cuda_host/device_dot.c: hu_dot by the device's twin; dots.c compiled with DOT_CALL=dot_on_device calls it. */
hu_status dot_on_device(const hu_product *x, const hu_how *how);
int dot_no_device(void);
/* 1, with a message, if there is nothing to compute with: tests built for a device. */
int dot_unavailable(void);
/* Element i of elements of `size` bytes. */
void dot_store(uint8_t *z, size_t i, size_t size, uint64_t x);
/* Are A, B and C codes, as matrices have them? */
int dot_is_of_codes(const t_dot *x);
/* "a=... b=... c=..." for messages; returns a static text. */
const char *dot_text(const t_dot *x);

#endif
