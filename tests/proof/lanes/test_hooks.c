/* SPDX-License-Identifier: MIT */
/* The hooks of the lanes are what the theorems suppose: each of them, on every level that this build has and this
 * processor runs, against the text of one_lane.h, and sums, differences, products and quotients of floats against the
 * core in each direction. Conversions for all operands (one in 61 without HU_EXHAUSTIVE), all else for edges and random
 * operands. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/float_env.h"
#include "emu/core/arith.h"
#include "emu/simd/of_level.h"
#include "hooks.h"

enum { N = 4096 };

static uint64_t state = 0x9E3779B97F4A7C15u;
static uint32_t drawn(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 32);
}

static int failures;
static void differs(const char *level, const char *name, uint32_t a, uint32_t b, uint32_t c, uint32_t z,
                    uint32_t right) {
  if (failures++ < 20) printf("%s: %s of %08x %08x %08x is %08x, not %08x\n", level, name, a, b, c, z, right);
}

/* Numbers near each other, edges, or anything. */
static uint32_t operand(void) {
  static const uint32_t edges[] = {0,          1,          0x7FFFFFFF, 0x80000000, 0x80000001,
                                   0xFFFFFFFF, 0x7F800000, 0x7F7FFFFF, 0x800000,   0x3F800000};
  uint32_t u = drawn();
  switch (u % 4) {
    case 0: return edges[drawn() % (sizeof edges / sizeof *edges)];
    case 1: return drawn() >> (drawn() % 32);
    default: return drawn();
  }
}

/* A float of the n lowest exponents around that of 1, now and then of any. */
static uint32_t a_float(void) {
  uint32_t u = drawn();
  if (u % 8 == 0) return operand();
  return (drawn() & 0x807FFFFF) | (127 - 16 + drawn() % 40) << 23;
}

static uint32_t a[N], b[N], c[N], z[N], right[N];

static void fill(uint32_t (*draw)(void)) {
  for (size_t i = 0; i < N; i++) {
    a[i] = draw();
    b[i] = drawn() % 4 ? draw() : a[i];
    c[i] = drawn() % 4 ? draw() : b[i];
  }
}

/* ---- lane by lane ---- */

static const char *const names[] = {
#define X(name, ...) #name,
    HOOKS(X) WHOLE_HOOKS(X) FLOAT_HOOKS(X)
#undef X
};

static void compare(const hooks *tried, int k) {
  memset(z, 0xA5, sizeof z);
  tried->of[k](N, z, a, b, c);
  for (size_t i = 0; i < N; i++)
    if (z[i] != right[i]) differs(tried->level, names[k], a[i], b[i], c[i], z[i], right[i]);
}

static void lane_hooks(const hooks *tried) {
  for (int turn = 0; turn < 50; turn++) {
    for (int k = 0; k < HOOK_any; k++) {
      fill(operand);
      if (k == HOOK_lane_uint) continue;
      hooks_plain.of[k](N, right, a, b, c);
      if (k == HOOK_count) { /* of a whole vector */
        for (size_t i = 0; i < N; i += tried->width) {
          uint32_t sum = 0;
          for (size_t j = 0; j < tried->width; j++) sum += right[i + j];
          for (size_t j = 0; j < tried->width; j++) right[i + j] = sum;
        }
      }
      compare(tried, k);
    }
  }
}

/* ---- whole vectors ---- */

static void whole_hooks(const hooks *tried) {
  for (int turn = 0; turn < 200; turn++) {
    for (int k = HOOK_any; k < HOOK_plus; k++) {
      fill(operand);
      if (turn % 2) { /* all lanes the same, but perhaps one of each vector */
        for (size_t i = 0; i < N; i++) {
          if (i % tried->width) a[i] = a[i - 1], b[i] = b[i - 1], c[i] = c[i - 1];
        }
        for (size_t i = drawn() % tried->width; turn % 4 == 1 && i < N; i += tried->width) a[i] = operand();
      }
      hooks_plain.of[k](N, right, a, b, c);
      for (size_t i = 0; i < N; i += tried->width) {
        uint32_t all = 1, some = 0, sum = 0;
        int32_t most = INT32_MIN;
        for (size_t j = i; j < i + tried->width; j++) {
          all &= right[j];
          some |= right[j];
          sum += right[j];
          if ((int32_t)right[j] > most) most = (int32_t)right[j];
        }
        uint32_t one = k == HOOK_lane_count ? sum : k == HOOK_largest ? (uint32_t)most : k >= HOOK_within ? all : some;
        for (size_t j = i; j < i + tried->width; j++) right[j] = one;
      }
      memset(z, 0xA5, sizeof z);
      tried->of[k](N, z, a, b, c);
      for (size_t i = 0; i < N; i++) { /* yes may be any number but 0 */
        uint32_t got = k == HOOK_lane_count || k == HOOK_largest ? z[i] : z[i] != 0;
        if (got != right[i]) differs(tried->level, names[k], a[i], b[i], c[i], z[i], right[i]);
      }
    }
  }
}

/* ---- floats ---- */

