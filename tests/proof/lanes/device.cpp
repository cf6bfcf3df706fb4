// SPDX-License-Identifier: MIT
// The rounding of elements under a scale 2^power in the CUDA kernels (gpu/scaled/scaled.cuh), compiled for the
// processor, against emu/core/round.h: functions that return 0, whatever they are given. The sums and differences of
// the kernels are IEEE 754's in the direction that the intrinsic's name says.
#include <cuda_runtime.h>
#include <functional>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define FLOAT_CALL(name) extern "C" uint32_t name(uint32_t a, uint32_t b) __attribute__((const))
FLOAT_CALL(float_add_rne);
FLOAT_CALL(float_sub_rne);
FLOAT_CALL(any_product);
FLOAT_CALL(any_quotient);

// The translator reads functions without calls.
#define inline __attribute__((always_inline)) inline
#undef __noinline__
#define __noinline__ __attribute__((always_inline))
#include "emu/core/port.h"
#undef HU_NOINLINE
#define HU_NOINLINE inline
#define noinline always_inline

static inline float called(uint32_t (*f)(uint32_t, uint32_t), float a, float b) {
  return __uint_as_float(f(__float_as_uint(a), __float_as_uint(b)));
}
#define __fadd_rn(a, b) called(float_add_rne, a, b)
#define __fsub_rn(a, b) called(float_sub_rne, a, b)
#define __fmul_rn(a, b) called(any_product, a, b)
#define __fdiv_rn(a, b) called(any_quotient, a, b)

#include "halfulp/format.h"
#include "halfulp/mode.h"
extern "C" {
__attribute__((always_inline)) hu_status hu_format_check(hu_format format, const char **axis);
#include "emu/format/format.c"
}
#include "gpu/scaled/scaled.cuh"
// Called in two places, and long: clang would leave it a call.
static __attribute__((always_inline)) void hui_element_limits(hu_scaled_args *a);
#include "gpu/scaled/quantize.cu"

#include "given.h"

// What hui_scaled_args_of makes of an element format and a mode, without sizes and scale formats; 0: no short way.
static inline int args_of(hu_scaled_args *a, uint8_t m, uint8_t e, int16_t b, uint16_t axes, uint8_t policy,
                          uint8_t round, uint8_t bits) {
  hu_format z = format_of(m, e, b, axes);
  hu_mode mode = mode_of(policy, round, bits);
  if (hu_format_check(z, NULL) != HU_OK || !z.sign || !mode_is_valid(mode)) return 0;
  if (mode.saturate == HU_SAT_DEFAULT) mode.saturate = HU_SAT_FINITE;
  memset(a, 0, sizeof *a);
  hu_spec *spec = &a->scaler.element;
  *spec = hui_spec_of(z, mode);
  a->scaler.top = hui_unpack(spec, spec->max_code);
  a->scaler.emax = hui_exponent(a->scaler.top);
  a->scaler.steps = HU_STEPS_EXACT;
  a->scaler.scale.emin = -127;  // E8M0's, the lowest of the catalogue's
  hui_element_limits(a);
  hui_short_limits(a);
  return a->lanes;
}

// nearest, values: which way, and what it leaves. Blocks have finite elements, none above the field that the way takes.
static inline int wrong_element(ARGUMENTS, int16_t power, int nearest, int values) {
  hu_scaled_args a;
  hu_element_way way;
  uint32_t z = 0, events, code, field = u >> 23 & 0xFF;
  if (!args_of(&a, m, e, b, axes, policy, round, bits) || a.nearest != nearest) return 0;
  if (power < a.short_low || power > a.short_high || field == 0xFF) return 0;
  if ((nearest ? (int32_t)field : (int32_t)field - power) > a.short_top) return 0;
  if (values) a.z = &z;
  way.kind = HU_ELEMENT_WAY_SHORT;
  way.code = 0;
  way.low = a.low + ((uint32_t)power << 23);
  way.by = way.back = 1;
  uint64_t got = nearest ? hui_nearest_element(a, way, u) : hui_lanes_element(a, way, u, random);
  hu_num x = hui_unpack32(u);
  x.exp -= x.kind == HU_KIND_FINITE ? power : 0;
  code = hui_round(&a.scaler.element, x, bits ? random >> (32 - bits) : 0, &events);
  int wrong = (uint32_t)(got >> 32) == events ? 0 : WRONG_EVENTS;
  if (!values) return wrong | ((uint32_t)got == code ? 0 : WRONG_CODE);
  hu_num value = hui_unpack(&a.scaler.element, code);
  value.exp += value.kind == HU_KIND_FINITE ? power : 0;
  return wrong | ((uint32_t)got == hui_pack32(value) ? 0 : WRONG_VALUE);
}

extern "C" {
int device_nearest_codes(ARGUMENTS, int16_t power) { return wrong_element(GIVEN, power, 1, 0); }
int device_nearest_values(ARGUMENTS, int16_t power) { return wrong_element(GIVEN, power, 1, 1); }
int device_lanes_codes(ARGUMENTS, int16_t power) { return wrong_element(GIVEN, power, 0, 0); }

// hui_quick_stepped is hui_quick with the switch over modes taken out of it.
int device_stepped(ARGUMENTS) {
  hu_scaled_args a;
  (void)random;
  if (round >= HU_SRA || !args_of(&a, m, e, b, axes, policy, round, bits) || !a.constants.way.quick ||
      !hui_quick_ok(&a.constants, u))
    return 0;
  return hui_quick_stepped(a.constants, hui_addend_of(round, a.constants.d0), u) !=
         hui_quick(&a.constants, round, u, 0);
}
}
