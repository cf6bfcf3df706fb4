/* SPDX-License-Identifier: MIT */
/* Number systems, conversions, operations and arrays for the playground: see shim.h. */
#include "shim.h"

#include <stdlib.h>

#include "cli/explain/neighbours.h"
#include "cli/explain/rules.h"

char page_text[TEXT_MAX];
slot slots[SLOTS];
static size_t used;
static uint32_t events;

/* ---- answers ---- */

void answer_begin(void) {
  used = 0;
  page_text[0] = 0;
}

void answer(const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = vsnprintf(page_text + used, TEXT_MAX - used, format, args);
  va_end(args);
  used += n > 0 ? (size_t)n : 0;
  if (used >= TEXT_MAX) used = TEXT_MAX - 1;
}

void answer_string(const char *text) {
  answer("\"");
  for (; *text; text++) {
    if (*text == '"' || *text == '\\') answer("\\");
    answer("%c", *text);
  }
  answer("\"");
}

static void answer_double(const char *key, double x) {
  uint64_t u;
  memcpy(&u, &x, sizeof u);
  answer(",\"%s\":\"%016llx\"", key, (unsigned long long)u);
}

EXPORT char *text_at(void) { return page_text; }
EXPORT uint32_t text_room(void) { return TEXT_MAX; }
EXPORT uint32_t events_of(void) { return events; }
EXPORT void *room_make(size_t bytes) { return malloc(bytes); }
EXPORT void room_drop(void *room) { free(room); }

EXPORT int version(void) {
  answer_begin();
  answer("%s", HU_VERSION_STRING);
  return 0;
}

hu_mode mode_of(uint32_t round, uint32_t bits, uint32_t saturate, uint32_t nan) {
  hu_mode m;
  memset(&m, 0, sizeof m);
  m.round = (uint8_t)round;
  m.bits = (uint8_t)bits;
  m.saturate = (uint8_t)saturate;
  m.nan = (uint8_t)nan;
  return m;
}

/* ---- number systems ---- */

static int refuse(hu_status status, size_t where, const char *why) {
  char name[64];
  snprintf(name, sizeof name, "%s", hu_status_name(status));
  answer_begin();
  answer("{\"error\":");
  answer_string(why ? why : name);
  answer(",\"where\":%u}", (unsigned)where);
  return KIND_NONE;
}

/* Names the system of a slot by page_text. Returns its kind, or KIND_NONE and {"error", "where"}. */
EXPORT int system_set(uint32_t i) {
  static char text[TEXT_MAX];
  slot *s = &slots[i % SLOTS];
  size_t where = 0, scaled_where = 0;
  const char *why = NULL;
  hu_format f;
  memcpy(text, page_text, sizeof text);
  hu_status scaled = hu_scaling_parse(&s->scaling, text, &scaled_where);
  if (scaled == HU_OK) return s->kind = KIND_SCALED;
  hu_status plain = hu_number_parse(&s->number, text, s->room, &where);
  if (plain == HU_OK) return s->kind = s->number.kind;
  s->kind = KIND_NONE;
  if (strncmp(text, "scaled(", 7) == 0 || strncmp(text, "bfp(", 4) == 0) {
    if (scaled == HU_E_SCALING) (void)hu_scaling_check(&s->scaling, &why);
    return refuse(scaled, scaled_where, why);
  }
  if (hu_format_parse_axis(&f, text, &where, &why) == HU_E_FORMAT) return refuse(HU_E_FORMAT, where, why);
  return refuse(plain, where, NULL);
}

static const char *kind_name(int kind) {
  static const char *const names[] = {"float", "posit", "lns", "fixed", "table"};
  return kind >= 0 && kind < 5 ? names[kind] : "none";
}

static void answer_format(hu_format f) {
  char text[HU_FORMAT_TEXT_MAX];
  hu_limits l = hu_limits_of(f);
  hu_format_text(text, sizeof text, f);
  answer(",\"format\":{\"text\":");
  answer_string(text);
  answer(",\"sign\":%d,\"e\":%d,\"m\":%d,\"bias\":%d,\"emin\":%d,\"emax\":%d", f.sign, f.e, f.m, l.bias, l.emin,
         l.emax);
  answer(",\"zero\":%d,\"subnormal\":%d,\"inf\":%d,\"nan\":%d,\"negzero\":%d,\"overflow\":%d", f.zero, f.subnormal,
         f.inf, f.nan, f.negzero, f.overflow);
  answer(",\"max\":%u,\"minNormal\":%u,\"infinity\":%u,\"nanCode\":%u,\"hasNan\":%u", l.max_code, l.min_normal_code,
         l.inf_code, l.nan_code, l.has_nan);
  answer(",\"finite\":\"%llu\",\"nans\":\"%llu\"}", (unsigned long long)l.finite_codes,
         (unsigned long long)l.nan_codes);
}

