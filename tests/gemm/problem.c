/* SPDX-License-Identifier: MIT */
/* tests/gemm/problem.c - see problem.h. */
#include "tests/gemm/problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/scalar.h"

static void *must_have(size_t bytes) {
  void *p = malloc(bytes + 1);
  if (!p) {
    fprintf(stderr, "no memory for %zu bytes\n", bytes);
    exit(1);
  }
  return p;
}

/* A code of one kind. Signs are random; kinds other than ANY and ZEROS hardly ever give specials. */
static uint32_t draw_code(t_random *r, hu_limits l, int kind) {
  uint32_t sign = t_below(r, 2) ? l.sign_mask : 0, any = t_next32(r) >> (32 - l.width);
  uint64_t finite = (uint64_t)l.max_code + 1;
  uint32_t middle = l.max_code / 2, some = (uint32_t)(((uint64_t)t_next32(r) * finite) >> 32);
  switch (kind) {
    case DRAW_ANY: return any;
    case DRAW_FINITE: return some | sign;
    case DRAW_NARROW: return (middle + t_below(r, middle / 4 + 1)) | sign;
    case DRAW_TINY: return t_below(r, l.max_code < 40 ? l.max_code + 1 : 40) | sign;
    case DRAW_HUGE: return (l.max_code - t_below(r, l.max_code < 20 ? l.max_code + 1 : 20)) | sign;
    default: return t_below(r, 12) ? sign : any;
  }
}

void plain_draw(plain *x, t_random *r, size_t rows, size_t columns, hu_format f, int kind) {
  hu_limits l = hu_limits_of(f);
  memset(x, 0, sizeof *x);
  x->rows = rows;
  x->columns = columns;
  x->format = f;
  x->code = must_have(rows * columns * sizeof *x->code);
  for (size_t i = 0; i < rows * columns; i++) {
    x->code[i] = draw_code(r, l, kind);
    /* Cancellation: now and then the negative of an earlier value. */
    if (l.sign_mask && i && t_below(r, 3) == 0) x->code[i] = x->code[t_below(r, (uint32_t)i)] ^ l.sign_mask;
  }
}

static size_t code_size(hu_format f) { return hu_limits_of(f).storage / 8; }

static void put(uint8_t *z, size_t size, uint32_t code) {
  uint16_t half = (uint16_t)code;
  if (size == 1) *z = (uint8_t)code;
  if (size == 2) memcpy(z, &half, 2);
  if (size == 4) memcpy(z, &code, 4);
}

void plain_store(plain *x, int values, int transposed, size_t padding) {
  size_t rows = transposed ? x->columns : x->rows, columns = transposed ? x->rows : x->columns;
  size_t size = values ? 4 : code_size(x->format), ld = columns + padding;
  x->bytes = rows * ld * size;
  x->stored = must_have(x->bytes);
  memset(x->stored, 0xFF, x->bytes); /* padding is never read: NaN, and off most grids */
  for (size_t i = 0; i < x->rows; i++) {
    for (size_t j = 0; j < x->columns; j++) {
      size_t at = transposed ? j * ld + i : i * ld + j;
      uint32_t code = x->code[i * x->columns + j];
      if (values) code = t_bits32(hu_decode(x->format, code));
      put((uint8_t *)x->stored + at * size, size, code);
    }
  }
  x->operand.data = x->stored;
  x->operand.ld = ld;
  x->operand.format = x->format;
  x->operand.storage = values ? HU_STORAGE_VALUES : HU_STORAGE_CODES;
  x->operand.transposed = (uint8_t)transposed;
}

void plain_store_again(plain *x, int values, int transposed, size_t padding) {
  free(x->stored);
  plain_store(x, values, transposed, padding);
}

void plain_keep_layout(plain *x, size_t padding) {
  plain_store_again(x, x->operand.storage == HU_STORAGE_VALUES, x->operand.transposed, padding);
}

void plain_free(plain *x) {
  free(x->code);
  free(x->stored);
}

static void store_any(plain *x, t_random *r) {
  int values = hu_format_fits_binary32(x->format) && t_below(r, 2);
  int transposed = (int)t_below(r, 2);
  size_t padding = t_below(r, 3) ? 0 : t_below(r, 5);
  plain_store(x, values, transposed, padding);
}

void problem_draw(t_problem *p, t_random *r, size_t m, size_t n, size_t k, hu_format fa, hu_format fb,
                  const hu_format *fc, hu_format fd, uint32_t kind_of_sum) {
  memset(p, 0, sizeof *p);
  p->m = m;
  p->n = n;
  p->k = k;
  p->accum.kind = kind_of_sum;
  p->mode = t_random_mode(r);
  p->stream.key = t_next64(r);
  p->stream.counter = t_below(r, 4) ? t_next64(r) : UINT64_MAX - t_below(r, 9);
  plain_draw(&p->a, r, m, k, fa, (int)t_below(r, DRAW_KINDS));
  plain_draw(&p->b, r, k, n, fb, (int)t_below(r, DRAW_KINDS));
  store_any(&p->a, r);
  store_any(&p->b, r);
  if (fc) {
    p->has_c = 1;
    plain_draw(&p->c, r, m, n, *fc, (int)t_below(r, DRAW_KINDS));
    store_any(&p->c, r);
  }
  p->format = fd;
  p->storage = hu_format_fits_binary32(fd) && t_below(r, 2) ? HU_STORAGE_VALUES : HU_STORAGE_CODES;
  p->ld = n + (t_below(r, 2) ? 0 : t_below(r, 5));
}

