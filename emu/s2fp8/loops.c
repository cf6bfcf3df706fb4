/* SPDX-License-Identifier: MIT */
/* lanes.h for levels whose lanes compilers find by themselves; compiled once for each of them. */
#include "emu/s2fp8/lanes_common.h"
#include "emu/s2fp8/records.h"
#include "emu/s2fp8/stretch.h"
#include "emu/s2fp8/table_from_product.h"
#include "emu/simd/of_level.h"

#if HU_LEVEL_ID == 1
#include "emu/s2fp8/pass_avx2.h"
#include "emu/s2fp8/sum_avx2.h"
#else
/* Computes the logarithms of STRETCH normal patterns: whole units in z, and where they are not known in left. */
static uint64_t logs(const uint32_t *a, int64_t *z, uint64_t *left) {
  static const double factors[16] = {HU_S2_FACTORS}, wholes[16] = {HU_S2_WHOLES}, parts[16] = {HU_S2_PARTS};
  const double limit = S2_SURE * S2_SURE;
  uint64_t any = 0, sure;
  memcpy(&sure, &limit, sizeof sure);
  double m[STRETCH], factor[STRETCH], whole[STRETCH], part[STRETCH];
  for (size_t i = 0; i < STRETCH; i++) {
    uint32_t k = a[i] >> 19 & 15;
    m[i] = hui_float_of_bits((a[i] & 0x7FFFFF) | 0x3F800000);
    factor[i] = factors[k];
    whole[i] = wholes[k];
    part[i] = parts[k];
  }
  for (size_t i = 0; i < STRETCH; i++) {
    double rest = m[i] * factor[i] - 1, y = part[i] + rest * hui_polynomial_s2(rest), shifted = y + S2_MAGIC,
           n = shifted - S2_MAGIC, off = y - n;
    m[i] = n + whole[i] + S2_MAGIC;
    factor[i] = off * off; /* 1/4 or nearly where not sure */
  }
  for (size_t i = 0; i < STRETCH; i++) {
    uint64_t bits, pattern;
    memcpy(&bits, m + i, sizeof bits);
    memcpy(&pattern, factor + i, sizeof pattern); /* not negative: in the order of its bits */
    z[i] = (int64_t)(bits - S2_MAGIC_BITS);
    left[i] = (sure - pattern) >> 63;
    any |= left[i];
  }
  return any;
}

static void sum_stretch(const uint32_t *x, hu_s2_part *z) {
  uint32_t a[STRETCH], odd = 0, top = z->top, count = 0, exponents = 0;
  int64_t units[STRETCH], sum = 0;
  uint64_t left[STRETCH];
  for (size_t i = 0; i < STRETCH; i++) {
    uint32_t b = x[i] & 0x7FFFFFFF, normal = b - 0x800000 < 0x7F000000;
    odd |= normal ^ (b != 0);
    b = normal ? b : 0;
    top = b > top ? b : top;
    count += normal;
    a[i] = normal ? b : 0x3F800000; /* whose logarithm is 0 */
    exponents += (a[i] >> 23) - 127;
  }
  if (logs(a, units, left)) {
    for (size_t i = 0; i < STRETCH; i++) {
      if (left[i]) units[i] = hui_s2_log2((a[i] & 0x7FFFFF) | 0x3F800000);
    }
  }
  for (size_t i = 0; i < STRETCH; i++) sum += units[i];
  z->sum += sum + (int64_t)(int32_t)exponents * ((int64_t)1 << HU_S2_DIGITS);
  z->count += count;
  z->top = top;
  for (size_t i = 0; odd && i < STRETCH; i++) { /* subnormal numbers, infinities, NaN */
    uint32_t b = x[i] & 0x7FFFFFFF;
    if (b - 0x800000 >= 0x7F000000) sum_one(x[i], z);
  }
}

static void sum(size_t n, const uint32_t *x, hu_s2_part *z) {
  memset(z, 0, sizeof *z);
  for (; n >= STRETCH; n -= STRETCH, x += STRETCH) sum_stretch(x, z);
  for (; n; n--, x++) sum_one(*x, z);
}
#endif

/* ---- codes ---- */

/* Elements counted: zeros, code 0, code of a zero or subnormal number, tiny, exact, and both. Sums of comparisons, for
 * what an element is cannot be predicted. */
