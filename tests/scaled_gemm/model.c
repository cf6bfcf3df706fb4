/* SPDX-License-Identifier: MIT */
/* tests/scaled_gemm/model.c - see product.h: docs/scaled.md section 9, one element at a time. */
#include <stdlib.h>
#include <string.h>

#include "halfulp/oracle.h"
#include "tests/accum/reference.h"
#include "tests/scaled/model.h"
#include "tests/scaled_gemm/product.h"
#include "tests/support/cmocka.h"

static const hu_mode rne;

/* ---- elements and scales ---- */

static size_t stored_row(const t_matrix *x, size_t i, size_t j) {
  int transposed = x->scaled ? x->operand.transposed : x->operand.plain.transposed;
  return transposed ? j : i;
}
static size_t stored_col(const t_matrix *x, size_t i, size_t j) { return i + j - stored_row(x, i, j); }

static uint32_t raw(const t_matrix *x, size_t i, size_t j) {
  hu_format f = x->scaled ? x->scaling.element : x->operand.plain.format;
  int values = !x->scaled && x->operand.plain.storage == HU_STORAGE_VALUES;
  size_t size = values ? 4 : hu_limits_of(f).storage / 8;
  return t_get(x->codes, size, (ptrdiff_t)(stored_row(x, i, j) * x->ld + stored_col(x, i, j)));
}

static uint32_t code_of(hu_format f, float x) {
  uint32_t code, events;
  assert_int_equal(hu_oracle_encode64(&code, &events, f, rne, (double)x, 0), HU_OK);
  return code;
}

/* The code of element (i, j) in the format of element_of. */
static uint64_t pattern(const t_matrix *x, size_t i, size_t j) {
  uint32_t c = raw(x, i, j);
  if (!x->scaled)
    return x->operand.plain.storage == HU_STORAGE_VALUES ? code_of(x->operand.plain.format, t_float(c)) : c;
  uint32_t width = 1u + x->scaling.element.e + x->scaling.element.m, top = (uint32_t)1 << (width - 1);
  c &= 2 * top - 1;
  if (x->scaling.coding == HU_CODING_TWOS && c >= top) return (2 * (uint64_t)top - c) | (uint64_t)2 * top;
  return c;
}

static hu_element element_of(const t_matrix *x) {
  hu_element e;
  memset(&e, 0, sizeof e);
  e.format = x->scaled ? x->scaling.element : x->operand.plain.format;
  if (x->scaled && x->scaling.coding == HU_CODING_TWOS) e.format.e = 1;
  return e;
}

static size_t block_at(size_t at, uint32_t side) { return side ? at / side : 0; }

static uint32_t scale_code(const t_matrix *x, size_t i, size_t j) {
  size_t p = block_at(stored_row(x, i, j), x->scaling.rows), q = block_at(stored_col(x, i, j), x->scaling.cols);
  return t_get(x->scales, hu_limits_of(x->scaling.scale).storage / 8, (ptrdiff_t)(p * x->lds + q));
}

static double scale_at(const t_matrix *x, size_t i, size_t j) {
  double z = 1;
  if (x->scaled) assert_int_equal(hu_oracle_decode64(&z, x->scaling.scale, scale_code(x, i, j)), HU_OK);
  return z;
}

static int has_tensor(const t_matrix *x) { return x->scaled && x->scaling.tensor; }
static double tensor_of(const t_matrix *x) { return has_tensor(x) ? (double)x->tensor : 1; }

/* ---- values ---- */

