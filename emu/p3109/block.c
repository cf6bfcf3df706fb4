/* SPDX-License-Identifier: MIT */
/* The block operations of halfulp/p3109.h. An element is the product of a code and a scale, at most 31 digits; a result
 * is divided by the scale of its block before it is rounded, once. */
#include "emu/base/codes.h"
#include "emu/core/arith.h"
#include "emu/core/exact_digits.h"
#include "emu/core/stream.h"
#include "emu/p3109/exact.h"

enum { OPERANDS = 3, EXPONENTS_MAX = 1000 };

/* ---- checks ---- */

static hu_spec spec_of(hu_format format) {
  const hu_mode rne = {0};
  return hui_spec_of(format, rne);
}

/* Checks whether these are formats of a block. */
static int is_pair(hu_format scale_format, hu_format format, int transcendental) {
  if (hu_format_check(scale_format, NULL) != HU_OK || hu_format_check(format, NULL) != HU_OK) return 0;
  hu_spec spec = spec_of(scale_format), x = spec_of(format);
  if (spec.code_bytes > 2 || x.code_bytes > 2 || spec.m > 14 || x.m > 15) return 0;
  int32_t high = spec.emax + x.emax, low = spec.emin - spec.m + x.emin - x.m;
  return !transcendental || (high <= EXPONENTS_MAX && low >= -EXPONENTS_MAX);
}

static hu_status check_block(const hu_p3109_block *in, int transcendental) {
  if (!in->x) return HU_E_NULL;
  return is_pair(in->scale_format, in->format, transcendental) ? HU_OK : HU_E_FORMAT;
}

/* Checks the codes of some blocks, and their scales. */
static hu_status check_codes(size_t count, const hu_p3109_block *in, unsigned blocks) {
  hu_status status = HU_OK;
  for (unsigned k = 0; k < blocks && status == HU_OK; k++) {
    status = hui_code_check(in[k].scale, in[k].scale_format);
    if (status == HU_OK) status = hui_code_array_check(count, in[k].x, 1, in[k].format, 1);
  }
  return status;
}

/* ---- elements ---- */

/* Codes of an array, their format unfolded. */
typedef struct codes {
  hu_spec spec;
  const uint8_t *at;
} codes;

static codes codes_of(hu_format format, const void *x) {
  codes z = {spec_of(format), x};
  return z;
}

static hu_num code_at(const codes *x, size_t i) {
  size_t size = x->spec.code_bytes;
  return hui_p3109_value_of(&x->spec, hui_load_code(x->at + i * size, size));
}

/* A block, its scale read. */
typedef struct elements {
  codes x;
  hu_num scale;
} elements;

static elements elements_of(const hu_p3109_block *in) {
  elements z = {codes_of(in->format, in->x), hui_p3109_value(in->scale_format, in->scale)};
  return z;
}

static hu_num element_at(const elements *in, size_t i) {
  const hu_num pair[2] = {in->scale, code_at(&in->x, i)};
  return hui_p3109_exact(HU_P3109_MULTIPLY, pair);
}

/* Where results go: codes of a target, element i rounded with random word i. */
typedef struct results {
  hu_p3109_target target;
  uint8_t *at;
  hu_stream stream;
} results;

static results results_of(hu_format format, hu_p3109_projection projection, void *z, hu_stream stream) {
  results to = {hui_p3109_target_of(format, projection), z, stream};
  return to;
}

static void store(const results *z, size_t i, hu_num x) {
  size_t size = z->target.spec.code_bytes;
  hui_store_code(z->at + i * size, size, hui_p3109_projected(&z->target, x, hu_stream_word(z->stream, i)));
}

/* Returns x / scale, a finite scale > 0 or below: of an x of 64 digits and sticky, 49 or more and sticky, more than any
 * rounding to 16 digits looks at. The remainder and what follows x stay below the scale. */
static hu_num divided(hu_num x, hu_num scale) {
  uint32_t raised = 0;
  if (x.kind != HU_KIND_FINITE || !x.sticky) return hui_exact_div(x, scale, &raised);
  uint64_t quotient = x.sig / scale.sig;
  int32_t lead = hui_clz64(quotient);
  hu_num z = hui_num_finite(x.sign ^ scale.sign, quotient << lead, x.exp - scale.exp - lead);
  z.sticky = 1;
  return z;
}

/* Returns what BlockProject rounds. */
static hu_num over_scale(hu_num x, hu_num scale) {
  if (x.kind == HU_KIND_NAN || scale.kind == HU_KIND_NAN) return hui_num_special(HU_KIND_NAN, 0);
  if (scale.kind == HU_KIND_ZERO) return scale;
  if (scale.kind == HU_KIND_INF) return x.kind == HU_KIND_ZERO ? x : hui_num_finite(x.sign ^ scale.sign, 1, 0);
  return divided(x, scale);
}

/* ---- elementwise ---- */