typedef struct counted {
  uint64_t zero, none, low, tiny, exact, exact_tiny;
} counted;

/* Returns the magnitude code of a below the limit. */
HU_FN uint32_t magnitude_of(const hu_s2_search *search, uint32_t sign, uint32_t most, uint32_t a) {
  const uint32_t *bound = search->table.bound[sign];
  uint32_t first = search->first[sign], in = a >= first;
  uint32_t c = search->base[sign][((in ? a : first) - first) >> search->shift[sign]] & (0 - in);
  for (uint32_t k = 0; k < most; k++) c += in & (c < search->spec.max_code) & (a >= bound[c + 1]);
  return c;
}

HU_FN void count_one(const hu_s2_search *search, uint32_t sign, uint32_t a, uint32_t c, counted *counts) {
  uint32_t exact = a == search->table.exact[c], tiny = a < search->table.tiny[sign];
  counts->zero += a == 0;
  counts->none += c == 0;
  counts->low += c >> search->spec.m == 0;
  counts->tiny += tiny;
  counts->exact += exact;
  counts->exact_tiny += exact & tiny;
}

/* z: codes of a byte if codes, else values. most: search->most of both signs, a number that the compiler sees. */
HU_FN void run(const hu_s2_search *search, size_t n, void *z, const uint32_t *x, int codes, uint32_t most,
               hu_events *events) {
  const uint32_t negzero = search->spec.negzero, sign_mask = search->spec.sign_mask, limit = search->limit;
  counted counts = {0, 0, 0, 0, 0, 0};
  tally rest = {{0}};
  size_t done = 0;
  for (size_t i = 0; i < n; i++) {
    uint32_t bits = x[i], a = bits & 0x7FFFFFFF, sign = bits >> 31, code;
    if (HU_LIKELY(a < limit)) {
      uint32_t c = magnitude_of(search, sign, most, a);
      code = c | ((0 - (sign & (negzero | (c != 0)))) & sign_mask);
      count_one(search, sign, a, c, &counts);
      done++;
    } else {
      uint32_t set;
      code = hui_s2_found(search, bits, &set);
      tally_add(&rest, set);
    }
    if (codes) {
      ((uint8_t *)z)[i] = (uint8_t)code;
    } else {
      ((uint32_t *)z)[i] = search->table.value[code];
    }
  }
  hu_events own = {0};
  own.to_zero = counts.none - counts.zero;
  own.subnormal = counts.low - counts.none;
  own.underflow = counts.tiny - counts.zero - counts.exact_tiny;
  own.inexact = done - counts.zero - counts.exact;
  hu_events_add(events, &own);
  tally_end(&rest, events);
}

static uint32_t most_of(const hu_s2_search *search) {
  return search->most[0] > search->most[1] ? search->most[0] : search->most[1];
}

static void quantize_each(const hu_s2_search *search, size_t n, uint32_t *z, const uint32_t *x, hu_events *events) {
  switch (most_of(search)) {
    case 0:
    case 1: run(search, n, z, x, 0, 1, events); break;
    case 2: run(search, n, z, x, 0, 2, events); break;
    default: run(search, n, z, x, 0, most_of(search), events); break;
  }
}

static void encode_each(const hu_s2_search *search, size_t n, uint8_t *z, const uint32_t *x, hu_events *events) {
  switch (most_of(search)) {
    case 0:
    case 1: run(search, n, z, x, 1, 1, events); break;
    case 2: run(search, n, z, x, 1, 2, events); break;
    default: run(search, n, z, x, 1, most_of(search), events); break;
  }
}

/* Sums whole stretches; how many elements they have is returned. */
HU_FN size_t quantize_stretches(const stretches *stretch, size_t n, uint32_t *z, const uint32_t *x, uint32_t most,
                                hu_events *events) {
  int32_t a[STRETCH], bucket[STRETCH];
  uint32_t minus[STRETCH];
  below counts = {0};
  size_t i = 0;
  for (; n - i >= STRETCH; i += STRETCH) {
    if (HU_UNLIKELY(look_at_stretch(stretch, x + i, a, bucket, minus, &counts))) {
      quantize_each(stretch->search, STRETCH, z + i, x + i, events);
    } else {
      stretch_of_values(stretch, z + i, a, bucket, minus, most);
    }
  }
  end_stretches(&counts, events);
  return i;
}

