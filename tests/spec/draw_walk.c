/* SPDX-License-Identifier: MIT */
/* tests/spec/draw_walk.c - elements of the walker's cases (tests/walk) for the evaluator of the pages: operations of
 * hu_operation_at, and conversions. The array call, the one-value core and the oracle must agree first. */
#include <stdlib.h>

#include "halfulp/arith.h"
#include "tests/spec/lines.h"
#include "tests/walk/walk.h"

enum { FEW = 4 }; /* elements of an array of which one is a line */

/* A text of numbers.md, or the axes of a format. */
static void line_number(const char *name, hu_number n) {
  char text[HU_NUMBER_TEXT_MAX];
  if (n.kind == HU_NUMBER_FLOAT) {
    line_format(name, n.format);
    return;
  }
  if (!hu_number_text(text, sizeof text, n)) abort();
  line_text(name, text);
}

/* ---- cases ---- */

/* The evaluator has values by the codes that they are decoded from. */
static int has_line(const walk_call *call, int systems) {
  return call->systems == systems && (call->from == WALK_CODES || call->to == WALK_CODES);
}

/* Functions of long formats take the evaluator too long. */
static int is_short(const walk_case *c) {
  for (int i = 0; i < WALK_ENDS; i++)
    if (walk_has(&c->call, i) && hu_number_limits_of(c->type[i].number).width > 16) return 0;
  return c->mode.bits <= 16;
}

static void draw_case(t_random *random, int systems, walk_case *c) {
  for (;;) {
    walk_call call = walk_call_at(t_below(random, (uint32_t)walk_calls()));
    if (!has_line(&call, systems)) continue;
    walk_draw(c, &call, t_next64(random), t_next32(random) % 4096);
    c->n = 1 + c->n % FEW;
    if (walk_expected(c) == HU_OK && (!walk_is_function(&call) || is_short(c))) return;
  }
}

/* ---- lines ---- */

static void line_operands(const walk_case *c, const uint64_t *x) {
  static const char *const formats[] = {"fx", "fy", "fw"}, *const codes[] = {"x", "y", "w"};
  for (int i = 0; i < c->call.operands; i++) {
    line_format(formats[i], walk_format(c, i));
    line_hex(codes[i], x[i]);
  }
}

/* What rounds nothing has neither mode nor events. */
static void line_operation(const walk_case *c, const uint64_t *x, uint32_t word, uint64_t z, uint32_t events) {
  static const char *const classes[] = {
      "nan",           "negative_infinity",  "negative_normal", "negative_subnormal", "negative_zero",
      "positive_zero", "positive_subnormal", "positive_normal", "positive_infinity"};
  static const char *const orders[] = {"less", "equal", "greater", "unordered"};
  line_begin(walk_is_function(&c->call) ? "function" : "arith");
  line_text("op", c->call.name);
  if (c->call.rounds) {
    line_format("fz", walk_format(c, WALK_Z));
    line_mode(c->mode);
    line_hex("word", word);
  }
  line_operands(c, x);
  if (c->call.op == HU_OP_CLASS) {
    line_text(">value", classes[z]);
  } else if (c->call.op == HU_OP_COMPARE) {
    line_text(">value", orders[(int8_t)z + 1]);
  } else {
    line_hex(">code", z);
  }
  if (c->call.rounds) line_events(events);
}

static void line_conversion(const walk_case *c, uint64_t x, uint32_t word, uint64_t z, uint32_t events) {
  hu_number to = c->type[WALK_Z].number, from = c->type[0].number;
  int decodes = !c->call.rounds, encodes = c->call.from != WALK_CODES;
  line_begin(decodes ? "number_decode" : encodes ? "number_encode" : "number_convert");
  if (!encodes) line_number(decodes ? "number" : "from", from);
  if (!decodes) line_number(encodes ? "number" : "to", to);
  if (encodes)
    line_pattern("x", c->call.from == WALK_VALUES32 ? t_bits64((double)t_float((uint32_t)x)) : x, 16);
  else
    line_hex("code", x);
  if (decodes) {
    line_pattern(c->call.to == WALK_VALUES32 ? ">bits32" : ">bits", z, c->call.to == WALK_VALUES32 ? 8 : 16);
    return;
  }
  line_mode(c->mode);
  line_hex("word", word);
  line_hex(">code", z);
  line_events(events);
}

/* ---- one line ---- */

void draw_walked(t_random *random, int systems) {
  static walk_case c;
  walk_ends ends;
  draw_case(random, systems, &c);
  walk_make(&c, &ends);
  walk_fill(&c, &ends, t_next64(random));
  uint64_t x[HU_OPERANDS_MAX] = {0}, said = 0;
  size_t i = t_below(random, (uint32_t)c.n);
  for (int k = 0; k < c.call.operands; k++) x[k] = walk_get(ends.data[k], ends.size[k], (ptrdiff_t)i * c.inc[k]);
  uint32_t word = c.mode.bits ? hu_stream_word(c.stream, i) >> (32 - c.mode.bits) : 0, events, said_events = 0;
  uint64_t z = walk_one(&c, x, word, &events);
  if (c.call.op == HU_OP_CONVERT) {
    line_conversion(&c, x[0], word, z, events);
  } else {
    line_operation(&c, x, word, z, events);
  }
  if (walk_oracle(&c, x, word, &said, &said_events)) {
    line_same("result", z, said);
    line_same("events", events, said_events);
  }
  line_same("status", (uint64_t)(int64_t)walk_at(t_below(random, (uint32_t)walk_places()), &c, &ends), HU_OK);
  line_same("element of an array", walk_get(ends.data[WALK_Z], ends.size[WALK_Z], (ptrdiff_t)i * c.inc[WALK_Z]), z);
  line_end();
  walk_free(&ends);
}
