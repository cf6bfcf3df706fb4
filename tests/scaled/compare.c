/* SPDX-License-Identifier: MIT */
#include "tests/scaled/compare.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM = 2 * ELEMENTS_MAX + 256 };

static int same_stats(const hu_scaled_stats *a, const hu_scaled_stats *b) {
  return t_same32(a->amax, b->amax) && a->scale == b->scale && a->special == b->special &&
         a->saturated == b->saturated && a->to_zero == b->to_zero;
}

typedef struct t_places {
  size_t ldx, ldz, ld, lds;
  hu_exec exec;
  int with_stats;
} t_places;

static t_places draw_places(t_random *random, size_t cols, size_t across) {
  static const uint32_t threads[] = {0, 1, 2, 3, 16};
  t_places places = {cols, cols, cols, across, {0}, 1};
  places.exec.levels_off = 7;
  if (!random) return places;
  if (t_below(random, 2)) {
    places.ldx += t_below(random, 4);
    places.ldz += t_below(random, 4);
    places.ld += t_below(random, 4);
    places.lds += t_below(random, 3);
  }
  places.exec.levels_off = t_below(random, 3) ? 0 : t_below(random, 8);
  places.exec.threads = threads[t_below(random, 5)];
  places.exec.stream.key = t_next64(random);
  places.exec.stream.counter = t_next64(random);
  places.with_stats = t_below(random, 2) != 0;
  return places;
}

/* Is every element between rows, and behind the last one, as it was? */
static int gaps_hold(const void *z, size_t size, size_t rows, size_t cols, size_t ld, size_t buffer) {
  const uint8_t *bytes = z;
  uint8_t pattern[8];
  for (size_t i = 0; i < buffer; i++) {
    if (i / ld < rows && i % ld < cols) continue;
    for (size_t k = 0; k < size; k++) {
      pattern[k] = (uint8_t)(0xA5 ^ ((i * size + k) & 0xFF));
      if (bytes[i * size + k] != pattern[k]) return 0;
    }
  }
  return 1;
}

static void fill(void *z, size_t n) {
  for (size_t i = 0; i < n; i++) ((uint8_t *)z)[i] = (uint8_t)(0xA5 ^ (i & 0xFF));
}

static uint32_t buffer_codes[ROOM], buffer_scales[ROOM], model_codes[ELEMENTS_MAX], model_scales[ELEMENTS_MAX];
static float buffer_x[ROOM], buffer_z[ROOM], model_values[ELEMENTS_MAX];
static size_t used = ROOM; /* elements of the rooms that a comparison fills and looks at */
static hu_scaled_stats stats[ELEMENTS_MAX], model_stats[ELEMENTS_MAX];

static const char *check_encode(const model *m, const t_places *places, const hu_scaled_sizes *n, const hu_scaled *z) {
  hu_events ev = {0};
  size_t blocks = n->block_rows * n->block_cols;
  fill(buffer_codes, used * sizeof *buffer_codes);
  fill(buffer_scales, used * sizeof *buffer_scales);
  hu_status status = hu_scaled_encode(m->rows, m->cols, z, buffer_x, places->ldx, &m->scaling, m->mode, m->amax,
                                      places->with_stats ? stats : NULL, &places->exec, &ev);
  if (status != HU_OK) return "encode: status";
  for (size_t i = 0; i < blocks; i++) {
    if (t_get(buffer_scales, n->scale_bytes, i / n->block_cols * places->lds + i % n->block_cols) != m->scales[i]) {
      return "a scale";
    }
    if (places->with_stats && !same_stats(&stats[i], &m->stats[i])) return "statistics";
  }
  for (size_t i = 0; i < m->rows * m->cols; i++) {
    if (t_get(buffer_codes, n->code_bytes, i / m->cols * places->ld + i % m->cols) != m->codes[i]) return "a code";
  }
  if (m->scaling.tensor && !t_same32(*z->tensor, m->tensor)) return "the tensor scale";
  if (!t_same_events(&ev, &m->events)) return "events";
  if (!gaps_hold(buffer_codes, n->code_bytes, m->rows, m->cols, places->ld, used)) return "bytes beside codes";
  if (!gaps_hold(buffer_scales, n->scale_bytes, n->block_rows, n->block_cols, places->lds, used))
    return "bytes beside scales";
  return NULL;
}

static const char *check_values(const model *m, const t_places *places, const char *what) {
  for (size_t i = 0; i < m->rows * m->cols; i++) {
    if (!t_same32(buffer_z[i / m->cols * places->ldz + i % m->cols], m->values[i])) return what;
  }
  return gaps_hold(buffer_z, sizeof(float), m->rows, m->cols, places->ldz, used) ? NULL : "bytes beside values";
}

