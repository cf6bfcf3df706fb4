/* SPDX-License-Identifier: MIT */
/* The calls of halfulp/conversion.h: they prepare operands, use the array calls, and put in the NaN codes. */
#include "halfulp/conversion.h"

#include <string.h>

#include "emu/base/array_extent.h"
#include "emu/base/exec.h"
#include "emu/base/operation_check.h"
#include "emu/conversion/steps.h"
#include "emu/core/bits.h"
#include "emu/core/round.h"
#include "halfulp/scalar.h"
#include "halfulp/scaled.h"

enum { BLOCK = 256, OPERANDS = 2 * HU_OPERAND_NEGATIVE_NAN - 1 };
static const uint64_t sign_of = (uint64_t)1 << 63, inf_of = (uint64_t)0x7FF << 52, quiet_of = (uint64_t)1 << 51;
static const uint64_t normal32 = (uint64_t)(1023 - 126) << 52; /* 2^-126 */

static int has_first(const hu_conversion *conversion) { return hui_conversion_has_first(conversion); }

static uint32_t mask_of(hu_format format) { return UINT32_MAX >> (32 - ((uint32_t)format.sign + format.e + format.m)); }

static int nan_rule_fits(const hu_conversion *conversion, unsigned rule) {
  if (rule == HU_NAN_BY_MODE) return 1;
  if (rule == HU_NAN_BY_CODE) return conversion->nan_code <= mask_of(conversion->format);
  if (rule == HU_NAN_BY_SIGN)
    return conversion->format.sign &&
           (conversion->nan_code == HU_NO_CODE || conversion->nan_code <= mask_of(conversion->format));
  return (rule == HU_NAN_BY_QUIET || rule == HU_NAN_BY_PAYLOAD) &&
         (conversion->format.nan == HU_NAN_IEEE || conversion->format.nan == HU_NAN_IEEE_ONES) && conversion->format.m;
}

/* Whether a matrix can go through this in stretches of its rows. */
static int goes_by_rows(const hu_scaling *scaling) {
  return scaling->rows == 1 && scaling->cols && scaling->cols <= HU_CONVERSION_COLS && !scaling->tensor;
}

/* The steps before the encoding of a scaled tensor, and what becomes of its codes. */
static int steps_fit(const hu_conversion *conversion, const hu_scaling *scaling) {
  hu_scaling through;
  int first = has_first(conversion), has_through = hui_conversion_has_through(conversion);
  if (conversion->codes > HU_SCALED_CODES_RAISED) return 0;
  if (!first && !has_through) return 1;
  if (conversion->codes || !goes_by_rows(scaling) || (first && !hu_format_fits_binary32(conversion->first))) return 0;
  if (!has_through) return 1;
  return hu_scaling_parse(&through, conversion->through, NULL) == HU_OK && goes_by_rows(&through) &&
         through.cols == scaling->cols;
}

static int scaling_fits(const hu_conversion *conversion) {
  hu_scaling scaling;
  if (!conversion->scaling) return 0;
  if (!*conversion->scaling) return !hui_conversion_has_through(conversion) && !conversion->codes;
  if (conversion->operand || conversion->nan || conversion->nan64 || conversion->nan_made) return 0;
  return hu_scaling_parse(&scaling, conversion->scaling, NULL) == HU_OK &&
         hu_format_equal(scaling.element, conversion->format) && steps_fit(conversion, &scaling);
}

/* Whether there is a step that first_mode belongs to. */
static int rounds_first(const hu_conversion *conversion) {
  return has_first(conversion) || hui_conversion_has_through(conversion);
}

static hu_status check_further(const hu_conversion *conversion) {
  static const hu_conversion_step none;
  int count = hui_conversion_further(conversion);
  for (int i = 0; i < HU_CONVERSION_FURTHER; i++) {
    const hu_conversion_step *step = &conversion->further[i];
    if (i < count && hu_format_check(step->format, NULL) != HU_OK) return HU_E_FORMAT;
    if (i >= count && !hu_format_equal(step->format, none.format)) return HU_E_FORMAT;
    if (i < count ? hu_mode_check(step->mode) != HU_OK || step->mode.bits
                  : memcmp(&step->mode, &none.mode, sizeof none.mode) != 0)
      return HU_E_MODE;
  }
  return count && (!has_first(conversion) || !conversion->scaling || *conversion->scaling) ? HU_E_SCALING : HU_OK;
}

