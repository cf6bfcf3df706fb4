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
  hu_format format;
  assert_int_equal(hu_format_parse(&format, text, NULL), HU_OK);
  return format;
}

/* ---- matrices ---- */

static void *buffer(size_t bytes) {
  void *z = malloc(bytes + 1);
  assert_non_null(z);
  t_fill_pattern(z, bytes);
  return z;
}

/* A binary32 number of few digits not far from 1; now and then a zero. */
static float plain_number(t_random *random, int reach) {
  float x = (float)t_between(random, -2047, 2047) / 1024;
  for (int e = t_between(random, -reach, reach); e != 0; e += e < 0 ? 1 : -1) x *= e < 0 ? 0.5f : 2.0f;
  return t_below(random, 40) ? x : t_below(random, 2) ? 0.0f : -0.0f;
}

static void encode(t_matrix *x, t_random *random) {
  size_t n = x->stored_rows * x->stored_cols;
  float *values = buffer((n + 1) * sizeof *values);
  hu_scaled z = {x->codes, x->ld, x->scales, x->lds, x->scaling.tensor ? &x->tensor : NULL};
  int reach = t_between(random, 0, 12), special = t_below(random, 6) == 0;
  for (size_t i = 0; i < n; i++) {
    values[i] = plain_number(random, reach);
    if (special && t_below(random, 50) == 0)
      values[i] = t_float(0x7F800000u | t_next32(random) << 31 | t_below(random, 2) << 22);
  }
  assert_int_equal(hu_scaled_encode(x->stored_rows, x->stored_cols, &z, values, x->stored_cols, &x->scaling, rne, NULL,
                                    NULL, NULL, NULL),
                   HU_OK);
  free(values);
}

static void scramble(t_matrix *x, t_random *random, const hu_scaled_sizes *sizes, int kind) {
  uint32_t width = hu_limits_of(x->scaling.element).width, events;
  int twos = x->scaling.coding == HU_CODING_TWOS && kind != DRAW_NEAR;
  uint32_t scale_mask = (uint32_t)((UINT64_C(1) << hu_limits_of(x->scaling.scale).width) - 1);
  for (size_t i = 0; i < x->stored_rows * x->stored_cols; i++) {
    size_t at = i / x->stored_cols * x->ld + i % x->stored_cols;
    uint32_t code = twos ? t_random_integer(random, width) : t_random_code(random, x->scaling.element);
    t_put(x->codes, sizes->code_bytes, (ptrdiff_t)at, code);
  }
  for (size_t i = 0; i < sizes->block_rows * sizes->block_cols; i++) {
    size_t at = i / sizes->block_cols * x->lds + i % sizes->block_cols;
    double near =
        t_double((uint64_t)t_between(random, 1018, 1028) << 52) * (1 + (double)t_below(random, 1 << 23) / (1 << 23));
    uint32_t code = hu_encode64(x->scaling.scale, rne, near, 0, &events);
    if (kind == DRAW_ANY_CODES && t_below(random, 8) == 0) code = t_next32(random) & scale_mask;
    t_put(x->scales, sizes->scale_bytes, (ptrdiff_t)at, code);
  }
}

void matrix_scaled(t_matrix *x, t_random *random, size_t rows, size_t cols, const hu_scaling *scaling, int transposed,
                   int kind) {
  memset(x, 0, sizeof *x);
  x->rows = rows;
  x->cols = cols;
  x->scaled = 1;
  x->scaling = *scaling;
  x->stored_rows = transposed ? cols : rows;
  x->stored_cols = transposed ? rows : cols;
  hu_scaled_sizes sizes = hu_scaled_sizes_of(x->stored_rows, x->stored_cols, scaling);
  x->ld = x->stored_cols + t_below(random, 3);
  x->lds = sizes.block_cols + t_below(random, 3);
  x->code_bytes = x->stored_rows * x->ld * sizes.code_bytes;
  x->scale_bytes = sizes.block_rows * x->lds * sizes.scale_bytes;
  x->codes = buffer(x->code_bytes);
  x->scales = buffer(x->scale_bytes);
  if (kind == DRAW_ENCODED) encode(x, random);
  if (kind != DRAW_ENCODED) scramble(x, random, &sizes, kind);
  int digits = t_below(random, 2) ? 12 : 24; /* exact factors of more than 53 have no answer */
  if (kind != DRAW_ENCODED || t_below(random, 2))
    x->tensor = (float)t_between(random, 1, (1 << digits) - 1) / (float)(1 << digits);
  if (kind == DRAW_ANY_CODES && t_below(random, 20) == 0) x->tensor = t_float(0x7FC00000u);
  x->record = (hu_scaled){x->codes, x->ld, x->scales, x->lds, scaling->tensor ? &x->tensor : NULL};
  x->view = hu_scaled_matrix(&x->record, &x->scaling);
  if (transposed) x->view = hu_transposed(x->view);
}

