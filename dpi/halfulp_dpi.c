/* SPDX-License-Identifier: MIT */
/* Handles, one-value calls and dot products of halfulp_dpi.sv: see halfulp_dpi.h. Compile this file together with the
 * test bench; some simulators do so as C++. */
#include "halfulp_dpi.h"
#include "halfulp_dpi_row.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <halfulp/accum.h>
#include <halfulp/arith.h>
#include <halfulp/scalar.h>

enum { FORMAT = 0x68750001, MODE = 0x68750002, MODEL = 0x68750003, TAKES = 0x68750004 };

typedef struct handle {
  uint32_t kind;
  hu_format format;
  hu_mode mode;
  hu_accum accum;
  hu_type a, b, c, result, scale;
  uint32_t depth;
  char name[HU_ACCUM_TEXT_MAX];
} handle;

static handle *make(uint32_t kind) {
  handle *made = (handle *)calloc(1, sizeof(handle));
  if (made) made->kind = kind;
  return made;
}

static const handle *of_kind(const void *made, uint32_t kind) {
  const handle *found = (const handle *)made;
  return found && found->kind == kind ? found : NULL;
}

/* ---- descriptions ---- */

int hu_dpi_format(const char *text, void **out, int *where) {
  hu_format parsed;
  size_t at = 0;
  *out = NULL;
  hu_status status = hu_format_parse(&parsed, text ? text : "", &at);
  *where = (int)at;
  if (status != HU_OK) return status;
  handle *made = make(FORMAT);
  if (!made) return HU_E_MEMORY;
  made->format = parsed;
  hu_format_text(made->name, sizeof made->name, parsed);
  *out = made;
  return HU_OK;
}

static int is(const char *text, const char *word) { return text && !strcmp(text, word); }

static hu_status parse_tiny(hu_mode *mode, const char *text) {
  if (!is(text, "after") && !is(text, "before")) return HU_E_TEXT;
  mode->tiny = is(text, "before") ? HU_TINY_BEFORE : HU_TINY_AFTER;
  return HU_OK;
}

int hu_dpi_mode(const char *round, const char *saturate, const char *nan, const char *tiny, const char *nan_fma,
                void **out) {
  hu_mode parsed;
  hu_status status = HU_OK;
  memset(&parsed, 0, sizeof parsed);
  *out = NULL;
  if (round && *round) status = hu_mode_round_parse(&parsed, round);
  if (status == HU_OK && saturate && *saturate) status = hu_mode_saturate_parse(&parsed, saturate);
  if (status == HU_OK && nan && *nan) status = hu_mode_nan_parse(&parsed, nan);
  if (status == HU_OK && tiny && *tiny) status = parse_tiny(&parsed, tiny);
  if (status == HU_OK && nan_fma && *nan_fma) status = hu_mode_nan_fma_parse(&parsed, nan_fma);
  if (status != HU_OK) return status;
  handle *made = make(MODE);
  if (!made) return HU_E_MEMORY;
  made->mode = parsed;
  hu_mode_round_text(made->name, parsed);
  *out = made;
  return HU_OK;
}

static hu_status parse_element(hu_type *element, const char *text, size_t *at) {
  static const char *const kinds[] = {"binary64", "s8", "u8", "s4", "u4", "s32"};
  hu_format format;
  for (uint16_t i = HU_TYPE_BINARY64; i <= HU_TYPE_INT32; i++) {
    if (!is(text, kinds[i - HU_TYPE_BINARY64])) continue;
    *element = hu_type_plain(i);
    return HU_OK;
  }
  hu_status status = hu_format_parse(&format, text, at);
  if (status == HU_OK) *element = hu_type_codes(format);
  return status;
}

enum { IN_A, IN_B, IN_C, OUT_D, ELEMENTS };

