/* SPDX-License-Identifier: MIT */
/* Arrays of sums, each of its terms and as many words as the array's range has. */
#include "emu/base/codes.h"
#include "emu/base/exec.h"
#include "emu/base/threads.h"
#include "emu/sum/check.h"
#include "emu/sum/term.h"

enum { PART_MIN = 1 << 10 }; /* sums that make a part of their own worth while */

/* ---- parts ---- */

typedef struct operand {
  const uint8_t *data;
  ptrdiff_t step; /* bytes */
  hu_spec spec;
} operand;

typedef struct run {
  size_t n, part;
  uint64_t *sums;
  const uint64_t *other; /* to be merged */
  hu_sum_range range;
  int operands;
  operand x[2];
  uint8_t *z; /* results */
  ptrdiff_t z_step;
  hu_spec spec;
  hu_stream stream;
  void (*one)(const struct run *r, size_t i, hu_events *counts);
  void (*some)(const struct run *r, size_t first, size_t past); /* NULL, or what does the same for all of a part */
  hu_events counts[HU_THREADS_MAX];
} run;

static hu_num value_at(const operand *x, size_t i) {
  const uint8_t *at = x->data + (ptrdiff_t)i * x->step;
  return hui_unpack(&x->spec, hui_load_code(at, x->spec.code_bytes));
}

static uint64_t *sum_at(const run *r, size_t i) { return r->sums + i * (1 + r->range.words); }

/* Adds term i; returns its bit. */
static uint32_t add_term(uint64_t *word, int32_t words, int32_t low, const operand *x, int operands, size_t i) {
  hu_num a = value_at(&x[0], i);
  return hui_sum_add_term(word, words, low, operands, a, operands > 1 ? value_at(&x[1], i) : a);
}

static void add_one(const run *r, size_t i, hu_events *counts) {
  uint64_t *sum = sum_at(r, i);
  (void)counts;
  sum[0] |= add_term(sum + 1, (int32_t)r->range.words, r->range.low, r->x, r->operands, i);
}

/* What is not finite. */
static uint32_t special_bit(uint32_t u) {
  if (u << 9) return HU_SUM_NAN;
  return u >> 31 ? HU_SUM_MINUS_INFINITY : HU_SUM_PLUS_INFINITY;
}

/* Adds 1 or -1 in word l. */
static void carry_on(uint64_t *sum, uint32_t words, uint32_t l, int64_t by) {
  for (; by && l <= words; l++) {
    uint64_t old = sum[l];
    sum[l] = old + (uint64_t)by;
    by = by > 0 ? sum[l] == 0 : -(int64_t)(old == 0);
  }
}

/* What add_one adds for binary32, without a record of the number and with few branches: its bits are the digits, its
 * exponent their place. They lie in two words at most, behind which there is another one, as a range has 64 digits
 * above its numbers. A negative one is its two's complement: the two words, and -1 in what is above. */
static void add_bits(uint64_t *sum, uint32_t words, int32_t low, uint32_t u) {
  uint32_t e = u >> 23 & 0xFF, sign = u >> 31, normal = e != 0;
  if (e == 0xFF) {
    sum[0] |= special_bit(u);
    return;
  }
  uint32_t at = e - normal + (uint32_t)(-149 - low), up = at % 64, l = at / 64 + 1;
  uint64_t digits = (u & 0x7FFFFF) | normal << 23, part = digits << up, above = digits >> 1 >> (63 - up);
  uint64_t minus = sign & (digits != 0), mask = 0 - minus, lo = (part ^ mask) + minus;
  uint64_t hi = (above ^ mask) + (minus & (lo == 0));
  sum[0] |= digits ? HU_SUM_NUMBER : (uint32_t)HU_SUM_PLUS_ZERO << sign;
  sum[l] += lo;
  uint64_t carry = sum[l] < lo, high = sum[l + 1] + hi, whole = high + carry;
  sum[l + 1] = whole;
  carry_on(sum, words, l + 2, (int64_t)((uint64_t)(high < hi) + (uint64_t)(whole < high) + mask));
}

static void add_binary32(const run *r, size_t first, size_t past) {
  for (size_t i = first; i < past; i++) {
    uint32_t u;
    memcpy(&u, r->x[0].data + (ptrdiff_t)i * r->x[0].step, sizeof u);
    add_bits(sum_at(r, i), r->range.words, r->range.low, u);
  }
}

static void merge_one(const run *r, size_t i, hu_events *counts) {
  uint64_t *sum = sum_at(r, i);
  const uint64_t *x = r->other + i * (1 + r->range.words);
  (void)counts;
  sum[0] |= x[0];
  hui_digits_merge(sum + 1, (int32_t)r->range.words, x + 1);
}

static void round_one(const run *r, size_t i, hu_events *counts) {
  const uint64_t *sum = sum_at(r, i);
  uint32_t set, stochastic = r->spec.round >= HU_SRA;
  uint32_t random = stochastic ? hui_stream_at(r->stream.key, r->stream.counter + i) >> (32 - r->spec.bits) : 0;
  uint32_t code =
      hui_digits_round(&r->spec, sum + 1, (int32_t)r->range.words, r->range.low, (uint32_t)sum[0], random, &set);
  hui_store_code(r->z + (ptrdiff_t)i * r->z_step, r->spec.code_bytes, code);
  hu_events_count(counts, set);
}

