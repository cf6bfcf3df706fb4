/* SPDX-License-Identifier: MIT */
#include "tests/scaled/compare.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM = 2 * ELEMENTS_MAX + 256 };

static int same_stats(const hu_scaled_stats *a, const hu_scaled_stats *b) {
  return t_same32(a->amax, b->amax) && a->scale == b->scale && a->special == b->special &&
         a->saturated == b->saturated && a->to_zero == b->to_zero;
}

typedef struct places {
  size_t ldx, ldz, ld, lds;
  hu_exec exec;
  int with_stats;
} places;

static places draw_places(t_random *r, size_t cols, size_t across) {
  static const uint32_t threads[] = {0, 1, 2, 3, 16};
  places p = {cols, cols, cols, across, {0}, 1};
  p.exec.levels_off = 7;
  if (!r) return p;
  if (t_below(r, 2)) {
    p.ldx += t_below(r, 4);
    p.ldz += t_below(r, 4);
    p.ld += t_below(r, 4);
    p.lds += t_below(r, 3);
  }
  p.exec.levels_off = t_below(r, 3) ? 0 : t_below(r, 8);
  p.exec.threads = threads[t_below(r, 5)];
  p.exec.stream.key = t_next64(r);
  p.exec.stream.counter = t_next64(r);
  p.with_stats = t_below(r, 2) != 0;
  return p;
}