static void answer_scaling(const hu_scaling *x) {
  char text[HU_SCALING_TEXT_MAX], element[HU_FORMAT_TEXT_MAX], scale[HU_FORMAT_TEXT_MAX];
  const char *e = hu_format_id(x->element), *s = hu_format_id(x->scale);
  hu_scaling_text(text, sizeof text, x);
  hu_format_text(element, sizeof element, x->element);
  hu_format_text(scale, sizeof scale, x->scale);
  answer("{\"kind\":\"scaled\",\"text\":");
  answer_string(text);
  answer(",\"element\":");
  answer_string(e ? e : element);
  answer(",\"scale\":");
  answer_string(s ? s : scale);
  answer(",\"rows\":%u,\"cols\":%u,\"tensor\":%d,\"elementBits\":%u,\"scaleBits\":%u}", x->rows, x->cols, x->tensor,
         hu_limits_of(x->element).width, hu_limits_of(x->scale).storage);
}

/* The card of a slot, JSON. */
EXPORT int system_card(uint32_t i) {
  static char text[HU_NUMBER_TEXT_MAX];
  const slot *s = &slots[i % SLOTS];
  answer_begin();
  if (s->kind == KIND_SCALED) answer_scaling(&s->scaling);
  if (s->kind == KIND_SCALED || s->kind == KIND_NONE) return 0;
  hu_number_limits l = hu_number_limits_of(s->number);
  const char *id = hu_number_id(s->number);
  hu_number_text(text, sizeof text, s->number);
  answer("{\"kind\":\"%s\",\"name\":", kind_name(s->kind));
  answer_string(id ? id : "");
  answer(",\"text\":");
  answer_string(text);
  answer(
      ",\"width\":%u,\"max\":%u,\"low\":%u,\"min\":%u,\"hasZero\":%u,\"hasNan\":%u,\"zero\":%u,\"nan\":%u,\"exact\":%u",
      l.width, l.max_code, l.low_code, l.min_code, l.has_zero, l.has_nan, l.zero_code, l.nan_code, l.exact64);
  answer(",\"count\":%u", (unsigned)s->number.count);
  answer_double("maxValue", l.max);
  answer_double("lowValue", l.low);
  answer_double("minValue", l.min);
  if (s->kind == HU_NUMBER_FLOAT) answer_format(s->number.format);
  answer("}");
  return 0;
}

static void answer_name(const char *name, const char *source, int first) {
  answer(first ? "[" : ",[");
  answer_string(name);
  answer(",");
  answer_string(source ? source : "");
  answer("]");
}

/* All names: {"formats": [[name, source], ...], "numbers": ..., "scaled": ..., "models": ..., "modes": [[name,
 * meaning], ...], "stochastic": number of the first stochastic mode, "operations": [[name, what it computes, operands],
 * ...]}. */
EXPORT int catalogue(void) {
  answer_begin();
  answer("{\"formats\":[");
  for (size_t i = 0; i < hu_format_count(); i++) answer_name(hu_format_at(i).id, hu_format_at(i).source, i == 0);
  answer("],\"numbers\":[");
  for (size_t i = 0; i < hu_number_count(); i++) answer_name(hu_number_at(i).name, hu_number_at(i).source, i == 0);
  answer("],\"scaled\":[");
  for (size_t i = 0; i < hu_scaling_count(); i++) answer_name(hu_scaling_at(i).name, hu_scaling_at(i).source, i == 0);
  answer("],\"models\":[");
  for (size_t i = 0; i < hu_accum_preset_count(); i++) {
    hu_accum_preset p;
    if (hu_accum_preset_at(&p, i) == HU_OK) answer_name(p.name, p.unit, i == 0);
  }
  answer("],\"modes\":[");
  for (uint32_t i = 0; hu_mode_round_words(i).name; i++)
    answer_name(hu_mode_round_words(i).name, hu_mode_round_words(i).meaning, i == 0);
  answer("],\"stochastic\":%d,\"operations\":[", HU_SRA);
  for (size_t i = 0; i < hu_operation_count(); i++) {
    hu_operation operation = hu_operation_at(i);
    answer(i ? ",[" : "[");
    answer_string(operation.name);
    answer(",");
    answer_string(operation.what);
    answer(",%d]", operation.operands);
  }
  answer("]}");
  return 0;
}