hu_status hu_conversion_check(const hu_conversion *conversion) {
  static const hu_mode zero;
  if (!conversion) return HU_E_NULL;
  if (hu_format_check(conversion->format, NULL) != HU_OK) return HU_E_FORMAT;
  if (has_first(conversion) && hu_format_check(conversion->first, NULL) != HU_OK) return HU_E_FORMAT;
  if (hu_mode_check(conversion->mode) != HU_OK || hu_mode_check(conversion->first_mode) != HU_OK) return HU_E_MODE;
  if (rounds_first(conversion) ? conversion->first_mode.bits != 0
                               : memcmp(&conversion->first_mode, &zero, sizeof zero) != 0)
    return HU_E_MODE;
  hu_status status = check_further(conversion);
  if (status != HU_OK) return status;
  if (conversion->operand > OPERANDS ||
      ((conversion->operand & HU_OPERAND_FLUSH) && !(conversion->operand & HU_OPERAND_BINARY32)))
    return HU_E_SCALING;
  int rules = nan_rule_fits(conversion, conversion->nan) && nan_rule_fits(conversion, conversion->nan64) &&
              conversion->nan_made <= HU_NAN_MADE_CANONICAL;
  return rules && scaling_fits(conversion) ? HU_OK : HU_E_SCALING;
}

static int is_nan(uint64_t pattern) { return (pattern & ~sign_of) > inf_of; }

/* The steps of `operand` behind the narrowing, which flush says was done. */
static uint64_t prepared(const hu_conversion *conversion, uint64_t pattern, int flush) {
  uint64_t magnitude = pattern & ~sign_of;
  if (flush && magnitude < normal32) pattern &= sign_of;
  if (conversion->operand & HU_OPERAND_MAGNITUDE) pattern &= ~sign_of;
  if ((conversion->operand & HU_OPERAND_ZERO_NAN) && !(pattern & ~sign_of)) pattern |= inf_of | quiet_of;
  if ((conversion->operand & HU_OPERAND_INF_NAN) && magnitude == inf_of) pattern |= quiet_of;
  if ((conversion->operand & HU_OPERAND_NEGATIVE_NAN) && (pattern & sign_of)) pattern |= inf_of | quiet_of;
  return pattern;
}

/* The code of NaN pattern, where that of the format and mode is z. */
static uint32_t nan_code(const hu_conversion *conversion, unsigned rule, uint64_t pattern, uint32_t z) {
  uint32_t sign_bit = mask_of(conversion->format) ^ mask_of(conversion->format) >> 1, m = conversion->format.m;
  uint32_t sign = pattern & sign_of ? sign_bit : 0;
  if (rule == HU_NAN_BY_CODE) return conversion->nan_code;
  if (rule == HU_NAN_BY_SIGN) return (conversion->nan_code == HU_NO_CODE ? z : conversion->nan_code) ^ sign;
  if (rule != HU_NAN_BY_QUIET && rule != HU_NAN_BY_PAYLOAD) return z;
  uint32_t digits = (uint32_t)((pattern & (2 * quiet_of - 1)) >> (52 - m)),
           field = ((uint32_t)1 << conversion->format.e) - 1;
  if (rule == HU_NAN_BY_QUIET) digits |= (uint32_t)1 << (m - 1);
  return sign | field << m | (digits ? digits : 1);
}

/* A block of operands between its steps: as binary64, which holds binary32 and its NaNs. */
typedef struct block {
  uint64_t x[BLOCK]; /* after `operand` */
  double value[BLOCK];
  float narrow[BLOCK];  /* in place of values, where there is one rounding and binary32 operands */
  uint32_t code[BLOCK]; /* in the low bytes of the array: the storage of hu_encode64_n */
} block;