/* All of a scaled matrix as binary32, as it is stored. */
static float *decoded(const t_matrix *x) {
  size_t n = x->stored_rows * x->stored_cols;
  hu_scaled_sizes z = hu_scaled_sizes_of(x->stored_rows, x->stored_cols, &x->scaling);
  uint32_t *codes = calloc(n + 1, 4), *scales = calloc(z.block_rows * z.block_cols + 1, 4);
  float *values = calloc(n + 1, sizeof *values);
  model m;
  memset(&m, 0, sizeof m);
  assert_true(codes && scales && values);
  for (size_t i = 0; i < n; i++) {
    size_t at = i / x->stored_cols * x->ld + i % x->stored_cols;
    uint32_t width = 1u + x->scaling.element.e + x->scaling.element.m;
    codes[i] = t_get(x->codes, z.code_bytes, (ptrdiff_t)at) & (uint32_t)(((uint64_t)1 << width) - 1);
  }
  for (size_t i = 0; i < z.block_rows * z.block_cols; i++) {
    scales[i] = t_get(x->scales, z.scale_bytes, (ptrdiff_t)(i / z.block_cols * x->lds + i % z.block_cols));
  }
  m.rows = x->stored_rows;
  m.cols = x->stored_cols;
  m.scaling = x->scaling;
  m.codes = codes;
  m.scales = scales;
  m.values = values;
  m.tensor = x->scaling.tensor ? x->tensor : 1;
  if (n) model_decode(&m);
  free(codes);
  free(scales);
  return values;
}

static float value_at(const t_matrix *x, const float *values, size_t i, size_t j) {
  return values[stored_row(x, i, j) * x->stored_cols + stored_col(x, i, j)];
}

/* ---- steps in binary32 ---- */

static float rounded(volatile double x) { return (float)x; }

/* d = rne32(s t): both fit binary64 together where there is a t. */
static float step_of(const t_product *p, const t_matrix *x, double s) {
  return p->sum.factor == HU_SCALED_FACTOR_ALPHA ? rounded(s) : rounded(s * tensor_of(x));
}

static uint32_t bits_of(float x) { return x != x ? 0x7FC00000u : t_bits32(x); }

/* rne32(alpha rne32(x) + c): one fused multiply-add of the reference. */
static uint32_t epilogue(const t_product *p, uint32_t x, hu_element ec, uint64_t c) {
  static t_dot d;
  reference_ends ends = {0, NULL, 0, 0, NULL, NULL};
  hu_format binary32 = hu_format_ieee(8, 23, 0);
  hu_watch watch;
  uint32_t events;
  memset(&d, 0, sizeof d);
  d.accum.kind = HU_ACCUM_SEQ;
  d.accum.sum = binary32;
  d.a.format = d.b.format = binary32;
  d.c = ec;
  d.n = 1;
  d.has_c = 1;
  d.at[0] = bits_of(rounded(tensor_of(&p->a) * tensor_of(&p->b)));
  d.bt[0] = x;
  d.ct = c;
  ends.result = &binary32;
  memset(&watch, 0, sizeof watch);
  return (uint32_t)reference_between(&d, &ends, &events, &watch);
}

/* ---- an element ---- */

typedef struct t_element {
  const t_product *p;
  size_t i, j;
  hu_element c; /* binary32, +0, where there is none */
  uint64_t ct;
  int nan_given, impossible;
  const float *a, *b; /* values, decoded */
} t_element;

static void rows_of(const t_element *e, t_dot *d, size_t l, size_t end) {
  const t_product *p = e->p;
  d->a = element_of(&p->a);
  d->b = element_of(&p->b);
  d->n = end - l;
  for (size_t at = l; at < end; at++) {
    d->at[at - l] = pattern(&p->a, e->i, at);
    d->bt[at - l] = pattern(&p->b, at, e->j);
  }
}

