/* SPDX-License-Identifier: MIT */
/* tests/scaled_gemm/draw.c - see product.h: matrices, sums and results at random. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/scalar.h"
#include "tests/accum/draws.h"
#include "tests/scaled/draw.h"
#include "tests/scaled_gemm/product.h"
#include "tests/support/cmocka.h"

static const hu_mode rne;

static hu_format parsed(const char *text) {
  hu_format f;
  assert_int_equal(hu_format_parse(&f, text, NULL), HU_OK);
  return f;
}

/* ---- matrices ---- */

static void *room(size_t bytes) {
  void *z = malloc(bytes + 1);
  assert_non_null(z);
  t_fill_pattern(z, bytes);
  return z;
}

/* A binary32 number of few digits not far from 1; now and then a zero. */
static float plain_number(t_random *r, int reach) {
  float x = (float)t_between(r, -2047, 2047) / 1024;
  for (int e = t_between(r, -reach, reach); e != 0; e += e < 0 ? 1 : -1) x *= e < 0 ? 0.5f : 2.0f;
  return t_below(r, 40) ? x : t_below(r, 2) ? 0.0f : -0.0f;
}

static void encode(t_matrix *x, t_random *r) {
  size_t n = x->stored_rows * x->stored_cols;
  float *values = room((n + 1) * sizeof *values);
  hu_scaled z = {x->codes, x->ld, x->scales, x->lds, x->scaling.tensor ? &x->tensor : NULL};
  int reach = t_between(r, 0, 12), special = t_below(r, 6) == 0;
  for (size_t i = 0; i < n; i++) {
    values[i] = plain_number(r, reach);
    if (special && t_below(r, 50) == 0) values[i] = t_float(0x7F800000u | t_next32(r) << 31 | t_below(r, 2) << 22);
  }
  assert_int_equal(hu_scaled_encode(x->stored_rows, x->stored_cols, &z, values, x->stored_cols, &x->scaling, rne, NULL,
                                    NULL, NULL, NULL),
                   HU_OK);
  free(values);
}

static void scramble(t_matrix *x, t_random *r, const hu_scaled_sizes *s, int kind) {
  uint32_t width = hu_limits_of(x->scaling.element).width, events;
  int twos = x->scaling.coding == HU_CODING_TWOS && kind != DRAW_NEAR;
  uint32_t scale_mask = (uint32_t)((UINT64_C(1) << hu_limits_of(x->scaling.scale).width) - 1);
  for (size_t i = 0; i < x->stored_rows * x->stored_cols; i++) {
    size_t at = i / x->stored_cols * x->ld + i % x->stored_cols;
    uint32_t code = twos ? t_random_integer(r, width) : t_random_code(r, x->scaling.element);
    t_put(x->codes, s->code_bytes, (ptrdiff_t)at, code);
  }
  for (size_t i = 0; i < s->block_rows * s->block_cols; i++) {
    size_t at = i / s->block_cols * x->lds + i % s->block_cols;
    double near = t_double((uint64_t)t_between(r, 1018, 1028) << 52) * (1 + (double)t_below(r, 1 << 23) / (1 << 23));
    uint32_t code = hu_encode64(x->scaling.scale, rne, near, 0, &events);
    if (kind == DRAW_ANY_CODES && t_below(r, 8) == 0) code = t_next32(r) & scale_mask;
    t_put(x->scales, s->scale_bytes, (ptrdiff_t)at, code);
  }
}

void matrix_scaled(t_matrix *x, t_random *r, size_t rows, size_t cols, const hu_scaling *d, int transposed, int kind) {
  memset(x, 0, sizeof *x);
  x->rows = rows;
  x->cols = cols;
  x->scaled = 1;
  x->scaling = *d;
  x->stored_rows = transposed ? cols : rows;
  x->stored_cols = transposed ? rows : cols;
  hu_scaled_sizes s = hu_scaled_sizes_of(x->stored_rows, x->stored_cols, d);
  x->ld = x->stored_cols + t_below(r, 3);
  x->lds = s.block_cols + t_below(r, 3);
  x->code_bytes = x->stored_rows * x->ld * s.code_bytes;
  x->scale_bytes = s.block_rows * x->lds * s.scale_bytes;
  x->codes = room(x->code_bytes);
  x->scales = room(x->scale_bytes);
  if (kind == DRAW_ENCODED) encode(x, r);
  if (kind != DRAW_ENCODED) scramble(x, r, &s, kind);
  int digits = t_below(r, 2) ? 12 : 24; /* exact factors of more than 53 have no answer */
  if (kind != DRAW_ENCODED || t_below(r, 2))
    x->tensor = (float)t_between(r, 1, (1 << digits) - 1) / (float)(1 << digits);
  if (kind == DRAW_ANY_CODES && t_below(r, 20) == 0) x->tensor = t_float(0x7FC00000u);
  x->operand.scaling = &x->scaling;
  x->operand.transposed = (uint8_t)transposed;
  x->operand.scaled.codes = x->codes;
  x->operand.scaled.ld = x->ld;
  x->operand.scaled.scales = x->scales;
  x->operand.scaled.lds = x->lds;
  x->operand.scaled.tensor = d->tensor ? &x->tensor : NULL;
}