static uint64_t widened(const float *x) {
  uint32_t pattern;
  memcpy(&pattern, x, sizeof pattern);
  if ((pattern & 0x7FFFFFFF) > 0x7F800000)
    return (uint64_t)(pattern >> 31) << 63 | inf_of | (uint64_t)(pattern & 0x7FFFFF) << 29;
  return hui_pack64(hui_unpack32(pattern)); /* by integers: the CPU may be set to flush subnormal numbers */
}

static hu_format binary32(void) { return hui_format_binary32(); }

static int narrows(const hu_conversion *conversion, size_t size) {
  return size == 8 && (conversion->operand & HU_OPERAND_BINARY32);
}

static hu_status load(block *buffer, size_t n, const void *x, size_t size, ptrdiff_t incx,
                      const hu_conversion *conversion, const hu_exec *exec) {
  static const hu_mode rne;
  const char *at = x;
  int narrow = narrows(conversion, size), flush = narrow && (conversion->operand & HU_OPERAND_FLUSH);
  hu_status status = HU_OK;
  for (size_t i = 0; i < n; i++, at += incx * (ptrdiff_t)size) {
    if (size == 4)
      buffer->x[i] = widened((const float *)(const void *)at);
    else
      memcpy(&buffer->x[i], at, sizeof buffer->x[i]);
    buffer->value[i] = hui_double_of_bits(buffer->x[i]);
  }
  if (narrow) status = hu_quantize64_n(n, buffer->value, 1, buffer->value, 1, binary32(), rne, exec, NULL);
  for (size_t i = 0; i < n; i++) {
    if (!is_nan(buffer->x[i])) buffer->x[i] = hui_bits_of_double(buffer->value[i]);
    buffer->x[i] = prepared(conversion, buffer->x[i], flush);
    buffer->value[i] = hui_double_of_bits(buffer->x[i]);
  }
  return status;
}

/* Binary32 operands with nothing before the one rounding: only NaNs are looked at one by one. */
static int is_direct(const hu_conversion *conversion, size_t size) {
  return size == 4 && !has_first(conversion) && !(conversion->operand & ~(HU_OPERAND_BINARY32 | HU_OPERAND_FLUSH));
}

static void load_direct(block *buffer, size_t n, const void *x, ptrdiff_t incx) {
  const float *at = x;
  for (size_t i = 0; i < n; i++) memcpy(&buffer->narrow[i], at + (ptrdiff_t)i * incx, sizeof buffer->narrow[i]);
  for (size_t i = 0; i < n; i++) {
    uint32_t magnitude = hui_bits_of_float(buffer->narrow[i]) & 0x7FFFFFFF;
    buffer->x[i] = magnitude > 0x7F800000 ? widened(&buffer->narrow[i]) : 0;
  }
}

/* The canonical code in place of each NaN; what NaN operands give is put over that. */
static uint32_t unsigned_nan(const hu_spec *spec, uint32_t code) {
  return hui_unpack(spec, code).kind == HU_KIND_NAN ? spec->nan_code : code;
}

static void unsign_nans(block *buffer, size_t n, const hu_conversion *conversion, size_t size) {
  hu_spec spec = hui_spec_of(conversion->format, conversion->mode);
  for (size_t i = 0; i < n; i++) {
    uint8_t *at = (uint8_t *)buffer->code + i * size;
    hui_store_code(at, size, unsigned_nan(&spec, hui_load_code(at, size)));
  }
}

static void put_nans(block *buffer, size_t n, const hu_conversion *conversion, unsigned rule, size_t size) {
  if (conversion->nan_made == HU_NAN_MADE_CANONICAL) unsign_nans(buffer, n, conversion, size);
  if (rule == HU_NAN_BY_MODE) return;
  for (size_t i = 0; i < n; i++) {
    if (!is_nan(buffer->x[i])) continue;
    uint8_t *at = (uint8_t *)buffer->code + i * size;
    hui_store_code(at, size, nan_code(conversion, rule, buffer->x[i], hui_load_code(at, size)));
  }
}

/* What goes in and what comes out. */
typedef struct ends {
  size_t size_x, size_z; /* bytes; 4 and 8 are binary32 and binary64 */
  int values;            /* 1: values of codes come out */
} ends;