static void run_part(void *context, size_t part) {
  run *r = context;
  size_t first = part * r->part, past = first + hui_least(r->n - first, r->part);
  if (r->some) {
    r->some(r, first, past);
    return;
  }
  for (size_t i = first; i < past; i++) r->one(r, i, &r->counts[part]);
}

static void run_all(run *r, const hu_exec *exec, hu_events *events) {
  uint32_t threads = hui_exec_threads(exec);
  r->part = hui_part_size(r->n, threads, PART_MIN);
  size_t parts = hui_parts(r->n, r->part);
  memset(r->counts, 0, parts * sizeof r->counts[0]);
  hui_parallel(threads, parts, run_part, r);
  for (size_t i = 0; events && i < parts; i++) hu_events_add(events, &r->counts[i]);
}

/* ---- calls ---- */

static operand operand_of(const hu_sum_codes *x) {
  operand z = {x->data, 0, hui_sum_spec(x->format)};
  z.step = x->stride * (ptrdiff_t)z.spec.code_bytes;
  return z;
}

static hu_status check_codes(size_t n, const hu_sum_codes *x, int operands, const hu_exec *exec) {
  hu_status s = HU_OK;
  for (int k = 0; k < operands && s == HU_OK; k++)
    s = hui_code_array_check(n, x[k].data, x[k].stride, x[k].format, hui_exec_threads(exec));
  return s;
}

static hu_status add_total(hu_sum *sum, size_t n, const hu_sum_codes *codes, int operands) {
  operand x[2];
  hu_status s = hui_sum_check_total(sum, n, codes, operands);
  if (s == HU_OK) s = check_codes(n, codes, operands, NULL);
  if (s != HU_OK) return s;
  for (int k = 0; k < operands; k++) x[k] = operand_of(&codes[k]);
  for (size_t i = 0; i < n; i++) sum->terms |= add_term(sum->word, HU_SUM_WORDS, HU_SUM_LOW, x, operands, i);
  return HU_OK;
}

hu_status hu_sum_add_all(hu_sum *sum, size_t n, const void *x, ptrdiff_t incx, hu_format f) {
  hu_sum_codes one = {x, incx, f};
  return add_total(sum, n, &one, 1);
}

hu_status hu_sum_add_dot(hu_sum *sum, size_t n, const void *a, ptrdiff_t inca, hu_format fa, const void *b,
                         ptrdiff_t incb, hu_format fb) {
  hu_sum_codes both[2] = {{a, inca, fa}, {b, incb, fb}};
  return add_total(sum, n, both, 2);
}

/* n >= 1 */
static void run_start(run *r, size_t n, uint64_t *sums, hu_sum_range range) {
  memset(r, 0, offsetof(run, counts));
  r->n = n;
  r->sums = sums;
  r->range = range;
}

static hu_status add_arrays(size_t n, uint64_t *sums, hu_sum_range range, const hu_sum_codes *x, int operands,
                            const hu_exec *exec) {
  run r;
  hu_status s = hui_sum_check_add(n, sums, range, x, operands);
  if (s == HU_OK) s = check_codes(n, x, operands, exec);
  if (s != HU_OK || n == 0) return s;
  run_start(&r, n, sums, range);
  r.operands = operands;
  for (int k = 0; k < operands; k++) r.x[k] = operand_of(&x[k]);
  r.one = add_one;
  int core = exec && ~exec->levels_off == 0;
  if (operands == 1 && hu_format_equal(x->format, hui_format_binary32()) && !core) r.some = add_binary32;
  run_all(&r, exec, NULL);
  return HU_OK;
}

hu_status hu_sum_add_n(size_t n, uint64_t *sums, hu_sum_range range, const void *x, ptrdiff_t incx, hu_format fx,
                       const hu_exec *exec) {
  hu_sum_codes one = {x, incx, fx};
  return add_arrays(n, sums, range, &one, 1, exec);
}

hu_status hu_sum_add_product_n(size_t n, uint64_t *sums, hu_sum_range range, const void *a, ptrdiff_t inca,
                               hu_format fa, const void *b, ptrdiff_t incb, hu_format fb, const hu_exec *exec) {
  hu_sum_codes both[2] = {{a, inca, fa}, {b, incb, fb}};
  return add_arrays(n, sums, range, both, 2, exec);
}

hu_status hu_sum_merge_n(size_t n, uint64_t *sums, hu_sum_range range, const uint64_t *x, const hu_exec *exec) {
  run r;
  hu_status s = hui_sum_check_merge(n, sums, range, x);
  if (s != HU_OK || n == 0) return s;
  run_start(&r, n, sums, range);
  r.other = x;
  r.one = merge_one;
  run_all(&r, exec, NULL);
  return HU_OK;
}

hu_status hu_sum_round_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const uint64_t *sums, hu_sum_range range,
                         hu_mode mode, const hu_exec *exec, hu_events *events) {
  run r;
  hu_sum_codes codes = {z, incz, fz};
  hu_status s = hui_sum_check_round(n, &codes, sums, range, mode);
  if (s != HU_OK || n == 0) return s;
  run_start(&r, n, (uint64_t *)(uintptr_t)sums, range); /* read only */
  r.z = z;
  r.spec = hui_spec_of(fz, mode);
  r.z_step = incz * (ptrdiff_t)r.spec.code_bytes;
  r.stream = hui_exec_stream(exec);
  r.one = round_one;
  run_all(&r, exec, events);
  return HU_OK;
}