void matrix_plain(t_matrix *x, t_random *random, size_t rows, size_t cols, hu_format format, int values, int transposed,
                  int kind) {
  memset(x, 0, sizeof *x);
  x->rows = rows;
  x->cols = cols;
  x->stored_rows = transposed ? cols : rows;
  x->stored_cols = transposed ? rows : cols;
  x->ld = x->stored_cols + t_below(random, 3);
  size_t size = values ? 4 : hu_limits_of(format).storage / 8;
  uint32_t mask = (uint32_t)((UINT64_C(1) << hu_limits_of(format).width) - 1);
  x->code_bytes = x->stored_rows * x->ld * size;
  x->codes = buffer(x->code_bytes);
  for (size_t i = 0; i < x->stored_rows * x->ld; i++) {
    uint32_t code = t_next32(random) & mask, events;
    if (kind != DRAW_ANY_CODES) code = hu_encode(format, rne, plain_number(random, 4), 0, &events);
    double v = hu_decode64(format, code);
    t_put(x->codes, size, (ptrdiff_t)i, values ? (v != v ? 0x7FC00000u : t_bits32((float)v)) : code);
  }
  x->view = hu_matrix_of(x->codes, x->ld, hu_type_values(values ? HU_TYPE_VALUES32 : HU_TYPE_CODES, format));
  if (transposed) x->view = hu_transposed(x->view);
}

void matrix_free(t_matrix *x) {
  free(x->codes);
  free(x->scales);
  x->codes = x->scales = NULL;
}

void product_free(t_product *product) {
  matrix_free(&product->a);
  matrix_free(&product->b);
  if (product->has_c) matrix_free(&product->c);
  memset(product, 0, sizeof *product);
}

/* ---- operands ---- */

static hu_format plain_format(t_random *random) {
  static const char *const names[] = {"binary16", "bfloat16",   "float8_e4m3fn", "float8_e5m2",
                                      "binary32", "fp(8,10,0)", "fp(6,9,0)"};
  return parsed(names[t_below(random, 7)]);
}

static void draw_any(t_matrix *x, t_random *random, size_t rows, size_t cols, int kind) {
  int transposed = (int)t_below(random, 2);
  if (t_below(random, 6) == 0) {
    hu_format format = plain_format(random);
    matrix_plain(x, random, rows, cols, format, t_below(random, 2) != 0, transposed, kind);
    return;
  }
  hu_scaling scaling = random_scaling(random);
  if (t_below(random, 3) == 0) {
    static const char *const two_levels[] = {"nvfp4", "nvfp4_torchao", "nvfp4_te", "nvfp4_torchao18"};
    uint32_t rows_too = scaling.rows;
    assert_int_equal(hu_scaling_parse(&scaling, two_levels[t_below(random, 3)], NULL), HU_OK);
    if (t_below(random, 3) == 0) scaling.rows = rows_too;
  }
  matrix_scaled(x, random, rows, cols, &scaling, transposed, kind);
}

/* ---- sums ---- */

static hu_accum some_model(t_random *random, uint32_t kinds, int outer) {
  static t_dot dot;
  uint32_t kind = t_below(random, kinds);
  draw_model(&dot, random, kind, (uint8_t)t_below(random, HU_BLOCK_RULES));
  if (!outer) dot.accum.promote = dot.accum.slices = dot.accum.scaled = 0;
  if (!dot.accum.promote) memset(&dot.accum.promoted, 0, sizeof dot.accum.promoted);
  if (t_below(random, 3) == 0 && kind >= HU_ACCUM_SEQ && kind < HU_ACCUM_BLOCK) {
    dot.accum.sum = hu_format_ieee(8, 23, 0);
    if (kind == HU_ACCUM_SEQ2 || kind == HU_ACCUM_CHUNK) dot.accum.product = dot.accum.sum;
    if (t_below(random, 2)) memset(&dot.accum.mode, 0, sizeof dot.accum.mode);
  }
  return dot.accum;
}

