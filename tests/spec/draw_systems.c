/* SPDX-License-Identifier: MIT */
/* tests/spec/draw_systems.c - docs/scaled.md and docs/s2fp8.md, and the number systems that draw_walk.c draws: scaled
 * tensors, shifted and squeezed tensors. */
#include <gmp.h>
#include <stdio.h>
#include <stdlib.h>

#include "halfulp/s2fp8.h"
#include "halfulp/scaled.h"
#include "tests/s2fp8/draw.h"
#include "tests/s2fp8/model.h"
#include "tests/scaled/draw.h"
#include "tests/scaled/model.h"
#include "tests/spec/lines.h"

static void must(hu_status status) { line_same("status", (uint64_t)(int64_t)status, 0); }

/* ---- scaled tensors ---- */

enum { ELEMENTS = 512 };

static void line_codes(const char *name, const uint32_t *codes, size_t n) {
  static uint64_t wide[ELEMENTS];
  for (size_t i = 0; i < n; i++) wide[i] = codes[i];
  line_patterns(name, wide, n, 0);
}

static void line_floats(const char *name, const float *x, size_t n) {
  static uint64_t wide[ELEMENTS];
  for (size_t i = 0; i < n; i++) wide[i] = t_bits32(x[i]);
  line_patterns(name, wide, n, 8);
}

static void same_codes(const char *what, const void *library, size_t bytes, const uint32_t *expected, size_t n) {
  for (size_t i = 0; i < n; i++) line_same(what, t_get(library, bytes, (ptrdiff_t)i), expected[i]);
}

/* What the library gave, of formulas: they have no second model in C, and the evaluator alone says what is right. */
static void take_made(model *m, const hu_scaled_sizes *sizes, const hu_scaled *z, const float *values) {
  size_t blocks = sizes->block_rows * sizes->block_cols;
  for (size_t i = 0; i < m->rows * m->cols; i++) {
    m->codes[i] = (uint32_t)t_get(z->codes, sizes->code_bytes, (ptrdiff_t)i);
    m->values[i] = values[i];
  }
  for (size_t i = 0; i < blocks; i++) m->scales[i] = (uint32_t)t_get(z->scales, sizes->scale_bytes, (ptrdiff_t)i);
  if (z->tensor) m->tensor = *z->tensor;
}

static void draw_scaled(t_random *random) {
  static float x[ELEMENTS], values[ELEMENTS], model_values[ELEMENTS];
  static uint32_t codes[ELEMENTS], scales[ELEMENTS], model_codes[ELEMENTS], model_scales[ELEMENTS];
  static hu_scaled_stats stats[ELEMENTS];
  char text[HU_SCALING_TEXT_MAX];
  hu_scaling scaling = t_below(random, 3) ? random_scaling(random) : random_formulas(random);
  hu_mode mode = t_below(random, 2) ? t_random_mode(random) : (hu_mode){0};
  hu_exec exec = {0};
  hu_events counts = {0};
  float tensor = 0;
  size_t rows = 1 + t_below(random, 4), cols = 1 + t_below(random, t_below(random, 4) ? 20 : ELEMENTS / 4),
         n = rows * cols;
  exec.stream.key = t_next64(random);
  exec.stream.counter = t_next64(random);
  random_matrix(random, n, x, &scaling);
  float given = t_float(t_bits32(x[0]) & 0x7FFFFFFF);
  int takes = scaling.tensor || (scaling.rows == 0 && scaling.cols == 0);
  const float *amax = takes && t_below(random, 3) == 0 && t_bits32(given) < 0x7F800000 ? &given : NULL;
  hu_scaled_sizes sizes = hu_scaled_sizes_of(rows, cols, &scaling);
  size_t blocks = sizes.block_rows * sizes.block_cols;
  hu_scaled z = {codes, cols, scales, sizes.block_cols, scaling.tensor ? &tensor : NULL};
  must(hu_scaled_encode(rows, cols, &z, x, cols, &scaling, mode, amax, NULL, &exec, &counts));
  must(hu_scaled_decode(rows, cols, values, cols, &z, &scaling, &exec));
  model m = {rows, cols, x, scaling, mode, exec.stream, amax, model_codes, model_scales, model_values, stats, 0, {0}};
  if (scaling.rule == HU_SCALE_FORMULAS)
    take_made(&m, &sizes, &z, values);
  else
    model_run(&m);
  (void)hu_scaling_text(text, sizeof text, &scaling);
  line_begin("scaled");
  line_text("layout", text);
  line_format("element", scaling.element);
  line_format("scale", scaling.scale);
  line_decimal("rows", (int64_t)rows);
  line_decimal("cols", (int64_t)cols);
  line_mode(mode);
  line_hex("key", exec.stream.key);
  line_hex("counter", exec.stream.counter);
  line_floats("x", x, n);
  if (amax) line_pattern("amax", t_bits32(given), 8);
  same_codes("a code", codes, sizes.code_bytes, model_codes, n);
  same_codes("a scale", scales, sizes.scale_bytes, model_scales, blocks);
  line_codes(">codes", model_codes, n);
  line_codes(">scales", model_scales, blocks);
  if (scaling.tensor) line_same("the tensor scale", t_bits32(tensor), t_bits32(m.tensor));
  if (scaling.tensor) line_pattern(">tensor", t_bits32(tensor), 8);
  for (size_t i = 0; i < n; i++) line_same("a value", t_bits32(values[i]), t_bits32(model_values[i]));
  line_floats(">values", values, n);
  line_counts(&counts);
  line_end();
}