hu_status hu_p3109_block_compute(int op, size_t count, void *z, hu_format scale_format, uint32_t scale, hu_format fz,
                                 hu_p3109_projection projection, const hu_p3109_block *in, hu_stream stream) {
  hu_p3109_operation operation = hu_p3109_at(op);
  if (!z || !in) return HU_E_NULL;
  if (!operation.name || !operation.block || count == 0) return HU_E_SHAPE;
  int transcendental = op >= HU_P3109_EXP && op <= HU_P3109_ARC_TANH;
  for (unsigned k = 0; k < operation.operands; k++) {
    hu_status wrong = check_block(&in[k], transcendental);
    if (wrong != HU_OK) return wrong;
  }
  if (!is_pair(scale_format, fz, transcendental)) return HU_E_FORMAT;
  if (hu_p3109_projection_check(projection) != HU_OK) return HU_E_MODE;
  if (hui_code_check(scale, scale_format) != HU_OK) return HU_E_CODE;
  if (check_codes(count, in, operation.operands) != HU_OK) return HU_E_CODE;
  elements from[OPERANDS];
  for (unsigned k = 0; k < operation.operands; k++) from[k] = elements_of(&in[k]);
  hu_num scale_value = hui_p3109_value(scale_format, scale), x[OPERANDS];
  results to = results_of(fz, projection, z, stream);
  for (size_t i = 0; i < count; i++) {
    for (unsigned k = 0; k < operation.operands; k++) x[k] = element_at(&from[k], i);
    store(&to, i, over_scale(hui_p3109_exact_by(projection.rules, op, x), scale_value));
  }
  return HU_OK;
}

/* ---- conversions ---- */

static hu_status check_conversion(size_t count, const void *z, const void *x, hu_format scale_format, hu_format format,
                                  hu_format other, hu_p3109_projection projection) {
  if (!z || !x) return HU_E_NULL;
  if (!is_pair(scale_format, format, 0) || !is_pair(scale_format, other, 0)) return HU_E_FORMAT;
  if (hu_p3109_projection_check(projection) != HU_OK) return HU_E_MODE;
  return count ? HU_OK : HU_E_SHAPE;
}

hu_status hu_p3109_to_block(size_t count, void *z, hu_format scale_format, uint32_t scale, hu_format fz,
                            hu_p3109_projection projection, const void *x, hu_format fx, hu_stream stream) {
  hu_status wrong = check_conversion(count, z, x, scale_format, fz, fx, projection);
  if (wrong == HU_OK) wrong = hui_code_check(scale, scale_format);
  if (wrong == HU_OK) wrong = hui_code_array_check(count, x, 1, fx, 1);
  if (wrong != HU_OK) return wrong;
  codes from = codes_of(fx, x);
  results to = results_of(fz, projection, z, stream);
  hu_num scale_value = hui_p3109_value(scale_format, scale);
  for (size_t i = 0; i < count; i++) store(&to, i, over_scale(code_at(&from, i), scale_value));
  return HU_OK;
}

hu_status hu_p3109_to_block_max(size_t count, void *z, hu_p3109_scale *scale, hu_format fz,
                                hu_p3109_projection projection, const void *x, hu_format fx, hu_stream stream) {
  if (!scale) return HU_E_NULL;
  hu_status wrong = check_conversion(count, z, x, scale->format, fz, fx, projection);
  if (wrong != HU_OK) return wrong;
  if (hu_p3109_projection_check(scale->projection) != HU_OK) return HU_E_MODE;
  if (hui_code_array_check(count, x, 1, fx, 1) != HU_OK) return HU_E_CODE;
  codes from = codes_of(fx, x);
  results to = results_of(fz, projection, z, stream);
  hu_p3109_target of_scale = hui_p3109_target_of(scale->format, scale->projection);
  hu_num most[2] = {hui_num_special(HU_KIND_NAN, 0), hui_num_special(HU_KIND_NAN, 0)};
  for (size_t i = 0; i < count; i++) {
    most[1] = code_at(&from, i);
    most[1].sign = 0;
    most[0] = hui_p3109_exact(HU_P3109_MAXIMUM_FINITE, most);
  }
  scale->code = hui_p3109_projected(&of_scale, most[0], hu_stream_word(stream, count));
  hu_num value = hui_p3109_value_of(&of_scale.spec, scale->code);
  for (size_t i = 0; i < count; i++) store(&to, i, over_scale(code_at(&from, i), value));
  return HU_OK;
}

hu_status hu_p3109_from_block(size_t count, void *z, hu_format fz, hu_p3109_projection projection,
                              const hu_p3109_block *in, hu_stream stream) {
  if (!in) return HU_E_NULL;
  hu_status wrong = check_conversion(count, z, in->x, in->scale_format, in->format, fz, projection);
  if (wrong == HU_OK) wrong = check_codes(count, in, 1);
  if (wrong != HU_OK) return wrong;
  elements from = elements_of(in);
  results to = results_of(fz, projection, z, stream);
  for (size_t i = 0; i < count; i++) store(&to, i, element_at(&from, i));
  return HU_OK;
}

/* ---- reductions ---- */

