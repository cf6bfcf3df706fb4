/* SPDX-License-Identifier: MIT */
/* The C side of halfulp_dpi.sv: every call gives what the library's own gives, codes and events; dot products of every
 * preset from buses, arrays and streams; random words of the caller's, step by step; what is refused; threads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/cmocka.h"

#include <pthread.h>

#include "dpi/halfulp_dpi.h"
#include "halfulp/accum.h"
#include "halfulp/arith.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/operation.h"
#include "halfulp/scalar.h"
#include "tests/dpi/handles.h"
#include "tests/support/support.h"

enum { BUS = HU_DPI_BUS / 32 };

/* ---- one value ---- */

/* To an integer type and from one, and types that there are none of. */
static void integers(void *h, hu_format format, void *m, hu_mode mode, uint32_t x, uint32_t word, t_random *random) {
  hu_integer type = {(uint8_t)t_between(random, 1, 64), (uint8_t)t_below(random, 2), (uint8_t)t_below(random, 3),
                     (uint8_t)t_below(random, 2)};
  uint64_t i = t_next64(random) >> t_below(random, 64), expected;
  unsigned long long integer = 1;
  unsigned int z, set = 0xAAAA;
  uint32_t events;
  assert_int_equal(
      hu_dpi_to_integer(m, type.width, type.is_signed, type.invalid, type.exact, h, x, word, &integer, &set), HU_OK);
  expected = hu_to_integer(type, mode, format, x, word, &events);
  assert_true(integer == expected && set == events);
  assert_int_equal(hu_dpi_from_signed(h, m, -(long long)(i >> 1), word, &z, &set), HU_OK);
  assert_int_equal(z, hu_from_signed(format, mode, -(int64_t)(i >> 1), word, &events));
  assert_int_equal(set, events);
  assert_int_equal(hu_dpi_from_unsigned(h, m, i, word, &z, &set), HU_OK);
  assert_int_equal(z, hu_from_unsigned(format, mode, i, word, &events));
  assert_int_equal(set, events);
  const int wrong[][4] = {{0, 1, 0, 0}, {65, 1, 0, 0}, {32, 2, 0, 0}, {32, 1, 3, 0}, {32, 1, -1, 0}, {32, 1, 0, 2}};
  const int *w = wrong[t_below(random, 6)];
  assert_int_equal(hu_dpi_to_integer(m, w[0], w[1], w[2], w[3], h, x, word, &integer, &set), HU_E_SHAPE);
  assert_true(integer == 0 && set == 0);
  assert_int_equal(hu_dpi_to_integer(h, 32, 1, 0, 0, h, x, word, &integer, &set), HU_E_NULL);
}