/* ---- shifted and squeezed tensors ---- */

static void draw_s2fp8(t_random *numbers) {
  static float x[ELEMENTS], values[ELEMENTS];
  static uint32_t codes[ELEMENTS], unpacked[ELEMENTS];
  hu_s2fp8 kind;
  hu_s2fp8_sums sums = {0};
  hu_s2fp8_scale scale;
  hu_exec exec = {0};
  hu_events counts = {0}, expected = {0};
  hu_mode mode = t_random_mode(numbers);
  const char *text = s2fp8_kinds[t_below(numbers, S2FP8_KINDS)];
  size_t n = 1 + t_below(numbers, 12);
  must(hu_s2fp8_parse(&kind, text, NULL));
  if (mode.bits > 20) mode.bits = (uint8_t)(1 + t_below(numbers, 20)); /* what the second model decides */
  exec.stream.key = t_next64(numbers);
  exec.stream.counter = t_next64(numbers);
  s2fp8_draw(numbers, n, x);
  must(hu_s2fp8_sum_n(n, x, 1, &sums, &exec));
  must(hu_s2fp8_scale_of(&scale, &sums, &kind, NULL));
  must(hu_s2fp8_encode_n(n, codes, 1, x, 1, &kind, &scale, mode, &exec, &counts));
  must(hu_s2fp8_decode_n(n, values, 1, codes, 1, &kind, &scale, &exec));
  line_begin("s2fp8");
  line_text("kind", text);
  line_format("format", kind.element);
  line_mode(mode);
  line_hex("key", exec.stream.key);
  line_hex("counter", exec.stream.counter);
  line_floats("x", x, n);
  model_map map = {kind, (int)hu_s2fp8_target(&kind), scale.mu, scale.m};
  for (size_t i = 0; i < n; i++) {
    uint32_t set, random = mode.bits ? hu_stream_word(exec.stream, i) >> (32 - mode.bits) : 0;
    unpacked[i] = t_get(codes, hu_limits_of(kind.element).storage / 8, (ptrdiff_t)i);
    line_same("a code", unpacked[i], model_code(&map, mode, x[i], random, &set));
    hu_events_count(&expected, set);
  }
  line_same("events", line_set(&counts), line_set(&expected));
  line_codes(">codes", unpacked, n);
  line_decimal(">mu", scale.mu);
  line_decimal(">m", scale.m);
  line_pattern(">alpha", t_bits32(scale.alpha), 8);
  line_pattern(">beta", t_bits32(scale.beta), 8);
  line_floats(">values", values, n);
  line_counts(&counts);
  line_end();
}