static const char *check_quantize(const model *m, const t_places *places) {
  hu_events ev = {0};
  fill(buffer_z, used * sizeof *buffer_z);
  if (hu_scaled_quantize(m->rows, m->cols, buffer_z, places->ldz, buffer_x, places->ldx, &m->scaling, m->mode, m->amax,
                         places->with_stats ? stats : NULL, &places->exec, &ev) != HU_OK) {
    return "quantize: status";
  }
  const char *wrong = check_values(m, places, "a quantized value");
  if (wrong) return wrong;
  if (!t_same_events(&ev, &m->events)) return "events of quantize";
  if (hu_scaled_quantize(m->rows, m->cols, buffer_x, places->ldx, buffer_x, places->ldx, &m->scaling, m->mode, m->amax,
                         NULL, &places->exec, NULL) != HU_OK) {
    return "quantize in place: status";
  }
  for (size_t i = 0; i < m->rows * m->cols; i++) {
    if (!t_same32(buffer_x[i / m->cols * places->ldx + i % m->cols], m->values[i])) return "a value in place";
  }
  return NULL;
}

static uint32_t width_mask(hu_format format) { return (uint32_t)(((uint64_t)1 << hu_limits_of(format).width) - 1); }

/* Any codes and scales, with anything between the rows, and any t that is not negative, infinities and NaN among
 * them. */
static void draw_codes(t_random *random, model *m, const t_places *places, const hu_scaled_sizes *n,
                       const hu_scaled *z) {
  uint32_t width = hu_limits_of(m->scaling.element).width, scale = width_mask(m->scaling.scale);
  int twos = m->scaling.coding == HU_CODING_TWOS;
  for (size_t i = 0; i < used; i++) {
    buffer_codes[i] = t_next32(random);
    buffer_scales[i] = t_below(random, 8) ? t_next32(random) : 0x7F800000u >> t_below(random, 25);
  }
  for (size_t i = 0; i < m->rows * m->cols; i++) {
    ptrdiff_t at = (ptrdiff_t)(i / m->cols * places->ld + i % m->cols);
    uint32_t code = twos ? t_random_integer(random, width) : t_random_code(random, m->scaling.element);
    t_put(buffer_codes, n->code_bytes, at, code);
    m->codes[i] = code & (uint32_t)(((uint64_t)1 << width) - 1);
  }
  for (size_t i = 0; i < n->block_rows * n->block_cols; i++) {
    ptrdiff_t at = (ptrdiff_t)(i / n->block_cols * places->lds + i % n->block_cols);
    m->scales[i] = t_get(buffer_scales, n->scale_bytes, at) & scale;
    t_put(buffer_scales, n->scale_bytes, at, m->scales[i]);
  }
  if (!z->tensor) return;
  m->tensor = t_float(t_below(random, 4) ? t_next32(random) >> 1 : 0x7F800000u + t_below(random, 2));
  *z->tensor = m->tensor;
}

static const char *check_decode(t_random *random, model *m, const t_places *places, const hu_scaled_sizes *n,
                                const hu_scaled *z) {
  fill(buffer_z, used * sizeof *buffer_z);
  if (hu_scaled_decode(m->rows, m->cols, buffer_z, places->ldz, z, &m->scaling, &places->exec) != HU_OK)
    return "decode: status";
  const char *wrong = check_values(m, places, "a decoded value");
  if (wrong || !random) return wrong;
  draw_codes(random, m, places, n, z);
  model_decode(m);
  if (hu_scaled_decode(m->rows, m->cols, buffer_z, places->ldz, z, &m->scaling, &places->exec) != HU_OK)
    return "decode: status";
  return check_values(m, places, "a value of some code");
}

const char *compare(t_random *random, size_t rows, size_t cols, const float *x, const hu_scaling *scaling, hu_mode mode,
                    const float *amax) {
  hu_scaled_sizes n = hu_scaled_sizes_of(rows, cols, scaling);
  t_places places = draw_places(random, cols, n.block_cols);
  float tensor = 0;
  hu_scaled z = {buffer_codes, places.ld, buffer_scales, places.lds, scaling->tensor ? &tensor : NULL};
  model m = {rows,         cols,         x,           *scaling, mode, places.exec.stream, amax, model_codes,
             model_scales, model_values, model_stats, 0,        {0}};
  if (rows * cols > ELEMENTS_MAX || rows * (cols + 4) > ROOM) abort();
  used = rows * (cols + 4) + 64;
  if (used > ROOM) abort();
  for (size_t i = 0; i < rows; i++) memcpy(buffer_x + i * places.ldx, x + i * cols, cols * sizeof *x);
  model_run(&m);
  const char *wrong = check_encode(&m, &places, &n, &z);
  if (!wrong) wrong = check_quantize(&m, &places);
  if (!wrong) wrong = check_decode(random, &m, &places, &n, &z);
  return wrong;
}
