/* SPDX-License-Identifier: MIT */
/* tests/spec/draw_numbers.c - sections 1 to 6 of docs/numerics.md: values, roundings, words; integers of section 10.
 * Operations and functions are the walker's (draw_walk.c). */
#include "halfulp/array.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"
#include "halfulp/arith.h"
#include "halfulp/oracle.h"
#include "tests/spec/lines.h"

static hu_format any_format(t_random *random) {
  switch (t_below(random, 6)) {
    case 0: return hu_format_at(t_below(random, (uint32_t)hu_format_count())).format;
    case 1: return t_random_format(random, 9, 16);
    case 2: return t_random_format(random, 1, 32);
    default: return t_random_format(random, 1, 8);
  }
}

static uint32_t mask_of(hu_format format) { return (uint32_t)(((uint64_t)1 << hu_limits_of(format).width) - 1); }

/* A code of the format: any, or near an operand that matters to `other`. */
static uint32_t any_code(t_random *random, hu_format format, hu_format other) {
  if (t_below(random, 3) == 0) return t_next32(random) & mask_of(format);
  uint32_t c = hu_encode64(format, t_mode(t_below(random, T_DETERMINISTIC)), t_random_operand(random, other), 0, NULL);
  return t_below(random, 3) ? c : hu_next_up(format, c);
}

static void must(hu_status status) { line_same("status", (uint64_t)(int64_t)status, 0); }

static void draw_decode(t_random *random) {
  hu_format format = any_format(random);
  uint32_t code = t_next32(random) & mask_of(format);
  double v = hu_decode64(format, code), expected;
  line_begin("decode");
  line_format("format", format);
  line_hex("code", code);
  line_pattern(">bits", t_bits64(v), 16);
  must(hu_oracle_decode64(&expected, format, code));
  line_same("decode", t_bits64(v), t_bits64(expected));
  line_end();
}

static void draw_round(t_random *random) {
  hu_format format = any_format(random);
  hu_mode mode = t_random_mode(random);
  double x = t_random_operand(random, format);
  uint32_t word = t_next32(random), events, expected, expected_events,
           code = hu_encode64(format, mode, x, word, &events);
  line_begin("round");
  line_format("format", format);
  line_mode(mode);
  line_pattern("x", t_bits64(x), 16);
  line_hex("word", word);
  line_hex(">code", code);
  line_events(events);
  must(hu_oracle_encode64(&expected, &expected_events, format, mode, x, word));
  line_same("code", code, expected);
  line_same("events", events, expected_events);
  line_end();
}

/* One element of an array; the others are as large. */
static void draw_array(t_random *random) {
  enum { MOST = 24 };
  hu_format format = any_format(random);
  hu_mode mode =
      t_below(random, 3) ? t_stochastic(HU_SRA + t_below(random, 3), 1 + t_below(random, 32)) : t_random_mode(random);
  hu_exec exec = {0};
  hu_events counts = {0};
  float x[MOST];
  uint32_t z[MOST];
  size_t n = 1 + t_below(random, MOST), at = t_below(random, (uint32_t)n);
  for (size_t i = 0; i < n; i++) x[i] = (float)t_random_operand(random, format);
  exec.stream.key = t_next64(random);
  exec.stream.counter = t_below(random, 4) ? t_below(random, 1000) : t_next64(random);
  must(hu_encode_n(n, z, 1, x, 1, format, mode, &exec, NULL));
  uint32_t code = t_get(z, hu_limits_of(format).storage / 8, (ptrdiff_t)at), again, one;
  /* The events of the element alone: its word begins a stream of its own. */
  exec.stream.counter += at;
  must(hu_encode_n(1, &again, 1, x + at, 1, format, mode, &exec, &counts));
  one = t_get(&again, hu_limits_of(format).storage / 8, 0);
  line_begin("array");
  line_format("format", format);
  line_mode(mode);
  line_pattern("x", t_bits32(x[at]), 8);
  line_hex("key", exec.stream.key);
  line_hex("counter", exec.stream.counter - at);
  line_hex("index", at);
  line_hex(">code", code);
  line_events(line_set(&counts));
  line_same("element of a shorter array", code, one);
  line_end();
}

