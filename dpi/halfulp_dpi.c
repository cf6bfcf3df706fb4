/* SPDX-License-Identifier: MIT */
/* Handles and one-value calls of halfulp_dpi.sv, dot products. See halfulp_dpi.h. Compile
 * this file together with the test bench: some simulators do so as C++. */
#include "halfulp_dpi.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <halfulp/accum.h>
#include <halfulp/arith.h>
#include <halfulp/function.h>
#include <halfulp/scalar.h>

enum { FORMAT = 0x68750001, MODE = 0x68750002, MODEL = 0x68750003, TAKES = 0x68750004 };

typedef struct handle {
  uint32_t kind;
  hu_format format;
  hu_mode mode;
  hu_accum accum;
  hu_element a, b, c, d, scale;
  uint32_t depth;
  char name[HU_ACCUM_TEXT_MAX];
} handle;

static handle *make(uint32_t kind) {
  handle *h = (handle *)calloc(1, sizeof(handle));
  if (h) h->kind = kind;
  return h;
}

static const handle *of_kind(const void *p, uint32_t kind) {
  const handle *h = (const handle *)p;
  return h && h->kind == kind ? h : NULL;
}

/* ---- descriptions ---- */

int hu_dpi_format(const char *text, void **out, int *where) {
  hu_format f;
  size_t at = 0;
  *out = NULL;
  hu_status s = hu_format_parse(&f, text ? text : "", &at);
  *where = (int)at;
  if (s != HU_OK) return s;
  handle *h = make(FORMAT);
  if (!h) return HU_E_MEMORY;
  h->format = f;
  hu_format_text(h->name, sizeof h->name, f);
  *out = h;
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
  hu_mode m;
  hu_status s = HU_OK;
  memset(&m, 0, sizeof m);
  *out = NULL;
  if (round && *round) s = hu_mode_round_parse(&m, round);
  if (s == HU_OK && saturate && *saturate) s = hu_mode_saturate_parse(&m, saturate);
  if (s == HU_OK && nan && *nan) s = hu_mode_nan_parse(&m, nan);
  if (s == HU_OK && tiny && *tiny) s = parse_tiny(&m, tiny);
  if (s == HU_OK && nan_fma && *nan_fma) s = hu_mode_nan_fma_parse(&m, nan_fma);
  if (s != HU_OK) return s;
  handle *h = make(MODE);
  if (!h) return HU_E_MEMORY;
  h->mode = m;
  hu_mode_round_text(h->name, m);
  *out = h;
  return HU_OK;
}

static hu_status parse_element(hu_element *e, const char *text, size_t *at) {
  static const char *const kinds[] = {NULL, "binary64", "s8", "u8", "s4", "u4", "s32"};
  memset(e, 0, sizeof *e);
  for (uint8_t i = HU_ELEMENT_BINARY64; i <= HU_ELEMENT_S32; i++) {
    if (!is(text, kinds[i])) continue;
    e->kind = i;
    return HU_OK;
  }
  return hu_format_parse(&e->format, text, at);
}

enum { IN_A, IN_B, IN_C, OUT_D, ELEMENTS };

static hu_status parse_elements(handle *h, const hu_accum_preset *p, const char *const text[ELEMENTS], size_t *at,
                                int *part) {
  hu_element *const e[ELEMENTS] = {&h->a, &h->b, &h->c, &h->d};
  for (int i = 0; i < ELEMENTS; i++) {
    hu_status s = HU_OK;
    int from = i == IN_C && !p && !(text[i] && *text[i]) ? OUT_D : i;
    if (text[from] && *text[from])
      s = parse_element(e[i], text[from], at);
    else if (p)
      *e[i] = i == IN_A ? p->a : i == IN_B ? p->b : p->c;
    else
      s = HU_E_NAME;
    *part = from + 1;
    if (s != HU_OK) return s;
  }
  *part = 0;
  return HU_OK;
}

static hu_vector vector_of(const void *data, hu_element e) {
  hu_vector v;
  v.data = data;
  v.stride = 1;
  v.step = 0;
  v.element = e;
  return v;
}

