/* SPDX-License-Identifier: MIT */
/* Which levels this build has and this processor can run, the best first. */
#include "emu/simd/level.h"
#include "emu/simd/of_level.h"

#define DECLARE(name)                    \
  extern const hu_level hu_level_##name; \
  static int runs_##name(void) { return HU_RUNS_##name; }
HU_EACH_LEVEL(DECLARE)

#if HU_X86_LEVELS
extern const hu_level hu_level_vbmi;
static int runs_vbmi(void) { return runs_avx512() && __builtin_cpu_supports("avx512vbmi"); }
#endif

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

/* A level that converts nothing is not there: that of a compiler without vectors, and one that this build leaves out
 * (emu/level_absent.c). */
static int is_there(size_t i) { return known[i].level->convert && known[i].runs(); }

uint32_t hu_levels(void) {
  uint32_t bits = hui_extension_bits();
  for (size_t i = 0; i < KNOWN; i++) bits |= is_there(i) ? known[i].level->bits : 0;
  return bits;
}

const hu_level *hui_level_for(const hu_exec *exec) {
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
    if (level == (uint64_t)1 << (63 - hui_clz64(known[i].level->bits))) return known[i].level->name;
  }
  return hui_extension_name(level);
}