/* Rounds the values into the formats before the last one, which no NaN operand sees: they may lack NaN. */
static hu_status round_before(block *buffer, size_t n, const hu_conversion *conversion, const hu_exec *exec) {
  double *x = buffer->value;
  hu_status status = hu_quantize64_n(n, x, 1, x, 1, conversion->first, conversion->first_mode, exec, NULL);
  for (int i = 0; i < hui_conversion_further(conversion) && status == HU_OK; i++) {
    const hu_conversion_step *step = &conversion->further[i];
    status = hu_quantize64_n(n, x, 1, x, 1, step->format, step->mode, exec, NULL);
  }
  for (size_t i = 0; i < n; i++)
    if (is_nan(buffer->x[i])) x[i] = hui_double_of_bits(buffer->x[i]);
  return status;
}

static hu_status run_block(block *buffer, size_t n, void *z, ptrdiff_t incz, const ends *both,
                           const hu_conversion *conversion, const hu_exec *exec, hu_events *events) {
  size_t size = hui_code_bytes(conversion->format);
  hu_status status = has_first(conversion) ? round_before(buffer, n, conversion, exec) : HU_OK;
  if (is_direct(conversion, both->size_x))
    status = hu_encode_n(n, buffer->code, 1, buffer->narrow, 1, conversion->format, conversion->mode, exec, events);
  else if (status == HU_OK)
    status = hu_encode64_n(n, buffer->code, 1, buffer->value, 1, conversion->format, conversion->mode, exec, events);
  if (status != HU_OK) return status;
  put_nans(buffer, n, conversion, both->size_x == 4 ? conversion->nan : conversion->nan64, size);
  if (both->values)
    return both->size_z == 4 ? hu_decode_n(n, z, incz, buffer->code, 1, conversion->format, exec)
                             : hu_decode64_n(n, z, incz, buffer->code, 1, conversion->format, exec);
  for (size_t i = 0; i < n; i++)
    memcpy((char *)z + (ptrdiff_t)i * incz * (ptrdiff_t)size, (const char *)buffer->code + i * size, size);
  return HU_OK;
}

/* Is the conversion one rounding of operands of this size, and nothing else? */
static int is_plain(const hu_conversion *conversion, size_t size) {
  if (conversion->nan_made) return 0;
  if (size == 4) return is_direct(conversion, 4) && conversion->nan == HU_NAN_BY_MODE;
  return !conversion->operand && !has_first(conversion) && conversion->nan64 == HU_NAN_BY_MODE;
}

static hu_status checked(size_t n, const void *z, ptrdiff_t incz, const void *x, ptrdiff_t incx, const ends *both,
                         const hu_conversion *conversion) {
  hu_status status = hu_conversion_check(conversion);
  if (status != HU_OK) return status;
  if (*conversion->scaling) return HU_E_SCALING;
  if (both->values && both->size_z == 4 && !hu_format_fits_binary32(conversion->format)) return HU_E_CARRIER;
  hu_strided az = {z, both->values ? both->size_z : hui_code_bytes(conversion->format), incz},
             ax = {x, both->size_x, incx};
  return hui_check_pair(n, &az, &ax);
}

static hu_status run(size_t n, void *z, ptrdiff_t incz, const void *x, ptrdiff_t incx, const ends *both,
                     const hu_conversion *conversion, const hu_exec *exec, hu_events *events) {
  hu_exec part = hui_exec_levels(exec);
  hu_events sum = {0};
  size_t size_z = both->values ? both->size_z : hui_code_bytes(conversion->format);
  block buffer;
  part.stream = hui_exec_stream(exec);
  for (size_t i = 0; i < n; i += BLOCK) {
    size_t count = n - i < BLOCK ? n - i : BLOCK;
    const char *from = (const char *)x + (ptrdiff_t)i * incx * (ptrdiff_t)both->size_x;
    hu_status status = HU_OK;
    if (is_direct(conversion, both->size_x))
      load_direct(&buffer, count, from, incx);
    else
      status = load(&buffer, count, from, both->size_x, incx, conversion, &part);
    if (status == HU_OK)
      status = run_block(&buffer, count, (char *)z + (ptrdiff_t)i * incz * (ptrdiff_t)size_z, incz, both, conversion,
                         &part, &sum);
    if (status != HU_OK) return status; /* cannot be: everything was checked */
    part.stream.counter += count;
  }
  if (events) hu_events_add(events, &sum);
  return HU_OK;
}

