/* SPDX-License-Identifier: MIT */
/* What one call costs that computes one value: the calls of scalar.h and arith.h beside the functions of core.h, in
 * nanoseconds, single thread; what an array call of 16 elements costs; and what a dot product of a matrix instruction
 * costs, element by element (hu_dot) and as one product of its tile (hu_gemm). Built a second time on the two files,
 * without core.h: bench_value_two_files.
 *
 *   bench_value [--rounds 9] [--csv]
 *
 * Operands: 1024 codes each, numbers from 1/2 to 4 of either sign. Calls do not wait for each other's results. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HU_USE_ONE_FILE
#include "halfulp.h"
enum { COLUMNS = 1 };
#else
#include "halfulp/core.h"
#include "halfulp/halfulp.h"
enum { COLUMNS = 2 };
#endif

#include "bench/table.h"
#include "files/timing.h"

enum { COUNT = 1024, REPEAT = 100 };

typedef struct job {
  hu_format in, out; /* fma: in x in + out -> out; others: in -> out */
  hu_mode mode;
  uint32_t a[COUNT], b[COUNT], c[COUNT], sum;
  uint8_t codes[COUNT]; /* the lowest digits of a: codes where `in` has 8 */
  float x[COUNT], z[COUNT];
} job;

#define EACH(name, expression)                            \
  static void name(void *context) {                       \
    job *work = context;                                  \
    uint32_t events, sum = 0;                             \
    (void)events;                                         \
    for (size_t i = 0; i < COUNT; i++) sum += expression; \
    work->sum += sum;                                     \
  }

EACH(call_encode, hu_encode(work->out, work->mode, work->x[i], 0, &events))
EACH(call_decode, (uint32_t)(int32_t)hu_decode(work->in, work->a[i]))
EACH(call_quantize, (uint32_t)(int32_t)hu_quantize(work->out, work->mode, work->x[i], 0, &events))
EACH(call_convert, hu_convert(work->out, work->mode, work->in, work->a[i], 0, &events))
EACH(call_add, hu_add(work->out, work->mode, work->in, work->a[i], work->in, work->b[i], 0, &events))
EACH(call_mul, hu_mul(work->out, work->mode, work->in, work->a[i], work->in, work->b[i], 0, &events))
EACH(call_div, hu_div(work->out, work->mode, work->in, work->a[i], work->in, work->b[i], 0, &events))
EACH(call_sqrt, hu_sqrt(work->out, work->mode, work->in, work->a[i] & 0x7fff, 0, &events))
EACH(call_fma,
     hu_fma(work->out, work->mode, work->in, work->a[i], work->in, work->b[i], work->out, work->c[i], 0, &events))

/* Arrays of FEW, in COUNT calls. */
enum { FEW = 16 };
#define FROM(array) (work->array + i % (COUNT / FEW) * FEW)
EACH(call_quantize_n, (uint32_t)hu_quantize_n(FEW, work->z, 1, FROM(x), 1, work->out, work->mode, NULL, NULL))
EACH(call_encode_n, (uint32_t)hu_encode_n(FEW, work->z, 1, FROM(x), 1, work->out, work->mode, NULL, NULL))
EACH(call_decode_n, (uint32_t)hu_decode_n(FEW, work->z, 1, FROM(codes), 1, work->in, NULL))

#ifdef HU_USE_ONE_FILE
#define CORE(name) NULL
#else
/* Defines COUNT calls of a core function, for which the formats are unfolded once. */
#define EACH_CORE(name, expression)                                                         \
  static void name(void *context) {                                                         \
    job *work = context;                                                                    \
    hu_core in = hu_core_of(work->in, work->mode), out = hu_core_of(work->out, work->mode); \
    uint32_t events, sum = 0;                                                               \
    (void)in, (void)out, (void)events;                                                      \
    for (size_t i = 0; i < COUNT; i++) sum += expression;                                   \
    work->sum += sum;                                                                       \
  }