static void draw_parts(t_product *product, t_random *random, int kind) {
  draw_any(&product->a, random, product->m, product->k, kind);
  draw_any(&product->b, random, product->k, product->n, kind);
  product->sum = hu_scaled_sum_parts(some_model(random, HU_ACCUM_INT32, 1), some_model(random, HU_ACCUM_BLOCK, 1),
                                     (uint8_t)t_below(random, HU_SCALED_FACTOR_COUNT));
  if (t_below(random, 3) == 0) memset(&product->sum.inside, 0, sizeof product->sum.inside);
  if (t_below(random, 4) == 0) {
    memset(&product->sum.across, 0, sizeof product->sum.across);
    product->sum.across.kind = HU_ACCUM_FP32;
  }
}

static void draw_decoded(t_product *product, t_random *random, int kind) {
  static const char *const as[] = {"bfloat16", "binary16", "fp(8,10,0)", "float8_e5m2"};
  draw_any(&product->a, random, product->m, product->k, kind);
  draw_any(&product->b, random, product->k, product->n, kind);
  product->sum = hu_scaled_sum_decoded(some_model(random, HU_ACCUM_INT32, 1));
  if (t_below(random, 2)) product->sum.as = parsed(as[t_below(random, 4)]);
}

/* A scaling with the unit's formats. */
static hu_scaling unit_scaling(t_random *random, hu_format element, const hu_accum *x, int along_rows) {
  uint32_t every = x->scaled ? x->promote : x->block.every, along = every * (1 + t_below(random, 3)),
           other = 1 + t_below(random, 3);
  hu_scaling scaling;
  memset(&scaling, 0, sizeof scaling);
  scaling.element = element;
  scaling.scale = x->scaled ? hu_format_ieee(8, 23, 0) : x->block.scale;
  if (t_below(random, 3) == 0) along = every;
  if (t_below(random, 3) == 0) other = 1;
  if (t_below(random, 8) == 0) along = 0;
  scaling.rows = along_rows ? other : along;
  scaling.cols = along_rows ? along : other;
  scaling.rule = HU_SCALE_RATIO;
  scaling.tensor = scaling.element.m <= 7 && scaling.scale.m <= 7 && t_below(random, 2);
  scaling.special = HU_SPECIAL_ELEMENT;
  return scaling;
}

static int draw_unit(t_product *product, t_random *random, int kind) {
  static const char *const models[] = {
      "promote(8,seq(binary16),binary32,scaled)", "promote(16,nv.hopper.e4m3.f32.wgmma,binary32,scaled)",
      "promote(128,nv.hopper.e4m3.f32.wgmma,binary32,scaled)", "splitk(3,promote(5,fp32,bfloat16,scaled))"};
  hu_format fa = parsed("float8_e4m3fn"), fb = fa;
  hu_accum x;
  if (t_below(random, 3) == 0) {
    assert_int_equal(hu_accum_parse(&x, models[t_below(random, 4)], NULL), HU_OK);
  } else {
    hu_accum_preset preset;
    do {
      assert_int_equal(hu_accum_preset_at(&preset, t_below(random, (uint32_t)hu_accum_preset_count())), HU_OK);
    } while (!hu_accum_is_scaled(&preset.accum));
    x = preset.accum;
    fa = preset.a.format;
    fb = preset.b.format;
  }
  int ta = (int)t_below(random, 2), tb = (int)t_below(random, 2);
  hu_scaling da = unit_scaling(random, fa, &x, !ta), db = unit_scaling(random, fb, &x, tb);
  if (hu_scaling_check(&da, NULL) != HU_OK || hu_scaling_check(&db, NULL) != HU_OK) return 0;
  if (t_below(random, 10) == 0) {
    matrix_plain(&product->a, random, product->m, product->k, fa, 0, ta, kind);
  } else {
    matrix_scaled(&product->a, random, product->m, product->k, &da, ta, kind);
  }
  matrix_scaled(&product->b, random, product->k, product->n, &db, tb, kind);
  product->sum = hu_scaled_sum_unit(x);
  return 1;
}

