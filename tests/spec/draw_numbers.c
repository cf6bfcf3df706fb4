/* SPDX-License-Identifier: MIT */
/* tests/spec/draw_numbers.c - sections 1 to 6, 10 and 12 of docs/numerics.md: values, roundings, words, operations and
 * functions. */
#include "halfulp/array.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"
#include "tests/arith/operations.h"
#include "tests/function/functions.h"
#include "tests/spec/lines.h"

static hu_format any_format(t_random *r) {
  switch (t_below(r, 6)) {
    case 0: return hu_format_at(t_below(r, (uint32_t)hu_format_count())).format;
    case 1: return t_random_format(r, 9, 16);
    case 2: return t_random_format(r, 1, 32);
    default: return t_random_format(r, 1, 8);
  }
}

static hu_format short_format(t_random *r) { return t_random_format(r, 2, t_below(r, 2) ? 8 : 16); }

static uint32_t mask_of(hu_format f) { return (uint32_t)(((uint64_t)1 << hu_limits_of(f).width) - 1); }

/* A code of f: any, or near an operand that matters to `other`. */
static uint32_t any_code(t_random *r, hu_format f, hu_format other) {
  if (t_below(r, 3) == 0) return t_next32(r) & mask_of(f);
  uint32_t c = hu_encode64(f, t_mode(t_below(r, T_DETERMINISTIC)), t_random_operand(r, other), 0, NULL);
  return t_below(r, 3) ? c : hu_next_up(f, c);
}

static void must(hu_status s) { line_same("status", (uint64_t)(int64_t)s, 0); }

static void draw_decode(t_random *r) {
  hu_format f = any_format(r);
  uint32_t code = t_next32(r) & mask_of(f);
  double v = hu_decode64(f, code), want;
  line_begin("decode");
  line_format("format", f);
  line_hex("code", code);
  line_pattern(">bits", t_bits64(v), 16);
  must(hu_oracle_decode64(&want, f, code));
  line_same("decode", t_bits64(v), t_bits64(want));
  line_end();
}

static void draw_round(t_random *r) {
  hu_format f = any_format(r);
  hu_mode mode = t_random_mode(r);
  double x = t_random_operand(r, f);
  uint32_t word = t_next32(r), events, want, want_events, code = hu_encode64(f, mode, x, word, &events);
  line_begin("round");
  line_format("format", f);
  line_mode(mode);
  line_pattern("x", t_bits64(x), 16);
  line_hex("word", word);
  line_hex(">code", code);
  line_events(events);
  must(hu_oracle_encode64(&want, &want_events, f, mode, x, word));
  line_same("code", code, want);
  line_same("events", events, want_events);
  line_end();
}

