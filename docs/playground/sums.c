/* SPDX-License-Identifier: MIT */
/* Dot products and their steps for the playground: see shim.h. */
#include "shim.h"

enum { TERMS = 512, SCALES = 512, STEPS = 16384, NUMBER_WORDS = 4, STEP_WORDS = 10 + 5 * NUMBER_WORDS, NAMES = 8 };

/* Patterns of elements from the page: row, column, C, scales. */
static uint64_t row[TERMS], column[TERMS], addend, row_scales[SCALES], column_scales[SCALES];
static uint32_t steps[STEPS][STEP_WORDS], step_count, dropped;
static hu_type names[NAMES];
static uint32_t name_count;
static uint64_t result;
static hu_events set;

EXPORT uint64_t *row_at(void) { return row; }
EXPORT uint64_t *column_at(void) { return column; }
EXPORT uint64_t *addend_at(void) { return &addend; }
EXPORT uint64_t *row_scales_at(void) { return row_scales; }
EXPORT uint64_t *column_scales_at(void) { return column_scales; }
EXPORT uint64_t *result_at(void) { return &result; }
EXPORT uint32_t *steps_at(void) { return &steps[0][0]; }
EXPORT uint32_t step_total(void) { return step_count; }
EXPORT uint32_t steps_dropped(void) { return dropped; }
EXPORT uint32_t step_words(void) { return STEP_WORDS; }

static hu_accum model;
static hu_type elements[5]; /* A, B, C, the result, scales */

/* From HU_TYPE_BINARY64 on. */
static const char *const kinds[] = {"binary64", "s8", "u8", "s4", "u4", "s32"};

static int element_parse(hu_type *e, const char *text) {
  hu_format format;
  for (uint16_t i = HU_TYPE_BINARY64; i <= HU_TYPE_INT32; i++) {
    if (strcmp(text, kinds[i - HU_TYPE_BINARY64]) != 0) continue;
    *e = hu_type_plain(i);
    return 1;
  }
  if (hu_format_parse(&format, text, NULL) != HU_OK) return 0;
  *e = hu_type_codes(format);
  return 1;
}

static void answer_element(hu_type e) {
  char text[HU_FORMAT_TEXT_MAX];
  const char *id = e.kind == HU_TYPE_CODES ? hu_format_id(e.format) : kinds[e.kind - HU_TYPE_BINARY64];
  if (!id) hu_format_text(text, sizeof text, e.format);
  answer_string(id ? id : text);
}

static int is_any(hu_type e) { return e.kind == HU_TYPE_NONE; }

static void answer_taken(const char *key, hu_type e) {
  answer(",\"%s\":", key);
  if (is_any(e))
    answer("null");
  else
    answer_element(e);
}

/* Names the model by page_text: a card in JSON (text, elements, K, scales), or {"error", "where"} and 0. */
EXPORT int model_set(void) {
  static char text[TEXT_MAX], canonical[HU_ACCUM_TEXT_MAX];
  hu_accum_preset p;
  size_t where = 0;
  memcpy(text, page_text, sizeof text);
  hu_status s = hu_accum_parse(&model, text, &where);
  answer_begin();
  if (s != HU_OK) {
    answer("{\"error\":");
    answer_string(s == HU_E_NAME ? "no model, format or preset has this name" : "this is not a model's text");
    answer(",\"where\":%u}", (unsigned)where);
    return 0;
  }
  hu_accum_text(canonical, sizeof canonical, &model);
  answer("{\"text\":");
  answer_string(canonical);
  int named = hu_accum_preset_find(&p, text) == HU_OK;
  answer_taken("a", model.a);
  answer_taken("b", model.b);
  answer_taken("c", model.c);
  answer(",\"k\":%u,\"scaled\":%d,\"every\":%u", named ? p.k : 0, hu_accum_is_scaled(&model),
         model.scaled ? model.promote : model.block.every);
  answer(",\"integers\":%d", model.kind == HU_ACCUM_INT32);
  answer(",\"scaleFormat\":");
  if (hu_accum_is_scaled(&model) && !model.scaled)
    answer_element(hu_type_codes(model.block.scale));
  else
    answer("null");
  answer(",\"unit\":");
  answer_string(named ? p.unit : "");
  answer("}");
  return 1;
}

