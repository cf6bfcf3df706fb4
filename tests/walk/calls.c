/* SPDX-License-Identifier: MIT */
/* tests/walk/calls.c - the calls that are walked: one element by the core, and an array where its exec says. */
#include <string.h>

#include "halfulp/array.h"
#include "halfulp/scalar.h"
#include "tests/walk/walk.h"

static const char *const names[2][WALK_CONVERSIONS] = {
    {"quantize", "quantize64", "encode", "encode64", "decode", "decode64", "convert"},
    {"number_quantize", "number_quantize64", "number_encode", "number_encode64", "number_decode", "number_decode64",
     "number_convert"}};
static const int carriers[WALK_CONVERSIONS][2] = {{WALK_VALUES32, WALK_VALUES32}, {WALK_VALUES64, WALK_VALUES64},
                                                  {WALK_VALUES32, WALK_CODES},    {WALK_VALUES64, WALK_CODES},
                                                  {WALK_CODES, WALK_VALUES32},    {WALK_CODES, WALK_VALUES64},
                                                  {WALK_CODES, WALK_CODES}};

size_t walk_calls(void) { return hu_operation_count() + 2 * (size_t)WALK_CONVERSIONS; }

walk_call walk_call_at(size_t i) {
  walk_call call;
  memset(&call, 0, sizeof call);
  if (i < hu_operation_count()) {
    hu_operation operation = hu_operation_at(i);
    call.name = operation.name;
    call.op = (int)i;
    call.operands = operation.operands;
    call.rounds = operation.rounds;
    call.from = WALK_CODES;
    call.to = operation.result == HU_RESULT_INT8 ? WALK_INT8 : WALK_CODES;
    return call;
  }
  int number = i - hu_operation_count() >= WALK_CONVERSIONS;
  call.op = (int)((i - hu_operation_count()) % WALK_CONVERSIONS);
  call.family = number ? WALK_NUMBER : WALK_FORMAT;
  call.name = names[number][call.op];
  call.operands = 1;
  call.rounds = call.op != WALK_DECODE && call.op != WALK_DECODE64;
  call.from = carriers[call.op][0];
  call.to = carriers[call.op][1];
  return call;
}

/* ---- elements ---- */

size_t walk_size(const walk_type *type) {
  if (type->carrier == WALK_VALUES32) return 4;
  if (type->carrier == WALK_VALUES64) return 8;
  return type->carrier == WALK_INT8 ? 1 : hu_number_limits_of(type->number).storage / 8;
}

uint64_t walk_get(const void *x, size_t size, ptrdiff_t i) {
  return size == 8 ? ((const uint64_t *)x)[i] : t_get(x, size, i);
}

void walk_put(void *z, size_t size, ptrdiff_t i, uint64_t bits) {
  if (size == 8) {
    ((uint64_t *)z)[i] = bits;
  } else {
    t_put(z, size, i, (uint32_t)bits);
  }
}

/* ---- one element ---- */

static uint64_t operation_one(const walk_case *c, const uint64_t *x, uint32_t random, uint32_t *events) {
  hu_code codes[HU_OPERANDS_MAX];
  for (int i = 0; i < c->call.operands; i++) {
    codes[i].format = walk_format(c, i);
    codes[i].code = (uint32_t)x[i];
  }
  uint32_t z = hu_apply_code(c->call.op, walk_format(c, WALK_Z), c->mode, codes, random, events);
  return c->call.to == WALK_INT8 ? z & 0xFF : z;
}

static uint64_t format_one(const walk_case *c, uint64_t x, uint32_t random, uint32_t *events) {
  hu_format format = walk_format(c, c->call.from == WALK_CODES ? 0 : WALK_Z);
  switch (c->call.op) {
    case WALK_QUANTIZE: return t_bits32(hu_quantize(format, c->mode, t_float((uint32_t)x), random, events));
    case WALK_QUANTIZE64: return t_bits64(hu_quantize64(format, c->mode, t_double(x), random, events));
    case WALK_ENCODE: return hu_encode(format, c->mode, t_float((uint32_t)x), random, events);
    case WALK_ENCODE64: return hu_encode64(format, c->mode, t_double(x), random, events);
    case WALK_DECODE: return t_bits32(hu_decode(format, (uint32_t)x));
    case WALK_DECODE64: return t_bits64(hu_decode64(format, (uint32_t)x));
    default: return hu_convert(walk_format(c, WALK_Z), c->mode, format, (uint32_t)x, random, events);
  }
}

