/* SPDX-License-Identifier: MIT */
/* tests/walk/calls.c - the calls that are walked: one element by the core, and an array where its exec says. */
#include <string.h>

#include "halfulp/array.h"
#include "halfulp/scalar.h"
#include "tests/walk/walk.h"

/* HU_OP_CONVERT by what its arrays hold. */
static const struct {
  const char *name[2]; /* between formats, between number systems */
  int from, to;
} conversions[] = {{{"quantize", "number_quantize"}, WALK_VALUES32, WALK_VALUES32},
                   {{"quantize64", "number_quantize64"}, WALK_VALUES64, WALK_VALUES64},
                   {{"encode", "number_encode"}, WALK_VALUES32, WALK_CODES},
                   {{"encode64", "number_encode64"}, WALK_VALUES64, WALK_CODES},
                   {{"decode", "number_decode"}, WALK_CODES, WALK_VALUES32},
                   {{"decode64", "number_decode64"}, WALK_CODES, WALK_VALUES64},
                   {{"convert", "number_convert"}, WALK_CODES, WALK_CODES}};
enum { CONVERSIONS = sizeof conversions / sizeof *conversions };

/* The operations in their order, HU_OP_CONVERT in 2 CONVERSIONS rows. */
size_t walk_calls(void) { return hu_operation_count() - 1 + 2 * (size_t)CONVERSIONS; }

walk_call walk_call_at(size_t i) {
  size_t k = i < HU_OP_CONVERT ? 2 * CONVERSIONS : i - HU_OP_CONVERT;
  int op = k < 2 * CONVERSIONS ? HU_OP_CONVERT : (int)(i < HU_OP_CONVERT ? i : i + 1 - 2 * CONVERSIONS);
  hu_operation operation = hu_operation_at((size_t)op);
  walk_call call = {operation.name,
                    op,
                    0,
                    operation.operands,
                    operation.rounds,
                    WALK_CODES,
                    operation.result == HU_RESULT_INT8 ? WALK_INT8 : WALK_CODES};
  if (op != HU_OP_CONVERT) return call;
  call.systems = k >= CONVERSIONS;
  call.name = conversions[k % CONVERSIONS].name[call.systems];
  call.from = conversions[k % CONVERSIONS].from;
  call.to = conversions[k % CONVERSIONS].to;
  call.rounds = call.from != WALK_CODES || call.to == WALK_CODES;
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

static uint32_t encode_one(const walk_case *c, uint64_t x, uint32_t random, uint32_t *events) {
  hu_number z = c->type[WALK_Z].number, from = c->type[0].number;
  if (c->call.from == WALK_CODES)
    return c->call.systems ? hu_number_convert(z, c->mode, from, (uint32_t)x, random, events)
                           : hu_convert(z.format, c->mode, from.format, (uint32_t)x, random, events);
  if (c->call.from == WALK_VALUES64)
    return c->call.systems ? hu_number_encode64(z, c->mode, t_double(x), random, events)
                           : hu_encode64(z.format, c->mode, t_double(x), random, events);
  return c->call.systems ? hu_number_encode(z, c->mode, t_float((uint32_t)x), random, events)
                         : hu_encode(z.format, c->mode, t_float((uint32_t)x), random, events);
}

static uint64_t decode_one(const walk_case *c, hu_number number, uint32_t code) {
  if (c->call.to == WALK_VALUES64)
    return t_bits64(c->call.systems ? hu_number_decode64(number, code) : hu_decode64(number.format, code));
  return t_bits32(c->call.systems ? hu_number_decode(number, code) : hu_decode(number.format, code));
}

uint64_t walk_one(const walk_case *c, const uint64_t *x, uint32_t random, uint32_t *events) {
  *events = 0;
  if (c->call.op != HU_OP_CONVERT) return operation_one(c, x, random, events);
  if (!c->call.rounds) return decode_one(c, c->type[0].number, (uint32_t)x[0]);
  uint32_t code = encode_one(c, x[0], random, events);
  return c->call.to == WALK_CODES ? code : decode_one(c, c->type[WALK_Z].number, code);
}

/* ---- arrays ---- */

static hu_type type_of(const walk_case *c, int end) {
  static const uint8_t typed[] = {HU_TYPE_VALUES32, HU_TYPE_VALUES64, HU_TYPE_CODES, HU_TYPE_INT8},
                       plain[] = {HU_TYPE_BINARY32, HU_TYPE_BINARY64, HU_TYPE_CODES, HU_TYPE_INT8};
  const walk_type *type = &c->type[end];
  if (!walk_is_typed(&c->call, end)) return hu_type_plain(plain[type->carrier]);
  if (c->call.systems) return hu_type_number(typed[type->carrier], &type->number);
  return hu_type_values(typed[type->carrier], type->number.format);
}

hu_status walk_array(const walk_case *c, const walk_ends *ends, const hu_exec *exec) {
  hu_view views[HU_OPERANDS_MAX];
  hu_how how = hu_how_of(c->mode, exec, ends->events);
  for (int i = 0; i < c->call.operands; i++) views[i] = hu_view_of(ends->data[i], c->inc[i], type_of(c, i));
  hu_output z = hu_output_of(ends->data[WALK_Z], c->inc[WALK_Z], type_of(c, WALK_Z));
  return hu_apply(c->call.op, c->n, &z, views, &how);
}

hu_status walk_expected(const walk_case *c) {
  int values32 = c->call.to == WALK_VALUES32 && !c->call.systems;
  return values32 && !hu_format_fits_binary32(walk_format(c, WALK_Z)) ? HU_E_CARRIER : HU_OK;
}