hu_status hu_conversion_apply(size_t n, const hu_output *z, const hu_view *x, const hu_conversion *conversion,
                              const hu_exec *exec, hu_events *events) {
  if (hui_is_elsewhere(exec)) return HU_E_DEVICE;
  if (!z || !x) return HU_E_NULL;
  const ends both = {hui_carrier_bytes(&x->type), hui_carrier_bytes(&z->type), z->type.kind != HU_TYPE_CODES};
  if (!hui_is_plain(&x->type) || hui_is_plain(&z->type) || hui_check_conversion(&z->type, &x->type) != HU_OK)
    return HU_E_FORMAT;
  hu_status status = checked(n, z->data, z->stride, x->data, x->stride, &both, conversion);
  if (status != HU_OK) return status;
  if (!is_plain(conversion, both.size_x))
    return run(n, z->data, z->stride, x->data, x->stride, &both, conversion, exec, events);
  hu_output to = *z;
  to.type = hu_type_values(z->type.kind, conversion->format);
  return hu_apply_convert(n, to, *x, conversion->mode, exec, events);
}

/* Changes one operand of `size` bytes, given as binary64, as `operand` says. */
static uint64_t seen(const hu_conversion *conversion, uint64_t pattern, size_t size) {
  static const hu_mode rne;
  int narrow = narrows(conversion, size);
  if (narrow && !is_nan(pattern))
    pattern = hui_bits_of_double(hu_quantize64(binary32(), rne, hui_double_of_bits(pattern), 0, NULL));
  return prepared(conversion, pattern, narrow && (conversion->operand & HU_OPERAND_FLUSH));
}

/* And rounded into the formats before the last one, which numbers alone are: NaN operands pass them by. */
static uint64_t before(const hu_conversion *conversion, uint64_t pattern) {
  double x = hui_double_of_bits(pattern);
  if (!has_first(conversion) || is_nan(pattern)) return pattern;
  x = hu_quantize64(conversion->first, conversion->first_mode, x, 0, NULL);
  for (int i = 0; i < hui_conversion_further(conversion); i++)
    x = hu_quantize64(conversion->further[i].format, conversion->further[i].mode, x, 0, NULL);
  return hui_bits_of_double(x);
}

static uint32_t encode_one(const hu_conversion *conversion, uint64_t pattern, size_t size, uint32_t random,
                           uint32_t *events) {
  uint64_t x = seen(conversion, pattern, size);
  uint32_t z =
      hu_encode64(conversion->format, conversion->mode, hui_double_of_bits(before(conversion, x)), random, events);
  if (conversion->nan_made == HU_NAN_MADE_CANONICAL) {
    hu_spec spec = hui_spec_of(conversion->format, conversion->mode);
    z = unsigned_nan(&spec, z);
  }
  return is_nan(x) ? nan_code(conversion, size == 4 ? conversion->nan : conversion->nan64, x, z) : z;
}

double hu_conversion_operand64(const hu_conversion *conversion, double x) {
  int wrong = hu_conversion_check(conversion) != HU_OK || *conversion->scaling;
  return hui_double_of_bits(wrong ? inf_of | quiet_of : before(conversion, seen(conversion, hui_bits_of_double(x), 8)));
}

static uint32_t misuse(uint32_t *events) {
  if (events) *events = HU_EVENT_INVALID;
  return 0;
}

uint32_t hu_conversion_encode(const hu_conversion *conversion, float x, uint32_t random, uint32_t *events) {
  if (hu_conversion_check(conversion) != HU_OK || *conversion->scaling) return misuse(events);
  return encode_one(conversion, widened(&x), 4, random, events);
}

uint32_t hu_conversion_encode64(const hu_conversion *conversion, double x, uint32_t random, uint32_t *events) {
  if (hu_conversion_check(conversion) != HU_OK || *conversion->scaling) return misuse(events);
  return encode_one(conversion, hui_bits_of_double(x), 8, random, events);
}