static uint32_t by_core(int k, uint8_t round, uint32_t x, uint32_t y) {
  static const uint32_t operations[] = {HU_OP_ADD, HU_OP_SUB, HU_OP_MUL, HU_OP_DIV};
  hu_mode mode;
  uint32_t events;
  memset(&mode, 0, sizeof mode);
  mode.round = round;
  hu_spec spec = hui_spec_of(hui_format_binary32(), mode);
  return hui_arith_one(&spec, operations[k - HOOK_plus], hui_unpack32(x), hui_unpack32(y),
                       hui_num_special(HU_KIND_ZERO, 0), 0, &events);
}

static void float_hooks(const hooks *tried) {
  static const uint8_t directions[] = {HU_RNE, HU_RTN, HU_RTP, HU_RTZ};
  for (int turn = 0; turn < 20; turn++) {
    for (int k = HOOK_plus; k < HOOK_COUNT; k++) {
      for (size_t d = 0; d < 4; d++) {
        fill(a_float);
        for (size_t i = 0; i < N; i++) right[i] = by_core(k, directions[d], a[i], b[i]);
        hu_float_env saved = hui_float_env_enter(hui_direction_of(directions[d]));
        tried->of[k](N, z, a, b, c);
        hui_float_env_leave(saved);
        for (size_t i = 0; i < N; i++) {
          int nan = (z[i] & 0x7FFFFFFF) > 0x7F800000 && (right[i] & 0x7FFFFFFF) > 0x7F800000;
          if (z[i] != right[i] && !nan) differs(tried->level, names[k], a[i], b[i], (uint32_t)d, z[i], right[i]);
        }
      }
    }
  }
}

/* ---- conversions, all operands ---- */

static void all_of(const hooks *tried, int k, uint64_t past, uint64_t step) {
  for (uint64_t first = 0; first < past; first += N * step) {
    for (size_t i = 0; i < N; i++) a[i] = (uint32_t)(first + i * step < past ? first + i * step : 0);
    hooks_plain.of[k](N, right, a, a, a);
    compare(tried, k);
  }
}

static void conversions(const hooks *tried) {
  memset(b, 0, sizeof b);
  memset(c, 0, sizeof c);
  all_of(tried, HOOK_lane_float, 0x1000000, 1);
  all_of(tried, HOOK_lane_uint, 0x4F800000, HU_EXHAUSTIVE ? 1 : 61); /* 0 <= v < 2^32 */
}

/* ---- loads and stores ---- */

static void memory(const hooks *tried) {
  uint8_t bytes[N];
  uint16_t halves[N];
  for (size_t i = 0; i < N; i++) {
    a[i] = drawn();
    bytes[i] = (uint8_t)a[i];
    halves[i] = (uint16_t)a[i];
    b[i] = c[i] = 0;
  }
  tried->load8(N, z, bytes);
  for (size_t i = 0; i < N; i++)
    if (z[i] != (a[i] & 0xFF)) differs(tried->level, "load8", a[i], 0, 0, z[i], a[i] & 0xFF);
  tried->load16(N, z, halves);
  for (size_t i = 0; i < N; i++)
    if (z[i] != (a[i] & 0xFFFF)) differs(tried->level, "load16", a[i], 0, 0, z[i], a[i] & 0xFFFF);
  memset(bytes, 0, sizeof bytes);
  memset(halves, 0, sizeof halves);
  tried->store8(N, bytes, a);
  tried->store16(N, halves, a);
  for (size_t i = 0; i < N; i++) {
    if (bytes[i] != (uint8_t)a[i]) differs(tried->level, "store8", a[i], 0, 0, bytes[i], a[i] & 0xFF);
    if (halves[i] != (uint16_t)a[i]) differs(tried->level, "store16", a[i], 0, 0, halves[i], a[i] & 0xFFFF);
  }
  for (size_t n = 0; n < tried->width; n++) {
    memset(z, 0xA5, sizeof z);
    tried->few(n, z, a);
    for (size_t i = 0; i < 32; i++) {
      uint32_t want = i < n ? a[i] : 0xA5A5A5A5;
      if (z[i] != want) differs(tried->level, "few", (uint32_t)n, (uint32_t)i, 0, z[i], want);
    }
  }
}

static void level(const hooks *tried) {
  int before = failures;
  lane_hooks(tried);
  whole_hooks(tried);
  float_hooks(tried);
  conversions(tried);
  memory(tried);
  printf("%s, %zu lanes: %d hooks, %d differences\n", tried->level, tried->width, HOOK_COUNT + 5, failures - before);
}

static void instructions(void) {
#define ROW(name, x86, x512, neon) printf("  %-16s %-28s %-24s %s\n", name, x86, x512, neon);
  ROW("hook", "AVX2 (SSE2)", "AVX-512", "NEON")
#define X(name, text, kind, x86, x512, neon) ROW(#name, x86, x512, neon)
  HOOKS(X)
#undef X
#define X(name, text, x86, x512, neon) ROW(#name, x86, x512, neon)
  WHOLE_HOOKS(X) FLOAT_HOOKS(X)
#undef X
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "--table") == 0) {
    instructions();
    return 0;
  }
#define LEVEL(suffix)                                              \
  if (HU_RUNS_##suffix) {                                          \
    level(&hooks_##suffix);                                        \
  } else {                                                         \
    printf(#suffix ": left out, this processor has not got it\n"); \
  }
  HU_EACH_LEVEL(LEVEL)
  return failures != 0;
}
