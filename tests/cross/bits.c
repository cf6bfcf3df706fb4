/* SPDX-License-Identifier: MIT */
/* One line a format, an elementary function, an accumulation model, a number system, a scaled format, ...: digests
 * (FNV-1a, 64 bits) of array calls in every mode and of small products, events included. Built by several compilers for
 * several machines, it must print the same lines (machines.py), and at every level of vector instructions that a
 * machine has.
 *
 *   bits --levels                the names of the levels, a line each
 *   bits [LEVEL] [--every N]     the digests at that level, without a name at the best one; of every N cases the first,
 *                                whose numbers are others than in a run of all */
#include "tests/cross/bits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/levels.h"

enum { N = 1500, M = 9, K = 37 };

static uint64_t state = 1;
static uint32_t every = 1;
uint32_t bits_off;

int bits_chosen(void) {
  static uint32_t count;
  return count++ % every == 0;
}

uint64_t bits_next(void) {
  uint64_t z = (state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

void bits_codes(void *z, size_t n, size_t size, uint32_t width) {
  for (size_t i = 0; i < n; i++) {
    uint32_t code = (uint32_t)(bits_next() & (((uint64_t)1 << width) - 1));
    if (size == 1) ((uint8_t *)z)[i] = (uint8_t)code;
    if (size == 2) ((uint16_t *)z)[i] = (uint16_t)code;
    if (size == 4) ((uint32_t *)z)[i] = code;
  }
}

uint64_t bits_digest(uint64_t h, const void *data, size_t size) {
  const uint8_t *p = data;
  for (size_t i = 0; i < size; i++) h = (h ^ p[i]) * 0x100000001B3u;
  return h;
}

void bits_print(const char *what, const char *name, uint64_t h) { printf("%s %s %016" PRIx64 "\n", what, name, h); }

/* Patterns about the bottom of the format, over its range, and anything. */
static void draw(float *x, size_t n, hu_limits limits) {
  for (size_t i = 0; i < n; i++) {
    uint64_t r = bits_next();
    int32_t field =
        127 + (r >> 33 & 1 ? limits.emin - 9 + (int32_t)(r >> 34) % 12 : limits.emin + (int32_t)(r >> 34) % 40);
    uint32_t u = (uint32_t)r;
    if (r >> 32 & 1) u = (u & 0x807FFFFF) | (uint32_t)(field < 0 ? 0 : field > 254 ? 254 : field) << 23;
    memcpy(x + i, &u, sizeof u);
  }
}

static int conversions(uint64_t *h, hu_format format, int fits) {
  static float x[N], z[N];
  static uint32_t codes[N];
  hu_limits limits = hu_limits_of(format);
  draw(x, N, limits);
  for (int round = 0; round < HU_ROUND_COUNT; round++) {
    hu_mode mode = {0};
    hu_exec exec = {0};
    hu_events events = {0};
    mode.round = (uint8_t)round;
    mode.bits = (uint8_t)(round >= HU_SRA ? 1 + bits_next() % 32 : 0);
    exec.levels_off = bits_off;
    exec.stream.key = bits_next();
    exec.stream.counter = bits_next();
    if (hu_encode_n(N, codes, 1, x, 1, format, mode, &exec, &events) != HU_OK) return 0;
    *h = bits_digest(*h, codes, (size_t)N * limits.storage / 8);
    if (fits && hu_quantize_n(N, z, 1, x, 1, format, mode, &exec, &events) != HU_OK) return 0;
    if (fits) *h = bits_digest(*h, z, sizeof z);
    *h = bits_digest(*h, &events, sizeof events);
  }
  return 1;
}

static int products(uint64_t *h, hu_format format, int fits) {
  static uint32_t a[M * K], b[K * M], d[M * M];
  hu_limits limits = hu_limits_of(format);
  hu_view oa = hu_matrix_codes(a, K, format), ob = hu_matrix_codes(b, M, format);
  hu_output od = hu_matrix_codes_out(d, M, format);
  bits_codes(a, M * K, limits.storage / 8, limits.width);
  bits_codes(b, K * M, limits.storage / 8, limits.width);
  for (uint32_t kind = HU_ACCUM_EXACT; kind <= HU_ACCUM_FP32; kind++) {
    hu_accum accum;
    hu_mode mode = {0};
    hu_exec exec = {0};
    hu_events events = {0};
    exec.levels_off = bits_off;
    memset(&accum, 0, sizeof accum);
    accum.kind = kind;
    mode.round = (uint8_t)(bits_next() % HU_SRA);
    if (kind == HU_ACCUM_FP32 && !fits) continue;
    if (hu_gemm(M, M, K, &od, &oa, &ob, NULL, &accum, &(hu_how){mode, &exec, &events}) != HU_OK) return 0;
    *h = bits_digest(bits_digest(*h, d, (size_t)M * M * limits.storage / 8), &events, sizeof events);
  }
  return 1;
}

/* ---- elementary functions ---- */

/* Every 53rd code of binary16 and of bfloat16. */
static int call_function(int op) {
  static uint16_t x[N], z[N];
  uint64_t h = BITS_START;
  for (int round = 0; round < HU_ROUND_COUNT; round++) {
    hu_format fx = round & 1 ? hu_bfloat16() : hu_binary16();
    hu_mode mode = {0};
    hu_exec exec = {0};
    hu_events events = {0};
    size_t n = 65536 / 53;
    mode.round = (uint8_t)round;
    mode.bits = (uint8_t)(round >= HU_SRA ? 11 : 0);
    exec.levels_off = bits_off;
    exec.stream.key = bits_next();
    for (size_t i = 0; i < n; i++) x[i] = (uint16_t)(53 * i + bits_next() % 53);
    hu_view view = hu_codes(x, 1, fx);
    hu_how how = hu_how_of(mode, &exec, &events);
    hu_output to = hu_codes_out(z, 1, hu_binary16());
    if (hu_apply(op, n, &to, &view, &how) != HU_OK) return 0;
    h = bits_digest(bits_digest(h, z, n * sizeof *z), &events, sizeof events);
  }
  printf("%s %016" PRIx64 "\n", hu_operation_at((size_t)op).name, h);
  return 1;
}

static int functions(void) {
  for (int op = HU_OP_FUNCTION; op < HU_OP_POW; op++)
    if (bits_chosen() && !call_function(op)) return 0;
  return 1;
}

/* ---- accumulation models ---- */

static int call_model(const char *text, const char *fa, const char *fd) {
  enum { SIDE = 20, DEPTH = 100 };
  static uint32_t a[SIDE * DEPTH], b[DEPTH * SIDE], d[SIDE * SIDE];
  hu_accum accum;
  hu_format format, fz;
  size_t where;
  hu_mode mode = {0};
  hu_exec exec = {0};
  hu_events events = {0};
  if (hu_accum_parse(&accum, text, &where) != HU_OK) return 0;
  if (hu_format_find(&format, fa) != HU_OK || hu_format_find(&fz, fd) != HU_OK) return 0;
  hu_limits limits = hu_limits_of(format);
  for (size_t i = 0; i < SIDE * DEPTH; i++) {
    uint32_t code[2] = {(uint32_t)bits_next() & (limits.sign_mask * 2 - 1),
                        (uint32_t)bits_next() & (limits.sign_mask * 2 - 1)};
    /* Most of them finite, so that sums are not all NaN. */
    for (int k = 0; k < 2; k++)
      if ((code[k] & (limits.sign_mask - 1)) > limits.max_code - limits.max_code / 8) code[k] -= limits.max_code / 4;
    if (limits.storage == 8) ((uint8_t *)a)[i] = (uint8_t)code[0], ((uint8_t *)b)[i] = (uint8_t)code[1];
    if (limits.storage == 16) ((uint16_t *)a)[i] = (uint16_t)code[0], ((uint16_t *)b)[i] = (uint16_t)code[1];
    if (limits.storage == 32) a[i] = code[0], b[i] = code[1];
  }
  hu_view oa = hu_matrix_codes(a, DEPTH, format), ob = hu_matrix_codes(b, SIDE, format);
  hu_output od = hu_matrix_codes_out(d, SIDE, fz);
  exec.levels_off = bits_off;
  exec.stream.key = bits_next();
  if (hu_gemm(SIDE, SIDE, DEPTH, &od, &oa, &ob, NULL, &accum, &(hu_how){mode, &exec, &events}) != HU_OK) return 0;
  uint64_t h = bits_digest(BITS_START, d, (size_t)SIDE * SIDE * hu_limits_of(fz).storage / 8);
  printf("%s %016" PRIx64 "\n", text, bits_digest(h, &events, sizeof events));
  return 1;
}

static int models(void) {
  static const char *const rows[][3] = {
      {"seq(bfloat16)", "bfloat16", "bfloat16"},
      {"seq(binary16)", "binary16", "binary16"},
      {"seq(binary16,rto)", "float8_e4m3fn", "binary16"},
      {"seq(bfloat16,sra:8)", "float8_e5m2", "bfloat16"},
      {"seq2(binary16,rtz)", "float8_e4m3fn", "binary16"},
      {"chunk(64,fp(6,9,0),fp(6,9,0))", "float8_e5m2", "binary32"},
      {"kahan(bfloat16)", "bfloat16", "bfloat16"},
      {"neumaier(binary16)", "float8_e4m3fn", "binary16"},
      {"pairwise(bfloat16)", "bfloat16", "bfloat16"},
      {"promote(32,nv.hopper.e4m3.f32.wgmma,binary32)", "float8_e4m3fn", "binary32"},
      {"nv.volta.f16.f32", "binary16", "binary32"},
      {"nv.ampere.tf32.f32", "binary32", "binary32"},
      {"amd.cdna1.bf16", "bfloat16", "binary32"},
      {"amd.cdna3.fp8", "float8_e4m3fnuz", "binary32"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (bits_chosen() && !call_model(rows[i][0], rows[i][1], rows[i][2])) return 0;
  return 1;
}

/* The best level is this one from here on; 0: there is none of that name. */
static int choose_level(const char *name) {
  for (size_t i = 0; i < t_levels(); i++) {
    if (strcmp(t_level_name(i), name) != 0) continue;
    bits_off = t_levels_off(i);
    return 1;
  }
  return 0;
}

/* The core alone is for tests on this machine: it is slow. */
static int list_levels(void) {
  for (size_t i = 0; i + 1 < t_levels(); i++) printf("%s\n", t_level_name(i));
  return 0;
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "--levels") == 0) return list_levels();
  if (argc > 2 && strcmp(argv[argc - 2], "--every") == 0) {
    every = (uint32_t)strtoul(argv[argc - 1], NULL, 10);
    argc -= 2;
  }
  if (every == 0 || argc > 2 || (argc > 1 && !choose_level(argv[1]))) return 1;
  for (size_t i = 0; i < hu_format_count(); i++) {
    if (!bits_chosen()) continue;
    hu_format_entry named = hu_format_at(i);
    uint64_t h = BITS_START;
    int fits = hu_format_fits_binary32(named.format);
    if (!conversions(&h, named.format, fits) || !products(&h, named.format, fits)) return 1;
    printf("%s %016" PRIx64 "\n", named.id, h);
  }
  return functions() && models() && bits_arrays() && bits_products() && bits_scaled() ? 0 : 1;
}
