/* SPDX-License-Identifier: MIT */
/* One line a format: digests (FNV-1a, 64 bits) of array calls in every mode and of small products, events included.
 * Built by several compilers for several machines, it must print the same lines (machines.py). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "halfulp/halfulp.h"

enum { N = 1500, M = 9, K = 37 };

static uint64_t state = 1;

static uint64_t next(void) {
  uint64_t z = (state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

static uint64_t digest(uint64_t h, const void *data, size_t size) {
  const uint8_t *p = data;
  for (size_t i = 0; i < size; i++) h = (h ^ p[i]) * 0x100000001B3u;
  return h;
}

/* Patterns about the bottom of the format, over its range, and anything. */
static void draw(float *x, size_t n, hu_limits l) {
  for (size_t i = 0; i < n; i++) {
    uint64_t r = next();
    int32_t field = 127 + (r >> 33 & 1 ? l.emin - 9 + (int32_t)(r >> 34) % 12 : l.emin + (int32_t)(r >> 34) % 40);
    uint32_t u = (uint32_t)r;
    if (r >> 32 & 1) u = (u & 0x807FFFFF) | (uint32_t)(field < 0 ? 0 : field > 254 ? 254 : field) << 23;
    memcpy(x + i, &u, sizeof u);
  }
}

static int conversions(uint64_t *h, hu_format f, int fits) {
  static float x[N], z[N];
  static uint32_t codes[N];
  hu_limits l = hu_format_limits(f);
  draw(x, N, l);
  for (int round = 0; round < HU_ROUND_COUNT; round++) {
    hu_mode mode = {0};
    hu_exec exec = {0};
    hu_events events = {0};
    mode.round = (uint8_t)round;
    mode.bits = (uint8_t)(round >= HU_SRA ? 1 + next() % 32 : 0);
    exec.stream.key = next();
    exec.stream.counter = next();
    if (hu_encode_n(N, codes, 1, x, 1, f, mode, &exec, &events) != HU_OK) return 0;
    *h = digest(*h, codes, (size_t)N * l.storage / 8);
    if (fits && hu_quantize_n(N, z, 1, x, 1, f, mode, &exec, &events) != HU_OK) return 0;
    if (fits) *h = digest(*h, z, sizeof z);
    *h = digest(*h, &events, sizeof events);
  }
  return 1;
}

static int products(uint64_t *h, hu_format f, int fits) {
  static uint32_t a[M * K], b[K * M], d[M * M];
  hu_limits l = hu_format_limits(f);
  hu_operand oa = {a, K, f, HU_CODES, 0}, ob = {b, M, f, HU_CODES, 0};
  hu_result od = {d, M, f, HU_CODES};
  for (size_t i = 0; i < sizeof a; i++) {
    ((uint8_t *)a)[i] = (uint8_t)next();
    ((uint8_t *)b)[i] = (uint8_t)next();
  }
  for (uint32_t kind = HU_ACCUM_EXACT; kind <= HU_ACCUM_FP32; kind++) {
    hu_accum accum;
    hu_mode mode = {0};
    hu_events events = {0};
    memset(&accum, 0, sizeof accum);
    accum.kind = kind;
    mode.round = (uint8_t)(next() % HU_SRA);
    if (kind == HU_ACCUM_FP32 && !fits) continue;
    if (hu_gemm(M, M, K, &od, &oa, &ob, NULL, &accum, mode, NULL, &events) != HU_OK) return 0;
    *h = digest(digest(*h, d, (size_t)M * M * l.storage / 8), &events, sizeof events);
  }
  return 1;
}

int main(void) {
  for (size_t i = 0; i < hu_format_count(); i++) {
    hu_format_entry named = hu_format_at(i);
    uint64_t h = 0xCBF29CE484222325u;
    int fits = hu_format_fits_binary32(named.format);
    if (!conversions(&h, named.format, fits) || !products(&h, named.format, fits)) return 1;
    printf("%s %016" PRIx64 "\n", named.id, h);
  }
  return 0;
}