void matrix_plain(t_matrix *x, t_random *r, size_t rows, size_t cols, hu_format f, int values, int transposed,
                  int kind) {
  memset(x, 0, sizeof *x);
  x->rows = rows;
  x->cols = cols;
  x->stored_rows = transposed ? cols : rows;
  x->stored_cols = transposed ? rows : cols;
  x->ld = x->stored_cols + t_below(r, 3);
  size_t size = values ? 4 : hu_limits_of(f).storage / 8;
  uint32_t mask = (uint32_t)((UINT64_C(1) << hu_limits_of(f).width) - 1);
  x->code_bytes = x->stored_rows * x->ld * size;
  x->codes = room(x->code_bytes);
  for (size_t i = 0; i < x->stored_rows * x->ld; i++) {
    uint32_t code = t_next32(r) & mask, events;
    if (kind != DRAW_ANY_CODES) code = hu_encode(f, rne, plain_number(r, 4), 0, &events);
    double v = hu_decode64(f, code);
    t_put(x->codes, size, (ptrdiff_t)i, values ? (v != v ? 0x7FC00000u : t_bits32((float)v)) : code);
  }
  x->operand.plain.data = x->codes;
  x->operand.plain.ld = x->ld;
  x->operand.plain.format = f;
  x->operand.plain.storage = values ? HU_STORAGE_VALUES : HU_STORAGE_CODES;
  x->operand.plain.transposed = (uint8_t)transposed;
}

void matrix_free(t_matrix *x) {
  free(x->codes);
  free(x->scales);
  x->codes = x->scales = NULL;
}

void product_free(t_product *p) {
  matrix_free(&p->a);
  matrix_free(&p->b);
  if (p->has_c) matrix_free(&p->c);
  memset(p, 0, sizeof *p);
}

/* ---- operands ---- */

static hu_format plain_format(t_random *r) {
  static const char *const names[] = {"binary16", "bfloat16",   "float8_e4m3fn", "float8_e5m2",
                                      "binary32", "fp(8,10,0)", "fp(6,9,0)"};
  return parsed(names[t_below(r, 7)]);
}

static void draw_any(t_matrix *x, t_random *r, size_t rows, size_t cols, int kind) {
  int transposed = (int)t_below(r, 2);
  if (t_below(r, 6) == 0) {
    hu_format f = plain_format(r);
    matrix_plain(x, r, rows, cols, f, t_below(r, 2) != 0, transposed, kind);
    return;
  }
  hu_scaling d = random_scaling(r);
  if (t_below(r, 3) == 0) {
    static const char *const two_levels[] = {"nvfp4", "nvfp4_torchao", "nvfp4_te", "nvfp4_torchao18"};
    uint32_t rows_too = d.rows;
    assert_int_equal(hu_scaling_parse(&d, two_levels[t_below(r, 3)], NULL), HU_OK);
    if (t_below(r, 3) == 0) d.rows = rows_too;
  }
  matrix_scaled(x, r, rows, cols, &d, transposed, kind);
}

/* ---- sums ---- */

static hu_accum some_model(t_random *r, uint32_t kinds, int outer) {
  static t_dot d;
  uint32_t kind = t_below(r, kinds);
  draw_model(&d, r, kind, (uint8_t)t_below(r, HU_BLOCK_RULES));
  if (!outer) d.accum.promote = d.accum.slices = d.accum.scaled = 0;
  if (!d.accum.promote) memset(&d.accum.promoted, 0, sizeof d.accum.promoted);
  if (t_below(r, 3) == 0 && kind >= HU_ACCUM_SEQ && kind < HU_ACCUM_BLOCK) {
    d.accum.sum = hu_format_ieee(8, 23, 0);
    if (kind == HU_ACCUM_SEQ2 || kind == HU_ACCUM_CHUNK) d.accum.product = d.accum.sum;
    if (t_below(r, 2)) memset(&d.accum.mode, 0, sizeof d.accum.mode);
  }
  return d.accum;
}

