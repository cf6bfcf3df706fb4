/* SPDX-License-Identifier: MIT */
/* hu_apply on codes of binary16, by the processor's operations on it: codes and events of the core (all levels off).
 * Where the processor has no such instructions, the lanes are compared alone; arith_half_modelled has them in plain
 * C. */
#include <string.h>

#include "halfulp/view.h"
#include "halfulp/gemm.h"
#include "halfulp/scalar.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

#ifdef TEST_MODELLED
#include "tests/gemm/modelled/halves.h"
#endif

enum { N = 3000, ROOM = 3 * N + 64, OPERATIONS = 6 };
static const int operations[OPERATIONS] = {HU_OP_ADD, HU_OP_SUB, HU_OP_MUL, HU_OP_DIV, HU_OP_SQRT, HU_OP_FMA};
static const uint32_t directions[] = {HU_RNE, HU_RTZ, HU_RTP, HU_RTN};

static uint16_t buffer[3][ROOM], got[ROOM], expected[ROOM];

typedef struct job {
  int op;
  size_t n;
  ptrdiff_t inc[4]; /* 3: of the result */
  int in_place;     /* the operand that the result takes the place of, or -1 */
  hu_format format[4];
  hu_mode mode;
} job;

static hu_format binary16(void) { return hu_format_ieee(5, 10, 0); }

static job plain_job(int op, uint32_t round, uint32_t tiny, size_t n) {
  job j;
  memset(&j, 0, sizeof j);
  j.op = op;
  j.n = n;
  j.in_place = -1;
  j.mode.round = (uint8_t)round;
  j.mode.tiny = (uint8_t)tiny;
  for (int i = 0; i < 4; i++) {
    j.inc[i] = 1;
    j.format[i] = binary16();
  }
  return j;
}

/* Element 0 of an array whose strides may be negative. */
static uint16_t *start(uint16_t *x, const job *j, ptrdiff_t inc) { return inc < 0 ? x + (ptrdiff_t)j->n * -inc : x; }

static hu_status call(const job *j, uint16_t *z, uint16_t *const *x, const hu_exec *exec, hu_events *events) {
  hu_view views[3];
  hu_how how = hu_how_of(j->mode, exec, events);
  for (int i = 0; i < 3; i++) views[i] = hu_codes(x[i], j->inc[i], j->format[i]);
  hu_output to = hu_codes_out(z, j->inc[3], j->format[3]);
  return hu_apply(j->op, j->n, &to, views, &how);
}

/* Into z, which is filled first; in place, the operand is a copy in z. */
static void run(const job *j, uint16_t *z, uint32_t threads, uint32_t off, hu_events *events) {
  hu_exec exec = {.threads = threads, .levels_off = off};
  uint16_t *x[3], *to;
  memset(z, 0x55, ROOM * sizeof *z);
  if (j->in_place >= 0) memcpy(z, buffer[j->in_place], ROOM * sizeof *z);
  for (int i = 0; i < 3; i++) x[i] = start(i == j->in_place ? z : buffer[i], j, j->inc[i]);
  to = start(z, j, j->inc[3]);
  memset(events, 0, sizeof *events);
  assert_int_equal(call(j, to, x, &exec, events), HU_OK);
}

static void same(const job *j) {
  hu_events a, b;
  run(j, expected, 1, UINT32_MAX, &a);
  for (uint32_t threads = 1; threads <= 3; threads += 2) {
    run(j, got, threads, 0, &b);
    for (size_t i = 0; i < ROOM; i++) {
      if (got[i] != expected[i])
        fail_msg("%s, mode %d, place %zu: %#x, core %#x", hu_operation_at((size_t)j->op).name, j->mode.round, i, got[i],
                 expected[i]);
    }
    if (memcmp(&a, &b, sizeof a)) {
      uint64_t got_counts[sizeof a / 8], core[sizeof a / 8];
      size_t e = 0;
      memcpy(got_counts, &b, sizeof b);
      memcpy(core, &a, sizeof a);
      while (got_counts[e] == core[e]) e++;
      fail_msg("%s, mode %d, tiny %d: counter %zu of hu_events is %llu, core %llu", hu_operation_at((size_t)j->op).name,
               j->mode.round, j->mode.tiny, e, (unsigned long long)got_counts[e], (unsigned long long)core[e]);
    }
  }
}

/* Any codes; or magnitudes of the exponent fields from `low` on, `width` of them. */
static uint16_t draw(t_random *random, uint32_t low, uint32_t width) {
  uint32_t u = t_next32(random);
  if (width == 0) return (uint16_t)u;
  uint32_t digits = t_below(random, 3) ? u & 0x3FF : t_below(random, 2) ? 0x3FF - (u & 7) : u & 0x380;
  return (uint16_t)((u >> 16 & 0x8000) | (low + t_below(random, width)) << 10 | digits);
}