/* ---- section 10 ---- */

static const char *const operand_formats[] = {"fx", "fy", "fw"}, *const operand_codes[] = {"x", "y", "w"};

static void line_operands(const hu_oracle_code *x, unsigned n) {
  for (unsigned i = 0; i < n; i++) {
    line_format(operand_formats[i], x[i].format);
    line_hex(operand_codes[i], x[i].code);
  }
}

static void line_call(const char *name, const char *op, hu_format fz, hu_mode mode, uint32_t word) {
  line_begin(name);
  line_text("op", op);
  line_format("fz", fz);
  line_mode(mode);
  line_hex("word", word);
}

static void draw_to_integer(t_random *random) {
  static const char *const rules[] = {"riscv", "arm", "x86"};
  hu_integer type = {(uint8_t)(1 + t_below(random, t_below(random, 2) ? 10 : 64)), (uint8_t)t_below(random, 2),
                     (uint8_t)t_below(random, 3), (uint8_t)t_below(random, 2)};
  hu_format format = any_format(random);
  hu_mode mode = t_random_mode(random);
  hu_oracle_code x = {format, any_code(random, format, format)};
  uint32_t word = t_next32(random), events, expected_events;
  uint64_t expected, z = hu_to_integer(type, mode, format, x.code, word, &events);
  line_begin("arith");
  line_text("op", "to_integer");
  line_mode(mode);
  line_hex("word", word);
  line_operands(&x, 1);
  line_decimal("width", type.width);
  line_decimal("signed", type.is_signed);
  line_text("rule", rules[type.invalid]);
  line_decimal("exact", type.exact);
  line_pattern(">value", z, 1);
  line_events(events);
  must(hu_oracle_to_integer(&expected, &expected_events, type.width, type.is_signed, type.invalid, type.exact, mode,
                            word, x));
  line_same("integer", z, expected);
  line_same("events", events, expected_events);
  line_end();
}

static void draw_from_integer(t_random *random) {
  int is_signed = (int)t_below(random, 2);
  uint64_t x = t_next64(random) >> t_below(random, 64);
  if (is_signed && t_below(random, 2)) x = 0 - x;
  hu_format fz = any_format(random);
  hu_mode mode = t_random_mode(random);
  uint32_t word = t_next32(random), events, expected, expected_events;
  uint32_t code =
      is_signed ? hu_from_signed(fz, mode, (int64_t)x, word, &events) : hu_from_unsigned(fz, mode, x, word, &events);
  line_call("arith", is_signed ? "from_signed" : "from_unsigned", fz, mode, word);
  line_hex("x", x);
  line_hex(">code", code);
  line_events(events);
  must(hu_oracle_from_integer(&expected, &expected_events, fz, mode, is_signed, x, word));
  line_same("code", code, expected);
  line_same("events", events, expected_events);
  line_end();
}

static void draw_is_signalling(t_random *random) {
  hu_oracle_code x;
  x.format = any_format(random);
  x.code = any_code(random, x.format, x.format);
  line_begin("arith");
  line_text("op", "is_signalling");
  line_operands(&x, 1);
  line_decimal(">value", hu_is_signalling(x.format, x.code));
  line_end();
}

static void draw_operation(t_random *random) { draw_walked(random, 0); }

void draw_numbers(t_random *random, unsigned long count) {
  static void (*const kinds[])(t_random *) = {draw_decode,    draw_round,      draw_round,        draw_array,
                                              draw_operation, draw_operation,  draw_operation,    draw_operation,
                                              draw_operation, draw_operation,  draw_operation,    draw_operation,
                                              draw_array,     draw_to_integer, draw_from_integer, draw_is_signalling};
  for (unsigned long i = 0; i < count; i++) kinds[i % (sizeof kinds / sizeof *kinds)](random);
}