/* What A (0), B (1), C (2), the result (3) or the scales (4) are, by page_text. Returns the bits of an element, or
 * 0. */
EXPORT uint32_t element_set(uint32_t i) {
  hu_type e;
  if (!element_parse(&e, page_text)) return 0;
  elements[i % 5] = e;
  return hu_type_width(e);
}

/* ---- steps as words ---- */

static uint32_t name_of(hu_type e) {
  for (uint32_t i = 0; i < name_count; i++)
    if (memcmp(&names[i], &e, sizeof e) == 0) return i;
  if (name_count == NAMES) return NAMES - 1;
  names[name_count] = e;
  return name_count++;
}

static uint32_t *put_number(uint32_t *w, hu_traced x) {
  w[0] = x.kind | (uint32_t)x.sign << 8 | (uint32_t)x.more << 16;
  w[1] = (uint32_t)x.exponent;
  w[2] = (uint32_t)x.significand;
  w[3] = (uint32_t)(x.significand >> 32);
  return w + NUMBER_WORDS;
}

static void visit(void *context, const hu_trace_step *s) {
  (void)context;
  if (step_count == STEPS) {
    dropped++;
    return;
  }
  uint32_t *w = steps[step_count++];
  w[0] = s->kind;
  w[1] = s->events;
  w[2] = s->k == HU_TRACE_NO_PRODUCT ? UINT32_MAX : (uint32_t)s->k;
  w[3] = (uint32_t)s->past;
  w[4] = (uint32_t)s->top;
  w[5] = (uint32_t)s->unit;
  w[6] = s->random;
  w[7] = name_of(s->type);
  w[8] = w[9] = 0;
  w = put_number(w + 10, s->x);
  w = put_number(w, s->y);
  w = put_number(w, s->c);
  w = put_number(w, s->exact);
  (void)put_number(w, s->z);
}

/* ---- the call ---- */

static void store(uint8_t *z, const uint64_t *x, uint32_t n, size_t size) {
  for (uint32_t k = 0; k < n; k++) memcpy(z + k * size, &x[k], size); /* WebAssembly is little-endian */
}

static hu_view view_of(uint64_t *room, const uint64_t *x, uint32_t n, hu_type e) {
  store((uint8_t *)room, x, n, hu_type_size(e));
  return hu_view_of(room, 1, e);
}

/* result = C + the dot product of n elements under the model; its steps. Returns an hu_status; page_text then names the
 * elements of the steps, [name, ...]. */
EXPORT int sum(uint32_t n, uint32_t has_c, uint32_t scales, uint32_t round, uint32_t bits, uint32_t saturate,
               uint32_t key) {
  static uint64_t a[TERMS], b[TERMS], c[1], sa[SCALES], sb[SCALES];
  hu_exec exec;
  if (n > TERMS || scales > SCALES) return HU_E_SHAPE;
  memset(&exec, 0, sizeof exec);
  memset(&set, 0, sizeof set);
  exec.stream.key = key;
  hu_product x = hu_product_of_dot(n, hu_output_of(&result, 1, elements[3]), view_of(a, row, n, elements[0]),
                                   view_of(b, column, n, elements[1]), &model);
  hu_how how = hu_how_of(mode_of(round, bits, saturate, 0), &exec, &set);
  if (has_c) x.c = view_of(c, &addend, 1, elements[2]);
  if (scales) x.sa = view_of(sa, row_scales, scales, elements[4]);
  if (scales) x.sb = view_of(sb, column_scales, scales, elements[4]);
  step_count = dropped = name_count = 0;
  result = 0;
  hu_status s = hu_dot_trace(&x, &how, visit, NULL);
  answer_begin();
  for (uint32_t i = 0; i < name_count; i++) {
    answer(i ? "," : "[");
    if (is_any(names[i]))
      answer("null");
    else
      answer_element(names[i]);
  }
  answer(name_count ? "]" : "[]");
  return s;
}

/* The events of the latest sum as a set of HU_EVENT_. */
EXPORT uint32_t sum_events(void) {
  const uint64_t now[9] = {set.overflow, set.saturated, set.underflow, set.to_zero, set.subnormal,
                           set.inexact,  set.invalid,   set.nan_in,    set.inf_in};
  uint32_t z = 0;
  for (unsigned i = 0; i < 9; i++) z |= (uint32_t)(now[i] != 0) << i;
  return z;
}