static hu_status check_reduction(size_t count, const uint32_t *z, hu_format fz, hu_p3109_projection projection,
                                 const hu_p3109_block *in, unsigned blocks) {
  if (!z || !in) return HU_E_NULL;
  for (unsigned k = 0; k < blocks; k++) {
    hu_status wrong = check_block(&in[k], 0);
    if (wrong != HU_OK) return wrong;
  }
  if (hu_format_check(fz, NULL) != HU_OK) return HU_E_FORMAT;
  if (hu_p3109_projection_check(projection) != HU_OK) return HU_E_MODE;
  return count ? check_codes(count, in, blocks) : HU_E_SHAPE;
}

/* Sums the elements, or the products of those of two blocks: integers from 2^-4400, of which elements take 2^-4296 to
 * 2^4096, and a count of 2^64. */
static hu_num sum(size_t count, const hu_p3109_block *in, unsigned blocks) {
  enum { WORDS = 136, LOW = -4400 };
  uint64_t word[WORDS] = {0};
  uint32_t terms = 0, raised = 0;
  elements a = elements_of(&in[0]), b = elements_of(&in[blocks - 1]);
  for (size_t i = 0; i < count; i++) {
    hu_num x = element_at(&a, i);
    if (blocks == 2) x = hui_exact_mul(x, element_at(&b, i), &raised);
    terms |= hui_digits_add_term(word, WORDS, LOW, hui_long_of(x));
  }
  return hui_digits_value(word, WORDS, LOW, terms);
}

hu_status hu_p3109_block_add(size_t count, uint32_t *z, hu_format fz, hu_p3109_projection projection,
                             const hu_p3109_block *in, uint32_t random) {
  hu_status wrong = check_reduction(count, z, fz, projection, in, 1);
  if (wrong != HU_OK) return wrong;
  hu_p3109_target to = hui_p3109_target_of(fz, projection);
  *z = hui_p3109_projected(&to, sum(count, in, 1), random);
  return HU_OK;
}

hu_status hu_p3109_block_dot(size_t count, uint32_t *z, hu_format fz, hu_p3109_projection projection,
                             const hu_p3109_block *in, uint32_t random) {
  hu_status wrong = check_reduction(count, z, fz, projection, in, 2);
  if (wrong != HU_OK) return wrong;
  hu_p3109_target to = hui_p3109_target_of(fz, projection);
  *z = hui_p3109_projected(&to, sum(count, in, 2), random);
  return HU_OK;
}

/* An integer of many digits and its exponent. */
typedef struct product {
  uint32_t limb[HU_P3109_BLOCK_MAX + 1]; /* the lowest first */
  size_t limbs;
  int64_t exp;
} product;

static void times(product *number, uint32_t factor) {
  uint64_t carry = 0;
  for (size_t i = 0; i < number->limbs; i++) {
    carry += (uint64_t)number->limb[i] * factor;
    number->limb[i] = (uint32_t)carry;
    carry >>= 32;
  }
  if (carry) number->limb[number->limbs++] = (uint32_t)carry;
}

/* Its leading digits and sticky, the exponent held where no format is. */
static hu_num leading(const product *number, uint32_t sign) {
  uint32_t rest = 0;
  uint64_t word[2] = {0, 0};
  size_t low = number->limbs > 4 ? number->limbs - 4 : 0;
  for (size_t i = 0; i < number->limbs; i++) {
    if (i < low) rest |= number->limb[i];
    if (i >= low) word[(i - low) / 2] |= (uint64_t)number->limb[i] << 32 * ((i - low) % 2);
  }
  int64_t exp = number->exp + 32 * (int64_t)low;
  int32_t held = (int32_t)(exp > 100000 ? 100000 : exp < -100000 ? -100000 : exp);
  if (word[1] == 0) return hui_num_finite(sign, word[0], held);
  return hui_num_two_words(sign, word[1], word[0], rest != 0, held);
}

static hu_num product_of(size_t count, const hu_p3109_block *in) {
  product number = {{1}, 1, 0};
  hu_num z = hui_num_finite(0, 1, 0); /* what is not finite goes into it, and the sign */
  uint32_t raised = 0, sign = 0;
  elements from = elements_of(in);
  for (size_t i = 0; i < count; i++) {
    hu_num x = element_at(&from, i);
    sign ^= x.sign;
    if (x.kind != HU_KIND_FINITE || z.kind != HU_KIND_FINITE) {
      z = hui_exact_mul(z, x.kind == HU_KIND_FINITE ? hui_num_finite(x.sign, 1, 0) : x, &raised);
    } else {
      times(&number, (uint32_t)x.sig);
      number.exp += x.exp;
    }
  }
  if (z.kind == HU_KIND_INF) z.sign = (uint8_t)sign;
  return z.kind == HU_KIND_FINITE ? leading(&number, sign) : z;
}

hu_status hu_p3109_block_multiply(size_t count, uint32_t *z, hu_format fz, hu_p3109_projection projection,
                                  const hu_p3109_block *in, uint32_t random) {
  if (count > HU_P3109_BLOCK_MAX) return HU_E_SHAPE;
  hu_status wrong = check_reduction(count, z, fz, projection, in, 1);
  if (wrong != HU_OK) return wrong;
  hu_p3109_target to = hui_p3109_target_of(fz, projection);
  *z = hui_p3109_projected(&to, product_of(count, in), random);
  return HU_OK;
}