static hu_status parse_elements(handle *made, const hu_accum_preset *preset, const char *const text[ELEMENTS],
                                size_t *at, int *part) {
  hu_type *const elements[ELEMENTS] = {&made->a, &made->b, &made->c, &made->result};
  for (int i = 0; i < ELEMENTS; i++) {
    hu_status status = HU_OK;
    int from = i == IN_C && !preset && !(text[i] && *text[i]) ? OUT_D : i;
    if (text[from] && *text[from])
      status = parse_element(elements[i], text[from], at);
    else if (preset)
      *elements[i] = i == IN_A ? preset->a : i == IN_B ? preset->b : preset->c;
    else
      status = HU_E_NAME;
    *part = from + 1;
    if (status != HU_OK) return status;
  }
  *part = 0;
  return HU_OK;
}

/* Checks whether the model takes these elements, by a row without products. */
static hu_status check_elements(const handle *made, int *part) {
  uint64_t none = 0, result;
  hu_product x = hu_product_of_dot(0, hu_output_of(&result, 1, made->result), hu_view_of(&none, 1, made->a),
                                   hu_view_of(&none, 1, made->b), &made->accum);
  x.c = hu_view_of(&none, 1, made->c);
  hu_status status = hu_dot(&x, NULL);
  *part = status == HU_E_OPERAND_A   ? 1 + IN_A
          : status == HU_E_OPERAND_B ? 1 + IN_B
          : status == HU_E_OPERAND_C ? 1 + IN_C
                                     : 0;
  return status;
}

/* Finds the preset of NAME and of any(NAME). */
static int find_preset(hu_accum_preset *preset, const char *model) {
  char name[sizeof preset->name];
  size_t length = strlen(model);
  if (strncmp(model, "any(", 4) != 0) return hu_accum_preset_find(preset, model) == HU_OK;
  if (length < 5 || length - 5 >= sizeof name) return 0;
  memcpy(name, model + 4, length - 5);
  name[length - 5] = 0;
  return hu_accum_preset_find(preset, name) == HU_OK;
}

static hu_status parse_model(handle *made, const char *model, const char *const text[ELEMENTS], size_t *at, int *part) {
  hu_accum_preset preset;
  hu_status status = hu_accum_parse(&made->accum, model, at);
  if (status != HU_OK) return status;
  int named = find_preset(&preset, model);
  status = parse_elements(made, named ? &preset : NULL, text, at, part);
  if (status != HU_OK) return status;
  made->depth = named ? preset.k : 1;
  made->scale = hu_type_codes(made->accum.scaled ? hu_format_ieee(8, 23, 0) : made->accum.block.scale);
  hu_accum_text(made->name, sizeof made->name, &made->accum);
  if (named && !strcmp(model, preset.name)) memcpy(made->name, preset.name, sizeof preset.name);
  return check_elements(made, part);
}

int hu_dpi_model(const char *model, const char *a, const char *b, const char *c, const char *d, void **out, int *where,
                 int *part) {
  const char *const text[ELEMENTS] = {a, b, c, d};
  size_t at = 0;
  *out = NULL;
  *where = 0;
  *part = 0;
  handle *made = make(MODEL);
  if (!made) return HU_E_MEMORY;
  hu_status status = parse_model(made, model ? model : "", text, &at, part);
  *where = (int)at;
  if (status == HU_OK)
    *out = made;
  else
    free(made);
  return status;
}

int hu_dpi_takes(const char *model, void **out) {
  hu_accum accum;
  *out = NULL;
  hu_status status = hu_accum_parse(&accum, model ? model : "", NULL);
  if (status != HU_OK) return status;
  handle *made = make(TAKES);
  if (!made) return HU_E_MEMORY;
  hu_accum_takes(made->name, sizeof made->name, &accum);
  *out = made;
  return HU_OK;
}

int hu_dpi_preset_count(void) { return (int)hu_accum_preset_count(); }

int hu_dpi_preset(int i, void **out) {
  hu_accum_preset preset;
  int where, part;
  *out = NULL;
  hu_status status = i < 0 ? HU_E_NAME : hu_accum_preset_at(&preset, (size_t)i);
  return status == HU_OK ? hu_dpi_model(preset.name, "", "", "", "", out, &where, &part) : status;
}

void hu_dpi_free(void *made) { free(made); }