static void operations(void **state) {
  (void)state;
  t_random random = {t_seed("dpi-operations", 1)};
  for (int i = 0; i < 4000; i++) {
    hu_format format[4];
    void *h[4];
    hu_mode mode = t_random_mode(&random);
    mode.nan_fma = (uint8_t)t_below(&random, 2);
    void *m = mode_handle(mode);
    uint32_t x[3], word = t_next32(&random), events, expected;
    unsigned int z, set;
    double value = t_random_operand(&random, format[0] = t_random_format(&random, 1, 32)), back;
    for (int k = 0; k < 4; k++) {
      if (k) format[k] = t_random_format(&random, 1, 32);
      h[k] = format_handle(format[k]);
      if (k < 3) x[k] = t_random_code(&random, format[k]);
    }
#define SAME(call, own)                                                                 \
  do {                                                                                  \
    events = set = z = 0xAAAA;                                                          \
    assert_int_equal(call, HU_OK);                                                      \
    expected = own;                                                                     \
    if (z != expected || set != events) fail_msg("%s: %x, not %x", #call, z, expected); \
  } while (0)
#define TWO(name)                                                      \
  SAME(hu_dpi_##name(h[3], m, h[0], x[0], h[1], x[1], word, &z, &set), \
       hu_##name(format[3], mode, format[0], x[0], format[1], x[1], word, &events))
    SAME(hu_dpi_encode(h[0], m, value, word, &z, &set), hu_encode64(format[0], mode, value, word, &events));
    SAME(hu_dpi_convert(h[3], m, h[0], x[0], word, &z, &set),
         hu_convert(format[3], mode, format[0], x[0], word, &events));
    SAME(hu_dpi_sqrt(h[3], m, h[0], x[0], word, &z, &set), hu_sqrt(format[3], mode, format[0], x[0], word, &events));
    SAME(hu_dpi_fma(h[3], m, h[0], x[0], h[1], x[1], h[2], x[2], word, &z, &set),
         hu_fma(format[3], mode, format[0], x[0], format[1], x[1], format[2], x[2], word, &events));
    TWO(add);
    TWO(sub);
    TWO(mul);
    TWO(div);
    TWO(minimum);
    TWO(maximum);
    TWO(minimum_number);
    TWO(maximum_number);
    TWO(remainder);
    integers(h[0], format[0], m, mode, x[0], word, &random);
    SAME(hu_dpi_round_to_integral(h[0], m, x[0], word, &z, &set),
         hu_round_to_integral(format[0], mode, x[0], word, &events));
    assert_int_equal(hu_dpi_decode(h[0], x[0], &back), HU_OK);
    assert_true(t_same64(back, hu_decode64(format[0], x[0])));
    int order, kind;
    assert_int_equal(hu_dpi_compare(h[0], x[0], h[1], x[1], &order), HU_OK);
    assert_int_equal(order, hu_compare(format[0], x[0], format[1], x[1]));
    assert_int_equal(hu_dpi_class(h[0], x[0], &kind), HU_OK);
    assert_int_equal(kind, hu_class(format[0], x[0]));
    assert_int_equal(hu_dpi_next_up(h[0], x[0], &z), HU_OK);
    assert_int_equal(z, hu_next_up(format[0], x[0]));
    assert_int_equal(hu_dpi_next_down(h[0], x[0], &z), HU_OK);
    assert_int_equal(z, hu_next_down(format[0], x[0]));
    unsigned int max, min_normal, min, inf, nan;
    hu_limits limits = hu_limits_of(format[0]);
    assert_int_equal(hu_dpi_limits(h[0], &max, &min_normal, &min, &inf, &nan), HU_OK);
    assert_true(max == limits.max_code && min == limits.min_code && min_normal == limits.min_normal_code &&
                inf == limits.inf_code);
    assert_true(nan == (limits.has_nan ? limits.nan_code : HU_NO_CODE));
    for (int k = 0; k < 4; k++) hu_dpi_free(h[k]);
    hu_dpi_free(m);
  }
}

static void functions(void **state) {
  (void)state;
  t_random random = {t_seed("dpi-functions", 1)};
  for (int i = 0; i < 1500; i++) {
    hu_format format[3];
    void *h[3];
    hu_mode mode = t_random_mode(&random);
    void *m = mode_handle(mode);
    uint32_t word = t_next32(&random), events, expected;
    unsigned int z, set;
    for (int k = 0; k < 3; k++) h[k] = format_handle(format[k] = t_random_format(&random, 1, 16));
    uint32_t x = t_random_code(&random, format[0]), y = t_random_code(&random, format[1]);
#define ONE(name) \
  SAME(hu_dpi_##name(h[2], m, h[0], x, word, &z, &set), hu_##name(format[2], mode, format[0], x, word, &events))
    ONE(exp);
    ONE(exp2);
    ONE(expm1);
    ONE(log);
    ONE(log2);
    ONE(log1p);
    ONE(tanh);
    ONE(sigmoid);
    ONE(erf);
    ONE(gelu);
    ONE(rsqrt);
    ONE(reciprocal);
    ONE(sin);
    ONE(cos);
    SAME(hu_dpi_pow(h[2], m, h[0], x, h[1], y, word, &z, &set),
         hu_pow(format[2], mode, format[0], x, format[1], y, word, &events));
    for (int k = 0; k < 3; k++) hu_dpi_free(h[k]);
    hu_dpi_free(m);
  }
}

/* Signalling NaNs of every code, and infinity times zero plus a NaN in both modes, in fma and in a row. */
static void nans(void **state) {
  (void)state;
  static const struct {
    const char *format;
    int codes, signalling;
  } cases[] = {{"binary16", 65536, 2 * 511}, {"bfloat16", 65536, 2 * 63}, {"float8_e5m2", 256, 2},
               {"fp(5,2,0)", 256, 2},        {"float8_e4m3fn", 256, 0},   {"fp(5,1,0)", 128, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    void *h;
    int where, is, count = 0;
    hu_format format;
    assert_int_equal(hu_format_parse(&format, cases[i].format, NULL), HU_OK);
    assert_int_equal(hu_dpi_format(cases[i].format, &h, &where), HU_OK);
    for (int x = 0; x < cases[i].codes; x++) {
      assert_int_equal(hu_dpi_is_signalling(h, (unsigned)x, &is), HU_OK);
      assert_int_equal(is, hu_is_signalling(format, (uint32_t)x));
      count += is;
    }
    if (count != cases[i].signalling) fail_msg("%s: %d signalling NaNs", cases[i].format, count);
    hu_dpi_free(h);
  }
  void *half = format_handle(hu_binary16()), *row = model_handle("exact", "binary16", "binary16", "binary16");
  for (int invalid = 0; invalid < 2; invalid++) {
    void *mode;
    unsigned int z, events, expected = invalid ? HU_FLAG_INVALID : 0;
    unsigned long long d;
    svBitVecVal a[BUS] = {0x7C00}, b[BUS] = {0}, none[BUS] = {0};
    assert_int_equal(hu_dpi_mode("", "", "", "", invalid ? "invalid" : "", &mode), HU_OK);
    assert_int_equal(hu_dpi_fma(half, mode, half, 0x7C00, half, 0, half, 0x7E00, 0, &z, &events), HU_OK);
    assert_true(z == 0x7E00 && hu_dpi_flags(events) == expected && (events & HU_EVENT_NAN_IN));
    assert_int_equal(hu_dpi_dot(row, mode, 1, a, b, 0x7E00, none, none, none, 0, &d, &events), HU_OK);
    assert_true(d == 0x7E00 && hu_dpi_flags(events) == expected);
    hu_dpi_free(mode);
  }
  int is = 1;
  assert_int_equal(hu_dpi_is_signalling(row, 0x7D00, &is), HU_E_NULL);
  assert_int_equal(is, 0);
  hu_dpi_free(half);
  hu_dpi_free(row);
}

/* Every set of events: five of them have a bit, the others none. */
static void exception_flags(void **state) {
  (void)state;
  static const struct {
    uint32_t event, flag;
  } bits[] = {{HU_EVENT_INEXACT, 1},
              {HU_EVENT_UNDERFLOW, 2},
              {HU_EVENT_OVERFLOW, 4},
              {HU_EVENT_DIVIDE_BY_ZERO, 8},
              {HU_EVENT_INVALID, 16}};
  for (uint32_t events = 0; events < 1024; events++) {
    uint32_t expected = 0;
    for (unsigned i = 0; i < 5; i++) expected += events & bits[i].event ? bits[i].flag : 0;
    assert_int_equal(hu_events_flags(events), expected);
    assert_int_equal(hu_dpi_flags(events), expected);
  }
  assert_int_equal(HU_FLAG_INEXACT | HU_FLAG_UNDERFLOW << 4, 0x21);
  assert_int_equal(HU_FLAG_OVERFLOW | HU_FLAG_DIVIDE_BY_ZERO << 4 | HU_FLAG_INVALID << 8, 0x1084);
}

/* ---- dot products ---- */

/* Operands in all the forms in which they are given. */
typedef struct operand {
  svBitVecVal bus[BUS];
  open_array array;
  uint64_t stored[LONGEST];
  size_t count;
  hu_type element;
} operand;

static void draw_operand(operand *x, t_random *random, hu_type element, size_t count) {
  unsigned width = hu_type_width(element);
  memset(x, 0, sizeof *x);
  x->element = element;
  x->count = count;
  x->array = (open_array){(int)t_below(random, 9) - 4, (int)count + (int)t_below(random, 2), 8, {0}};
  for (size_t k = 0; k < count; k++) {
    uint64_t code = t_next64(random) >> (64 - width);
    if (k % 3 && width == 8) code = (code & 0x83) | 0x30;
    x->array.data[k] = code;
    for (unsigned bit = 0; bit < width; bit++) {
      size_t at = k * width + bit;
      x->bus[at / 32] |= (svBitVecVal)(code >> bit & 1) << at % 32;
    }
    if (hu_type_size(element) == 8)
      x->stored[k] = code;
    else
      t_put(x->stored, hu_type_size(element), (ptrdiff_t)k, (uint32_t)code);
  }
}

static hu_view view_of(const operand *x) { return hu_view_of(x->count ? x->stored : NULL, 1, x->element); }

static uint64_t result(const uint64_t *z, hu_type element) {
  return hu_type_size(element) == 8 ? *z : t_get(z, hu_type_size(element), 0);
}

static unsigned flags(const hu_events *events) {
  hu_events none = {0}, one;
  unsigned set = 0;
  for (unsigned i = 0; i < 10; i++) {
    one = none;
    hu_events_count(&one, 1u << i);
    for (size_t k = 0; k < sizeof one / 8; k++)
      set |= ((uint64_t *)&one)[k] && ((const uint64_t *)events)[k] ? 1u << i : 0;
  }
  return set;
}

static void presets(void **state) {
  (void)state;
  static operand a, b, c, sa, sb;
  t_random random = {t_seed("dpi-presets", 1)};
  open_array no_words = {0, 1, 4, {0}};
  svBitVecVal none[BUS] = {0};
  int count = hu_dpi_preset_count(), checked = 0;
  assert_int_equal(count, hu_accum_preset_count());
  void *rne = mode_handle((hu_mode){0});
  for (int i = 0; i < count; i++) {
    hu_accum_preset preset;
    void *h;
    assert_int_equal(hu_accum_preset_at(&preset, (size_t)i), HU_OK);
    assert_int_equal(hu_dpi_preset(i, &h), HU_OK);
    assert_string_equal(hu_dpi_name(h), preset.name);
    assert_int_equal(hu_dpi_depth(h), preset.k);
    size_t every = preset.accum.scaled ? preset.accum.promote : preset.accum.block.every;
    hu_type scale = hu_type_codes(preset.accum.scaled ? hu_format_ieee(8, 23, 0) : preset.accum.block.scale);
    for (int k = 0; k < 20; k++) {
      size_t n = preset.k * (1 + t_below(&random, 2)), scales = every ? (n + every - 1) / every : 0;
      if (n * hu_type_width(preset.a) > HU_DPI_BUS || n > LONGEST - 2) n = preset.k;
      int fits = n * hu_type_width(preset.a) <= HU_DPI_BUS;
      draw_operand(&a, &random, preset.a, n);
      draw_operand(&b, &random, preset.b, n);
      draw_operand(&c, &random, preset.c, 1);
      draw_operand(&sa, &random, scale, scales);
      draw_operand(&sb, &random, scale, scales);
      uint64_t z[1] = {0};
      hu_events counts = {0};
      hu_how how = {.events = &counts};
      hu_product in = hu_product_of_dot(n, hu_output_of(z, 1, preset.c), view_of(&a), view_of(&b), &preset.accum);
      in.c = view_of(&c);
      in.sa = view_of(&sa);
      in.sb = view_of(&sb);
      assert_int_equal(hu_dot(&in, &how), HU_OK);
      unsigned long long d = 1, d2 = 1, d3 = 1;
      unsigned int set = 0xAAAA, set2 = 0xAAAA, set3 = 0xAAAA;
      if (sa.array.size == 0) sa.array.size = sb.array.size = 1;
      assert_int_equal(hu_dpi_dot_array(h, rne, (int)n, &a.array, &b.array, c.array.data[0], &sa.array, &sb.array,
                                        &no_words, 0, &d, &set),
                       HU_OK);
      if (fits) {
        assert_int_equal(hu_dpi_dot(h, rne, (int)n, a.bus, b.bus, c.array.data[0], sa.bus, sb.bus, none, 0, &d2, &set2),
                         HU_OK);
        assert_int_equal(
            hu_dpi_dot_stream(h, rne, (int)n, a.bus, b.bus, c.array.data[0], sa.bus, sb.bus, 5, 6, &d3, &set3), HU_OK);
      } else {
        assert_int_equal(hu_dpi_dot(h, rne, (int)n, a.bus, b.bus, 0, sa.bus, sb.bus, none, 0, &d2, &set2), HU_E_SHAPE);
        d2 = d3 = d;
        set2 = set3 = set;
      }
      uint64_t expected = result(z, preset.c);
      if (d != expected || d2 != expected || d3 != expected) fail_msg("%s: %llx %llx %llx", preset.name, d, d2, d3);
      if (set != flags(&counts) || set2 != set || set3 != set)
        fail_msg("%s: events %x %x %x", preset.name, set, set2, set3);
      checked++;
    }
    hu_dpi_free(h);
  }
  hu_dpi_free(rne);
  print_message("%d presets, %d dot products\n", count, checked);
}

/* The words of random steps are those that are given, R their low digits: the model as a chain of operations. */
static void words(void **state) {
  (void)state;
  t_random numbers = {t_seed("dpi-words", 1)};
  hu_format e4m3, half, sum;
  assert_int_equal(hu_format_parse(&e4m3, "float8_e4m3fn", NULL), HU_OK);
  assert_int_equal(hu_format_parse(&half, "binary16", NULL), HU_OK);
  assert_int_equal(hu_format_parse(&sum, "fp(5,4,0)", NULL), HU_OK);
  hu_mode sra = t_stochastic(HU_SRA, 6), srb = t_stochastic(HU_SRB, 3);
  void *last = mode_handle(srb);
  void *seq = model_handle("seq(fp(5,4,0),sra:6)", "float8_e4m3fn", "float8_e4m3fn", "float8_e4m3fn");
  void *seq2 = model_handle("seq2(fp(5,4,0),sra:6)", "float8_e4m3fn", "float8_e4m3fn", "float8_e4m3fn");
  int roundings;
  assert_int_equal(hu_dpi_roundings(seq, 9, &roundings), HU_OK);
  assert_int_equal(roundings, 9);
  assert_int_equal(hu_dpi_roundings(seq2, 9, &roundings), HU_OK);
  assert_int_equal(roundings, 18);
  for (int i = 0; i < 3000; i++) {
    static operand a, b;
    svBitVecVal w[BUS] = {0}, none[BUS] = {0};
    size_t n = 1 + t_below(&numbers, 20);
    uint32_t random = t_next32(&numbers), c = t_next32(&numbers) & 0xFF, events = 0;
    draw_operand(&a, &numbers, hu_type_codes(e4m3), n);
    draw_operand(&b, &numbers, hu_type_codes(e4m3), n);
    for (size_t k = 0; k < 2 * n; k++) w[k] = t_next32(&numbers);
    /* C enters as it is: the first step takes it in its own format. */
    uint32_t s = 0, s2 = 0;
    for (size_t k = 0; k < n; k++) {
      uint32_t x = (uint32_t)a.array.data[k], y = (uint32_t)b.array.data[k];
      s = k ? hu_fma(sum, sra, e4m3, x, e4m3, y, sum, s, w[k], &events)
            : hu_fma(sum, sra, e4m3, x, e4m3, y, e4m3, c, w[k], &events);
      uint32_t p = hu_mul(sum, sra, e4m3, x, e4m3, y, w[2 * k], &events);
      s2 = k ? hu_add(sum, sra, sum, s2, sum, p, w[2 * k + 1], &events)
             : hu_add(sum, sra, e4m3, c, sum, p, w[2 * k + 1], &events);
    }
    unsigned long long d;
    unsigned int set;
    assert_int_equal(hu_dpi_dot(seq, last, (int)n, a.bus, b.bus, c, none, none, w, random, &d, &set), HU_OK);
    assert_int_equal(d, hu_convert(e4m3, srb, sum, s, random, &events));
    assert_int_equal(hu_dpi_dot(seq2, last, (int)n, a.bus, b.bus, c, none, none, w, random, &d, &set), HU_OK);
    assert_int_equal(d, hu_convert(e4m3, srb, sum, s2, random, &events));
    open_array few = {3, (int)n - 1, 4, {0}};
    assert_int_equal(hu_dpi_dot_array(seq, last, (int)n, &a.array, &b.array, c, &few, &few, &few, random, &d, &set),
                     HU_E_SHAPE);
    assert_true(d == 0 && set == 0);
  }
  hu_dpi_free(seq);
  hu_dpi_free(seq2);
  hu_dpi_free(last);
}

/* hu_dot_words itself: needs said, outputs left alone, other models without words. */
static void library(void **state) {
  (void)state;
  hu_accum seq, plain;
  hu_format half;
  uint16_t a[4] = {0x3C00, 0x3C01, 0x3C02, 0x3C03}, z = 0x1234, z2;
  uint32_t w[4] = {1, 2, 3, 4};
  hu_dot_random random = {w, 3, 0, 99};
  hu_events events = {0};
  hu_watch watch = {0}, other = {0};
  hu_how how = {.events = &events};
  assert_int_equal(hu_format_parse(&half, "binary16", NULL), HU_OK);
  assert_int_equal(hu_accum_parse(&seq, "seq(binary16,sra:4)", NULL), HU_OK);
  assert_int_equal(hu_accum_parse(&plain, "seq(binary16)", NULL), HU_OK);
  hu_product in = hu_product_of_dot(4, hu_codes_out(&z, 1, half), hu_codes(a, 1, half), hu_codes(a, 1, half), &seq);
  in.watch = &watch;
  assert_int_equal(hu_dot_words(&in, &random, &how), HU_E_SHAPE);
  assert_true(random.roundings == 4 && z == 0x1234 && events.inexact == 0 && watch.additions == 0);
  random.count = 4;
  assert_int_equal(hu_dot_words(&in, &random, &how), HU_OK);
  assert_true(z != 0x1234 && watch.additions == 4);
  random.words = NULL;
  assert_int_equal(hu_dot_words(&in, &random, NULL), HU_E_NULL);
  random.words = w;
  assert_int_equal(hu_dot_words(NULL, &random, NULL), HU_E_NULL);
  random = (hu_dot_random){0};
  in.accum = &plain;
  watch = other;
  assert_int_equal(hu_dot_words(&in, &random, NULL), HU_OK);
  in.d.data = &z2;
  in.watch = &other;
  assert_int_equal(hu_dot(&in, NULL), HU_OK);
  assert_memory_equal(&watch, &other, sizeof watch);
  size_t roundings = random.roundings;
  assert_true(z == z2 && roundings == 4);
}

/* ---- what is refused ---- */

static void refused(void **state) {
  (void)state;
  void *h, *format, *rne, *model;
  int where, part, roundings;
  unsigned int z = 1, events = 1;
  unsigned long long d = 1;
  svBitVecVal none[BUS] = {0};
  assert_int_equal(hu_dpi_format("fp(5,x,0)", &h, &where), HU_E_TEXT);
  assert_true(!h && where == 5);
  assert_int_equal(hu_dpi_format("float9", &h, &where), HU_E_NAME);
  assert_int_equal(hu_dpi_mode("rnx", "", "", "", "", &h), HU_E_TEXT);
  assert_int_equal(hu_dpi_mode("", "never", "", "", "", &h), HU_E_TEXT);
  assert_int_equal(hu_dpi_mode("", "", "", "later", "", &h), HU_E_TEXT);
  assert_int_equal(hu_dpi_mode("", "", "", "", "loud", &h), HU_E_TEXT);
  assert_true(!h);
  assert_int_equal(hu_dpi_model("seq(binary17)", "binary16", "binary16", "", "binary16", &h, &where, &part), HU_E_NAME);
  assert_true(!h && part == 0 && where == 4);
  assert_int_equal(hu_dpi_model("fp32", "binary16", "binary17", "", "binary16", &h, &where, &part), HU_E_NAME);
  assert_int_equal(part, 2);
  assert_int_equal(hu_dpi_model("fp32", "binary16", "binary16", "", "", &h, &where, &part), HU_E_NAME);
  assert_int_equal(part, 4);
  assert_int_equal(hu_dpi_preset(-1, &h), HU_E_NAME);
  assert_int_equal(hu_dpi_preset(hu_dpi_preset_count(), &h), HU_E_NAME);
  assert_int_equal(hu_dpi_format("binary16", &format, &where), HU_OK);
  assert_int_equal(hu_dpi_mode("", "", "", "", "", &rne), HU_OK);
  model = model_handle("fp32", "binary16", "binary16", "binary16");
  /* A handle of another kind, and none. */
  assert_int_equal(hu_dpi_add(format, format, format, 1, format, 1, 0, &z, &events), HU_E_NULL);
  assert_true(z == 0 && events == 0);
  assert_int_equal(hu_dpi_add(format, rne, format, 1, NULL, 1, 0, &z, &events), HU_E_NULL);
  assert_int_equal(hu_dpi_dot(format, rne, 1, none, none, 0, none, none, none, 0, &d, &events), HU_E_NULL);
  assert_int_equal(hu_dpi_dot(model, rne, HU_DPI_BUS / 16 + 1, none, none, 0, none, none, none, 0, &d, &events),
                   HU_E_SHAPE);
  assert_int_equal(hu_dpi_dot(model, rne, -1, none, none, 0, none, none, none, 0, &d, &events), HU_E_SHAPE);
  assert_int_equal(hu_dpi_roundings(rne, 1, &roundings), HU_E_NULL);
  assert_true(hu_dpi_width(rne) == 0 && hu_dpi_depth(format) == 0 && hu_dpi_width(model) == 16);
  assert_string_equal(hu_dpi_status_name(HU_E_SHAPE), "HU_E_SHAPE");
  assert_string_equal(hu_dpi_status_text(HU_E_SHAPE), hu_status_text(HU_E_SHAPE));
  assert_string_equal(hu_dpi_name(NULL), "");
  assert_int_equal(hu_dpi_word(7, 9), hu_stream_word((hu_stream){7, 9}, 0));
  hu_dpi_free(NULL);
  hu_dpi_free(format);
  hu_dpi_free(rne);
  hu_dpi_free(model);
}

/* A model of a matrix unit has the unit's operands or none; any(...) and a result of another format are allowed. */
static void units(void **state) {
  (void)state;
  static const char unit[] = "nv.hopper.e4m3.f32.wgmma", e4m3[] = "float8_e4m3fn";
  static const struct {
    const char *model, *a, *b, *c, *d;
    int status, part, depth;
  } cases[] = {
      {unit, "", "", "", "", HU_OK, 0, 32},
      {unit, e4m3, e4m3, "binary32", "bfloat16", HU_OK, 0, 32},
      {unit, "fp(4,3,0):fn", "", "", "", HU_OK, 0, 32},
      {unit, "binary32", e4m3, "", "", HU_E_OPERAND_A, 1, 0},
      {unit, e4m3, "float8_e5m2", "", "", HU_E_OPERAND_B, 2, 0},
      {unit, "", "", "binary16", "", HU_E_OPERAND_C, 3, 0},
      {unit, "s8", "", "", "", HU_E_OPERAND_A, 1, 0},
      {"any(nv.hopper.e4m3.f32.wgmma)", "", "", "", "", HU_OK, 0, 32},
      {"any(nv.hopper.e4m3.f32.wgmma)", "binary16", "bfloat16", "", "", HU_OK, 0, 32},
      {"any(nv.hopper.e4m3.f32.wgmma", "", "", "", "", HU_E_TEXT, 0, 0},
      {"any(fp32)", "", "", "", "", HU_E_NAME, 1, 0},
      {"takes(bfloat16,any,any,fp32)", "bfloat16", e4m3, "", "binary32", HU_OK, 0, 1},
      {"takes(bfloat16,any,any,fp32)", "binary16", e4m3, "", "binary32", HU_E_OPERAND_A, 1, 0},
      {"promote(128,nv.hopper.e4m3.f32.wgmma,binary32)", e4m3, "bfloat16", "", "binary32", HU_E_OPERAND_B, 2, 0},
      {"fp32", "fp(11,20,0)", e4m3, "", "binary32", HU_E_CARRIER, 0, 0},
      {"int32", "s8", e4m3, "s32", "s32", HU_E_ACCUM, 0, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    void *h;
    int where, part,
        s = hu_dpi_model(cases[i].model, cases[i].a, cases[i].b, cases[i].c, cases[i].d, &h, &where, &part);
    if (s != cases[i].status || part != cases[i].part) fail_msg("case %zu: status %d, part %d", i, s, part);
    assert_int_equal(h != NULL, s == HU_OK);
    assert_int_equal(hu_dpi_depth(h), cases[i].depth);
    hu_dpi_free(h);
  }
  void *takes;
  assert_int_equal(hu_dpi_takes(unit, &takes), HU_OK);
  assert_string_equal(hu_dpi_name(takes), "A float8_e4m3fn, B float8_e4m3fn, C binary32");
  assert_int_equal(hu_dpi_depth(takes), 0);
  hu_dpi_free(takes);
  assert_int_equal(hu_dpi_takes("exact", &takes), HU_OK);
  assert_string_equal(hu_dpi_name(takes), "");
  hu_dpi_free(takes);
  assert_int_equal(hu_dpi_takes("none", &takes), HU_E_NAME);
  assert_null(takes);
}

/* ---- threads ---- */

typedef struct t_share {
  void *model, *mode;
  uint64_t digest;
} t_share;

static void *work(void *context) {
  t_share *share = context;
  t_random random = {77};
  svBitVecVal none[BUS] = {0};
  for (int i = 0; i < 2000; i++) {
    static _Thread_local operand a, b;
    unsigned long long d;
    unsigned int events;
    hu_type element = hu_type_codes(hu_format_fn(4, 3, 0));
    draw_operand(&a, &random, element, 16);
    draw_operand(&b, &random, element, 16);
    if (hu_dpi_dot(share->model, share->mode, 16, a.bus, b.bus, 0, none, none, none, t_next32(&random), &d, &events))
      return NULL;
    share->digest = share->digest * 31 + d * 7 + events;
  }
  return share;
}

static void threads(void **state) {
  (void)state;
  enum { THREADS = 4 };
  pthread_t thread[THREADS];
  t_share share[THREADS + 1];
  void *done, *model = model_handle("seq(binary16)", "float8_e4m3fn", "float8_e4m3fn", "float8_e5m2");
  void *mode = mode_handle(t_stochastic(HU_SRC, 5));
  for (int i = 0; i <= THREADS; i++) share[i] = (t_share){model, mode, 0};
  assert_non_null(work(&share[THREADS]));
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&thread[i], NULL, work, &share[i]), 0);
  for (int i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_join(thread[i], &done), 0);
    assert_non_null(done);
    assert_true(share[i].digest == share[THREADS].digest);
  }
  hu_dpi_free(model);
  hu_dpi_free(mode);
}

static const char *package;

/* The package imports a function for each operation of the library's list. */
static void all_operations(void **state) {
  (void)state;
  static char text[1 << 17];
  FILE *file = fopen(package, "r");
  assert_non_null(file);
  size_t length = fread(text, 1, sizeof text - 1, file);
  assert_true(feof(file) && !ferror(file));
  fclose(file);
  text[length] = 0;
  for (size_t i = 0; i < hu_operation_count(); i++) {
    char import[64];
    snprintf(import, sizeof import, "function int hu_dpi_%s(", hu_operation_at(i).name);
    if (!strstr(text, import)) fail_msg("%s: no %s", package, import);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_operations), cmocka_unit_test(operations), cmocka_unit_test(presets),
      cmocka_unit_test(words),          cmocka_unit_test(library),    cmocka_unit_test(refused),
      cmocka_unit_test(threads),        cmocka_unit_test(functions),  cmocka_unit_test(exception_flags),
      cmocka_unit_test(units),          cmocka_unit_test(nans)};
  if (argc != 2) return 2;
  package = argv[1];
  return cmocka_run_group_tests(tests, NULL, NULL);
}