/* Does the model take these elements? A row without products tells. */
static hu_status check_elements(const handle *h, int *part) {
  uint64_t none = 0, d;
  hu_dot_operands x;
  hu_mode mode;
  memset(&x, 0, sizeof x);
  memset(&mode, 0, sizeof mode);
  x.a = vector_of(&none, h->a);
  x.b = vector_of(&none, h->b);
  x.c = vector_of(&none, h->c);
  hu_status s = hu_dot(0, &d, h->d, &x, &h->accum, mode, NULL, NULL);
  *part = s == HU_E_OPERAND_A ? 1 + IN_A : s == HU_E_OPERAND_B ? 1 + IN_B : s == HU_E_OPERAND_C ? 1 + IN_C : 0;
  return s;
}

/* The preset of NAME and of any(NAME). */
static int find_preset(hu_accum_preset *p, const char *model) {
  char name[sizeof p->name];
  size_t length = strlen(model);
  if (strncmp(model, "any(", 4) != 0) return hu_accum_preset_find(p, model) == HU_OK;
  if (length < 5 || length - 5 >= sizeof name) return 0;
  memcpy(name, model + 4, length - 5);
  name[length - 5] = 0;
  return hu_accum_preset_find(p, name) == HU_OK;
}

static hu_status parse_model(handle *h, const char *model, const char *const text[ELEMENTS], size_t *at, int *part) {
  hu_accum_preset p;
  hu_status s = hu_accum_parse(&h->accum, model, at);
  if (s != HU_OK) return s;
  int named = find_preset(&p, model);
  s = parse_elements(h, named ? &p : NULL, text, at, part);
  if (s != HU_OK) return s;
  h->depth = named ? p.k : 1;
  h->scale.format = h->accum.scaled ? hu_format_ieee(8, 23, 0) : h->accum.block.scale;
  hu_accum_text(h->name, sizeof h->name, &h->accum);
  if (named && !strcmp(model, p.name)) memcpy(h->name, p.name, sizeof p.name);
  return check_elements(h, part);
}

int hu_dpi_model(const char *model, const char *a, const char *b, const char *c, const char *d, void **out, int *where,
                 int *part) {
  const char *const text[ELEMENTS] = {a, b, c, d};
  size_t at = 0;
  *out = NULL;
  *where = 0;
  *part = 0;
  handle *h = make(MODEL);
  if (!h) return HU_E_MEMORY;
  hu_status s = parse_model(h, model ? model : "", text, &at, part);
  *where = (int)at;
  if (s == HU_OK)
    *out = h;
  else
    free(h);
  return s;
}

int hu_dpi_takes(const char *model, void **out) {
  hu_accum accum;
  *out = NULL;
  hu_status s = hu_accum_parse(&accum, model ? model : "", NULL);
  if (s != HU_OK) return s;
  handle *h = make(TAKES);
  if (!h) return HU_E_MEMORY;
  hu_accum_takes(h->name, sizeof h->name, &accum);
  *out = h;
  return HU_OK;
}

int hu_dpi_preset_count(void) { return (int)hu_accum_preset_count(); }

int hu_dpi_preset(int i, void **out) {
  hu_accum_preset p;
  int where, part;
  *out = NULL;
  hu_status s = i < 0 ? HU_E_NAME : hu_accum_preset_at(&p, (size_t)i);
  return s == HU_OK ? hu_dpi_model(p.name, "", "", "", "", out, &where, &part) : s;
}

void hu_dpi_free(void *p) { free(p); }

const char *hu_dpi_name(void *p) { return p ? ((const handle *)p)->name : ""; }

const char *hu_dpi_status_name(int status) { return hu_status_name((hu_status)status); }

const char *hu_dpi_status_text(int status) { return hu_status_text((hu_status)status); }

void hu_dpi_exit(int status) { exit(status); }

int hu_dpi_width(void *p) {
  const handle *f = of_kind(p, FORMAT), *m = of_kind(p, MODEL);
  return f ? (int)hu_limits_of(f->format).width : m ? (int)hu_element_width(m->d) : 0;
}

int hu_dpi_depth(void *model) {
  const handle *m = of_kind(model, MODEL);
  return m ? (int)m->depth : 0;
}

int hu_dpi_limits(void *format, unsigned int *max, unsigned int *min_normal, unsigned int *min, unsigned int *inf,
                  unsigned int *nan) {
  const handle *f = of_kind(format, FORMAT);
  *max = *min_normal = *min = *inf = *nan = 0;
  if (!f) return HU_E_NULL;
  hu_limits l = hu_limits_of(f->format);
  *max = l.max_code;
  *min_normal = l.min_normal_code;
  *min = l.min_code;
  *inf = l.inf_code;
  *nan = l.has_nan ? l.nan_code : HU_NO_CODE;
  return HU_OK;
}