static void look_for_nan(t_element *e) {
  static t_dot d;
  const t_product *p = e->p;
  reference_ends ends = {0, NULL, 0, 0, NULL, NULL};
  hu_watch watch;
  uint32_t events;
  memset(&d, 0, sizeof d);
  rows_of(e, &d, 0, p->k);
  d.accum.kind = HU_ACCUM_SEQ;
  d.accum.sum = hu_format_ieee(8, 23, 0);
  d.accum.block.input = p->sum.inside.block.input; /* what a model reads may be less than a code */
  d.c.format = hu_format_ieee(8, 23, 0);
  memset(&watch, 0, sizeof watch);
  (void)reference_between(&d, &ends, &events, &watch);
  e->nan_given |= ends.nan_given;
  for (size_t l = 0; l < p->k; l++) {
    double sa = scale_at(&p->a, e->i, l), sb = scale_at(&p->b, l, e->j);
    e->nan_given |= sa != sa || sb != sb;
  }
  e->nan_given |= tensor_of(&p->a) != tensor_of(&p->a) || tensor_of(&p->b) != tensor_of(&p->b);
}

/* Where the run of position l ends: the next position with other blocks. */
static size_t run_end(const t_product *p, size_t l) {
  size_t end = l + 1;
  for (; end < p->k; end++) {
    const t_matrix *x[2] = {&p->a, &p->b};
    int same = 1;
    for (int t = 0; t < 2; t++) {
      if (!x[t]->scaled) continue;
      uint32_t side = (t == 0) != (x[t]->operand.transposed != 0) ? x[t]->scaling.cols : x[t]->scaling.rows;
      same &= block_at(end, side) == block_at(l, side);
    }
    if (!same) break;
  }
  return end;
}

/* Everything in the dot product across but its last rounding; returns the number of runs. */
static size_t make_across(t_element *e, t_dot *d) {
  static t_dot part;
  const t_product *p = e->p;
  hu_format binary32 = hu_format_ieee(8, 23, 0);
  uint64_t roundings = 0;
  size_t r = 0;
  for (size_t l = 0, end; l < p->k; l = end, r++) {
    reference_ends ends = {roundings, &binary32, 0, 0, NULL, NULL};
    hu_watch watch;
    uint32_t events;
    end = run_end(p, l);
    memset(&part, 0, sizeof part);
    part.accum = p->sum.inside;
    part.c.format = binary32;
    part.key = d->key;
    part.element = d->element;
    rows_of(e, &part, l, end);
    memset(&watch, 0, sizeof watch);
    uint32_t x = (uint32_t)reference_between(&part, &ends, &events, &watch);
    roundings = ends.roundings;
    double sa = scale_at(&p->a, e->i, l), sb = scale_at(&p->b, l, e->j);
    float da = step_of(p, &p->a, sa), db = step_of(p, &p->b, sb);
    if (p->sum.factor == HU_SCALED_FACTOR_TWICE) {
      x = bits_of(rounded((double)t_float(x) * (double)da));
      d->at[r] = bits_of(db);
    } else if (p->sum.factor != HU_SCALED_FACTOR_EXACT) {
      d->at[r] = bits_of(rounded((double)da * (double)db));
    } else {
      volatile long double w = ((long double)sa * tensor_of(&p->a)) * ((long double)sb * tensor_of(&p->b));
      volatile double z = (double)w;
      d->a.kind = HU_ELEMENT_BINARY64;
      e->impossible |= z == z && ((long double)z != w || (z == 0 && sa != 0 && sb != 0) || (z - z != 0 && w - w == 0));
      d->at[r] = t_bits64(z);
    }
    d->bt[r] = x;
  }
  return r;
}

/* The epilogue of a sum in binary32, then the last rounding: a product without terms. */
static uint32_t after_epilogue(const t_element *e, uint32_t sum, hu_format to, hu_mode mode, uint32_t *events,
                               int *nan) {
  static t_dot d;
  const t_product *p = e->p;
  reference_ends ends = {0, &to, 0, 0, NULL, NULL};
  hu_watch watch;
  memset(&d, 0, sizeof d);
  memset(&watch, 0, sizeof watch);
  d.accum.kind = HU_ACCUM_FP32;
  d.a.format = d.b.format = d.c.format = hu_format_ieee(8, 23, 0);
  d.key = p->stream.key;
  d.element = p->stream.counter + e->i * p->n + e->j;
  d.mode = mode;
  d.has_c = 1;
  d.ct = epilogue(p, sum, e->c, e->ct);
  uint32_t z = (uint32_t)reference_between(&d, &ends, events, &watch);
  *nan = ends.nan;
  return z;
}

