/* SPDX-License-Identifier: MIT */
/* tests/accum/dots.c - see dots.h. */
#include "tests/accum/dots.h"
#include "tests/support/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Who computes: hu_dot, or a twin of it that a test build names. */
#ifdef DOT_CALL
int dot_unavailable(void) { return dot_no_device(); }

static hu_status compute(const t_dot *x, void *z, const hu_dot_operands *in, const hu_exec *exec, hu_events *events,
                         hu_watch *watch) {
  assert_null(watch);
  return DOT_CALL(x->n, z, x->c, in, &x->accum, x->mode, exec, events);
}
#else
int dot_unavailable(void) { return 0; }

static hu_status compute(const t_dot *x, void *z, const hu_dot_operands *in, const hu_exec *exec, hu_events *events,
                         hu_watch *watch) {
  return hu_dot_n_watched(1, x->n, z, 1, x->c, in, &x->accum, x->mode, exec, events, watch);
}
#endif

hu_element dot_element(const char *name) {
  static const char *const kinds[] = {"", "binary64", "s8", "u8", "s4", "u4", "s32"};
  hu_element element;
  memset(&element, 0, sizeof element);
  for (uint8_t i = 1; i <= HU_ELEMENT_S32; i++) {
    if (strcmp(name, kinds[i]) != 0) continue;
    element.kind = i;
    return element;
  }
  if (hu_format_parse(&element.format, name, NULL) != HU_OK) fail_msg("element %s", name);
  return element;
}

size_t dot_read_hex(uint64_t *z, size_t buffer, const char *text, unsigned width) {
  size_t digits = (width + 3) / 4, n = strlen(text);
  char piece[17] = "";
  if (n % digits || n / digits > buffer) fail_msg("%zu hex digits for elements of %zu: %.40s", n, digits, text);
  for (size_t i = 0; i < n / digits; i++) {
    char *end;
    memcpy(piece, text + i * digits, digits);
    piece[digits] = 0;
    z[i] = strtoull(piece, &end, 16);
    if (*end) fail_msg("hex digits: %.40s", text);
  }
  return n / digits;
}

void dot_store(uint8_t *z, size_t i, size_t size, uint64_t x) {
  uint16_t h = (uint16_t)x;
  uint32_t w = (uint32_t)x;
  if (size == 1) z[i] = (uint8_t)x;
  if (size == 2) memcpy(z + i * 2, &h, 2);
  if (size == 4) memcpy(z + i * 4, &w, 4);
  if (size == 8) memcpy(z + i * 8, &x, 8);
}

/* The elements stored backwards with a gap, so that strides are never the usual ones. */
static hu_vector pack(uint64_t *buffer, const uint64_t *x, size_t n, hu_element element) {
  size_t size = hu_element_size(element);
  hu_vector vector;
  memset(&vector, 0, sizeof vector);
  for (size_t k = 0; k < n; k++) dot_store((uint8_t *)buffer, 2 * (n - 1 - k), size, x[k]);
  vector.data = (const uint8_t *)buffer + (n ? 2 * (n - 1) * size : 0);
  vector.stride = -2;
  vector.element = element;
  return vector;
}

static struct { uint64_t a[2 * DOT_TERMS], b[2 * DOT_TERMS], c[2], sa[2 * DOT_SCALES], sb[2 * DOT_SCALES]; } buffer;

/* Scales as units take them: bytes, of whose unsigned formats the upper bit is not looked at. */
static hu_vector pack_scales(uint64_t *z, const uint64_t *x, size_t n, hu_element element) {
  uint64_t code[DOT_SCALES], mask = ((uint64_t)1 << hu_element_width(element)) - 1;
  for (size_t k = 0; k < n; k++) code[k] = x[k] & mask;
  return pack(z, code, n, element);
}

