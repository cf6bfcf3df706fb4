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
static uint32_t draw_code(t_random *random, hu_limits limits, int kind) {
  uint32_t sign = t_below(random, 2) ? limits.sign_mask : 0, any = t_next32(random) >> (32 - limits.width);
  uint64_t finite = (uint64_t)limits.max_code + 1;
  uint32_t middle = limits.max_code / 2, some = (uint32_t)(((uint64_t)t_next32(random) * finite) >> 32);
  switch (kind) {
    case DRAW_ANY: return any;
    case DRAW_FINITE: return some | sign;
    case DRAW_NARROW: return (middle + t_below(random, middle / 4 + 1)) | sign;
    case DRAW_TINY: return t_below(random, limits.max_code < 40 ? limits.max_code + 1 : 40) | sign;
    case DRAW_HUGE: return (limits.max_code - t_below(random, limits.max_code < 20 ? limits.max_code + 1 : 20)) | sign;
    default: return t_below(random, 12) ? sign : any;
  }
}

void plain_draw(plain *x, t_random *random, size_t rows, size_t columns, hu_format format, int kind) {
  hu_limits limits = hu_limits_of(format);
  memset(x, 0, sizeof *x);
  x->rows = rows;
  x->columns = columns;
  x->format = format;
  x->code = must_have(rows * columns * sizeof *x->code);
  for (size_t i = 0; i < rows * columns; i++) {
    x->code[i] = draw_code(random, limits, kind);
    /* Cancellation: now and then the negative of an earlier value. */
    if (limits.sign_mask && i && t_below(random, 3) == 0)
      x->code[i] = x->code[t_below(random, (uint32_t)i)] ^ limits.sign_mask;
  }
}

static size_t code_size(hu_format format) { return hu_limits_of(format).storage / 8; }

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
  x->operand = hu_matrix_of(x->stored, ld, hu_type_values(values ? HU_TYPE_VALUES32 : HU_TYPE_CODES, x->format));
  if (transposed) x->operand = hu_transposed(x->operand);
}

void plain_store_again(plain *x, int values, int transposed, size_t padding) {
  free(x->stored);
  plain_store(x, values, transposed, padding);
}

void plain_keep_layout(plain *x, size_t padding) {
  plain_store_again(x, x->operand.type.kind == HU_TYPE_VALUES32, x->operand.stride != 1, padding);
}

void plain_free(plain *x) {
  free(x->code);
  free(x->stored);
}

static void store_any(plain *x, t_random *random) {
  int values = hu_format_fits_binary32(x->format) && t_below(random, 2);
  int transposed = (int)t_below(random, 2);
  size_t padding = t_below(random, 3) ? 0 : t_below(random, 5);
  plain_store(x, values, transposed, padding);
}

void problem_draw(t_problem *problem, t_random *random, size_t m, size_t n, size_t k, hu_format fa, hu_format fb,
                  const hu_format *fc, hu_format fd, uint32_t kind_of_sum) {
  memset(problem, 0, sizeof *problem);
  problem->m = m;
  problem->n = n;
  problem->k = k;
  problem->accum.kind = kind_of_sum;
  problem->mode = t_random_mode(random);
  problem->stream.key = t_next64(random);
  problem->stream.counter = t_below(random, 4) ? t_next64(random) : UINT64_MAX - t_below(random, 9);
  plain_draw(&problem->a, random, m, k, fa, (int)t_below(random, DRAW_KINDS));
  plain_draw(&problem->b, random, k, n, fb, (int)t_below(random, DRAW_KINDS));
  store_any(&problem->a, random);
  store_any(&problem->b, random);
  if (fc) {
    problem->has_c = 1;
    plain_draw(&problem->c, random, m, n, *fc, (int)t_below(random, DRAW_KINDS));
    store_any(&problem->c, random);
  }
  problem->format = fd;
  problem->kind = hu_format_fits_binary32(fd) && t_below(random, 2) ? HU_TYPE_VALUES32 : HU_TYPE_CODES;
  problem->ld = n + (t_below(random, 2) ? 0 : t_below(random, 5));
}

void problem_free(t_problem *problem) {
  plain_free(&problem->a);
  plain_free(&problem->b);
  plain_free(&problem->c);
  plain_free(&problem->sa);
  plain_free(&problem->sb);
}

static hu_status multiply(const t_problem *problem, const hu_output *result, const hu_view *c, const hu_exec *exec,
                          hu_events *events) {
  hu_product x = {.m = problem->m, .n = problem->n, .k = problem->k, .d = *result, .accum = &problem->accum};
  hu_how how = {problem->mode, exec, events};
  x.a = problem->a.operand;
  x.b = problem->b.operand;
  if (c) x.c = *c;
  if (problem->scaled) x.sa = problem->sa.operand;
  if (problem->scaled) x.sb = problem->sb.operand;
  return hu_multiply(&x, &how);
}

static size_t d_size(const t_problem *problem) {
  return problem->kind == HU_TYPE_VALUES32 ? 4 : code_size(problem->format);
}