/* The sum, rounded into `to` by `mode`. */
static uint32_t parts(t_element *e, hu_format to, hu_mode mode, uint32_t *events, int *nan) {
  static t_dot d;
  const t_product *p = e->p;
  hu_format binary32 = hu_format_ieee(8, 23, 0);
  int alpha = p->sum.factor == HU_SCALED_FACTOR_ALPHA && (has_tensor(&p->a) || has_tensor(&p->b));
  reference_ends ends = {(uint64_t)1 << 63, &to, 0, 0, NULL, NULL};
  hu_watch watch;
  memset(&d, 0, sizeof d);
  memset(&watch, 0, sizeof watch);
  d.accum = p->sum.across;
  d.key = p->stream.key;
  d.element = p->stream.counter + e->i * p->n + e->j;
  d.a.format = d.b.format = binary32;
  d.n = make_across(e, &d);
  if (p->sum.factor == HU_SCALED_FACTOR_EXACT) {
    memset(&d.a, 0, sizeof d.a);
    d.a.kind = HU_ELEMENT_BINARY64;
  }
  d.mode = mode;
  d.has_c = p->has_c;
  d.c = e->c;
  d.ct = e->ct;
  if (alpha) {
    ends.result = &binary32;
    d.mode = rne;
    d.has_c = 0;
  }
  uint32_t z = (uint32_t)reference_between(&d, &ends, events, &watch);
  *nan = ends.nan;
  if (!alpha) return z;
  return after_epilogue(e, z, to, mode, events, nan);
}

/* unit and decoded. */
static uint32_t whole(t_element *e, hu_format to, hu_mode mode, uint32_t *events, int *nan) {
  static t_dot d;
  const t_product *p = e->p;
  const hu_accum *x = &p->sum.inside;
  hu_format binary32 = hu_format_ieee(8, 23, 0);
  int unit = p->sum.way == HU_SCALED_UNIT, alpha = unit && (has_tensor(&p->a) || has_tensor(&p->b));
  reference_ends ends = {0, &to, 0, 0, NULL, NULL};
  hu_watch watch;
  memset(&d, 0, sizeof d);
  memset(&watch, 0, sizeof watch);
  rows_of(e, &d, 0, p->k);
  d.accum = *x;
  d.key = p->stream.key;
  d.element = p->stream.counter + e->i * p->n + e->j;
  d.mode = alpha ? rne : mode;
  d.has_c = p->has_c && !alpha;
  d.c = e->c;
  d.ct = e->ct;
  size_t every = unit ? (x->scaled ? x->promote : x->block.every) : 0;
  d.scale = x->scaled ? binary32 : x->block.scale;
  for (size_t l = 0; every && l < p->k; l += every, d.scales++) {
    double sa = scale_at(&p->a, e->i, l), sb = scale_at(&p->b, l, e->j);
    d.sa[d.scales] = code_of(d.scale, (float)sa);
    d.sb[d.scales] = code_of(d.scale, (float)sb);
    e->impossible |= (double)(float)sa != sa && sa == sa;
    e->impossible |= (double)(float)sb != sb && sb == sb;
  }
  for (size_t l = 0; !unit && l < p->k; l++) {
    hu_format as = p->sum.as.e ? p->sum.as : binary32;
    if (p->a.scaled) d.a.format = as;
    if (p->b.scaled) d.b.format = as;
    if (p->a.scaled) d.at[l] = code_of(as, value_at(&p->a, e->a, e->i, l));
    if (p->b.scaled) d.bt[l] = code_of(as, value_at(&p->b, e->b, l, e->j));
  }
  if (alpha) ends.result = &binary32;
  uint32_t z = (uint32_t)reference_between(&d, &ends, events, &watch);
  *nan = ends.nan;
  if (!unit) e->nan_given = ends.nan_given;
  if (!alpha) return z;
  return after_epilogue(e, z, to, mode, events, nan);
}