/* ---- all ---- */

static void draw_result(t_product *product, t_random *random) {
  product->scaled = t_below(random, 3) == 0;
  product->mode = t_random_mode(random);
  if (product->scaled) {
    product->scaling = random_scaling(random);
    hu_scaled_sizes z = hu_scaled_sizes_of(product->m, product->n, &product->scaling);
    product->ld = product->n + t_below(random, 3);
    product->lds = z.block_cols + t_below(random, 2);
    int may = product->scaling.tensor || (product->scaling.rows == 0 && product->scaling.cols == 0);
    product->amax_value = (float)(1 + t_below(random, 100));
    product->amax = may && t_below(random, 3) == 0 ? &product->amax_value : NULL;
    return;
  }
  product->format = t_below(random, 3) == 0 ? hu_format_ieee(8, 23, 0)
                    : t_below(random, 2)    ? plain_format(random)
                                            : t_random_format(random, 3, 16);
  product->values = hu_format_fits_binary32(product->format) && t_below(random, 2);
  product->ld = product->n + t_below(random, 3);
}

/* The call's record; D lies in *z, or at `data` where it is plain. */
static hu_product record_of(const t_product *product, hu_scaled *z, void *data) {
  hu_product x = {.m = product->m, .n = product->n, .k = product->k, .sum = &product->sum};
  x.a = product->a.view;
  x.b = product->b.view;
  if (product->has_c) x.c = product->c.view;
  x.d = hu_scaled_matrix_out(z, &product->scaling);
  if (product->scaled) {
    x.amax = product->amax;
  } else {
    uint8_t kind = product->values ? HU_TYPE_VALUES32 : HU_TYPE_CODES;
    x.d = hu_matrix_out_of(data, product->ld, hu_type_values(kind, product->format));
  }
  return x;
}

static size_t space_of(const t_product *product, const hu_exec *exec) {
  hu_scaled z = {.ld = product->ld, .lds = product->lds};
  hu_product x = record_of(product, &z, NULL);
  return hu_multiply_space(&x, exec);
}

int product_draw(t_product *product, t_random *random) {
  size_t m = product->m, n = product->n, k = product->k;
  int kind = (int)t_below(random, DRAW_KINDS), made = 1;
  memset(product, 0, sizeof *product);
  product->m = m;
  product->n = n;
  product->k = k;
  switch (t_below(random, 6)) {
    case 0: draw_decoded(product, random, kind); break;
    case 1:
    case 2: made = draw_unit(product, random, kind); break;
    default: draw_parts(product, random, kind);
  }
  if (!made) return 0;
  product->has_c = t_below(random, 3) != 0;
  if (product->has_c) draw_any(&product->c, random, m, n, kind);
  draw_result(product, random);
  product->stream.key = t_next64(random);
  product->stream.counter = t_below(random, 4) ? t_below(random, 1000) : t_next64(random);
  if (hu_scaled_sum_check(&product->sum) == HU_OK && space_of(product, NULL) != SIZE_MAX) return 1;
  product_free(product);
  return 0;
}

