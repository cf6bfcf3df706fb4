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
  int transposed = x->view.stride != 1;
  return transposed ? j : i;
}
static size_t stored_col(const t_matrix *x, size_t i, size_t j) { return i + j - stored_row(x, i, j); }

static uint32_t raw(const t_matrix *x, size_t i, size_t j) {
  hu_format format = x->scaled ? x->scaling.element : x->view.type.format;
  int values = !x->scaled && x->view.type.kind == HU_TYPE_VALUES32;
  size_t size = values ? 4 : hu_limits_of(format).storage / 8;
  return t_get(x->codes, size, (ptrdiff_t)(stored_row(x, i, j) * x->ld + stored_col(x, i, j)));
}

static uint32_t code_of(hu_format format, float x) {
  uint32_t code, events;
  assert_int_equal(hu_oracle_encode64(&code, &events, format, rne, (double)x, 0), HU_OK);
  return code;
}

/* The code of element (i, j) in the format of element_of. */
static uint64_t pattern(const t_matrix *x, size_t i, size_t j) {
  uint32_t c = raw(x, i, j);
  if (!x->scaled) return x->view.type.kind == HU_TYPE_VALUES32 ? code_of(x->view.type.format, t_float(c)) : c;
  uint32_t width = 1u + x->scaling.element.e + x->scaling.element.m, top = (uint32_t)1 << (width - 1);
  c &= 2 * top - 1;
  if (x->scaling.coding == HU_CODING_TWOS && c >= top) return (2 * (uint64_t)top - c) | (uint64_t)2 * top;
  return c;
}