const char *hu_dpi_name(void *made) { return made ? ((const handle *)made)->name : ""; }

const char *hu_dpi_status_name(int status) { return hu_status_name((hu_status)status); }

const char *hu_dpi_status_text(int status) { return hu_status_text((hu_status)status); }

void hu_dpi_exit(int status) { exit(status); }

int hu_dpi_width(void *made) {
  const handle *format = of_kind(made, FORMAT), *model = of_kind(made, MODEL);
  return format ? (int)hu_limits_of(format->format).width : model ? (int)hu_type_width(model->result) : 0;
}

int hu_dpi_depth(void *model) {
  const handle *known = of_kind(model, MODEL);
  return known ? (int)known->depth : 0;
}

int hu_dpi_limits(void *format, unsigned int *max, unsigned int *min_normal, unsigned int *min, unsigned int *inf,
                  unsigned int *nan) {
  const handle *known = of_kind(format, FORMAT);
  *max = *min_normal = *min = *inf = *nan = 0;
  if (!known) return HU_E_NULL;
  hu_limits limits = hu_limits_of(known->format);
  *max = limits.max_code;
  *min_normal = limits.min_normal_code;
  *min = limits.min_code;
  *inf = limits.inf_code;
  *nan = limits.has_nan ? limits.nan_code : HU_NO_CODE;
  return HU_OK;
}

/* ---- one value ---- */

/* Is this a code of the format? */
static int is_code(const handle *format, unsigned int x) {
  unsigned width = hu_limits_of(format->format).width;
  return width >= 32 || x >> width == 0;
}

int hu_dpi_encode(void *fz, void *mode, double x, unsigned int random, unsigned int *z, unsigned int *events) {
  const handle *format = of_kind(fz, FORMAT), *rounding = of_kind(mode, MODE);
  *z = *events = 0;
  if (!format || !rounding) return HU_E_NULL;
  *z = hu_encode64(format->format, rounding->mode, x, random, events);
  return HU_OK;
}

int hu_dpi_decode(void *fx, unsigned int x, double *z) {
  const handle *format = of_kind(fx, FORMAT);
  *z = 0;
  if (!format) return HU_E_NULL;
  if (!is_code(format, x)) return HU_E_CODE;
  *z = hu_decode64(format->format, x);
  return HU_OK;
}

typedef uint32_t one_call(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events);
typedef uint32_t two_call(hu_format fz, hu_mode mode, hu_format fa, uint32_t a, hu_format fb, uint32_t b,
                          uint32_t random, uint32_t *events);

static int one(one_call *call, const void *fz, const void *mode, const void *fx, unsigned int x, unsigned int random,
               unsigned int *z, unsigned int *events) {
  const handle *format = of_kind(fz, FORMAT), *rounding = of_kind(mode, MODE), *format_x = of_kind(fx, FORMAT);
  *z = *events = 0;
  if (!format || !rounding || !format_x) return HU_E_NULL;
  if (!is_code(format_x, x)) return HU_E_CODE;
  *z = call(format->format, rounding->mode, format_x->format, x, random, events);
  return HU_OK;
}

static int two(two_call *call, const void *fz, const void *mode, const void *fa, unsigned int a, const void *fb,
               unsigned int b, unsigned int random, unsigned int *z, unsigned int *events) {
  const handle *format = of_kind(fz, FORMAT), *rounding = of_kind(mode, MODE), *format_a = of_kind(fa, FORMAT),
               *format_b = of_kind(fb, FORMAT);
  *z = *events = 0;
  if (!format || !rounding || !format_a || !format_b) return HU_E_NULL;
  if (!is_code(format_a, a) || !is_code(format_b, b)) return HU_E_CODE;
  *z = call(format->format, rounding->mode, format_a->format, a, format_b->format, b, random, events);
  return HU_OK;
}