/* One element of an array; the others are as large. */
static void draw_array(t_random *r) {
  enum { MOST = 24 };
  hu_format f = any_format(r);
  hu_mode mode = t_below(r, 3) ? t_stochastic(HU_SRA + t_below(r, 3), 1 + t_below(r, 32)) : t_random_mode(r);
  hu_exec exec = {0};
  hu_events counts = {0};
  float x[MOST];
  uint32_t z[MOST];
  size_t n = 1 + t_below(r, MOST), at = t_below(r, (uint32_t)n);
  for (size_t i = 0; i < n; i++) x[i] = (float)t_random_operand(r, f);
  exec.stream.key = t_next64(r);
  exec.stream.counter = t_below(r, 4) ? t_below(r, 1000) : t_next64(r);
  must(hu_encode_n(n, z, 1, x, 1, f, mode, &exec, NULL));
  uint32_t code = t_get(z, hu_limits_of(f).storage / 8, (ptrdiff_t)at), again, one;
  /* The events of the element alone: its word begins a stream of its own. */
  exec.stream.counter += at;
  must(hu_encode_n(1, &again, 1, x + at, 1, f, mode, &exec, &counts));
  one = t_get(&again, hu_limits_of(f).storage / 8, 0);
  line_begin("array");
  line_format("format", f);
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

static void draw_operation(t_random *r) {
  int op = (int)t_below(r, HU_ORACLE_OPERATIONS + 1), remainder = op == HU_ORACLE_OPERATIONS;
  hu_format fz = any_format(r);
  hu_mode mode = t_random_mode(r);
  hu_oracle_code x[3];
  uint32_t word = t_next32(r), events, want, want_events;
  int alike = op == HU_ORACLE_ROUND_TO_INTEGRAL || t_below(r, 3) == 0;
  for (int i = 0; i < 3; i++) x[i].format = alike ? fz : any_format(r);
  for (int i = 0; i < 3; i++) x[i].code = any_code(r, x[i].format, t_below(r, 2) ? fz : x[0].format);
  uint32_t code = remainder ? hu_remainder(fz, mode, x[0].format, x[0].code, x[1].format, x[1].code, word, &events)
                            : ar_call(op, fz, mode, word, x, &events);
  line_call("arith", remainder ? "remainder" : ar_table[op].name, fz, mode, word);
  line_operands(x, remainder ? 2 : ar_table[op].operands);
  line_hex(">code", code);
  line_events(events);
  must(remainder ? hu_oracle_remainder(&want, &want_events, fz, mode, word, x)
                 : hu_oracle_arith(&want, &want_events, op, fz, mode, word, x));
  line_same("code", code, want);
  line_same("events", events, want_events);
  line_end();
}

static void draw_to_integer(t_random *r) {
  static const char *const rules[] = {"riscv", "arm", "x86"};
  hu_integer t = {(uint8_t)(1 + t_below(r, t_below(r, 2) ? 10 : 64)), (uint8_t)t_below(r, 2), (uint8_t)t_below(r, 3),
                  (uint8_t)t_below(r, 2)};
  hu_format f = any_format(r);
  hu_mode mode = t_random_mode(r);
  hu_oracle_code x = {f, any_code(r, f, f)};
  uint32_t word = t_next32(r), events, want_events;
  uint64_t want, z = hu_to_integer(t, mode, f, x.code, word, &events);
  line_begin("arith");
  line_text("op", "to_integer");
  line_mode(mode);
  line_hex("word", word);
  line_operands(&x, 1);
  line_decimal("width", t.width);
  line_decimal("signed", t.is_signed);
  line_text("rule", rules[t.invalid]);
  line_decimal("exact", t.exact);
  line_pattern(">value", z, 1);
  line_events(events);
  must(hu_oracle_to_integer(&want, &want_events, t.width, t.is_signed, t.invalid, t.exact, mode, word, x));
  line_same("integer", z, want);
  line_same("events", events, want_events);
  line_end();
}

static void draw_from_integer(t_random *r) {
  int is_signed = (int)t_below(r, 2);
  uint64_t x = t_next64(r) >> t_below(r, 64);
  if (is_signed && t_below(r, 2)) x = 0 - x;
  hu_format fz = any_format(r);
  hu_mode mode = t_random_mode(r);
  uint32_t word = t_next32(r), events, want, want_events;
  uint32_t code =
      is_signed ? hu_from_signed(fz, mode, (int64_t)x, word, &events) : hu_from_unsigned(fz, mode, x, word, &events);
  line_call("arith", is_signed ? "from_signed" : "from_unsigned", fz, mode, word);
  line_hex("x", x);
  line_hex(">code", code);
  line_events(events);
  must(hu_oracle_from_integer(&want, &want_events, fz, mode, is_signed, x, word));
  line_same("code", code, want);
  line_same("events", events, want_events);
  line_end();
}

/* Operations that round nothing. */
static void draw_exact_operation(t_random *r) {
  static const char *const names[] = {"next_up", "next_down", "class", "compare", "is_signalling"};
  static const char *const classes[] = {
      "nan",           "negative_infinity",  "negative_normal", "negative_subnormal", "negative_zero",
      "positive_zero", "positive_subnormal", "positive_normal", "positive_infinity"};
  static const char *const orders[] = {"less", "equal", "greater", "unordered"};
  unsigned op = t_below(r, 5);
  hu_oracle_code x[2];
  x[0].format = any_format(r);
  x[1].format = t_below(r, 2) ? x[0].format : any_format(r);
  x[0].code = any_code(r, x[0].format, x[0].format);
  x[1].code = any_code(r, x[1].format, x[0].format);
  line_begin("arith");
  line_text("op", names[op]);
  line_operands(x, op == 3 ? 2 : 1);
  hu_format f = x[0].format;
  switch (op) {
    case 0: line_hex(">code", hu_next_up(f, x[0].code)); break;
    case 1: line_hex(">code", hu_next_down(f, x[0].code)); break;
    case 2: line_text(">value", classes[hu_class(f, x[0].code)]); break;
    case 3: line_text(">value", orders[hu_compare(f, x[0].code, x[1].format, x[1].code) + 1]); break;
    default: line_decimal(">value", hu_is_signalling(f, x[0].code));
  }
  line_end();
}

/* ---- section 12 ---- */

static void draw_function(t_random *r) {
  int function = (int)t_below(r, HU_ORACLE_FUNCTIONS);
  hu_format fz = short_format(r);
  hu_mode mode = t_random_mode(r);
  hu_oracle_code x[2];
  uint32_t word = t_next32(r), events, want, want_events;
  if (mode.bits > 16) mode.bits = (uint8_t)(1 + t_below(r, 16));
  for (int i = 0; i < 2; i++) {
    x[i].format = t_below(r, 2) ? fz : short_format(r);
    x[i].code = any_code(r, x[i].format, x[i].format);
  }
  uint32_t code = fn_call(function, fz, mode, word, x, &events);
  line_call("function", fn_table[function].name, fz, mode, word);
  line_operands(x, function == HU_ORACLE_POW ? 2 : 1);
  line_hex(">code", code);
  line_events(events);
  must(hu_oracle_function(&want, &want_events, function, fz, mode, word, x));
  line_same("code", code, want);
  line_same("events", events, want_events);
  line_end();
}

void draw_numbers(t_random *r, unsigned long count) {
  static void (*const kinds[])(t_random *) = {draw_decode,    draw_round,          draw_round,        draw_round,
                                              draw_array,     draw_array,          draw_operation,    draw_operation,
                                              draw_operation, draw_to_integer,     draw_from_integer, draw_function,
                                              draw_function,  draw_exact_operation};
  for (unsigned long i = 0; i < count; i++) kinds[i % (sizeof kinds / sizeof *kinds)](r);
}