static uint64_t number_one(const walk_case *c, uint64_t x, uint32_t random, uint32_t *events) {
  hu_number z = c->type[WALK_Z].number, from = c->type[0].number;
  float x32 = t_float((uint32_t)x);
  double x64 = t_double(x);
  switch (c->call.op) {
    case WALK_QUANTIZE: return t_bits32(hu_number_decode(z, hu_number_encode(z, c->mode, x32, random, events)));
    case WALK_QUANTIZE64: return t_bits64(hu_number_decode64(z, hu_number_encode64(z, c->mode, x64, random, events)));
    case WALK_ENCODE: return hu_number_encode(z, c->mode, x32, random, events);
    case WALK_ENCODE64: return hu_number_encode64(z, c->mode, x64, random, events);
    case WALK_DECODE: return t_bits32(hu_number_decode(from, (uint32_t)x));
    case WALK_DECODE64: return t_bits64(hu_number_decode64(from, (uint32_t)x));
    default: return hu_number_convert(z, c->mode, from, (uint32_t)x, random, events);
  }
}

uint64_t walk_one(const walk_case *c, const uint64_t *x, uint32_t random, uint32_t *events) {
  *events = 0;
  if (c->call.family == WALK_OPERATION) return operation_one(c, x, random, events);
  return c->call.family == WALK_FORMAT ? format_one(c, x[0], random, events) : number_one(c, x[0], random, events);
}

/* ---- arrays ---- */

static hu_status operation_array(const walk_case *c, const walk_ends *ends, const hu_exec *exec) {
  hu_view views[HU_OPERANDS_MAX];
  hu_how how = hu_how_of(c->mode, exec, ends->events);
  for (int i = 0; i < c->call.operands; i++) views[i] = hu_codes(ends->data[i], c->inc[i], walk_format(c, i));
  hu_output z = hu_codes_out(ends->data[WALK_Z], c->inc[WALK_Z], walk_format(c, WALK_Z));
  if (c->call.to == WALK_INT8) z = hu_int8_out((int8_t *)ends->data[WALK_Z], c->inc[WALK_Z]);
  return hu_apply(c->call.op, c->n, z, views, &how);
}

static hu_status format_array(const walk_case *c, const walk_ends *ends, const hu_exec *exec) {
  hu_format fz = walk_format(c, WALK_Z), fx = walk_format(c, 0);
  const void *x = ends->data[0];
  void *z = ends->data[WALK_Z];
  ptrdiff_t incz = c->inc[WALK_Z], incx = c->inc[0];
  switch (c->call.op) {
    case WALK_QUANTIZE: return hu_quantize_n(c->n, z, incz, x, incx, fz, c->mode, exec, ends->events);
    case WALK_QUANTIZE64: return hu_quantize64_n(c->n, z, incz, x, incx, fz, c->mode, exec, ends->events);
    case WALK_ENCODE: return hu_encode_n(c->n, z, incz, x, incx, fz, c->mode, exec, ends->events);
    case WALK_ENCODE64: return hu_encode64_n(c->n, z, incz, x, incx, fz, c->mode, exec, ends->events);
    case WALK_DECODE: return hu_decode_n(c->n, z, incz, x, incx, fx, exec);
    case WALK_DECODE64: return hu_decode64_n(c->n, z, incz, x, incx, fx, exec);
    default: return hu_convert_n(c->n, z, incz, fz, x, incx, fx, c->mode, exec, ends->events);
  }
}

static hu_status number_array(const walk_case *c, const walk_ends *ends, const hu_exec *exec) {
  hu_number nz = c->type[WALK_Z].number, nx = c->type[0].number;
  const void *x = ends->data[0];
  void *z = ends->data[WALK_Z];
  ptrdiff_t incz = c->inc[WALK_Z], incx = c->inc[0];
  switch (c->call.op) {
    case WALK_QUANTIZE: return hu_number_quantize_n(c->n, z, incz, x, incx, nz, c->mode, exec, ends->events);
    case WALK_QUANTIZE64: return hu_number_quantize64_n(c->n, z, incz, x, incx, nz, c->mode, exec, ends->events);
    case WALK_ENCODE: return hu_number_encode_n(c->n, z, incz, x, incx, nz, c->mode, exec, ends->events);
    case WALK_ENCODE64: return hu_number_encode64_n(c->n, z, incz, x, incx, nz, c->mode, exec, ends->events);
    case WALK_DECODE: return hu_number_decode_n(c->n, z, incz, x, incx, nx, exec);
    case WALK_DECODE64: return hu_number_decode64_n(c->n, z, incz, x, incx, nx, exec);
    default: return hu_number_convert_n(c->n, z, incz, nz, x, incx, nx, c->mode, exec, ends->events);
  }
}

hu_status walk_array(const walk_case *c, const walk_ends *ends, const hu_exec *exec) {
  if (c->call.family == WALK_OPERATION) return operation_array(c, ends, exec);
  return c->call.family == WALK_FORMAT ? format_array(c, ends, exec) : number_array(c, ends, exec);
}

hu_status walk_expected(const walk_case *c) {
  int values32 = c->call.to == WALK_VALUES32 && c->call.family == WALK_FORMAT;
  return values32 && !hu_format_fits_binary32(walk_format(c, WALK_Z)) ? HU_E_CARRIER : HU_OK;
}