/* ---- one value ---- */

/* Is this a code of the format? */
static int is_code(const handle *f, unsigned int x) {
  unsigned width = hu_limits_of(f->format).width;
  return width >= 32 || x >> width == 0;
}

int hu_dpi_encode(void *fz, void *mode, double x, unsigned int random, unsigned int *z, unsigned int *events) {
  const handle *f = of_kind(fz, FORMAT), *m = of_kind(mode, MODE);
  *z = *events = 0;
  if (!f || !m) return HU_E_NULL;
  *z = hu_encode64(f->format, m->mode, x, random, events);
  return HU_OK;
}

int hu_dpi_decode(void *fx, unsigned int x, double *z) {
  const handle *f = of_kind(fx, FORMAT);
  *z = 0;
  if (!f) return HU_E_NULL;
  if (!is_code(f, x)) return HU_E_CODE;
  *z = hu_decode64(f->format, x);
  return HU_OK;
}

typedef uint32_t one_call(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events);
typedef uint32_t two_call(hu_format fz, hu_mode mode, hu_format fa, uint32_t a, hu_format fb, uint32_t b,
                          uint32_t random, uint32_t *events);

static int one(one_call *call, const void *fz, const void *mode, const void *fx, unsigned int x, unsigned int random,
               unsigned int *z, unsigned int *events) {
  const handle *f = of_kind(fz, FORMAT), *m = of_kind(mode, MODE), *g = of_kind(fx, FORMAT);
  *z = *events = 0;
  if (!f || !m || !g) return HU_E_NULL;
  if (!is_code(g, x)) return HU_E_CODE;
  *z = call(f->format, m->mode, g->format, x, random, events);
  return HU_OK;
}

static int two(two_call *call, const void *fz, const void *mode, const void *fa, unsigned int a, const void *fb,
               unsigned int b, unsigned int random, unsigned int *z, unsigned int *events) {
  const handle *f = of_kind(fz, FORMAT), *m = of_kind(mode, MODE), *p = of_kind(fa, FORMAT), *q = of_kind(fb, FORMAT);
  *z = *events = 0;
  if (!f || !m || !p || !q) return HU_E_NULL;
  if (!is_code(p, a) || !is_code(q, b)) return HU_E_CODE;
  *z = call(f->format, m->mode, p->format, a, q->format, b, random, events);
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
  const handle *f = of_kind(fx, FORMAT), *m = of_kind(mode, MODE);
  *z = *events = 0;
  if (!f || !m) return HU_E_NULL;
  if (!is_code(f, x)) return HU_E_CODE;
  *z = hu_round_to_integral(f->format, m->mode, x, random, events);
  return HU_OK;
}

int hu_dpi_fma(void *fz, void *mode, void *fa, unsigned int a, void *fb, unsigned int b, void *fc, unsigned int c,
               unsigned int random, unsigned int *z, unsigned int *events) {
  const handle *f = of_kind(fz, FORMAT), *m = of_kind(mode, MODE), *p = of_kind(fa, FORMAT), *q = of_kind(fb, FORMAT),
               *r = of_kind(fc, FORMAT);
  *z = *events = 0;
  if (!f || !m || !p || !q || !r) return HU_E_NULL;
  if (!is_code(p, a) || !is_code(q, b) || !is_code(r, c)) return HU_E_CODE;
  *z = hu_fma(f->format, m->mode, p->format, a, q->format, b, r->format, c, random, events);
  return HU_OK;
}

int hu_dpi_compare(void *fa, unsigned int a, void *fb, unsigned int b, int *order) {
  const handle *p = of_kind(fa, FORMAT), *q = of_kind(fb, FORMAT);
  *order = HU_EQUAL;
  if (!p || !q) return HU_E_NULL;
  if (!is_code(p, a) || !is_code(q, b)) return HU_E_CODE;
  *order = hu_compare(p->format, a, q->format, b);
  return HU_OK;
}

/* Of one code, without a rounding. */
#define OF_CODE(name, type)                              \
  int hu_dpi_##name(void *fx, unsigned int x, type *z) { \
    const handle *f = of_kind(fx, FORMAT);               \
    *z = 0;                                              \
    if (!f) return HU_E_NULL;                            \
    if (!is_code(f, x)) return HU_E_CODE;                \
    *z = hu_##name(f->format, x);                        \
    return HU_OK;                                        \
  }