/* ---- all ---- */

static void count(hu_events *z, uint32_t set) {
  uint64_t *counts[9] = {&z->overflow, &z->saturated, &z->underflow, &z->to_zero, &z->subnormal,
                         &z->inexact,  &z->invalid,   &z->nan_in,    &z->inf_in};
  for (unsigned i = 0; i < 9; i++) *counts[i] += set >> i & 1;
}

static void set_c(t_element *e, const float *values) {
  const t_product *p = e->p;
  hu_format binary32 = hu_format_ieee(8, 23, 0);
  memset(&e->c, 0, sizeof e->c);
  e->c.format = binary32;
  e->ct = 0;
  if (!p->has_c) return;
  if (p->c.scaled) {
    e->ct = bits_of(value_at(&p->c, values, e->i, e->j));
    e->nan_given |= t_float((uint32_t)e->ct) != t_float((uint32_t)e->ct);
    return;
  }
  double x = 0;
  e->c = element_of(&p->c);
  e->ct = pattern(&p->c, e->i, e->j);
  assert_int_equal(hu_oracle_decode64(&x, e->c.format, (uint32_t)e->ct), HU_OK);
  e->nan_given |= x != x;
}

static void encode(const t_product *p, t_expected *out, const float *y) {
  static float values[PRODUCT_ROOM];
  model m;
  memset(&m, 0, sizeof m);
  m.rows = p->m;
  m.cols = p->n;
  m.x = y;
  m.scaling = p->scaling;
  m.mode = p->mode;
  m.stream = p->stream;
  m.amax = p->amax;
  m.codes = out->codes;
  m.scales = out->scales;
  m.values = values;
  m.stats = out->stats;
  model_run(&m);
  out->tensor = m.tensor;
  out->events = m.events;
}

int product_model(const t_product *p, t_expected *out) {
  static float y[PRODUCT_ROOM];
  hu_format to = p->scaled ? hu_format_ieee(8, 23, 0) : p->format;
  hu_mode mode = p->scaled ? rne : p->mode;
  int simulated = p->sum.way == HU_SCALED_DECODED, fine = 1;
  float *va = simulated && p->a.scaled ? decoded(&p->a) : NULL, *vb = simulated && p->b.scaled ? decoded(&p->b) : NULL;
  float *vc = p->has_c && p->c.scaled ? decoded(&p->c) : NULL;
  memset(out, 0, sizeof *out);
  for (size_t at = 0; at < p->m * p->n && fine; at++) {
    t_element e = {p, at / p->n, at % p->n, {0}, 0, 0, 0, va, vb};
    uint32_t events;
    int nan;
    set_c(&e, vc);
    if (!simulated) look_for_nan(&e);
    uint32_t z = (p->sum.way == HU_SCALED_PARTS ? parts : whole)(&e, to, mode, &events, &nan);
    if (nan && !e.nan_given) events = (events & ~(uint32_t)HU_EVENT_NAN_IN) | HU_EVENT_INVALID;
    out->codes[at] = z;
    y[at] = t_float(z);
    count(&out->events, events);
    fine = !e.impossible;
    double x = 0;
    if (!p->scaled && p->values) {
      assert_int_equal(hu_oracle_decode64(&x, p->format, z), HU_OK);
      out->codes[at] = bits_of((float)x);
    }
  }
  free(va);
  free(vb);
  free(vc);
  if (fine && p->scaled) {
    memset(&out->events, 0, sizeof out->events);
    encode(p, out, y);
  }
  return fine;
}
