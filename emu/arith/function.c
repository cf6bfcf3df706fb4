/* SPDX-License-Identifier: MIT */
/* The calls of halfulp/function.h on one value: each checks and unpacks its operands, forms the exact result and rounds
 * it once. */
#include "halfulp/function.h"

#include "emu/arith/function_call.h"
#include "emu/arith/function_one.h"
#include "emu/base/float_env.h"
#include "emu/format/unfold.h"

uint32_t hui_function_code(const hu_spec *spec, int32_t op, hu_num x, hu_num y, uint32_t random, uint32_t *events) {
  if (hui_quick_may(spec, op, x, y)) {
    hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
    hu_quick_result result;
    hui_quick_of(&result, op, hui_double64(hui_pack64(x)), hui_double64(hui_pack64(y)));
    hui_float_env_leave(saved);
    if (result.known) return hui_function_quickly_rounded(spec, result, random, events);
  }
  return hui_function_one(spec, op, x, y, random, events);
}

static uint32_t misuse(uint32_t *events) {
  if (events) *events = HU_EVENT_INVALID;
  return 0;
}

static uint32_t one(int32_t op, hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random,
                    uint32_t *events) {
  uint32_t ignored;
  hu_spec spec, source;
  if (hui_result_refused(&spec, fz, mode) || hui_source_refused(&source, fx)) return misuse(events);
  hu_num none = hui_num_special(HU_KIND_ZERO, 0);
  return hui_function_code(&spec, op, hui_unpack(&source, x), none, random, events ? events : &ignored);
}

uint32_t hu_exp(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events) {
  return one(HU_OP_EXP, fz, mode, fx, x, random, events);
}

uint32_t hu_exp2(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events) {
  return one(HU_OP_EXP2, fz, mode, fx, x, random, events);
}

uint32_t hu_expm1(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events) {
  return one(HU_OP_EXPM1, fz, mode, fx, x, random, events);
}

uint32_t hu_log(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events) {
  return one(HU_OP_LOG, fz, mode, fx, x, random, events);
}

uint32_t hu_log2(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events) {
  return one(HU_OP_LOG2, fz, mode, fx, x, random, events);
}

uint32_t hu_log1p(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events) {
  return one(HU_OP_LOG1P, fz, mode, fx, x, random, events);
}

uint32_t hu_tanh(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events) {
  return one(HU_OP_TANH, fz, mode, fx, x, random, events);
}

uint32_t hu_sigmoid(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events) {
  return one(HU_OP_SIGMOID, fz, mode, fx, x, random, events);
}

uint32_t hu_erf(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events) {
  return one(HU_OP_ERF, fz, mode, fx, x, random, events);
}

uint32_t hu_gelu(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events) {
  return one(HU_OP_GELU, fz, mode, fx, x, random, events);
}

uint32_t hu_rsqrt(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events) {
  return one(HU_OP_RSQRT, fz, mode, fx, x, random, events);
}

uint32_t hu_reciprocal(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events) {
  return one(HU_OP_RECIPROCAL, fz, mode, fx, x, random, events);
}

uint32_t hu_sin(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events) {
  return one(HU_OP_SIN, fz, mode, fx, x, random, events);
}

uint32_t hu_cos(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events) {
  return one(HU_OP_COS, fz, mode, fx, x, random, events);
}

uint32_t hu_pow(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, hu_format fy, uint32_t y, uint32_t random,
                uint32_t *events) {
  uint32_t ignored;
  hu_spec spec, sx, sy;
  if (hui_result_refused(&spec, fz, mode) || hui_source_refused(&sx, fx) || hui_source_refused(&sy, fy))
    return misuse(events);
  return hui_function_code(&spec, HU_OP_POW, hui_unpack(&sx, x), hui_unpack(&sy, y), random,
                           events ? events : &ignored);
}