/* ---- one value ---- */

EXPORT double decode(uint32_t i, uint32_t code) { return hu_number_decode64(slots[i % SLOTS].number, code); }

EXPORT uint32_t encode(uint32_t i, double x, uint32_t round, uint32_t bits, uint32_t saturate, uint32_t nan,
                       uint32_t random) {
  events = 0;
  return hu_number_encode64(slots[i % SLOTS].number, mode_of(round, bits, saturate, nan), x, random, &events);
}

/* The next code up or down of a floating-point format. */
EXPORT uint32_t next(uint32_t i, uint32_t code, uint32_t up) {
  hu_format f = slots[i % SLOTS].number.format;
  return up ? hu_next_up(f, code) : hu_next_down(f, code);
}

/* Why x became what `encode` or `operate` gave with these events: a sentence in page_text. x is rounded to odd where
 * binary64 does not hold it. Floating-point formats. */
EXPORT int rule(uint32_t i, double x, uint32_t round, uint32_t bits, uint32_t saturate, uint32_t nan, uint32_t random,
                uint32_t set) {
  char text[RULE_MAX];
  hu_format f = slots[i % SLOTS].number.format;
  hu_mode mode = mode_of(round, bits, saturate, nan);
  int finite = x - x == 0 && x != 0;
  if (finite) {
    neighbours p = neighbours_of(f, x);
    rule_of_rounding(text, &p, mode, x < 0, random);
  } else {
    rule_of_special(text, NULL, f, mode, x);
  }
  rule_of_range(text, f, mode, x, set);
  answer_begin();
  answer("%s", text);
  return 0;
}

/* Which codes a rounding of x chooses between: steps, unit, distance and width in binades, JSON. */
EXPORT int place(uint32_t i, double x) {
  neighbours p = neighbours_of(slots[i % SLOTS].number.format, x);
  answer_begin();
  answer("{\"steps\":\"%llu\",\"part\":\"%llu\",\"unit\":%d,\"partBits\":%d,\"belowAll\":%d}",
         (unsigned long long)p.steps, (unsigned long long)p.part, p.unit, p.part_bits, p.below_all);
  return 0;
}

/* ---- operations: slots 1, 2, 3 are the formats of a, b, c ---- */

EXPORT uint32_t operate(uint32_t op, uint32_t a, uint32_t b, uint32_t c, uint32_t round, uint32_t bits,
                        uint32_t saturate, uint32_t nan, uint32_t random) {
  hu_code x[] = {{slots[1].number.format, a}, {slots[2].number.format, b}, {slots[3].number.format, c}};
  return hu_apply_code((int)op, slots[0].number.format, mode_of(round, bits, saturate, nan), x, random, &events);
}

/* ---- arrays ---- */

static uint64_t counts[10];

static void keep(const hu_events *x) {
  const uint64_t now[10] = {x->overflow, x->saturated, x->underflow, x->to_zero, x->subnormal,
                            x->inexact,  x->invalid,   x->nan_in,    x->inf_in,  x->divide_by_zero};
  memcpy(counts, now, sizeof counts);
}

/* Counts of the events of the latest array, in the order of HU_EVENT_. */
EXPORT double count_of(uint32_t i) { return (double)counts[i % 10]; }

/* z[i] = the value of the slot's system that x[i] rounds to; with a scaled format, one row. Returns an hu_status. */
EXPORT int quantize(uint32_t i, uint32_t n, double *x, double *z, uint32_t round, uint32_t bits, uint32_t saturate) {
  const slot *s = &slots[i % SLOTS];
  hu_mode mode = mode_of(round, bits, saturate, 0);
  hu_events set;
  hu_status status = HU_OK;
  memset(&set, 0, sizeof set);
  if (s->kind != KIND_SCALED) {
    status = hu_number_quantize64_n(n, z, 1, x, 1, s->number, mode, NULL, &set);
  } else {
    float *row = malloc((n + 1) * sizeof *row);
    if (!row) return HU_E_SPACE;
    for (uint32_t k = 0; k < n; k++) row[k] = (float)x[k];
    status = hu_scaled_quantize(1, n, row, n, row, n, &s->scaling, mode, NULL, NULL, NULL, &set);
    for (uint32_t k = 0; k < n; k++) z[k] = row[k];
    free(row);
  }
  keep(&set);
  return status;
}