static void draw_parts(t_product *p, t_random *r, int kind) {
  draw_any(&p->a, r, p->m, p->k, kind);
  draw_any(&p->b, r, p->k, p->n, kind);
  p->sum = hu_scaled_sum_parts(some_model(r, HU_ACCUM_INT32, 1), some_model(r, HU_ACCUM_BLOCK, 1),
                               (uint8_t)t_below(r, HU_SCALED_FACTOR_COUNT));
  if (t_below(r, 3) == 0) memset(&p->sum.inside, 0, sizeof p->sum.inside);
  if (t_below(r, 4) == 0) {
    memset(&p->sum.across, 0, sizeof p->sum.across);
    p->sum.across.kind = HU_ACCUM_FP32;
  }
}

static void draw_decoded(t_product *p, t_random *r, int kind) {
  static const char *const as[] = {"bfloat16", "binary16", "fp(8,10,0)", "float8_e5m2"};
  draw_any(&p->a, r, p->m, p->k, kind);
  draw_any(&p->b, r, p->k, p->n, kind);
  p->sum = hu_scaled_sum_decoded(some_model(r, HU_ACCUM_INT32, 1));
  if (t_below(r, 2)) p->sum.as = parsed(as[t_below(r, 4)]);
}

/* A scaling with the unit's formats. */
static hu_scaling unit_scaling(t_random *r, hu_format element, const hu_accum *x, int along_rows) {
  uint32_t every = x->scaled ? x->promote : x->block.every, along = every * (1 + t_below(r, 3)),
           other = 1 + t_below(r, 3);
  hu_scaling d;
  memset(&d, 0, sizeof d);
  d.element = element;
  d.scale = x->scaled ? hu_format_ieee(8, 23, 0) : x->block.scale;
  if (t_below(r, 3) == 0) along = every;
  if (t_below(r, 3) == 0) other = 1;
  if (t_below(r, 8) == 0) along = 0;
  d.rows = along_rows ? other : along;
  d.cols = along_rows ? along : other;
  d.rule = HU_SCALE_RATIO;
  d.tensor = d.element.m <= 7 && d.scale.m <= 7 && t_below(r, 2);
  d.special = HU_SPECIAL_ELEMENT;
  return d;
}

static int draw_unit(t_product *p, t_random *r, int kind) {
  static const char *const models[] = {
      "promote(8,seq(binary16),binary32,scaled)", "promote(16,nv.hopper.e4m3.f32.wgmma,binary32,scaled)",
      "promote(128,nv.hopper.e4m3.f32.wgmma,binary32,scaled)", "splitk(3,promote(5,fp32,bfloat16,scaled))"};
  hu_format fa = parsed("float8_e4m3fn"), fb = fa;
  hu_accum x;
  if (t_below(r, 3) == 0) {
    assert_int_equal(hu_accum_parse(&x, models[t_below(r, 4)], NULL), HU_OK);
  } else {
    hu_accum_preset preset;
    do {
      assert_int_equal(hu_accum_preset_at(&preset, t_below(r, (uint32_t)hu_accum_preset_count())), HU_OK);
    } while (!hu_accum_is_scaled(&preset.accum));
    x = preset.accum;
    fa = preset.a.format;
    fb = preset.b.format;
  }
  int ta = (int)t_below(r, 2), tb = (int)t_below(r, 2);
  hu_scaling da = unit_scaling(r, fa, &x, !ta), db = unit_scaling(r, fb, &x, tb);
  if (hu_scaling_check(&da, NULL) != HU_OK || hu_scaling_check(&db, NULL) != HU_OK) return 0;
  if (t_below(r, 10) == 0) {
    matrix_plain(&p->a, r, p->m, p->k, fa, 0, ta, kind);
  } else {
    matrix_scaled(&p->a, r, p->m, p->k, &da, ta, kind);
  }
  matrix_scaled(&p->b, r, p->k, p->n, &db, tb, kind);
  p->sum = hu_scaled_sum_unit(x);
  return 1;
}