OF_CODE(class, int)
OF_CODE(is_signalling, int)
OF_CODE(next_up, unsigned int)
OF_CODE(next_down, unsigned int)

int hu_dpi_to_integer(void *mode, int width, int is_signed, int invalid, int exact, void *fx, unsigned int x,
                      unsigned int random, unsigned long long *z, unsigned int *events) {
  const handle *m = of_kind(mode, MODE), *f = of_kind(fx, FORMAT);
  *z = *events = 0;
  if (!m || !f) return HU_E_NULL;
  if (!is_code(f, x)) return HU_E_CODE;
  if (width < 1 || width > 64 || is_signed < 0 || is_signed > 1) return HU_E_SHAPE;
  if (invalid < HU_INTEGER_RISCV || invalid > HU_INTEGER_X86 || exact < 0 || exact > 1) return HU_E_SHAPE;
  hu_integer t;
  t.width = (uint8_t)width;
  t.is_signed = (uint8_t)is_signed;
  t.invalid = (uint8_t)invalid;
  t.exact = (uint8_t)exact;
  *z = hu_to_integer(t, m->mode, f->format, x, random, events);
  return HU_OK;
}

#define FROM(name, type)                                                                                        \
  int hu_dpi_##name(void *fz, void *mode, type x, unsigned int random, unsigned int *z, unsigned int *events) { \
    const handle *f = of_kind(fz, FORMAT), *m = of_kind(mode, MODE);                                            \
    *z = *events = 0;                                                                                           \
    if (!f || !m) return HU_E_NULL;                                                                             \
    *z = hu_##name(f->format, m->mode, x, random, events);                                                      \
    return HU_OK;                                                                                               \
  }
FROM(from_signed, long long)
FROM(from_unsigned, unsigned long long)

unsigned int hu_dpi_flags(unsigned int events) { return hu_events_flags(events); }

unsigned int hu_dpi_word(unsigned long long key, unsigned long long counter) {
  hu_stream s = {key, counter};
  return hu_stream_word(s, 0);
}

/* ---- dot products ---- */

enum { A, B, SA, SB, ROWS };
typedef struct row {
  uint64_t *data; /* room of its own, elements in their storage */
  size_t count;
  hu_element element;
} row;

/* The elements of one operand: from a bus, or from an array. */
typedef struct source {
  const svBitVecVal *bus;
  svOpenArrayHandle array;
} source;

static uint64_t bus_get(const svBitVecVal *bus, size_t at, unsigned width) {
  uint64_t x = 0;
  for (unsigned i = 0; i < width; i++, at++) x |= (uint64_t)(bus[at / 32] >> (at % 32) & 1) << i;
  return x;
}

static int array_get(svOpenArrayHandle array, size_t k, unsigned width, uint64_t *x) {
  const void *at = svGetArrElemPtr1(array, svLow(array, 1) + (int)k);
  if (!at) return 0;
  *x = width == 32 ? *(const unsigned int *)at : *(const unsigned long long *)at;
  return 1;
}

/* Is x such an element? A longint repeats the sign of a signed integer in all bits above it. */
static int is_element(hu_element e, uint64_t x) {
  unsigned width = hu_element_width(e);
  int is_signed = e.kind == HU_ELEMENT_S4 || e.kind == HU_ELEMENT_S8 || e.kind == HU_ELEMENT_S32;
  if (width >= 64 || x >> width == 0) return 1;
  return is_signed && x >> (width - 1) == UINT64_MAX >> (width - 1);
}

/* An element as hu_dot stores it: of 1, 2, 4 or 8 bytes. */
static void put(void *z, size_t k, size_t size, uint64_t x) {
  const uint8_t x1 = (uint8_t)x;
  const uint16_t x2 = (uint16_t)x;
  const uint32_t x4 = (uint32_t)x;
  const void *from = size == 1 ? (const void *)&x1 : size == 2 ? (const void *)&x2 : size == 4 ? (const void *)&x4 : &x;
  memcpy((uint8_t *)z + k * size, from, size);
}

static uint64_t get(const void *z, size_t size) {
  uint8_t x1;
  uint16_t x2;
  uint32_t x4;
  uint64_t x = 0;
  if (size == 1) x = (memcpy(&x1, z, 1), x1);
  if (size == 2) x = (memcpy(&x2, z, 2), x2);
  if (size == 4) x = (memcpy(&x4, z, 4), x4);
  if (size == 8) memcpy(&x, z, 8);
  return x;
}

