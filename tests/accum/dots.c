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
#else
#define DOT_CALL hu_dot
int dot_unavailable(void) { return 0; }
#endif

hu_type dot_element(const char *name) {
  static const char *const integers[] = {"s8", "u8", "s4", "u4", "s32"};
  hu_format format;
  for (uint16_t i = 0; i < 5; i++)
    if (strcmp(name, integers[i]) == 0) return hu_type_plain((uint16_t)(HU_TYPE_INT8 + i));
  if (strcmp(name, "binary64") == 0) return hu_type_plain(HU_TYPE_BINARY64);
  if (hu_format_parse(&format, name, NULL) != HU_OK) fail_msg("element %s", name);
  return hu_type_codes(format);
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

int dot_is_of_codes(const t_dot *x) {
  return x->a.kind == HU_TYPE_CODES && x->b.kind == HU_TYPE_CODES && x->c.kind == HU_TYPE_CODES;
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
static hu_view pack(uint64_t *buffer, const uint64_t *x, size_t n, hu_type type) {
  size_t size = hu_type_size(type);
  for (size_t k = 0; k < n; k++) dot_store((uint8_t *)buffer, 2 * (n - 1 - k), size, x[k]);
  return hu_view_of((const uint8_t *)buffer + (n ? 2 * (n - 1) * size : 0), -2, type);
}

static struct { uint64_t a[2 * DOT_TERMS], b[2 * DOT_TERMS], c[2], sa[2 * DOT_SCALES], sb[2 * DOT_SCALES]; } buffer;

/* Scales as units take them: bytes, of whose unsigned formats the upper bit is not looked at. */
static hu_view pack_scales(uint64_t *z, const uint64_t *x, size_t n, hu_format format) {
  hu_type type = hu_type_codes(format);
  uint64_t code[DOT_SCALES], mask = ((uint64_t)1 << hu_type_width(type)) - 1;
  for (size_t k = 0; k < n; k++) code[k] = x[k] & mask;
  return pack(z, code, n, type);
}

/* x with its operands in `buffer` and its result in *z. */
static hu_product product_of(const t_dot *x, uint64_t *z) {
  hu_product made = hu_product_of_dot(x->n, hu_output_of(z, 1, x->c), pack(buffer.a, x->at, x->n, x->a),
                                      pack(buffer.b, x->bt, x->n, x->b), &x->accum);
  *z = 0xA5A5A5A5A5A5A5A5u;
  if (x->has_c) made.c = pack(buffer.c, &x->ct, 1, x->c);
  if (x->scales) made.sa = pack_scales(buffer.sa, x->sa, x->scales, x->scale);
  if (x->scales) made.sb = pack_scales(buffer.sb, x->sb, x->scales, x->scale);
  return made;
}

static hu_exec exec_of(const t_dot *x) { return (hu_exec){.stream = {x->key, x->element}}; }

/* Ends the test unless status is HU_OK. */
static uint64_t answer(const t_dot *x, hu_status status, uint64_t z, const hu_events *counts, uint32_t *events) {
  if (status != HU_OK) fail_msg("hu_dot says %s: %s", hu_status_name(status), dot_text(x));
  uint64_t set[9] = {counts->overflow, counts->saturated, counts->underflow, counts->to_zero, counts->subnormal,
                     counts->inexact,  counts->invalid,   counts->nan_in,    counts->inf_in};
  *events = 0;
  for (unsigned i = 0; i < 9; i++) *events |= (uint32_t)(set[i] != 0) << i;
  size_t size = hu_type_size(x->c);
  return size == 8 ? z : z & (((uint64_t)1 << 8 * size) - 1);
}

/* visit: NULL, or hu_dot_trace's. */
static uint64_t ask(const t_dot *x, uint32_t *events, hu_watch *watch, hu_trace_visit *visit, void *context) {
  uint64_t z;
  hu_product product = product_of(x, &z);
  hu_exec exec = exec_of(x);
  hu_events counts = {0};
  hu_how how = {x->mode, &exec, &counts};
  product.watch = watch;
  hu_status status = visit ? hu_dot_trace(&product, &how, visit, context) : DOT_CALL(&product, &how);
  return answer(x, status, z, &counts, events);
}

uint64_t dot_watched(const t_dot *x, uint32_t *events, hu_watch *watch) { return ask(x, events, watch, NULL, NULL); }

uint64_t dot_traced(const t_dot *x, uint32_t *events, hu_watch *watch, hu_trace_visit *visit, void *context) {
  return ask(x, events, watch, visit, context);
}

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
  at = put(text, at, sizeof text, "a", x->at, x->n, hu_type_width(x->a));
  at = put(text, at, sizeof text, "b", x->bt, x->n, hu_type_width(x->b));
  at = put(text, at, sizeof text, "c", &x->ct, (size_t)x->has_c, hu_type_width(x->c));
  if (x->scales) at = put(text, at, sizeof text, "sa", x->sa, x->scales, 8);
  if (x->scales) (void)put(text, at, sizeof text, "sb", x->sb, x->scales, 8);
  return text;
}
