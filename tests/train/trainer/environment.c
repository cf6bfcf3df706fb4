/* SPDX-License-Identifier: MIT */
/* Environments of the caller's, and jobs in them: environment.h. */
#define _GNU_SOURCE /* feenableexcept */
#include "tests/support/levels.h"
#include "tests/train/trainer/environment.h"

#include <fenv.h>
#include <stdio.h>
#include <string.h>

#include "halfulp/array.h"
#include "tests/support/support.h"
#include "train/engine/cpu.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

void add_bytes(t_digest *digest, const void *bytes, size_t n) {
  const uint8_t *p = bytes;
  for (size_t i = 0; i < n; i++) digest->h = (digest->h ^ p[i]) * 0x100000001B3u;
}
void add_word(t_digest *digest, uint64_t x) { add_bytes(digest, &x, sizeof x); }
void add_text(t_digest *digest, const char *text) { add_bytes(digest, text, strlen(text) + 1); }

/* ---- numbers ---- */

float normal[COUNT], small[COUNT], wild[COUNT];

/* Exponent fields from `low` to `high`; every `special`-th one an infinity or a NaN. */
static void fill(float *x, uint64_t seed, int low, int high, size_t special) {
  t_random random = {seed};
  for (size_t i = 0; i < COUNT; i++) {
    uint32_t field = (uint32_t)t_between(&random, low, high), u = (t_next32(&random) & 0x807FFFFF) | field << 23;
    if (special && i % special == special - 1) u = i % 2 ? 0x7F800000 : 0xFFC00001;
    x[i] = t_float(u);
  }
}

void make_numbers(void) {
  fill(normal, 1, 120, 130, 0);
  fill(small, 2, 0, 4, 0);
  fill(wild, 3, 0, 254, 50);
}

/* ---- environments ---- */

const char *const environment_names[ENVIRONMENTS] = {"to nearest", "downward", "upward", "toward zero",
                                                     "FTZ",        "DAZ",      "both",   "traps"};

void enter_environment(int which) {
  static const int direction[4] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
  if (which < 4) fesetround(direction[which]);
#if defined(__x86_64__)
  if (which == 4) _mm_setcsr(_mm_getcsr() | 0x8000);
  if (which == 5) _mm_setcsr(_mm_getcsr() | 0x0040);
  if (which == 6) _mm_setcsr(_mm_getcsr() | 0x8040);
  if (which == 7) feenableexcept(FE_ALL_EXCEPT);
  if (which == 7) _mm_setcsr(0); /* the trap for subnormal operands, too */
#endif
}

/* Control and flags, of both units where there are two. */
typedef struct settings {
  uint32_t vector;
  int round, flags, traps;
} settings;

static settings settings_now(void) {
  settings z = {0, fegetround(), fetestexcept(FE_ALL_EXCEPT), 0};
#if defined(__x86_64__)
  z.vector = _mm_getcsr();
  z.traps = fegetexcept();
#endif
  return z;
}

static uint64_t result_of(const job *j) {
  t_digest digest = {0xCBF29CE484222325u};
  j->run(&digest);
  return digest.h;
}

/* Without traps some flags are set before, and have to be set afterwards. */
static uint64_t disturbed(const job *j, int which, settings *before, settings *after) {
  fenv_t mine;
  fegetenv(&mine);
  enter_environment(which);
  if (which < 7) feraiseexcept(FE_INEXACT | FE_UNDERFLOW);
  *before = settings_now();
  uint64_t got = result_of(j);
  *after = settings_now();
  fesetenv(&mine);
  return got;
}

static int run_in(const job *j, uint64_t expected, int which) {
  settings before, after;
  uint64_t got = disturbed(j, which, &before, &after);
  int same = memcmp(&before, &after, sizeof before) == 0;
  if (got == expected && same) return 0;
  printf("%s, %s, levels off %x:%s%s\n", j->name, environment_names[which], (unsigned)hu_cpu_levels_off,
         got == expected ? "" : " other bits", same ? "" : " another environment afterwards");
  return 1;
}

int run_jobs(const job *jobs, size_t count) {
  int bad = 0, runs = 0;
  for (size_t i = 0; i < count; i++) {
    uint64_t expected = result_of(&jobs[i]);
    for (size_t k = 0; k < (jobs[i].levels ? t_levels() : 1); k++) {
      hu_cpu_levels_off = t_levels_off(k);
      for (int which = 0; which < ENVIRONMENTS; which++, runs++) bad += run_in(&jobs[i], expected, which);
    }
    hu_cpu_levels_off = 0;
  }
  printf("%d runs in %d environments\n", runs, ENVIRONMENTS);
  return bad;
}