/* Is there room for count elements of this width in the source? */
static int holds(const source *s, size_t count, unsigned width) {
  if (s->bus) return count <= HU_DPI_BUS / width;
  return s->array && count <= (size_t)svSize(s->array, 1);
}

static hu_status read_row(row *r, const source *s) {
  unsigned width = hu_element_width(r->element);
  size_t size = hu_element_size(r->element);
  if (!r->count) return HU_OK;
  if (!width || !holds(s, r->count, width)) return HU_E_SHAPE;
  r->data = (uint64_t *)calloc(r->count, size < 8 ? 8 : size);
  if (!r->data) return HU_E_MEMORY;
  for (size_t k = 0; k < r->count; k++) {
    uint64_t x = 0;
    if (s->bus)
      x = bus_get(s->bus, k * width, width);
    else if (!array_get(s->array, k, 64, &x))
      return HU_E_SHAPE;
    if (!is_element(r->element, x)) return HU_E_CODE;
    put(r->data, k, size, x);
  }
  return HU_OK;
}

/* The words that are there: 32 bits each. */
static hu_status read_words(uint32_t **words, size_t *count, const source *s, size_t wanted) {
  *words = NULL;
  *count = 0;
  if (!wanted || (!s->bus && !s->array)) return HU_OK;
  size_t there = s->bus ? HU_DPI_BUS / 32 : (size_t)svSize(s->array, 1);
  if (there < wanted) return HU_E_SHAPE;
  *words = (uint32_t *)malloc(wanted * sizeof **words);
  if (!*words) return HU_E_MEMORY;
  for (*count = 0; *count < wanted; ++*count) {
    uint64_t x = 0;
    if (s->bus)
      x = s->bus[*count];
    else if (!array_get(s->array, *count, 32, &x))
      return HU_E_SHAPE;
    (*words)[*count] = (uint32_t)x;
  }
  return HU_OK;
}

typedef struct dot_call {
  const handle *model, *mode;
  row rows[ROWS];
  uint64_t c, d; /* stored as their elements are */
  hu_dot_operands x;
  source words;
  unsigned int random;
  const hu_exec *stream; /* NULL: words */
} dot_call;

static hu_status prepare(dot_call *t, size_t n, const source *s, unsigned long long c) {
  const handle *m = t->model;
  size_t every = m->accum.scaled ? m->accum.promote : m->accum.block.every,
         scales = every ? (n + every - 1) / every : 0;
  const hu_element e[ROWS] = {m->a, m->b, m->scale, m->scale};
  hu_status status = HU_OK;
  for (int i = 0; i < ROWS && status == HU_OK; i++) {
    t->rows[i].element = e[i];
    t->rows[i].count = i < SA ? n : scales;
    status = read_row(&t->rows[i], &s[i]);
  }
  if (status == HU_OK && !is_element(m->c, c)) status = HU_E_CODE;
  put(&t->c, 0, hu_element_size(m->c), c);
  t->x.a = vector_of(t->rows[A].data, m->a);
  t->x.b = vector_of(t->rows[B].data, m->b);
  t->x.c = vector_of(&t->c, m->c);
  t->x.sa = vector_of(t->rows[SA].data, m->scale);
  t->x.sb = vector_of(t->rows[SB].data, m->scale);
  return status;
}

/* The first call asks how many words there must be, where the model draws any. */
static hu_status call_with_words(dot_call *t, size_t n, hu_events *events) {
  const handle *m = t->model;
  uint32_t *words = NULL;
  size_t count = 0, wanted = 0;
  hu_status s = hu_dot_words(n, &t->d, m->d, &t->x, &m->accum, t->mode->mode, NULL, 0, t->random, &wanted, events);
  if (s != HU_E_SHAPE || !wanted) return s;
  s = read_words(&words, &count, &t->words, wanted);
  if (s == HU_OK)
    s = hu_dot_words(n, &t->d, m->d, &t->x, &m->accum, t->mode->mode, words, count, t->random, NULL, events);
  free(words);
  return s;
}

static unsigned int flags_of(const hu_events *e) {
  const uint64_t counts[] = {e->overflow, e->saturated, e->underflow, e->to_zero, e->subnormal,
                             e->inexact,  e->invalid,   e->nan_in,    e->inf_in,  e->divide_by_zero};
  unsigned int flags = 0;
  for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++) flags |= (counts[i] ? 1u : 0u) << i;
  return flags;
}

