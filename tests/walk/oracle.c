/* SPDX-License-Identifier: MIT */
/* tests/walk/oracle.c - one element by the oracle (MPFR), where the build has it. */
#include "tests/walk/walk.h"

#if HU_HAVE_ORACLE
#include "halfulp/arith.h"
#include "halfulp/oracle.h"

/* The oracle refuses nothing that the library takes. */
static int said(const walk_case *c, hu_status status) {
  if (status != HU_OK) walk_fail(c, "the oracle says %s", hu_status_name(status));
  return 1;
}

static int arith(const walk_case *c, int op, uint32_t random, const hu_oracle_code *x, uint32_t *z, uint32_t *events) {
  return said(c, hu_oracle_arith(z, events, op, walk_format(c, WALK_Z), c->mode, random, x));
}

static int compare(const walk_case *c, const hu_oracle_code *x, uint32_t *z, uint32_t *events) {
  double a, b;
  said(c, hu_oracle_decode64(&a, x[0].format, x[0].code));
  said(c, hu_oracle_decode64(&b, x[1].format, x[1].code));
  *z = (uint8_t)(a < b ? HU_LESS : a > b ? HU_GREATER : a == b ? HU_EQUAL : HU_UNORDERED);
  *events = 0;
  return 1;
}

static int operation(const walk_case *c, const uint64_t *x, uint32_t random, uint32_t *z, uint32_t *events) {
  hu_oracle_code codes[HU_OPERANDS_MAX];
  int op = c->call.op;
  for (int i = 0; i < c->call.operands; i++) {
    codes[i].format = walk_format(c, i);
    codes[i].code = (uint32_t)x[i];
  }
  if (op < HU_ORACLE_OPERATIONS) return arith(c, op, random, codes, z, events);
  if (op == HU_OP_COMPARE) return compare(c, codes, z, events);
  if (op == HU_OP_REMAINDER)
    return said(c, hu_oracle_remainder(z, events, walk_format(c, WALK_Z), c->mode, random, codes));
  if (!walk_is_function(&c->call)) return 0;
  int function = op - HU_OP_FUNCTION;
  return said(c, hu_oracle_function(z, events, function, walk_format(c, WALK_Z), c->mode, random, codes));
}

/* The value of a code, as the array of values has it. */
static int value(const walk_case *c, hu_number number, uint32_t code, uint64_t *z) {
  double v;
  float v32 = 0;
  if (number.kind == HU_NUMBER_FLOAT) {
    said(c, hu_oracle_decode64(&v, number.format, code));
    v32 = (float)v;
  } else {
    said(c, hu_oracle_number_decode64(&v, &v32, number, code));
  }
  *z = c->call.to == WALK_VALUES64 ? t_bits64(v) : t_bits32(v32);
  return 1;
}

static int conversion(const walk_case *c, uint64_t bits, uint32_t random, uint64_t *z, uint32_t *events) {
  hu_number to = c->type[WALK_Z].number, from = c->type[0].number;
  uint32_t code = 0;
  int format = to.kind == HU_NUMBER_FLOAT && from.kind == HU_NUMBER_FLOAT;
  double x = c->call.from == WALK_VALUES32 ? (double)t_float((uint32_t)bits) : t_double(bits);
  *events = 0;
  if (!c->call.rounds) return value(c, from, (uint32_t)bits, z);
  if (c->call.from == WALK_CODES) {
    said(c, format ? hu_oracle_convert(&code, events, to.format, c->mode, from.format, (uint32_t)bits, random)
                   : hu_oracle_number_convert(&code, events, to, c->mode, from, (uint32_t)bits, random));
  } else {
    said(c, format ? hu_oracle_encode64(&code, events, to.format, c->mode, x, random)
                   : hu_oracle_number_encode64(&code, events, to, c->mode, x, random));
  }
  *z = code;
  return c->call.to == WALK_CODES || value(c, to, code, z);
}

int walk_oracle(const walk_case *c, const uint64_t *x, uint32_t random, uint64_t *z, uint32_t *events) {
  uint32_t code = 0;
  if (c->call.op == HU_OP_CONVERT) {
    int tapered = c->type[0].number.kind > HU_NUMBER_TABLE || c->type[WALK_Z].number.kind > HU_NUMBER_TABLE;
    return !tapered && conversion(c, x[0], random, z, events); /* takums, HiFloat8: tests/number/test_tapered.c */
  }
  if (!operation(c, x, random, &code, events)) return 0;
  *z = code;
  return 1;
}
#else
int walk_oracle(const walk_case *c, const uint64_t *x, uint32_t random, uint64_t *z, uint32_t *events) {
  (void)c, (void)x, (void)random, (void)z, (void)events;
  return 0;
}
#endif
