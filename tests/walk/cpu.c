/* SPDX-License-Identifier: MIT */
/* tests/walk/cpu.c - the places of the walker that stays on the CPU: its kernel levels. A program has this file or
 * device.c. */
#include <fenv.h>

#include "tests/support/levels.h"
#include "tests/walk/walk.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

const int walk_device = 0;
size_t walk_places(void) { return t_levels(); }
const char *walk_place_name(size_t place) { return t_level_name(place); }
int walk_nowhere(void) { return 0; }

/* The last place is the core, and for slow number systems all of them are, but for the few that have a quick way. */
int walk_place_takes(size_t place, const walk_case *c) {
  uint64_t turn = c->number + (uint64_t)c->call.op;
  if (!walk_is_slow(c)) return 1;
  return c->call.systems ? place == 0 || place == turn % walk_places() : place + 1 < walk_places() || turn % 4 == 0;
}

hu_status walk_place_expected(const walk_case *c) { return walk_expected(c); }

/* Flushing, other directions and unmasked traps of the caller change nothing, and are there again afterwards. */
#if defined(__x86_64__)
static const uint32_t settings[] = {0x1F80 | 0x8040,          0x1F80 | 0x2000, 0x1F80 | 0x4000,
                                    0x1F80 | 0x6000 | 0x8040, 0x0000,          0x1FBF};
static uint32_t setting(void) { return _mm_getcsr(); }
static void set(uint32_t to) { _mm_setcsr(to); }
#else
static const uint32_t settings[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
static uint32_t setting(void) { return (uint32_t)fegetround(); }
static void set(uint32_t to) { (void)fesetround((int)to); }
#endif

static uint32_t bent(const walk_case *c) { return settings[(size_t)c->setting % (sizeof settings / sizeof *settings)]; }

uint64_t walk_one_there(const walk_case *c, const uint64_t *x, uint32_t random, uint32_t *events) {
  uint32_t before = setting();
  if (c->setting) set(bent(c));
  uint64_t z = walk_one(c, x, random, events);
  uint32_t after = setting();
  set(before);
  if (c->setting && after != bent(c)) walk_fail(c, "one value: the caller's environment became %#x", after);
  return z;
}

hu_status walk_at(size_t place, const walk_case *c, const walk_ends *ends) {
  hu_exec exec = {c->threads, t_levels_off(place), c->stream, {0}};
  const hu_exec *how = c->threads || place || c->call.rounds ? &exec : NULL;
  if (!c->setting) return walk_array(c, ends, how);
  uint32_t before = setting();
  set(bent(c));
  hu_status status = walk_array(c, ends, how);
  uint32_t after = setting();
  set(before);
  if (after != bent(c)) walk_fail(c, "the caller's environment %#x became %#x", bent(c), after);
  return status;
}