#define ONE(name)                                                                                         \
  int hu_dpi_##name(void *fz, void *mode, void *fx, unsigned int x, unsigned int random, unsigned int *z, \
                    unsigned int *events) {                                                               \
    return one(hu_##name, fz, mode, fx, x, random, z, events);                                            \
  }
#define TWO(name)                                                                                                  \
  int hu_dpi_##name(void *fz, void *mode, void *fa, unsigned int a, void *fb, unsigned int b, unsigned int random, \
                    unsigned int *z, unsigned int *events) {                                                       \
    return two(hu_##name, fz, mode, fa, a, fb, b, random, z, events);                                              \
  }
ONE(convert)
ONE(sqrt)
TWO(add)
TWO(sub)
TWO(mul)
TWO(div)
TWO(minimum)
TWO(maximum)
TWO(minimum_number)
TWO(maximum_number)
TWO(pow)
TWO(remainder)
ONE(exp)
ONE(exp2)
ONE(expm1)
ONE(log)
ONE(log2)
ONE(log1p)
ONE(tanh)
ONE(sigmoid)
ONE(erf)
ONE(gelu)
ONE(rsqrt)
ONE(reciprocal)
ONE(sin)
ONE(cos)

int hu_dpi_round_to_integral(void *fx, void *mode, unsigned int x, unsigned int random, unsigned int *z,
                             unsigned int *events) {
  const handle *format = of_kind(fx, FORMAT), *rounding = of_kind(mode, MODE);
  *z = *events = 0;
  if (!format || !rounding) return HU_E_NULL;
  if (!is_code(format, x)) return HU_E_CODE;
  *z = hu_round_to_integral(format->format, rounding->mode, x, random, events);
  return HU_OK;
}

int hu_dpi_fma(void *fz, void *mode, void *fa, unsigned int a, void *fb, unsigned int b, void *fc, unsigned int c,
               unsigned int random, unsigned int *z, unsigned int *events) {
  const handle *format = of_kind(fz, FORMAT), *rounding = of_kind(mode, MODE), *format_a = of_kind(fa, FORMAT),
               *format_b = of_kind(fb, FORMAT), *format_c = of_kind(fc, FORMAT);
  *z = *events = 0;
  if (!format || !rounding || !format_a || !format_b || !format_c) return HU_E_NULL;
  if (!is_code(format_a, a) || !is_code(format_b, b) || !is_code(format_c, c)) return HU_E_CODE;
  *z = hu_fma(format->format, rounding->mode, format_a->format, a, format_b->format, b, format_c->format, c, random,
              events);
  return HU_OK;
}

int hu_dpi_compare(void *fa, unsigned int a, void *fb, unsigned int b, int *order) {
  const handle *format_a = of_kind(fa, FORMAT), *format_b = of_kind(fb, FORMAT);
  *order = HU_EQUAL;
  if (!format_a || !format_b) return HU_E_NULL;
  if (!is_code(format_a, a) || !is_code(format_b, b)) return HU_E_CODE;
  *order = hu_compare(format_a->format, a, format_b->format, b);
  return HU_OK;
}

/* Defines a call on one code that does not round. */
#define OF_CODE(name, type)                              \
  int hu_dpi_##name(void *fx, unsigned int x, type *z) { \
    const handle *format = of_kind(fx, FORMAT);          \
    *z = 0;                                              \
    if (!format) return HU_E_NULL;                       \
    if (!is_code(format, x)) return HU_E_CODE;           \
    *z = hu_##name(format->format, x);                   \
    return HU_OK;                                        \
  }
OF_CODE(class, int)
OF_CODE(is_signalling, int)
OF_CODE(next_up, unsigned int)
OF_CODE(next_down, unsigned int)

int hu_dpi_to_integer(void *mode, int width, int is_signed, int invalid, int exact, void *fx, unsigned int x,
                      unsigned int random, unsigned long long *z, unsigned int *events) {
  const handle *rounding = of_kind(mode, MODE), *format = of_kind(fx, FORMAT);
  *z = *events = 0;
  if (!rounding || !format) return HU_E_NULL;
  if (!is_code(format, x)) return HU_E_CODE;
  if (width < 1 || width > 64 || is_signed < 0 || is_signed > 1) return HU_E_SHAPE;
  if (invalid < HU_INTEGER_RISCV || invalid > HU_INTEGER_X86 || exact < 0 || exact > 1) return HU_E_SHAPE;
  hu_integer kind;
  kind.width = (uint8_t)width;
  kind.is_signed = (uint8_t)is_signed;
  kind.invalid = (uint8_t)invalid;
  kind.exact = (uint8_t)exact;
  *z = hu_to_integer(kind, rounding->mode, format->format, x, random, events);
  return HU_OK;
}