void problem_free(t_problem *p) {
  plain_free(&p->a);
  plain_free(&p->b);
  plain_free(&p->c);
  plain_free(&p->sa);
  plain_free(&p->sb);
}

static hu_status multiply(const t_problem *p, const hu_result *d, const hu_operand *c, const hu_exec *exec,
                          hu_events *events) {
  const hu_operand *a = &p->a.operand, *b = &p->b.operand;
  if (!p->scaled) return hu_gemm(p->m, p->n, p->k, d, a, b, c, &p->accum, p->mode, exec, events);
  return hu_gemm_scaled(p->m, p->n, p->k, d, a, b, c, &p->sa.operand, &p->sb.operand, &p->accum, p->mode, exec, events);
}

static size_t d_size(const t_problem *p) { return p->storage == HU_STORAGE_VALUES ? 4 : code_size(p->format); }

static hu_exec exec_of(const t_problem *p, uint32_t threads, uint32_t levels_off) {
  hu_exec exec;
  memset(&exec, 0, sizeof exec);
  exec.threads = threads;
  exec.levels_off = levels_off;
  exec.stream = p->stream;
  return exec;
}

t_outcome problem_run(const t_problem *p, uint32_t threads, uint32_t levels_off) {
  t_outcome o;
  hu_exec exec = exec_of(p, threads, levels_off);
  memset(&o, 0, sizeof o);
  o.bytes = p->m * p->ld * d_size(p);
  o.d = must_have(o.bytes);
  t_fill_pattern(o.d, o.bytes);
  hu_result d = {o.d, p->ld, p->format, p->storage};
  o.status = multiply(p, &d, p->has_c ? &p->c.operand : NULL, &exec, &o.events);
  return o;
}

int problem_can_run_in_place(const t_problem *p) {
  return p->has_c && !p->c.operand.transposed && p->c.operand.storage == p->storage &&
         hu_format_equal(p->c.format, p->format);
}

t_outcome problem_run_in_place(const t_problem *p, uint32_t threads, uint32_t levels_off) {
  t_outcome o;
  hu_exec exec = exec_of(p, threads, levels_off);
  hu_operand c = p->c.operand;
  memset(&o, 0, sizeof o);
  o.bytes = p->m * p->ld * d_size(p);
  o.d = must_have(o.bytes);
  t_fill_pattern(o.d, o.bytes);
  for (size_t i = 0; i < p->m; i++) {
    memcpy(o.d + i * p->ld * d_size(p), (const uint8_t *)p->c.stored + i * c.ld * d_size(p), p->n * d_size(p));
  }
  c.data = o.d;
  c.ld = p->ld;
  hu_result d = {o.d, p->ld, p->format, p->storage};
  o.status = multiply(p, &d, &c, &exec, &o.events);
  return o;
}

int outcome_same(const t_outcome *x, const t_outcome *y) {
  return x->status == y->status && x->bytes == y->bytes && memcmp(x->d, y->d, x->bytes) == 0 &&
         t_same_events(&x->events, &y->events);
}

uint32_t outcome_element(const t_problem *p, const t_outcome *o, size_t i, size_t j) {
  const uint8_t *z = o->d + (i * p->ld + j) * d_size(p);
  uint16_t half;
  uint32_t word;
  if (d_size(p) == 1) return *z;
  memcpy(&half, z, 2);
  if (d_size(p) == 2) return half;
  memcpy(&word, z, 4);
  return word;
}

int outcome_padding_untouched(const t_problem *p, const t_outcome *o) {
  uint8_t *fresh = must_have(o->bytes);
  size_t row = p->ld * d_size(p), used = p->n * d_size(p);
  int same = 1;
  t_fill_pattern(fresh, o->bytes);
  for (size_t i = 0; i < p->m; i++) same &= memcmp(fresh + i * row + used, o->d + i * row + used, row - used) == 0;
  free(fresh);
  return same;
}

static int operand_text(char *text, size_t size, const char *name, const plain *x) {
  char f[T_FORMAT_TEXT];
  return snprintf(text, size, "%s: %s, %s%s, ld %zu; ", name, t_format_text(f, x->format),
                  x->operand.storage == HU_STORAGE_VALUES ? "values" : "codes",
                  x->operand.transposed ? ", transposed" : "", x->operand.ld);
}

const char *problem_text(char text[PROBLEM_TEXT], const t_problem *p) {
  char f[T_FORMAT_TEXT], mode[T_MODE_TEXT];
  int at = snprintf(text, PROBLEM_TEXT, "%zu x %zu x %zu %s, %s; ", p->m, p->n, p->k,
                    p->accum.kind == HU_ACCUM_EXACT ? "exact" : "fp32", t_mode_text(mode, p->mode));
  at += operand_text(text + at, PROBLEM_TEXT - (size_t)at, "A", &p->a);
  at += operand_text(text + at, PROBLEM_TEXT - (size_t)at, "B", &p->b);
  if (p->has_c) at += operand_text(text + at, PROBLEM_TEXT - (size_t)at, "C", &p->c);
  snprintf(text + at, PROBLEM_TEXT - (size_t)at, "D: %s, %s, ld %zu", t_format_text(f, p->format),
           p->storage == HU_STORAGE_VALUES ? "values" : "codes", p->ld);
  return text;
}