HU_FN size_t encode_stretches(const stretches *stretch, size_t n, uint8_t *z, const uint32_t *x, uint32_t most,
                              hu_events *events) {
  int32_t a[STRETCH], bucket[STRETCH];
  uint32_t minus[STRETCH];
  below counts = {0};
  size_t i = 0;
  for (; n - i >= STRETCH; i += STRETCH) {
    if (HU_UNLIKELY(look_at_stretch(stretch, x + i, a, bucket, minus, &counts))) {
      encode_each(stretch->search, STRETCH, z + i, x + i, events);
    } else {
      stretch_of_codes(stretch, z + i, a, bucket, minus, most);
    }
  }
  end_stretches(&counts, events);
  return i;
}

static void quantize(const hu_s2_search *search, const hu_s2_tree *tree, size_t n, uint32_t *z, const uint32_t *x,
                     int bypass, hu_events *events) {
  stretches stretch;
  size_t done = 0;
  (void)bypass;
  if (n >= STRETCH && make_stretches(&stretch, search, tree)) {
    done = most_of(search) <= 1 ? quantize_stretches(&stretch, n, z, x, 1, events)
                                : quantize_stretches(&stretch, n, z, x, 2, events);
  }
  quantize_each(search, n - done, z + done, x + done, events);
}

static void encode(const hu_s2_search *search, const hu_s2_tree *tree, size_t n, uint8_t *z, const uint32_t *x,
                   hu_events *events) {
  stretches stretch;
  size_t done = 0;
  if (n >= STRETCH && make_stretches(&stretch, search, tree)) {
    done = most_of(search) <= 1 ? encode_stretches(&stretch, n, z, x, 1, events)
                                : encode_stretches(&stretch, n, z, x, 2, events);
  }
  encode_each(search, n - done, z + done, x + done, events);
}

/* ---- without exact statistics ---- */

#if HU_LEVEL_ID != 1
enum { FACTORS = 16 };

/* Multiplies FACTORS elements in. */
HU_FN void multiply_in(hu_s2_rough *z, double *product, uint32_t *exponents, const uint32_t *x) {
  uint32_t odd = 0, top = z->top, count = 0, sum = 0;
  for (size_t k = 0; k < FACTORS; k++) {
    uint32_t a = x[k] & 0x7FFFFFFF, normal = a - 0x800000 < 0x7F000000, b = normal ? a : 0x3F800000;
    odd |= normal ^ (a != 0);
    top = a > top ? a : top;
    count += normal;
    sum += (b >> 23) - 127;
    product[k] *= (double)hui_float_of_bits((b & 0x7FFFFF) | 0x3F800000);
  }
  z->odd |= odd;
  z->top = top;
  z->count += count;
  *exponents += sum;
}

static void rough(size_t n, const uint32_t *x, hu_s2_rough *z) {
  double product[FACTORS];
  uint32_t exponents = 0, last[FACTORS] = {0};
  memset(z, 0, sizeof *z);
  for (size_t k = 0; k < FACTORS; k++) product[k] = 1;
  for (; n >= FACTORS; n -= FACTORS, x += FACTORS) multiply_in(z, product, &exponents, x);
  memcpy(last, x, n * sizeof *x);
  multiply_in(z, product, &exponents, last);
  hui_s2_rough_ends(z, FACTORS, product, (int32_t)exponents);
}

static void pass_lanes(const record_list *records, size_t n, uint32_t *z, const uint32_t *x, hu_s2_passed *counts) {
  pass_each(records, n, z, x, counts);
}
#endif

enum { COUNTED = 1 << 28 }; /* elements that lanes count in 32 digits */

static int pass(const hu_s2_table *table, const hu_s2_near *near, size_t n, uint32_t *z, const uint32_t *x,
                hu_s2_passed *counts) {
  record_list records;
  if (!make_records(&records, table, near)) return 0;
  for (; n > COUNTED; n -= COUNTED, z += COUNTED, x += COUNTED) pass_lanes(&records, COUNTED, z, x, counts);
  pass_lanes(&records, n, z, x, counts);
  return 1;
}

const hu_s2_lanes HU_OF_LEVEL(hu_s2_lanes) = {powers, sum, quantize, encode, rough, near, pass, 0};