#define FROM(name, type)                                                                                        \
  int hu_dpi_##name(void *fz, void *mode, type x, unsigned int random, unsigned int *z, unsigned int *events) { \
    const handle *format = of_kind(fz, FORMAT), *rounding = of_kind(mode, MODE);                                \
    *z = *events = 0;                                                                                           \
    if (!format || !rounding) return HU_E_NULL;                                                                 \
    *z = hu_##name(format->format, rounding->mode, x, random, events);                                          \
    return HU_OK;                                                                                               \
  }
FROM(from_signed, long long)
FROM(from_unsigned, unsigned long long)

unsigned int hu_dpi_flags(unsigned int events) { return hu_events_flags(events); }

unsigned int hu_dpi_word(unsigned long long key, unsigned long long counter) {
  hu_stream stream = {key, counter};
  return hu_stream_word(stream, 0);
}

/* ---- dot products ---- */

enum { A, B, SA, SB, ROWS };
typedef struct dot_call {
  const handle *model, *mode;
  row rows[ROWS];
  uint64_t c, result; /* in the storage of their elements */
  hu_product x;
  source words;
  unsigned int random;
  const hu_exec *stream; /* NULL: words */
} dot_call;

static hu_status prepare(dot_call *call, size_t n, const source *sources, unsigned long long c) {
  const handle *model = call->model;
  size_t every = model->accum.scaled ? model->accum.promote : model->accum.block.every,
         scales = every ? (n + every - 1) / every : 0;
  const hu_type elements[ROWS] = {model->a, model->b, model->scale, model->scale};
  hu_status status = HU_OK;
  for (int i = 0; i < ROWS && status == HU_OK; i++) {
    call->rows[i].element = elements[i];
    call->rows[i].count = i < SA ? n : scales;
    status = read_row(&call->rows[i], &sources[i]);
  }
  if (status == HU_OK && !is_element(model->c, c)) status = HU_E_CODE;
  put(&call->c, 0, hu_type_size(model->c), c);
  call->x =
      hu_product_of_dot(n, hu_output_of(&call->result, 1, model->result), hu_view_of(call->rows[A].data, 1, model->a),
                        hu_view_of(call->rows[B].data, 1, model->b), &model->accum);
  call->x.c = hu_view_of(&call->c, 1, model->c);
  call->x.sa = hu_view_of(call->rows[SA].data, 1, model->scale);
  call->x.sb = hu_view_of(call->rows[SB].data, 1, model->scale);
  return status;
}

/* Calls once to learn how many words the model draws, and again with the words, if there are any. */
static hu_status call_with_words(dot_call *call, const hu_how *how) {
  uint32_t *words = NULL;
  hu_dot_random random = {NULL, 0, call->random, 0};
  hu_status status = hu_dot_words(&call->x, &random, how);
  if (status != HU_E_SHAPE || !random.roundings) return status;
  status = read_words(&words, &random.count, &call->words, random.roundings);
  random.words = words;
  if (status == HU_OK) status = hu_dot_words(&call->x, &random, how);
  free(words);
  return status;
}

static unsigned int flags_of(const hu_events *events) {
  const uint64_t counts[] = {events->overflow,  events->saturated,     events->underflow, events->to_zero,
                             events->subnormal, events->inexact,       events->invalid,   events->nan_in,
                             events->inf_in,    events->divide_by_zero};
  unsigned int flags = 0;
  for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++) flags |= (counts[i] ? 1u : 0u) << i;
  return flags;
}

