/* SPDX-License-Identifier: MIT */
/* Which levels this build has and this processor can run, the best first. */
#include "emu/simd/level.h"
#include "emu/simd/of_level.h"

/* Whether the processor runs a level. */
#if HU_X86_LEVELS
static int runs_avx2(void) {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") &&
         __builtin_cpu_supports("popcnt");
}

static int runs_avx512(void) {
  return runs_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

static int runs_vbmi(void) { return runs_avx512() && __builtin_cpu_supports("avx512vbmi"); }
extern const hu_level hu_level_vbmi;
#endif

#if HU_ARM_LEVELS
static int runs_neon(void) { return 1; }
#endif
static int runs_vector(void) { return 1; }

#define DECLARE(name) extern const hu_level hu_level_##name;
HU_EACH_LEVEL(DECLARE)

static const struct {
  const hu_level *level;
  int (*runs)(void);
} known[] = {
#if HU_X86_LEVELS
    {&hu_level_vbmi, runs_vbmi},
#endif
#define ROW(name) {&hu_level_##name, runs_##name},
    HU_EACH_LEVEL(ROW)};
enum { KNOWN = sizeof known / sizeof *known };

/* A level without vectors of its own converts nothing: that of a compiler without them. */
static int is_there(size_t i) { return known[i].level->convert && known[i].runs(); }

uint32_t hu_levels(void) {
  uint32_t bits = 0;
  for (size_t i = 0; i < KNOWN; i++) bits |= is_there(i) ? known[i].level->bits : 0;
  return bits;
}

const hu_level *hu_level_for(const hu_exec *exec) {
  static const hu_level none = {.name = "none"};
  uint32_t off = exec ? exec->levels_off : 0;
  for (size_t i = 0; i < KNOWN; i++) {
    if (!(known[i].level->bits & off) && is_there(i)) return known[i].level;
  }
  return &none;
}

/* An extension has the bits of what it extends, too; its own is the highest. */
const char *hu_level_name(uint32_t level) {
  for (size_t i = 0; i < KNOWN; i++) {
    if (level == (uint64_t)1 << (63 - hu_clz64(known[i].level->bits))) return known[i].level->name;
  }
  return NULL;
}