static void fill(t_random *random, const uint32_t low[3], uint32_t width) {
  for (int k = 0; k < 3; k++) {
    for (size_t i = 0; i < ROOM; i++) buffer[k][i] = draw(random, low[k], width);
  }
}

/* Every code's root, in every mode. */
static void roots(void **state) {
  (void)state;
  for (uint32_t how = 0; how < 8; how++) {
    for (uint32_t code = 0; code < 0x10000; code += N) {
      job j = plain_job(HU_OP_SQRT, directions[how % 4], how / 4, N);
      for (size_t i = 0; i < N; i++) buffer[0][i] = (uint16_t)(code + i);
      same(&j);
    }
  }
}

/* Codes of all kinds; sums and products about 1, at the largest number, at the least normal one, and below it. */
static void operands(void **state) {
  (void)state;
  static const uint32_t fields[][3] = {{0, 0, 0},  {14, 14, 14}, {22, 22, 29}, {29, 15, 29}, {7, 7, 0},
                                       {1, 14, 1}, {0, 0, 0},    {4, 8, 0},    {1, 30, 0},   {12, 26, 10}};
  t_random random = {t_seed("arith half", 181)};
  for (int i = 0; i < 10; i++) {
    for (int op = 0; op < OPERATIONS; op++) {
      for (uint32_t how = 0; how < 8; how++) {
        job j = plain_job(operations[op], directions[how % 4], how / 4, N);
        fill(&random, fields[i], i ? 2 : 0);
        same(&j);
      }
    }
  }
}

/* Lengths that fill no vector, strides, results in the place of an operand. */
static void layouts(void **state) {
  (void)state;
  t_random random = {t_seed("arith half layouts", 182)};
  for (int i = 0; i < 120; i++) {
    const uint32_t low[3] = {10, 10, 10};
    job j = plain_job(operations[i % OPERATIONS], directions[t_below(&random, 4)], t_below(&random, 2),
                      t_below(&random, i % 3 ? 100 : N));
    fill(&random, low, i % 2 ? 16 : 0);
    for (int k = 0; k < 4; k++)
      j.inc[k] = t_below(&random, 2) ? 1 : k == 3 ? t_between(&random, 1, 3) : t_between(&random, -3, 3);
    if (t_below(&random, 4) == 0) j.inc[3] = -2;
    if (t_below(&random, 3) == 0) {
      j.in_place = 0;
      if (j.inc[0] == 0) j.inc[0] = 2;
      j.inc[3] = j.inc[0];
    }
    same(&j);
  }
}

/* Calls one field apart from what the instructions compute. */
static void neighbours(void **state) {
  (void)state;
  t_random random = {t_seed("arith half neighbours", 183)};
  const hu_format others[] = {hu_format_ieee(5, 9, 0), hu_format_ieee(8, 7, 0), hu_format_ieee(5, 10, 1)};
  for (int i = 0; i < 8 * OPERATIONS; i++) {
    const uint32_t low[3] = {7, 7, 7};
    job j = plain_job(operations[i % OPERATIONS], HU_RNE, 0, 300);
    fill(&random, low, i % 4 ? 0 : 3);
    switch (i / OPERATIONS) {
      case 0: j.format[3] = others[1]; break;
      case 1: j.format[0] = others[1]; break;
      case 2: j.format[3] = others[2]; break;
      case 3: j.mode.round = HU_RNA; break;
      case 4: j.mode.saturate = HU_SAT_FINITE; break;
      case 5: j.mode.nan_fma = 1; break;
      case 6: j.mode.round = HU_RTO; break;
      default:
        for (int k = 0; k < 4; k++) j.format[k] = others[0];
        for (int k = 0; k < 3; k++) {
          for (size_t e = 0; e < ROOM; e++) buffer[k][e] &= 0x7FFF;
        }
    }
    same(&j);
  }
}

#ifdef TEST_MODELLED
static void instructions_ran(void **state) {
  (void)state;
  assert_true(model_halves_operated() > 1000000 && model_halves_added() > 100000);
}
#define RAN , cmocka_unit_test(instructions_ran)
#else
#define RAN
#endif

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(roots), cmocka_unit_test(operands), cmocka_unit_test(layouts),
                                     cmocka_unit_test(neighbours) RAN};
  print_message("arith half: the instructions are %s\n", hu_levels() & HU_LEVEL_FP16 ? "there" : "not there");
  return cmocka_run_group_tests_name("arith half", tests, NULL, NULL);
}