static int dot(dot_call *call, int n, const source *sources, unsigned long long c, unsigned long long *d,
               unsigned int *events) {
  hu_events counts;
  memset(&counts, 0, sizeof counts);
  *d = 0;
  *events = 0;
  if (!call->model || !call->mode) return HU_E_NULL;
  if (n < 0 || n % (int)call->model->depth) return HU_E_SHAPE;
  hu_status status = prepare(call, (size_t)n, sources, c);
  hu_how how = hu_how_of(call->mode->mode, call->stream, &counts);
  if (status == HU_OK) status = call->stream ? hu_dot(&call->x, &how) : call_with_words(call, &how);
  if (status == HU_OK) {
    *d = get(&call->result, hu_type_size(call->model->result));
    *events = flags_of(&counts);
  }
  for (int i = 0; i < ROWS; i++) free(call->rows[i].data);
  return status;
}

static dot_call call_of(const void *model, const void *mode, const source *words, unsigned int random,
                        const hu_exec *stream) {
  dot_call call;
  memset(&call, 0, sizeof call);
  call.model = of_kind(model, MODEL);
  call.mode = of_kind(mode, MODE);
  if (words) call.words = *words;
  call.random = random;
  call.stream = stream;
  return call;
}

int hu_dpi_dot(void *model, void *mode, int n, const svBitVecVal *a, const svBitVecVal *b, unsigned long long c,
               const svBitVecVal *sa, const svBitVecVal *sb, const svBitVecVal *words, unsigned int random,
               unsigned long long *d, unsigned int *events) {
  const source sources[ROWS] = {{a, NULL}, {b, NULL}, {sa, NULL}, {sb, NULL}}, drawn = {words, NULL};
  dot_call call = call_of(model, mode, &drawn, random, NULL);
  return dot(&call, n, sources, c, d, events);
}

int hu_dpi_dot_stream(void *model, void *mode, int n, const svBitVecVal *a, const svBitVecVal *b, unsigned long long c,
                      const svBitVecVal *sa, const svBitVecVal *sb, unsigned long long key, unsigned long long counter,
                      unsigned long long *d, unsigned int *events) {
  const source sources[ROWS] = {{a, NULL}, {b, NULL}, {sa, NULL}, {sb, NULL}};
  const hu_exec exec = {1, 0, {key, counter}, {NULL, NULL, NULL}};
  dot_call call = call_of(model, mode, NULL, 0, &exec);
  return dot(&call, n, sources, c, d, events);
}

int hu_dpi_dot_array(void *model, void *mode, int n, const svOpenArrayHandle a, const svOpenArrayHandle b,
                     unsigned long long c, const svOpenArrayHandle sa, const svOpenArrayHandle sb,
                     const svOpenArrayHandle words, unsigned int random, unsigned long long *d, unsigned int *events) {
  const source sources[ROWS] = {{NULL, a}, {NULL, b}, {NULL, sa}, {NULL, sb}}, drawn = {NULL, words};
  dot_call call = call_of(model, mode, &drawn, random, NULL);
  return dot(&call, n, sources, c, d, events);
}

/* Counts the roundings of a row of zeros. */
int hu_dpi_roundings(void *model, int n, int *roundings) {
  const handle *known = of_kind(model, MODEL);
  size_t every;
  *roundings = 0;
  if (!known) return HU_E_NULL;
  if (n < 0 || n % (int)known->depth) return HU_E_SHAPE;
  uint64_t result, *zeros = (uint64_t *)calloc((size_t)n + 1, sizeof *zeros);
  hu_dot_random random = {NULL, 0, 0, 0};
  if (!zeros) return HU_E_MEMORY;
  hu_product x = hu_product_of_dot((size_t)n, hu_output_of(&result, 1, known->result), hu_view_of(zeros, 1, known->a),
                                   hu_view_of(zeros, 1, known->b), &known->accum);
  every = known->accum.scaled ? known->accum.promote : known->accum.block.every;
  if (every) x.sa = x.sb = hu_view_of(zeros, 1, known->scale);
  hu_status status = hu_dot_words(&x, &random, NULL);
  free(zeros);
  if (status != HU_OK && status != HU_E_SHAPE) return status;
  *roundings = (int)random.roundings;
  return HU_OK;
}