/* The operands of x, in `buffer`. */
static hu_dot_operands operands_of(const t_dot *x) {
  hu_element scale;
  hu_dot_operands in;
  memset(&scale, 0, sizeof scale);
  memset(&in, 0, sizeof in);
  scale.format = x->scale;
  in.a = pack(buffer.a, x->at, x->n, x->a);
  in.b = pack(buffer.b, x->bt, x->n, x->b);
  if (x->has_c) in.c = pack(buffer.c, &x->ct, 1, x->c);
  if (x->scales) in.sa = pack_scales(buffer.sa, x->sa, x->scales, scale);
  if (x->scales) in.sb = pack_scales(buffer.sb, x->sb, x->scales, scale);
  return in;
}

static hu_exec exec_of(const t_dot *x) {
  hu_exec exec;
  memset(&exec, 0, sizeof exec);
  exec.stream.key = x->key;
  exec.stream.counter = x->element;
  return exec;
}

/* Ends the test unless status is HU_OK. */
static uint64_t answer(const t_dot *x, hu_status status, uint64_t z, const hu_events *counts, uint32_t *events) {
  if (status != HU_OK) fail_msg("hu_dot says %s: %s", hu_status_name(status), dot_text(x));
  uint64_t set[9] = {counts->overflow, counts->saturated, counts->underflow, counts->to_zero, counts->subnormal,
                     counts->inexact,  counts->invalid,   counts->nan_in,    counts->inf_in};
  *events = 0;
  for (unsigned i = 0; i < 9; i++) *events |= (uint32_t)(set[i] != 0) << i;
  size_t size = hu_element_size(x->c);
  return size == 8 ? z : z & (((uint64_t)1 << 8 * size) - 1);
}

uint64_t dot_watched(const t_dot *x, uint32_t *events, hu_watch *watch) {
  uint64_t z = 0xA5A5A5A5A5A5A5A5u;
  hu_dot_operands in = operands_of(x);
  hu_exec exec = exec_of(x);
  hu_events counts;
  memset(&counts, 0, sizeof counts);
  hu_status status = compute(x, &z, &in, &exec, &counts, watch);
  return answer(x, status, z, &counts, events);
}

#ifndef DOT_CALL
uint64_t dot_traced(const t_dot *x, uint32_t *events, hu_trace_visit *visit, void *context) {
  uint64_t z = 0xA5A5A5A5A5A5A5A5u;
  hu_dot_operands in = operands_of(x);
  hu_exec exec = exec_of(x);
  hu_events counts;
  memset(&counts, 0, sizeof counts);
  hu_status status = hu_dot_trace(x->n, &z, x->c, &in, &x->accum, x->mode, &exec, &counts, visit, context);
  return answer(x, status, z, &counts, events);
}
#endif

uint64_t dot_library(const t_dot *x, uint32_t *events) { return dot_watched(x, events, NULL); }

static size_t put(char *text, size_t at, size_t size, const char *name, const uint64_t *x, size_t n, unsigned width) {
  at += (size_t)snprintf(text + at, size - at, " %s=", name);
  for (size_t i = 0; i < n && at + 20 < size; i++)
    at += (size_t)snprintf(text + at, size - at, "%0*llx", (int)((width + 3) / 4), (unsigned long long)x[i]);
  return at;
}

const char *dot_text(const t_dot *x) {
  static char text[16384];
  size_t at = hu_accum_text(text, HU_ACCUM_TEXT_MAX, &x->accum);
  at = put(text, at, sizeof text, "a", x->at, x->n, hu_element_width(x->a));
  at = put(text, at, sizeof text, "b", x->bt, x->n, hu_element_width(x->b));
  at = put(text, at, sizeof text, "c", &x->ct, (size_t)x->has_c, hu_element_width(x->c));
  if (x->scales) at = put(text, at, sizeof text, "sa", x->sa, x->scales, 8);
  if (x->scales) (void)put(text, at, sizeof text, "sb", x->sb, x->scales, 8);
  return text;
}