static int dot(dot_call *t, int n, const source *s, unsigned long long c, unsigned long long *d, unsigned int *events) {
  hu_events counts;
  memset(&counts, 0, sizeof counts);
  *d = 0;
  *events = 0;
  if (!t->model || !t->mode) return HU_E_NULL;
  if (n < 0 || n % (int)t->model->depth) return HU_E_SHAPE;
  hu_status status = prepare(t, (size_t)n, s, c);
  if (status == HU_OK && t->stream) {
    status = hu_dot((size_t)n, &t->d, t->model->d, &t->x, &t->model->accum, t->mode->mode, t->stream, &counts);
  } else if (status == HU_OK) {
    status = call_with_words(t, (size_t)n, &counts);
  }
  if (status == HU_OK) {
    *d = get(&t->d, hu_element_size(t->model->d));
    *events = flags_of(&counts);
  }
  for (int i = 0; i < ROWS; i++) free(t->rows[i].data);
  return status;
}

static dot_call call_of(const void *model, const void *mode, const source *words, unsigned int random,
                        const hu_exec *stream) {
  dot_call t;
  memset(&t, 0, sizeof t);
  t.model = of_kind(model, MODEL);
  t.mode = of_kind(mode, MODE);
  if (words) t.words = *words;
  t.random = random;
  t.stream = stream;
  return t;
}

int hu_dpi_dot(void *model, void *mode, int n, const svBitVecVal *a, const svBitVecVal *b, unsigned long long c,
               const svBitVecVal *sa, const svBitVecVal *sb, const svBitVecVal *words, unsigned int random,
               unsigned long long *d, unsigned int *events) {
  const source s[ROWS] = {{a, NULL}, {b, NULL}, {sa, NULL}, {sb, NULL}}, w = {words, NULL};
  dot_call t = call_of(model, mode, &w, random, NULL);
  return dot(&t, n, s, c, d, events);
}

int hu_dpi_dot_stream(void *model, void *mode, int n, const svBitVecVal *a, const svBitVecVal *b, unsigned long long c,
                      const svBitVecVal *sa, const svBitVecVal *sb, unsigned long long key, unsigned long long counter,
                      unsigned long long *d, unsigned int *events) {
  const source s[ROWS] = {{a, NULL}, {b, NULL}, {sa, NULL}, {sb, NULL}};
  const hu_exec exec = {1, 0, {key, counter}};
  dot_call t = call_of(model, mode, NULL, 0, &exec);
  return dot(&t, n, s, c, d, events);
}

int hu_dpi_dot_array(void *model, void *mode, int n, const svOpenArrayHandle a, const svOpenArrayHandle b,
                     unsigned long long c, const svOpenArrayHandle sa, const svOpenArrayHandle sb,
                     const svOpenArrayHandle words, unsigned int random, unsigned long long *d, unsigned int *events) {
  const source s[ROWS] = {{NULL, a}, {NULL, b}, {NULL, sa}, {NULL, sb}}, w = {NULL, words};
  dot_call t = call_of(model, mode, &w, random, NULL);
  return dot(&t, n, s, c, d, events);
}

/* A row of zeros tells. */
int hu_dpi_roundings(void *model, int n, int *roundings) {
  const handle *m = of_kind(model, MODEL);
  size_t count = 0, every;
  *roundings = 0;
  if (!m) return HU_E_NULL;
  if (n < 0 || n % (int)m->depth) return HU_E_SHAPE;
  uint64_t d, *zeros = (uint64_t *)calloc((size_t)n + 1, sizeof *zeros);
  hu_dot_operands x;
  hu_mode mode;
  if (!zeros) return HU_E_MEMORY;
  memset(&x, 0, sizeof x);
  memset(&mode, 0, sizeof mode);
  x.a = vector_of(zeros, m->a);
  x.b = vector_of(zeros, m->b);
  every = m->accum.scaled ? m->accum.promote : m->accum.block.every;
  if (every) x.sa = x.sb = vector_of(zeros, m->scale);
  hu_status s = hu_dot_words((size_t)n, &d, m->d, &x, &m->accum, mode, NULL, 0, 0, &count, NULL);
  free(zeros);
  if (s != HU_OK && s != HU_E_SHAPE) return s;
  *roundings = (int)count;
  return HU_OK;
}