/* Is every element between rows, and behind the last one, as it was? */
static int gaps_hold(const void *z, size_t size, size_t rows, size_t cols, size_t ld, size_t room) {
  const uint8_t *bytes = z;
  uint8_t pattern[8];
  for (size_t i = 0; i < room; i++) {
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

static uint32_t room_codes[ROOM], room_scales[ROOM], model_codes[ELEMENTS_MAX], model_scales[ELEMENTS_MAX];
static float room_x[ROOM], room_z[ROOM], model_values[ELEMENTS_MAX];
static size_t used = ROOM; /* elements of the rooms that a comparison fills and looks at */
static hu_scaled_stats stats[ELEMENTS_MAX], model_stats[ELEMENTS_MAX];

static const char *check_encode(const model *m, const places *p, const hu_scaled_sizes *n, const hu_scaled *z) {
  hu_events ev = {0};
  size_t blocks = n->block_rows * n->block_cols;
  fill(room_codes, used * sizeof *room_codes);
  fill(room_scales, used * sizeof *room_scales);
  hu_status s = hu_scaled_encode(m->rows, m->cols, z, room_x, p->ldx, &m->scaling, m->mode, m->amax,
                                 p->with_stats ? stats : NULL, &p->exec, &ev);
  if (s != HU_OK) return "encode: status";
  for (size_t i = 0; i < blocks; i++) {
    if (t_get(room_scales, n->scale_bytes, i / n->block_cols * p->lds + i % n->block_cols) != m->scales[i]) {
      return "a scale";
    }
    if (p->with_stats && !same_stats(&stats[i], &m->stats[i])) return "statistics";
  }
  for (size_t i = 0; i < m->rows * m->cols; i++) {
    if (t_get(room_codes, n->code_bytes, i / m->cols * p->ld + i % m->cols) != m->codes[i]) return "a code";
  }
  if (m->scaling.tensor && !t_same32(*z->tensor, m->tensor)) return "the tensor scale";
  if (!t_same_events(&ev, &m->events)) return "events";
  if (!gaps_hold(room_codes, n->code_bytes, m->rows, m->cols, p->ld, used)) return "bytes beside codes";
  if (!gaps_hold(room_scales, n->scale_bytes, n->block_rows, n->block_cols, p->lds, used)) return "bytes beside scales";
  return NULL;
}

static const char *check_values(const model *m, const places *p, const char *what) {
  for (size_t i = 0; i < m->rows * m->cols; i++) {
    if (!t_same32(room_z[i / m->cols * p->ldz + i % m->cols], m->values[i])) return what;
  }
  return gaps_hold(room_z, sizeof(float), m->rows, m->cols, p->ldz, used) ? NULL : "bytes beside values";
}

static const char *check_quantize(const model *m, const places *p) {
  hu_events ev = {0};
  fill(room_z, used * sizeof *room_z);
  if (hu_scaled_quantize(m->rows, m->cols, room_z, p->ldz, room_x, p->ldx, &m->scaling, m->mode, m->amax,
                         p->with_stats ? stats : NULL, &p->exec, &ev) != HU_OK) {
    return "quantize: status";
  }
  const char *wrong = check_values(m, p, "a quantized value");
  if (wrong) return wrong;
  if (!t_same_events(&ev, &m->events)) return "events of quantize";
  if (hu_scaled_quantize(m->rows, m->cols, room_x, p->ldx, room_x, p->ldx, &m->scaling, m->mode, m->amax, NULL,
                         &p->exec, NULL) != HU_OK) {
    return "quantize in place: status";
  }
  for (size_t i = 0; i < m->rows * m->cols; i++) {
    if (!t_same32(room_x[i / m->cols * p->ldx + i % m->cols], m->values[i])) return "a value in place";
  }
  return NULL;
}

static uint32_t width_mask(hu_format f) { return (uint32_t)(((uint64_t)1 << hu_format_limits(f).width) - 1); }

/* Any codes and scales, and any t that is not negative, infinities and NaN among them. */
static void draw_codes(t_random *r, model *m, const places *p, const hu_scaled_sizes *n, const hu_scaled *z) {
  uint32_t element = width_mask(m->scaling.element), scale = width_mask(m->scaling.scale);
  for (size_t i = 0; i < used; i++) {
    room_codes[i] = t_next32(r);
    room_scales[i] = t_below(r, 8) ? t_next32(r) : 0x7F800000u >> t_below(r, 25);
  }
  for (size_t i = 0; i < m->rows * m->cols; i++) {
    m->codes[i] = t_get(room_codes, n->code_bytes, (ptrdiff_t)(i / m->cols * p->ld + i % m->cols)) & element;
  }
  for (size_t i = 0; i < n->block_rows * n->block_cols; i++) {
    size_t at = i / n->block_cols * p->lds + i % n->block_cols;
    m->scales[i] = t_get(room_scales, n->scale_bytes, (ptrdiff_t)at) & scale;
  }
  if (!z->tensor) return;
  m->tensor = t_float(t_below(r, 4) ? t_next32(r) >> 1 : 0x7F800000u + t_below(r, 2));
  *z->tensor = m->tensor;
}

static const char *check_decode(t_random *r, model *m, const places *p, const hu_scaled_sizes *n, const hu_scaled *z) {
  fill(room_z, used * sizeof *room_z);
  if (hu_scaled_decode(m->rows, m->cols, room_z, p->ldz, z, &m->scaling, &p->exec) != HU_OK) return "decode: status";
  const char *wrong = check_values(m, p, "a decoded value");
  if (wrong || !r) return wrong;
  draw_codes(r, m, p, n, z);
  model_decode(m);
  if (hu_scaled_decode(m->rows, m->cols, room_z, p->ldz, z, &m->scaling, &p->exec) != HU_OK) return "decode: status";
  return check_values(m, p, "a value of some code");
}

const char *compare(t_random *r, size_t rows, size_t cols, const float *x, const hu_scaling *scaling, hu_mode mode,
                    const float *amax) {
  hu_scaled_sizes n = hu_scaled_sizes_of(rows, cols, scaling);
  places p = draw_places(r, cols, n.block_cols);
  float tensor = 0;
  hu_scaled z = {room_codes, p.ld, room_scales, p.lds, scaling->tensor ? &tensor : NULL};
  model m = {rows,         cols,         x,           *scaling, mode, p.exec.stream, amax, model_codes,
             model_scales, model_values, model_stats, 0,        {0}};
  if (rows * cols > ELEMENTS_MAX || rows * (cols + 4) > ROOM) abort();
  used = rows * (cols + 4) + 64;
  if (used > ROOM) abort();
  for (size_t i = 0; i < rows; i++) memcpy(room_x + i * p.ldx, x + i * cols, cols * sizeof *x);
  model_run(&m);
  const char *wrong = check_encode(&m, &p, &n, &z);
  if (!wrong) wrong = check_quantize(&m, &p);
  if (!wrong) wrong = check_decode(r, &m, &p, &n, &z);
  return wrong;
}

/* ---- what is drawn ---- */

static const char *const elements[] = {"float8_e4m3fn",     "float8_e5m2",
                                       "float6_e3m2fn",     "float6_e2m3fn",
                                       "float4_e2m1fn",     "fp(0,7,0):finite,nonegzero",
                                       "fp(0,3,0):finite",  "float8_e4m3fnuz",
                                       "binary8p4se",       "dlfloat16",
                                       "fp(3,0,0):finite",  "bfloat16",
                                       "binary16",          "fp(4,3,0):finite,nosub",
                                       "fp(0,7,30):finite", "fp(0,20,0):finite,nonegzero"};
static const char *const scales[] = {"float8_e8m0fnu",
                                     "float8_e8m0fnu",
                                     "ue4m3",
                                     "binary32",
                                     "bfloat16",
                                     "ue5m3",
                                     "fp(5,0,0):finite,unsigned,zero=none,nosub",
                                     "fp(10,0,0):finite,unsigned,zero=none,nosub",
                                     "float8_e5m2"};

static hu_format parsed(const char *text) {
  hu_format f;
  if (hu_format_parse(&f, text, NULL) != HU_OK) abort();
  return f;
}

static uint32_t random_side(t_random *r) {
  static const uint32_t sides[] = {1, 1, 1, 2, 3, 5, 8, 16, 32, 32, 40, 128, 0};
  return sides[t_below(r, 13)];
}

hu_scaling random_scaling(t_random *r) {
  for (;;) {
    hu_scaling d;
    memset(&d, 0, sizeof d);
    if (t_below(r, 3) == 0) {
      if (hu_scaling_parse(&d, hu_scaling_at(t_below(r, (uint32_t)hu_scaling_count())).name, NULL) != HU_OK) abort();
      if (t_below(r, 2) == 0) return d;
    } else {
      d.element = parsed(elements[t_below(r, sizeof elements / sizeof *elements)]);
      d.scale = parsed(scales[t_below(r, sizeof scales / sizeof *scales)]);
      d.rule = (uint8_t)t_below(r, HU_SCALE_RULES);
      d.tensor = t_below(r, 3) == 0;
      d.coding = t_below(r, 3) == 0;
    }
    d.rows = random_side(r);
    d.cols = random_side(r);
    if (d.rule == HU_SCALE_RATIO) {
      d.steps = (uint8_t)t_below(r, HU_STEPS_COUNT);
      d.round = t_below(r, 2) ? 0 : (uint8_t)t_below(r, HU_RAZ + 1);
    }
    d.special = (uint8_t)t_below(r, 3);
    d.blank = (uint8_t)t_below(r, 3);
    d.amin = t_below(r, 8) ? 0 : 1 + t_below(r, 0x7F7FFFFE);
    if (hu_scaling_check(&d, NULL) == HU_OK) return d;
  }
}

/* A magnitude at one of the places where a rule changes its mind. */
static uint32_t edge(t_random *r, const hu_scaling *d) {
  static const uint32_t fields[] = {0, 1, 2, 100, 119, 126, 127, 128, 150, 253, 254};
  uint32_t field = t_below(r, 2) ? fields[t_below(r, 11)] : t_below(r, 255), frac = 0, m = d->element.m;
  double top = hu_format_limits(d->element).max;
  float t = (float)top;
  switch (t_below(r, 4)) {
    case 0: break;
    case 1: frac = 0x7FFFFF & ~(((uint32_t)1 << (m < 22 ? 22 - m : 0)) - 1); break; /* 2 - 2^-(m+1) */
    case 2: frac = t_bits32(t) & 0x7FFFFF; break;
    default: frac = t_next32(r) & 0x7FFFFF;
  }
  return (field << 23) + frac + t_below(r, 3) - (field || frac ? 1 : 0);
}

void random_matrix(t_random *r, size_t n, float *x, const hu_scaling *d) {
  uint32_t base = edge(r, d), kind = t_below(r, 12);
  for (size_t i = 0; i < n; i++) {
    uint32_t u = base, draw = t_below(r, 64);
    if (t_below(r, 40) == 0) base = edge(r, d);
    if (draw > 3) {
      uint32_t field = u >> 23, down = t_below(r, kind < 6 ? 14 : 60);
      u = (field > down ? field - down : 0) << 23 | (t_next32(r) & (kind & 1 ? 0x7FFFFF : 0x7E0000));
      if (u > base) u = base;
    }
    if (draw == 4 || kind == 10) u = 0;
    if (draw == 5 && kind >= 8) u = t_below(r, 2) ? 0x7F800000 : 0x7F800000 + 1 + t_below(r, 0x7FFFFF);
    if (u > 0x7F7FFFFF && !(draw == 5 && kind >= 8)) u = 0x7F7FFFFF;
    x[i] = t_float(u | (t_next32(r) & 0x80000000));
  }
}