#define CORE(name) name
EACH_CORE(core_encode, hu_core_encode(&out, work->x[i], 0, &events))
EACH_CORE(core_quantize, (uint32_t)(int32_t)hu_core_quantize(&out, work->x[i], 0, &events))
EACH_CORE(core_decode, (uint32_t)(int32_t)hu_core_decode(&in, work->a[i]))
EACH_CORE(core_convert, hu_core_convert(&out, &in, work->a[i], 0, &events))
EACH_CORE(core_add, hu_core_add(&out, &in, work->a[i], &in, work->b[i], 0, &events))
EACH_CORE(core_mul, hu_core_mul(&out, &in, work->a[i], &in, work->b[i], 0, &events))
EACH_CORE(core_div, hu_core_div(&out, &in, work->a[i], &in, work->b[i], 0, &events))
EACH_CORE(core_sqrt, hu_core_sqrt(&out, &in, work->a[i] & 0x7fff, 0, &events))
EACH_CORE(core_fma, hu_core_fma(&out, &in, work->a[i], &in, work->b[i], &out, work->c[i], 0, &events))
#endif

static const struct {
  const char *name, *in, *out;
  void (*call[2])(void *);
} rows[] = {
    {"encode", "binary32", "float8_e4m3fn", {call_encode, CORE(core_encode)}},
    {"quantize", "binary32", "float8_e4m3fn", {call_quantize, CORE(core_quantize)}},
    {"decode", "float8_e4m3fn", "binary32", {call_decode, CORE(core_decode)}},
    {"convert", "binary16", "binary32", {call_convert, CORE(core_convert)}},
    {"convert", "bfloat16", "float8_e4m3fn", {call_convert, CORE(core_convert)}},
    {"add", "binary16", "binary16", {call_add, CORE(core_add)}},
    {"mul", "binary16", "binary16", {call_mul, CORE(core_mul)}},
    {"mul", "float8_e4m3fn", "float8_e4m3fn", {call_mul, CORE(core_mul)}},
    {"div", "binary32", "binary32", {call_div, CORE(core_div)}},
    {"sqrt", "binary16", "binary16", {call_sqrt, CORE(core_sqrt)}},
    {"fma", "float8_e4m3fn", "binary16", {call_fma, CORE(core_fma)}},
    {"fma", "binary16", "binary16", {call_fma, CORE(core_fma)}},
    {"fma", "bfloat16", "bfloat16", {call_fma, CORE(core_fma)}},
    {"fma", "binary32", "binary32", {call_fma, CORE(core_fma)}},
    {"quantize_n of 16", "binary32", "float8_e4m3fn", {call_quantize_n, NULL}},
    {"encode_n of 16", "binary32", "float8_e4m3fn", {call_encode_n, NULL}},
    {"decode_n of 16", "float8_e4m3fn", "binary32", {call_decode_n, NULL}},
};

/* One instruction: D = A B, 16 x 16 results of 8 or 16 products each, codes of binary16, sums in binary32. */
enum { SIDE = 16 };
static const size_t depths[] = {8, 16};
static const char *const models[] = {"fp32", "block(tree,l=2)", "nv.volta.f16.f32", "nv.hopper.f16.f32"};
typedef struct instruction {
  uint16_t a[SIDE * SIDE], b[SIDE * SIDE];
  float d[SIDE * SIDE];
  size_t depth; /* products of a result */
  hu_accum model;
  hu_status status;
} instruction;

static void by_element(void *context) {
  instruction *unit = context;
  for (size_t i = 0; i < SIDE * SIDE; i++) {
    hu_product x = hu_product_of_dot(unit->depth, hu_codes_out(unit->d + i, 1, hu_binary32()),
                                     hu_codes(unit->a + i / SIDE * unit->depth, 1, hu_binary16()),
                                     hu_codes(unit->b + i % SIDE, SIDE, hu_binary16()), &unit->model);
    hu_status status = hu_dot(&x, NULL);
    if (status != HU_OK) unit->status = status;
  }
}

static void by_tile(void *context) {
  instruction *unit = context;
  hu_view a = hu_matrix_codes(unit->a, unit->depth, hu_binary16()), b = hu_matrix_codes(unit->b, SIDE, hu_binary16());
  hu_output result = hu_matrix_floats_out(unit->d, SIDE);
  hu_status status = hu_gemm(SIDE, SIDE, unit->depth, &result, &a, &b, NULL, &unit->model, NULL);
  if (status != HU_OK) unit->status = status;
}

static float number(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  uint32_t random = (uint32_t)(*state >> 32);
  float x = 1 + (float)(random >> 9) * 0x1p-23f, scale = random & 1 ? 2.0f : random & 2 ? 1.0f : 0.5f;
  return random & 4 ? -x * scale : x * scale;
}

