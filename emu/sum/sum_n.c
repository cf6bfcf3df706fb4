/* SPDX-License-Identifier: MIT */
/* Arrays of sums, each of its terms and as many words as the array's range has. */
#include "emu/base/codes.h"
#include "emu/base/device_calls.h"
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

typedef struct sum_call {
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
  void (*one)(const struct sum_call *call, size_t i, hu_events *counts);
  void (*some)(const struct sum_call *call, size_t first,
               size_t past); /* NULL, or what does the same for all of a part */
  hu_events counts[HU_THREADS_MAX];
} sum_call;

static hu_num value_at(const operand *x, size_t i) {
  const uint8_t *at = x->data + (ptrdiff_t)i * x->step;
  return hui_unpack(&x->spec, hui_load_code(at, x->spec.code_bytes));
}

static uint64_t *sum_at(const sum_call *call, size_t i) { return call->sums + i * (1 + call->range.words); }

/* Adds term i; returns its bit. */
static uint32_t add_term(uint64_t *word, int32_t words, int32_t low, const operand *x, int operands, size_t i) {
  hu_num a = value_at(&x[0], i);
  return hui_sum_add_term(word, words, low, operands, a, operands > 1 ? value_at(&x[1], i) : a);
}

static void add_one(const sum_call *call, size_t i, hu_events *counts) {
  uint64_t *sum = sum_at(call, i);
  (void)counts;
  sum[0] |= add_term(sum + 1, (int32_t)call->range.words, call->range.low, call->x, call->operands, i);
}

/* What is not finite. */
static uint32_t special_bit(uint32_t bits) {
  if (bits << 9) return HU_SUM_NAN;
  return bits >> 31 ? HU_SUM_MINUS_INFINITY : HU_SUM_PLUS_INFINITY;
}

/* Adds 1 or -1 in the given word. */
static void carry_on(uint64_t *sum, uint32_t words, uint32_t word, int64_t by) {
  for (; by && word <= words; word++) {
    uint64_t old = sum[word];
    sum[word] = old + (uint64_t)by;
    by = by > 0 ? sum[word] == 0 : -(int64_t)(old == 0);
  }
}

/* What add_one adds for binary32, without a record of the number and with few branches: its bits are the digits, its
 * exponent their place. They lie in two words at most, behind which there is another one, as a range has 64 digits
 * above its numbers. A negative one is its two's complement: the two words, and -1 in what is above. */
static void add_bits(uint64_t *sum, uint32_t words, int32_t low, uint32_t bits) {
  uint32_t exponent = bits >> 23 & 0xFF, sign = bits >> 31, normal = exponent != 0;
  if (exponent == 0xFF) {
    sum[0] |= special_bit(bits);
    return;
  }
  uint32_t at = exponent - normal + (uint32_t)(-149 - low), up = at % 64, word = at / 64 + 1;
  uint64_t digits = (bits & 0x7FFFFF) | normal << 23, part = digits << up, above = digits >> 1 >> (63 - up);
  uint64_t minus = sign & (digits != 0), mask = 0 - minus, lo = (part ^ mask) + minus;
  uint64_t hi = (above ^ mask) + (minus & (lo == 0));
  sum[0] |= digits ? HU_SUM_NUMBER : (uint32_t)HU_SUM_PLUS_ZERO << sign;
  sum[word] += lo;
  uint64_t carry = sum[word] < lo, high = sum[word + 1] + hi, whole = high + carry;
  sum[word + 1] = whole;
  carry_on(sum, words, word + 2, (int64_t)((uint64_t)(high < hi) + (uint64_t)(whole < high) + mask));
}

static void add_binary32(const sum_call *call, size_t first, size_t past) {
  for (size_t i = first; i < past; i++) {
    uint32_t bits;
    memcpy(&bits, call->x[0].data + (ptrdiff_t)i * call->x[0].step, sizeof bits);
    add_bits(sum_at(call, i), call->range.words, call->range.low, bits);
  }
}

static void merge_one(const sum_call *call, size_t i, hu_events *counts) {
  uint64_t *sum = sum_at(call, i);
  const uint64_t *x = call->other + i * (1 + call->range.words);
  (void)counts;
  sum[0] |= x[0];
  hui_digits_merge(sum + 1, (int32_t)call->range.words, x + 1);
}

static void round_one(const sum_call *call, size_t i, hu_events *counts) {
  const uint64_t *sum = sum_at(call, i);
  uint32_t set, stochastic = call->spec.round >= HU_SRA;
  uint32_t random =
      stochastic ? hui_stream_at(call->stream.key, call->stream.counter + i) >> (32 - call->spec.bits) : 0;
  uint32_t code = hui_digits_round(&call->spec, sum + 1, (int32_t)call->range.words, call->range.low, (uint32_t)sum[0],
                                   random, &set);
  hui_store_code(call->z + (ptrdiff_t)i * call->z_step, call->spec.code_bytes, code);
  hu_events_count(counts, set);
}

static void run_part(void *context, size_t part) {
  sum_call *call = context;
  size_t first = part * call->part, past = first + hui_least(call->n - first, call->part);
  if (call->some) {
    call->some(call, first, past);
    return;
  }
  for (size_t i = first; i < past; i++) call->one(call, i, &call->counts[part]);
}