/* ---- all ---- */

static void draw_result(t_product *p, t_random *r) {
  p->scaled = t_below(r, 3) == 0;
  p->mode = t_random_mode(r);
  if (p->scaled) {
    p->scaling = random_scaling(r);
    hu_scaled_sizes z = hu_scaled_sizes_of(p->m, p->n, &p->scaling);
    p->ld = p->n + t_below(r, 3);
    p->lds = z.block_cols + t_below(r, 2);
    int may = p->scaling.tensor || (p->scaling.rows == 0 && p->scaling.cols == 0);
    p->amax_value = (float)(1 + t_below(r, 100));
    p->amax = may && t_below(r, 3) == 0 ? &p->amax_value : NULL;
    return;
  }
  p->format = t_below(r, 3) == 0 ? hu_format_ieee(8, 23, 0)
              : t_below(r, 2)    ? plain_format(r)
                                 : t_random_format(r, 3, 16);
  p->values = hu_format_fits_binary32(p->format) && t_below(r, 2);
  p->ld = p->n + t_below(r, 3);
}

static hu_scaled_result result_of(const t_product *p) {
  hu_scaled_result d;
  memset(&d, 0, sizeof d);
  if (p->scaled) {
    d.scaling = &p->scaling;
    d.scaled.ld = p->ld;
    d.scaled.lds = p->lds;
    d.amax = p->amax;
    return d;
  }
  d.plain.ld = p->ld;
  d.plain.format = p->format;
  d.plain.storage = p->values ? HU_STORAGE_VALUES : HU_STORAGE_CODES;
  return d;
}

static size_t space_of(const t_product *p, const hu_exec *exec) {
  hu_scaled_result d = result_of(p);
  return hu_scaled_gemm_space(p->m, p->n, p->k, &d, &p->a.operand, &p->b.operand, p->has_c ? &p->c.operand : NULL,
                              &p->sum, exec);
}

/* The operands' addresses, once p stays where it is. */
static void settle(t_matrix *x) {
  if (!x->scaled) return;
  x->operand.scaling = &x->scaling;
  x->operand.scaled.tensor = x->scaling.tensor ? &x->tensor : NULL;
}

int product_draw(t_product *p, t_random *r) {
  size_t m = p->m, n = p->n, k = p->k;
  int kind = (int)t_below(r, DRAW_KINDS), made = 1;
  memset(p, 0, sizeof *p);
  p->m = m;
  p->n = n;
  p->k = k;
  switch (t_below(r, 6)) {
    case 0: draw_decoded(p, r, kind); break;
    case 1:
    case 2: made = draw_unit(p, r, kind); break;
    default: draw_parts(p, r, kind);
  }
  if (!made) return 0;
  p->has_c = t_below(r, 3) != 0;
  if (p->has_c) draw_any(&p->c, r, m, n, kind);
  settle(&p->a);
  settle(&p->b);
  settle(&p->c);
  draw_result(p, r);
  p->stream.key = t_next64(r);
  p->stream.counter = t_below(r, 4) ? t_below(r, 1000) : t_next64(r);
  if (hu_scaled_sum_check(&p->sum) == HU_OK && space_of(p, NULL) != SIZE_MAX) return 1;
  product_free(p);
  return 0;
}

const char *product_text(const t_product *p) {
  static char text[8192];
  char a[HU_SCALING_TEXT_MAX] = "plain", b[HU_SCALING_TEXT_MAX] = "plain", c[HU_SCALING_TEXT_MAX] = "-",
       d[HU_SCALING_TEXT_MAX] = "plain", in[HU_ACCUM_TEXT_MAX], across[HU_ACCUM_TEXT_MAX], mode[T_MODE_TEXT];
  if (p->a.scaled) hu_scaling_text(a, sizeof a, &p->a.scaling);
  if (p->b.scaled) hu_scaling_text(b, sizeof b, &p->b.scaling);
  if (p->has_c) snprintf(c, sizeof c, "plain");
  if (p->has_c && p->c.scaled) hu_scaling_text(c, sizeof c, &p->c.scaling);
  hu_format_text(d, sizeof d, p->format);
  if (p->scaled) hu_scaling_text(d, sizeof d, &p->scaling);
  hu_accum_text(in, sizeof in, &p->sum.inside);
  hu_accum_text(across, sizeof across, &p->sum.across);
  snprintf(text, sizeof text, "%zux%zux%zu way %u factor %u inside %s across %s\nA %s%s\nB %s%s\nC %s\nD %s %s", p->m,
           p->n, p->k, p->sum.way, p->sum.factor, in, across, a, p->a.operand.transposed ? "^T" : "", b,
           p->b.operand.transposed ? "^T" : "", c, d, t_mode_text(mode, p->mode));
  return text;
}