static int fill(job *work, const char *in, const char *out) {
  uint64_t state = 1;
  memset(work, 0, sizeof *work);
  if (hu_format_parse(&work->in, in, NULL) != HU_OK || hu_format_parse(&work->out, out, NULL) != HU_OK) return 0;
  for (size_t i = 0; i < COUNT; i++) {
    work->x[i] = number(&state);
    work->a[i] = hu_encode(work->in, work->mode, work->x[i], 0, NULL);
    work->b[i] = hu_encode(work->in, work->mode, number(&state), 0, NULL);
    work->codes[i] = (uint8_t)work->a[i];
    work->c[i] = hu_encode(work->out, work->mode, number(&state), 0, NULL);
  }
  return 1;
}

static void table_lines(size_t i, double call, double core) {
  char name[96];
  snprintf(name, sizeof name, "%s, %s to %s", rows[i].name, rows[i].in, rows[i].out);
  bench_table_line(name, "call", 1, "ns", call);
  if (rows[i].call[1]) bench_table_line(name, "core.h", 1, "ns", core);
}

static void print_instruction(const instruction *unit, const char *model, bench_pair times, int csv) {
  double dot = 1e9 * times.subject / (SIDE * SIDE), tile = 1e9 * times.reference / (SIDE * SIDE);
  char name[64];
  snprintf(name, sizeof name, "dot of %zu, %s", unit->depth, model);
  if (csv) {
    bench_table_line(name, "hu_dot", 1, "ns", dot);
    bench_table_line(name, "hu_gemm of 16 x 16", 1, "ns", tile);
  } else {
    printf("%-28s %12.0f  %12.0f\n", model, dot, tile);
  }
}

/* Prints nanoseconds per dot product; returns 0 if a call failed. */
static int print_instructions(int rounds, int csv) {
  static instruction unit;
  uint64_t state = 1;
  hu_mode rne = {0};
  for (size_t i = 0; i < SIDE * SIDE; i++) {
    unit.a[i] = (uint16_t)hu_encode(hu_binary16(), rne, number(&state), 0, NULL);
    unit.b[i] = (uint16_t)hu_encode(hu_binary16(), rne, number(&state), 0, NULL);
  }
  for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
    unit.depth = depths[i];
    if (!csv) printf("\ndot of %-2zu in a 16 x 16 tile     hu_dot, ns   hu_gemm, ns\n", unit.depth);
    for (size_t j = 0; j < sizeof models / sizeof *models; j++) {
      if (hu_accum_parse(&unit.model, models[j], NULL) != HU_OK) return 0;
      bench_pair times = bench_against(by_element, by_tile, &unit, rounds, 4);
      if (unit.status != HU_OK) return 0;
      print_instruction(&unit, models[j], times, csv);
    }
  }
  return 1;
}

int main(int argc, char **argv) {
  static job work;
  static volatile uint32_t sink;
  int csv = argc > 1 && !strcmp(argv[argc - 1], "--csv"), left = argc - csv;
  int rounds = left == 3 && !strcmp(argv[1], "--rounds") ? atoi(argv[2]) : left == 1 ? 9 : 0;
  if (rounds < 1) {
    fprintf(stderr, "usage: bench_value [--rounds N] [--csv]\n");
    return 2;
  }
  if (csv)
    bench_table_head();
  else
    printf("%-16s %-14s %-14s %8s%s\n", "call", "operands", "result", "call, ns", COLUMNS > 1 ? "  core.h, ns" : "");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (!fill(&work, rows[i].in, rows[i].out)) return 1;
    void (*reference)(void *) = rows[i].call[1] ? rows[i].call[1] : rows[i].call[0];
    bench_pair times = bench_against(rows[i].call[0], reference, &work, rounds, REPEAT);
    if (csv) {
      table_lines(i, 1e9 * times.subject / COUNT, 1e9 * times.reference / COUNT);
    } else {
      printf("%-16s %-14s %-14s %8.1f", rows[i].name, rows[i].in, rows[i].out, 1e9 * times.subject / COUNT);
      if (rows[i].call[1]) printf("  %10.1f", 1e9 * times.reference / COUNT);
      printf("\n");
    }
    sink = work.sum;
  }
  (void)sink;
  return print_instructions(rounds, csv) ? 0 : 1;
}