static hu_type element_of(const t_matrix *x) {
  hu_type element = hu_type_codes(x->scaled ? x->scaling.element : x->view.type.format);
  if (x->scaled && x->scaling.coding == HU_CODING_TWOS) element.format.e = 1;
  return element;
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
static float step_of(const t_product *product, const t_matrix *x, double s) {
  return product->sum.factor == HU_SCALED_FACTOR_ALPHA ? rounded(s) : rounded(s * tensor_of(x));
}

static uint32_t bits_of(float x) { return x != x ? 0x7FC00000u : t_bits32(x); }

/* rne32(alpha rne32(x) + c): one fused multiply-add of the reference. */
static uint32_t epilogue(const t_product *product, uint32_t x, hu_type ec, uint64_t c) {
  static t_dot dot;
  reference_ends ends = {0, NULL, 0, 0, NULL, NULL};
  hu_format binary32 = hu_format_ieee(8, 23, 0);
  hu_watch watch;
  uint32_t events;
  memset(&dot, 0, sizeof dot);
  dot.accum.kind = HU_ACCUM_SEQ;
  dot.accum.sum = binary32;
  dot.a = dot.b = hu_type_codes(binary32);
  dot.c = ec;
  dot.n = 1;
  dot.has_c = 1;
  dot.at[0] = bits_of(rounded(tensor_of(&product->a) * tensor_of(&product->b)));
  dot.bt[0] = x;
  dot.ct = c;
  ends.result = &binary32;
  memset(&watch, 0, sizeof watch);
  return (uint32_t)reference_between(&dot, &ends, &events, &watch);
}

/* ---- an element ---- */

typedef struct t_element {
  const t_product *p;
  size_t i, j;
  hu_type c; /* binary32, +0, where there is none */
  uint64_t ct;
  int nan_given, impossible;
  const float *a, *b; /* values, decoded */
} t_element;

static void rows_of(const t_element *element, t_dot *dot, size_t l, size_t end) {
  const t_product *product = element->p;
  dot->a = element_of(&product->a);
  dot->b = element_of(&product->b);
  dot->n = end - l;
  for (size_t at = l; at < end; at++) {
    dot->at[at - l] = pattern(&product->a, element->i, at);
    dot->bt[at - l] = pattern(&product->b, at, element->j);
  }
}

static void look_for_nan(t_element *element) {
  static t_dot dot;
  const t_product *product = element->p;
  reference_ends ends = {0, NULL, 0, 0, NULL, NULL};
  hu_watch watch;
  uint32_t events;
  memset(&dot, 0, sizeof dot);
  rows_of(element, &dot, 0, product->k);
  dot.accum.kind = HU_ACCUM_SEQ;
  dot.accum.sum = hu_format_ieee(8, 23, 0);
  dot.accum.block.input = product->sum.inside.block.input; /* what a model reads may be less than a code */
  dot.c = hu_type_codes(hu_format_ieee(8, 23, 0));
  memset(&watch, 0, sizeof watch);
  (void)reference_between(&dot, &ends, &events, &watch);
  element->nan_given |= ends.nan_given;
  for (size_t l = 0; l < product->k; l++) {
    double sa = scale_at(&product->a, element->i, l), sb = scale_at(&product->b, l, element->j);
    element->nan_given |= sa != sa || sb != sb;
  }
  element->nan_given |=
      tensor_of(&product->a) != tensor_of(&product->a) || tensor_of(&product->b) != tensor_of(&product->b);
}

/* Where the run of position l ends: the next position with other blocks. */
static size_t run_end(const t_product *product, size_t l) {
  size_t end = l + 1;
  for (; end < product->k; end++) {
    const t_matrix *x[2] = {&product->a, &product->b};
    int same = 1;
    for (int t = 0; t < 2; t++) {
      if (!x[t]->scaled) continue;
      uint32_t side = (t == 0) != (x[t]->view.stride != 1) ? x[t]->scaling.cols : x[t]->scaling.rows;
      same &= block_at(end, side) == block_at(l, side);
    }
    if (!same) break;
  }
  return end;
}

/* Everything in the dot product across but its last rounding; returns the number of runs. */
static size_t make_across(t_element *element, t_dot *dot) {
  static t_dot part;
  const t_product *product = element->p;
  hu_format binary32 = hu_format_ieee(8, 23, 0);
  uint64_t roundings = 0;
  size_t r = 0;
  for (size_t l = 0, end; l < product->k; l = end, r++) {
    reference_ends ends = {roundings, &binary32, 0, 0, NULL, NULL};
    hu_watch watch;
    uint32_t events;
    end = run_end(product, l);
    memset(&part, 0, sizeof part);
    part.accum = product->sum.inside;
    part.c = hu_type_codes(binary32);
    part.key = dot->key;
    part.element = dot->element;
    rows_of(element, &part, l, end);
    memset(&watch, 0, sizeof watch);
    uint32_t x = (uint32_t)reference_between(&part, &ends, &events, &watch);
    roundings = ends.roundings;
    double sa = scale_at(&product->a, element->i, l), sb = scale_at(&product->b, l, element->j);
    float da = step_of(product, &product->a, sa), db = step_of(product, &product->b, sb);
    if (product->sum.factor == HU_SCALED_FACTOR_TWICE) {
      x = bits_of(rounded((double)t_float(x) * (double)da));
      dot->at[r] = bits_of(db);
    } else if (product->sum.factor != HU_SCALED_FACTOR_EXACT) {
      dot->at[r] = bits_of(rounded((double)da * (double)db));
    } else {
      volatile long double w = ((long double)sa * tensor_of(&product->a)) * ((long double)sb * tensor_of(&product->b));
      volatile double z = (double)w;
      dot->a.kind = HU_TYPE_BINARY64;
      element->impossible |=
          z == z && ((long double)z != w || (z == 0 && sa != 0 && sb != 0) || (z - z != 0 && w - w == 0));
      dot->at[r] = t_bits64(z);
    }
    dot->bt[r] = x;
  }
  return r;
}

/* The epilogue of a sum in binary32, then the last rounding: a product without terms. */
static uint32_t after_epilogue(const t_element *element, uint32_t sum, hu_format to, hu_mode mode, uint32_t *events,
                               int *nan) {
  static t_dot dot;
  const t_product *product = element->p;
  reference_ends ends = {0, &to, 0, 0, NULL, NULL};
  hu_watch watch;
  memset(&dot, 0, sizeof dot);
  memset(&watch, 0, sizeof watch);
  dot.accum.kind = HU_ACCUM_FP32;
  dot.a = dot.b = dot.c = hu_type_codes(hu_format_ieee(8, 23, 0));
  dot.key = product->stream.key;
  dot.element = product->stream.counter + element->i * product->n + element->j;
  dot.mode = mode;
  dot.has_c = 1;
  dot.ct = epilogue(product, sum, element->c, element->ct);
  uint32_t z = (uint32_t)reference_between(&dot, &ends, events, &watch);
  *nan = ends.nan;
  return z;
}

/* The sum, rounded into `to` by `mode`. */
static uint32_t parts(t_element *element, hu_format to, hu_mode mode, uint32_t *events, int *nan) {
  static t_dot dot;
  const t_product *product = element->p;
  hu_format binary32 = hu_format_ieee(8, 23, 0);
  int alpha = product->sum.factor == HU_SCALED_FACTOR_ALPHA && (has_tensor(&product->a) || has_tensor(&product->b));
  reference_ends ends = {(uint64_t)1 << 63, &to, 0, 0, NULL, NULL};
  hu_watch watch;
  memset(&dot, 0, sizeof dot);
  memset(&watch, 0, sizeof watch);
  dot.accum = product->sum.across;
  dot.key = product->stream.key;
  dot.element = product->stream.counter + element->i * product->n + element->j;
  dot.a = dot.b = hu_type_codes(binary32);
  dot.n = make_across(element, &dot);
  if (product->sum.factor == HU_SCALED_FACTOR_EXACT) dot.a = hu_type_plain(HU_TYPE_BINARY64);
  dot.mode = mode;
  dot.has_c = product->has_c;
  dot.c = element->c;
  dot.ct = element->ct;
  if (alpha) {
    ends.result = &binary32;
    dot.mode = rne;
    dot.has_c = 0;
  }
  uint32_t z = (uint32_t)reference_between(&dot, &ends, events, &watch);
  *nan = ends.nan;
  if (!alpha) return z;
  return after_epilogue(element, z, to, mode, events, nan);
}

/* unit and decoded. */
static uint32_t whole(t_element *element, hu_format to, hu_mode mode, uint32_t *events, int *nan) {
  static t_dot dot;
  const t_product *product = element->p;
  const hu_accum *x = &product->sum.inside;
  hu_format binary32 = hu_format_ieee(8, 23, 0);
  int unit = product->sum.way == HU_SCALED_UNIT, alpha = unit && (has_tensor(&product->a) || has_tensor(&product->b));
  reference_ends ends = {0, &to, 0, 0, NULL, NULL};
  hu_watch watch;
  memset(&dot, 0, sizeof dot);
  memset(&watch, 0, sizeof watch);
  rows_of(element, &dot, 0, product->k);
  dot.accum = *x;
  dot.key = product->stream.key;
  dot.element = product->stream.counter + element->i * product->n + element->j;
  dot.mode = alpha ? rne : mode;
  dot.has_c = product->has_c && !alpha;
  dot.c = element->c;
  dot.ct = element->ct;
  size_t every = unit ? (x->scaled ? x->promote : x->block.every) : 0;
  dot.scale = x->scaled ? binary32 : x->block.scale;
  for (size_t l = 0; every && l < product->k; l += every, dot.scales++) {
    double sa = scale_at(&product->a, element->i, l), sb = scale_at(&product->b, l, element->j);
    dot.sa[dot.scales] = code_of(dot.scale, (float)sa);
    dot.sb[dot.scales] = code_of(dot.scale, (float)sb);
    element->impossible |= (double)(float)sa != sa && sa == sa;
    element->impossible |= (double)(float)sb != sb && sb == sb;
  }
  for (size_t l = 0; !unit && l < product->k; l++) {
    hu_format as = product->sum.as.e ? product->sum.as : binary32;
    if (product->a.scaled) dot.a = hu_type_codes(as);
    if (product->b.scaled) dot.b = hu_type_codes(as);
    if (product->a.scaled) dot.at[l] = code_of(as, value_at(&product->a, element->a, element->i, l));
    if (product->b.scaled) dot.bt[l] = code_of(as, value_at(&product->b, element->b, l, element->j));
  }
  if (alpha) ends.result = &binary32;
  uint32_t z = (uint32_t)reference_between(&dot, &ends, events, &watch);
  *nan = ends.nan;
  if (!unit) element->nan_given = ends.nan_given;
  if (!alpha) return z;
  return after_epilogue(element, z, to, mode, events, nan);
}

/* ---- all ---- */

static void count(hu_events *z, uint32_t set) {
  uint64_t *counts[9] = {&z->overflow, &z->saturated, &z->underflow, &z->to_zero, &z->subnormal,
                         &z->inexact,  &z->invalid,   &z->nan_in,    &z->inf_in};
  for (unsigned i = 0; i < 9; i++) *counts[i] += set >> i & 1;
}

static void set_c(t_element *element, const float *values) {
  const t_product *product = element->p;
  element->c = hu_type_codes(hu_format_ieee(8, 23, 0));
  element->ct = 0;
  if (!product->has_c) return;
  if (product->c.scaled) {
    element->ct = bits_of(value_at(&product->c, values, element->i, element->j));
    element->nan_given |= t_float((uint32_t)element->ct) != t_float((uint32_t)element->ct);
    return;
  }
  double x = 0;
  element->c = element_of(&product->c);
  element->ct = pattern(&product->c, element->i, element->j);
  assert_int_equal(hu_oracle_decode64(&x, element->c.format, (uint32_t)element->ct), HU_OK);
  element->nan_given |= x != x;
}

static void encode(const t_product *product, t_expected *out, const float *y) {
  static float values[PRODUCT_ROOM];
  model m;
  memset(&m, 0, sizeof m);
  m.rows = product->m;
  m.cols = product->n;
  m.x = y;
  m.scaling = product->scaling;
  m.mode = product->mode;
  m.stream = product->stream;
  m.amax = product->amax;
  m.codes = out->codes;
  m.scales = out->scales;
  m.values = values;
  m.stats = out->stats;
  model_run(&m);
  out->tensor = m.tensor;
  out->events = m.events;
}

int product_model(const t_product *product, t_expected *out) {
  static float y[PRODUCT_ROOM];
  hu_format to = product->scaled ? hu_format_ieee(8, 23, 0) : product->format;
  hu_mode mode = product->scaled ? rne : product->mode;
  int simulated = product->sum.way == HU_SCALED_DECODED, fine = 1;
  float *va = simulated && product->a.scaled ? decoded(&product->a) : NULL,
        *vb = simulated && product->b.scaled ? decoded(&product->b) : NULL;
  float *vc = product->has_c && product->c.scaled ? decoded(&product->c) : NULL;
  memset(out, 0, sizeof *out);
  for (size_t at = 0; at < product->m * product->n && fine; at++) {
    t_element element = {product, at / product->n, at % product->n, {0}, 0, 0, 0, va, vb};
    uint32_t events;
    int nan;
    set_c(&element, vc);
    if (!simulated) look_for_nan(&element);
    uint32_t z = (product->sum.way == HU_SCALED_PARTS ? parts : whole)(&element, to, mode, &events, &nan);
    if (nan && !element.nan_given) events = (events & ~(uint32_t)HU_EVENT_NAN_IN) | HU_EVENT_INVALID;
    out->codes[at] = z;
    y[at] = t_float(z);
    count(&out->events, events);
    fine = !element.impossible;
    double x = 0;
    if (!product->scaled && product->values) {
      assert_int_equal(hu_oracle_decode64(&x, product->format, z), HU_OK);
      out->codes[at] = bits_of((float)x);
    }
  }
  free(va);
  free(vb);
  free(vc);
  if (fine && product->scaled) {
    memset(&out->events, 0, sizeof out->events);
    encode(product, out, y);
  }
  return fine;
}