/* ---- HiFloat4, and what else the pages define of these tensors; the evaluator is the second implementation ---- */

static void draw_hif4(t_random *random) {
  static const char *const keys[4][3] = {{"ties=even", "ties=away", "ties=away"},
                                         {"low=zero", "low=least", "low=nan"},
                                         {"high=limit", "high=nan", "high=limit"},
                                         {"products=bfloat16", "products=exact", "products=mixed"}};
  static float x[ELEMENTS], values[ELEMENTS];
  static uint8_t codes[ELEMENTS], scales[ELEMENTS];
  static uint32_t wide[ELEMENTS];
  char text[HU_HIF4_TEXT_MAX];
  hu_hif4 kind;
  hu_events counts = {0};
  size_t rows = 1 + t_below(random, 2), cols = 1 + t_below(random, 150), blocks = (cols + 63) / 64, n = rows * cols;
  snprintf(text, sizeof text, "hifloat4(%s;%s;%s;%s)", keys[0][t_below(random, 3)], keys[1][t_below(random, 3)],
           keys[2][t_below(random, 3)], keys[3][t_below(random, 3)]);
  must(hu_hif4_parse(&kind, text, NULL));
  s2fp8_draw(random, n, x);
  hu_scaled place = {codes, cols, scales, blocks, NULL};
  must(hu_hif4_encode(rows, cols, &place, x, cols, &kind, &counts));
  must(hu_hif4_decode(rows, cols, values, cols, &place));
  line_begin("hif4");
  line_text("kind", text);
  line_decimal("rows", (int64_t)rows);
  line_decimal("cols", (int64_t)cols);
  line_floats("x", x, n);
  for (size_t i = 0; i < n; i++) wide[i] = codes[i];
  line_codes(">codes", wide, n);
  for (size_t i = 0; i < rows * blocks; i++)
    wide[i] = scales[4 * i] | (uint32_t)scales[4 * i + 1] << 8 | (uint32_t)scales[4 * i + 2] << 16 |
              (uint32_t)scales[4 * i + 3] << 24;
  line_codes(">scales", wide, rows * blocks);
  line_floats(">values", values, n);
  line_counts(&counts);
  line_end();
}

static void draw_stored(t_random *random) {
  hu_s2fp8 kind;
  hu_s2fp8_scale scale;
  float alpha = t_float((uint32_t)t_between(random, 100, 150) << 23 | (t_next32(random) & 0x7FFFFF));
  float beta = t_float((t_next32(random) & 0x807FFFFF) | (uint32_t)t_between(random, 110, 140) << 23);
  if (t_below(random, 12) == 0) alpha = t_float(t_next32(random));
  must(hu_s2fp8_parse(&kind, s2fp8_kinds[t_below(random, S2FP8_KINDS)], NULL));
  hu_status status = hu_s2fp8_scale_stored(&scale, alpha, beta, &kind);
  line_begin("s2fp8_stored");
  line_pattern("alpha", t_bits32(alpha), 8);
  line_pattern("beta", t_bits32(beta), 8);
  line_decimal("target", hu_s2fp8_target(&kind));
  if (status == HU_OK) {
    line_decimal(">mu", scale.mu);
    line_decimal(">m", scale.m);
  } else {
    line_text(">mu", "refused");
    line_text(">m", "refused");
  }
  line_end();
}

void draw_systems(t_random *random, unsigned long count) {
  for (unsigned long i = 0; i < count; i++) {
    if (i % 16 == 1)
      draw_hif4(random);
    else if (i % 16 == 5)
      draw_stored(random);
    else if (i % 4 < 2)
      draw_walked(random, 1);
    else if (i % 4 == 2)
      draw_scaled(random);
    else
      draw_s2fp8(random);
  }
}