static hu_exec exec_of(const t_problem *problem, uint32_t threads, uint32_t levels_off) {
  hu_exec exec;
  memset(&exec, 0, sizeof exec);
  exec.threads = threads;
  exec.levels_off = levels_off;
  exec.stream = problem->stream;
  return exec;
}

t_outcome problem_run(const t_problem *problem, uint32_t threads, uint32_t levels_off) {
  t_outcome outcome;
  hu_exec exec = exec_of(problem, threads, levels_off);
  memset(&outcome, 0, sizeof outcome);
  outcome.bytes = problem->m * problem->ld * d_size(problem);
  outcome.d = must_have(outcome.bytes);
  t_fill_pattern(outcome.d, outcome.bytes);
  hu_output result = hu_matrix_out_of(outcome.d, problem->ld, hu_type_values(problem->kind, problem->format));
  outcome.status = multiply(problem, &result, problem->has_c ? &problem->c.operand : NULL, &exec, &outcome.events);
  return outcome;
}

int problem_can_run_in_place(const t_problem *problem) {
  return problem->has_c && problem->c.operand.stride == 1 && problem->c.operand.type.kind == problem->kind &&
         hu_format_equal(problem->c.format, problem->format);
}

t_outcome problem_run_in_place(const t_problem *problem, uint32_t threads, uint32_t levels_off) {
  t_outcome outcome;
  hu_exec exec = exec_of(problem, threads, levels_off);
  hu_view c = problem->c.operand;
  memset(&outcome, 0, sizeof outcome);
  outcome.bytes = problem->m * problem->ld * d_size(problem);
  outcome.d = must_have(outcome.bytes);
  t_fill_pattern(outcome.d, outcome.bytes);
  for (size_t i = 0; i < problem->m; i++) {
    memcpy(outcome.d + i * problem->ld * d_size(problem),
           (const uint8_t *)problem->c.stored + i * (size_t)c.row * d_size(problem), problem->n * d_size(problem));
  }
  c.data = outcome.d;
  c.row = (ptrdiff_t)problem->ld;
  hu_output result = hu_matrix_out_of(outcome.d, problem->ld, hu_type_values(problem->kind, problem->format));
  outcome.status = multiply(problem, &result, &c, &exec, &outcome.events);
  return outcome;
}

int outcome_same(const t_outcome *x, const t_outcome *y) {
  return x->status == y->status && x->bytes == y->bytes && memcmp(x->d, y->d, x->bytes) == 0 &&
         t_same_events(&x->events, &y->events);
}

uint32_t outcome_element(const t_problem *problem, const t_outcome *outcome, size_t i, size_t j) {
  const uint8_t *z = outcome->d + (i * problem->ld + j) * d_size(problem);
  uint16_t half;
  uint32_t word;
  if (d_size(problem) == 1) return *z;
  memcpy(&half, z, 2);
  if (d_size(problem) == 2) return half;
  memcpy(&word, z, 4);
  return word;
}

int outcome_padding_untouched(const t_problem *problem, const t_outcome *outcome) {
  uint8_t *fresh = must_have(outcome->bytes);
  size_t row = problem->ld * d_size(problem), used = problem->n * d_size(problem);
  int same = 1;
  t_fill_pattern(fresh, outcome->bytes);
  for (size_t i = 0; i < problem->m; i++)
    same &= memcmp(fresh + i * row + used, outcome->d + i * row + used, row - used) == 0;
  free(fresh);
  return same;
}

static int operand_text(char *text, size_t size, const char *name, const plain *x) {
  char f[T_FORMAT_TEXT];
  return snprintf(text, size, "%s: %s, %s%s, ld %zu; ", name, t_format_text(f, x->format),
                  x->operand.type.kind == HU_TYPE_VALUES32 ? "values" : "codes",
                  x->operand.stride != 1 ? ", transposed" : "",
                  (size_t)(x->operand.stride != 1 ? x->operand.stride : x->operand.row));
}

const char *problem_text(char text[PROBLEM_TEXT], const t_problem *problem) {
  char f[T_FORMAT_TEXT], mode[T_MODE_TEXT];
  int at = snprintf(text, PROBLEM_TEXT, "%zu x %zu x %zu %s, %s; ", problem->m, problem->n, problem->k,
                    problem->accum.kind == HU_ACCUM_EXACT ? "exact" : "fp32", t_mode_text(mode, problem->mode));
  at += operand_text(text + at, PROBLEM_TEXT - (size_t)at, "A", &problem->a);
  at += operand_text(text + at, PROBLEM_TEXT - (size_t)at, "B", &problem->b);
  if (problem->has_c) at += operand_text(text + at, PROBLEM_TEXT - (size_t)at, "C", &problem->c);
  snprintf(text + at, PROBLEM_TEXT - (size_t)at, "D: %s, %s, ld %zu", t_format_text(f, problem->format),
           problem->kind == HU_TYPE_VALUES32 ? "values" : "codes", problem->ld);
  return text;
}