/* ---- the call ---- */

typedef struct t_places {
  uint8_t *codes, *scales, *space, *raw;
  size_t code_bytes, scale_bytes, size, scale_size, bytes;
  hu_scaled_stats stats[PRODUCT_ROOM];
  float tensor;
  hu_events events;
} t_places;

static const char *compare_codes(const t_product *p, const t_expected *e, const t_places *z) {
  for (size_t i = 0; i < p->m; i++) {
    for (size_t j = 0; j < p->n; j++) {
      if (t_get(z->codes, z->size, (ptrdiff_t)(i * p->ld + j)) != e->codes[i * p->n + j]) return "an element of D";
    }
    for (size_t at = (i * p->ld + p->n) * z->size; at < (i + 1) * p->ld * z->size; at++) {
      if (z->codes[at] != 0xA5) return "bytes beside D";
    }
  }
  return NULL;
}

static const char *compare_scaled(const t_product *p, const t_expected *e, const t_places *z) {
  hu_scaled_sizes s = hu_scaled_sizes_of(p->m, p->n, &p->scaling);
  for (size_t i = 0; i < s.block_rows * s.block_cols; i++) {
    size_t at = i / s.block_cols * p->lds + i % s.block_cols;
    if (t_get(z->scales, s.scale_bytes, (ptrdiff_t)at) != e->scales[i]) return "a scale of D";
    if (!t_same32(z->stats[i].amax, e->stats[i].amax) || z->stats[i].scale != e->stats[i].scale ||
        z->stats[i].saturated != e->stats[i].saturated || z->stats[i].special != e->stats[i].special) {
      return "statistics of D";
    }
  }
  return p->scaling.tensor && !t_same32(z->tensor, e->tensor) ? "the tensor scale of D" : NULL;
}

static const char *compare_all(const t_product *p, const t_expected *e, const t_places *z) {
  const char *wrong = compare_codes(p, e, z);
  if (!wrong && p->scaled) wrong = compare_scaled(p, e, z);
  if (!wrong && !t_same_events(&z->events, &e->events)) wrong = "events";
  for (size_t i = z->bytes; !wrong && i < z->bytes + 64; i++) {
    if (z->space[i] != 0x5A) wrong = "bytes behind the working space";
  }
  return wrong;
}

const char *product_check(const t_product *p, const t_expected *e, uint32_t threads, uint32_t levels_off) {
  static t_places z;
  hu_exec exec = {threads, levels_off, p->stream};
  hu_scaled_result d = result_of(p);
  memset(&z, 0, sizeof z);
  z.size = p->scaled   ? hu_limits_of(p->scaling.element).storage / 8
           : p->values ? 4
                       : hu_limits_of(p->format).storage / 8;
  z.codes = room(p->m * p->ld * z.size);
  memset(z.codes, 0xA5, p->m * p->ld * z.size);
  z.scales = room(p->m * (p->lds + 1) * 4 + 64);
  z.bytes = space_of(p, &exec);
  if (z.bytes == SIZE_MAX) return "space";
  z.raw = malloc(z.bytes + 128);
  assert_non_null(z.raw);
  z.space = z.raw + (64 - (uintptr_t)z.raw % 64) % 64;
  memset(z.space, 0x5A, z.bytes + 64);
  d.scaled.codes = z.codes;
  d.scaled.scales = z.scales;
  d.scaled.tensor = p->scaled && p->scaling.tensor ? &z.tensor : NULL;
  d.stats = p->scaled ? z.stats : NULL;
  d.plain.data = z.codes;
  hu_status s = hu_scaled_gemm(p->m, p->n, p->k, &d, &p->a.operand, &p->b.operand, p->has_c ? &p->c.operand : NULL,
                               &p->sum, p->mode, z.space, z.bytes, &exec, &z.events);
  const char *wrong = s == HU_OK ? compare_all(p, e, &z) : hu_status_name(s);
  free(z.codes);
  free(z.scales);
  free(z.raw);
  return wrong;
}