const char *product_text(const t_product *product) {
  static char text[8192];
  char a[HU_SCALING_TEXT_MAX] = "plain", b[HU_SCALING_TEXT_MAX] = "plain", c[HU_SCALING_TEXT_MAX] = "-",
       d[HU_SCALING_TEXT_MAX] = "plain", in[HU_ACCUM_TEXT_MAX], across[HU_ACCUM_TEXT_MAX], mode[T_MODE_TEXT];
  if (product->a.scaled) hu_scaling_text(a, sizeof a, &product->a.scaling);
  if (product->b.scaled) hu_scaling_text(b, sizeof b, &product->b.scaling);
  if (product->has_c) snprintf(c, sizeof c, "plain");
  if (product->has_c && product->c.scaled) hu_scaling_text(c, sizeof c, &product->c.scaling);
  hu_format_text(d, sizeof d, product->format);
  if (product->scaled) hu_scaling_text(d, sizeof d, &product->scaling);
  hu_accum_text(in, sizeof in, &product->sum.inside);
  hu_accum_text(across, sizeof across, &product->sum.across);
  snprintf(text, sizeof text, "%zux%zux%zu way %u factor %u inside %s across %s\nA %s%s\nB %s%s\nC %s\nD %s %s",
           product->m, product->n, product->k, product->sum.way, product->sum.factor, in, across, a,
           product->a.stored_rows != product->m ? "^T" : "", b, product->b.stored_rows != product->k ? "^T" : "", c, d,
           t_mode_text(mode, product->mode));
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

static const char *compare_codes(const t_product *product, const t_expected *expected, const t_places *z) {
  for (size_t i = 0; i < product->m; i++) {
    for (size_t j = 0; j < product->n; j++) {
      if (t_get(z->codes, z->size, (ptrdiff_t)(i * product->ld + j)) != expected->codes[i * product->n + j])
        return "an element of D";
    }
    for (size_t at = (i * product->ld + product->n) * z->size; at < (i + 1) * product->ld * z->size; at++) {
      if (z->codes[at] != 0xA5) return "bytes beside D";
    }
  }
  return NULL;
}

static const char *compare_scaled(const t_product *product, const t_expected *expected, const t_places *z) {
  hu_scaled_sizes sizes = hu_scaled_sizes_of(product->m, product->n, &product->scaling);
  for (size_t i = 0; i < sizes.block_rows * sizes.block_cols; i++) {
    size_t at = i / sizes.block_cols * product->lds + i % sizes.block_cols;
    if (t_get(z->scales, sizes.scale_bytes, (ptrdiff_t)at) != expected->scales[i]) return "a scale of D";
    if (!t_same32(z->stats[i].amax, expected->stats[i].amax) || z->stats[i].scale != expected->stats[i].scale ||
        z->stats[i].saturated != expected->stats[i].saturated || z->stats[i].special != expected->stats[i].special) {
      return "statistics of D";
    }
  }
  return product->scaling.tensor && !t_same32(z->tensor, expected->tensor) ? "the tensor scale of D" : NULL;
}

static const char *compare_all(const t_product *product, const t_expected *expected, const t_places *z) {
  const char *wrong = compare_codes(product, expected, z);
  if (!wrong && product->scaled) wrong = compare_scaled(product, expected, z);
  if (!wrong && !t_same_events(&z->events, &expected->events)) wrong = "events";
  for (size_t i = z->bytes; !wrong && i < z->bytes + 64; i++) {
    if (z->space[i] != 0x5A) wrong = "bytes behind the working space";
  }
  return wrong;
}

const char *product_check(const t_product *product, const t_expected *expected, uint32_t threads, uint32_t levels_off) {
  static t_places z;
  hu_exec exec = {threads, levels_off, product->stream, {0}};
  memset(&z, 0, sizeof z);
  z.size = product->scaled   ? hu_limits_of(product->scaling.element).storage / 8
           : product->values ? 4
                             : hu_limits_of(product->format).storage / 8;
  z.codes = buffer(product->m * product->ld * z.size);
  memset(z.codes, 0xA5, product->m * product->ld * z.size);
  z.scales = buffer(product->m * (product->lds + 1) * 4 + 64);
  z.bytes = space_of(product, &exec);
  if (z.bytes == SIZE_MAX) return "space";
  z.raw = malloc(z.bytes + 128);
  assert_non_null(z.raw);
  z.space = z.raw + (64 - (uintptr_t)z.raw % 64) % 64;
  memset(z.space, 0x5A, z.bytes + 64);
  hu_scaled to = {z.codes, product->ld, z.scales, product->lds, product->scaling.tensor ? &z.tensor : NULL};
  hu_product x = record_of(product, &to, z.codes);
  hu_how how = {product->mode, &exec, &z.events};
  x.stats = product->scaled ? z.stats : NULL;
  x.space = z.space;
  x.bytes = z.bytes;
  hu_status status = hu_multiply(&x, &how);
  const char *wrong = status == HU_OK ? compare_all(product, expected, &z) : hu_status_name(status);
  free(z.codes);
  free(z.scales);
  free(z.raw);
  return wrong;
}