static void run_all(sum_call *call, const hu_exec *exec, hu_events *events) {
  uint32_t threads = hui_exec_threads(exec);
  call->part = hui_part_size(call->n, threads, PART_MIN);
  size_t parts = hui_parts(call->n, call->part);
  memset(call->counts, 0, parts * sizeof call->counts[0]);
  hui_parallel(threads, parts, run_part, call);
  for (size_t i = 0; events && i < parts; i++) hu_events_add(events, &call->counts[i]);
}

/* ---- calls ---- */

static operand operand_of(const hu_view *x) {
  operand z = {x->data, 0, hui_sum_spec(x->type.format)};
  z.step = x->stride * (ptrdiff_t)z.spec.code_bytes;
  return z;
}

static hu_status check_codes(size_t n, const hu_view *x, int operands, const hu_exec *exec) {
  hu_status status = HU_OK;
  for (int k = 0; k < operands && status == HU_OK; k++)
    status = hui_code_array_check(n, x[k].data, x[k].stride, x[k].type.format, hui_exec_threads(exec));
  return status;
}

static hu_status add_total(hu_sum *sum, size_t n, const hu_view *x, int operands, const hu_exec *exec) {
  if (hui_is_elsewhere(exec)) return HUI_THERE(exec, sum_total, (sum, n, x, operands, exec));
  operand terms[2];
  hu_status status = hui_sum_check_total(sum, n, x, operands);
  if (status == HU_OK) status = check_codes(n, x, operands, NULL);
  if (status != HU_OK) return status;
  for (int k = 0; k < operands; k++) terms[k] = operand_of(&x[k]);
  for (size_t i = 0; i < n; i++) sum->terms |= add_term(sum->word, HU_SUM_WORDS, HU_SUM_LOW, terms, operands, i);
  return HU_OK;
}

static hu_view as_codes(hu_view x) {
  x.type = hui_codes_type(&x.type);
  return x;
}

hu_status hu_sum_add_all(hu_sum *sum, size_t n, hu_view x, const hu_exec *exec) {
  const hu_view one = as_codes(x);
  return add_total(sum, n, &one, 1, exec);
}

hu_status hu_sum_add_dot(hu_sum *sum, size_t n, hu_view a, hu_view b, const hu_exec *exec) {
  const hu_view both[2] = {as_codes(a), as_codes(b)};
  return add_total(sum, n, both, 2, exec);
}

/* n >= 1 */
static void run_start(sum_call *call, size_t n, uint64_t *sums, hu_sum_range range) {
  memset(call, 0, offsetof(sum_call, counts));
  call->n = n;
  call->sums = sums;
  call->range = range;
}

static hu_status add_arrays(size_t n, uint64_t *sums, hu_sum_range range, const hu_view *x, int operands,
                            const hu_exec *exec) {
  if (hui_is_elsewhere(exec)) return HUI_THERE(exec, sum_add, (n, sums, range, x, operands, exec));
  sum_call call;
  hu_status status = hui_sum_check_add(n, sums, range, x, operands);
  if (status == HU_OK) status = check_codes(n, x, operands, exec);
  if (status != HU_OK || n == 0) return status;
  run_start(&call, n, sums, range);
  call.operands = operands;
  for (int k = 0; k < operands; k++) call.x[k] = operand_of(&x[k]);
  call.one = add_one;
  int core = exec && ~exec->levels_off == 0;
  if (operands == 1 && hu_format_equal(x->type.format, hui_format_binary32()) && !core) call.some = add_binary32;
  run_all(&call, exec, NULL);
  return HU_OK;
}

hu_status hu_sum_add_n(size_t n, uint64_t *sums, hu_sum_range range, hu_view x, const hu_exec *exec) {
  const hu_view one = as_codes(x);
  return add_arrays(n, sums, range, &one, 1, exec);
}

hu_status hu_sum_add_product_n(size_t n, uint64_t *sums, hu_sum_range range, hu_view a, hu_view b,
                               const hu_exec *exec) {
  const hu_view both[2] = {as_codes(a), as_codes(b)};
  return add_arrays(n, sums, range, both, 2, exec);
}

hu_status hu_sum_merge_n(size_t n, uint64_t *sums, hu_sum_range range, const uint64_t *x, const hu_exec *exec) {
  if (hui_is_elsewhere(exec)) return HUI_THERE(exec, sum_merge_n, (n, sums, range, x, exec));
  sum_call call;
  hu_status status = hui_sum_check_merge(n, sums, range, x);
  if (status != HU_OK || n == 0) return status;
  run_start(&call, n, sums, range);
  call.other = x;
  call.one = merge_one;
  run_all(&call, exec, NULL);
  return HU_OK;
}

hu_status hu_sum_round_n(size_t n, hu_output z, const uint64_t *sums, hu_sum_range range, const hu_how *how) {
  const hu_how defaults = {{0}, NULL, NULL};
  if (!how) how = &defaults;
  z.type = hui_codes_type(&z.type);
  if (hui_is_elsewhere(how->exec)) return HUI_THERE(how->exec, sum_round_n, (n, z, sums, range, how));
  sum_call call;
  hu_status status = hui_sum_check_round(n, &z, sums, range, how->mode);
  if (status != HU_OK || n == 0) return status;
  run_start(&call, n, (uint64_t *)(uintptr_t)sums, range); /* read only */
  call.z = z.data;
  call.spec = hui_spec_of(z.type.format, how->mode);
  call.z_step = z.stride * (ptrdiff_t)call.spec.code_bytes;
  call.stream = hui_exec_stream(how->exec);
  call.one = round_one;
  run_all(&call, how->exec, how->events);
  return HU_OK;
}
