/* SPDX-License-Identifier: MIT */
/* emu/array/streams_walk.c - streams.h by the stores around the caches of one level; compiled once for each level that
 * has them. On an Intel Xeon with AVX-512 a copy loop in this order took 0.90 of memcpy's time and a linear one 1.21;
 * on an AMD processor (Zen 3) it takes longer than the linear one (bench/README.md, "The order of addresses"). So it is
 * for Intel's processors. No run of array calls in this order on such a processor is recorded yet: Meson's option
 * `unconfirmed_units` asks for it. Tests and benchmarks compile this file a second time with HU_STREAMS_ANYWHERE, and
 * so have the order on every processor. */
#include "emu/array/streams.h"

#include "emu/simd/lanes.h"
#include "emu/simd/level.h"
#include "halfulp/gemm.h"

enum { LINE = 16 }; /* elements of a cache line */

/* Asks for the lines of one turn. */
static inline void ask_turn(const uint32_t *x) {
  HU_UNROLL for (size_t i = 0; i < HU_STREAMS_TURN; i += LINE) __builtin_prefetch(x + i);
}

/* Copies one turn. z is aligned to a page. */
static inline void copy_turn(uint32_t *z, const uint32_t *from) {
  HU_UNROLL for (size_t i = 0; i < HU_STREAMS_TURN; i += HU_W) {
    hu_lane value;
    memcpy(&value, from + i, sizeof value);
    hui_bypass(z + i, value);
  }
}

/* Copies a block, and asks for the next one; either may be NULL. */
static void in_turns(uint32_t *z, const uint32_t *from, const uint32_t *next) {
  for (size_t i = 0; i < HU_STREAMS_PAGE; i += HU_STREAMS_TURN) {
    for (size_t page = i; page < HU_STREAMS_BLOCK; page += HU_STREAMS_PAGE) {
      if (next) ask_turn(next + page);
      if (z) copy_turn(z + page, from + page);
    }
  }
}

static uint32_t *z_at(const hu_streams_part *part, size_t i) { return part->z ? part->z + i : NULL; }

/* Elements before the first page of the results, or, where these are codes, of the operands. */
static size_t head_of(const hu_streams_part *part, size_t first) {
  uintptr_t place = (uintptr_t)(part->z ? part->z + first : part->x + first);
  return (size_t)(-place / sizeof(uint32_t) & (HU_STREAMS_PAGE - 1));
}

static void walk(const hu_streams_part *part, size_t first, size_t n) {
  _Alignas(64) uint32_t block[HU_STREAMS_BLOCK];
  size_t end = first + n, head = head_of(part, first);
  if (head > n) head = n;
  if (head) part->run(part->context, first, head, z_at(part, first));
  for (first += head; end - first >= HU_STREAMS_BLOCK; first += HU_STREAMS_BLOCK) {
    int more = end - first >= 2 * HU_STREAMS_BLOCK;
    part->run(part->context, first, HU_STREAMS_BLOCK, part->z ? block : NULL);
    in_turns(z_at(part, first), block, part->x && more ? part->x + first + HU_STREAMS_BLOCK : NULL);
  }
  hui_fence();
  if (first < end) part->run(part->context, first, end - first, z_at(part, first));
}

static void ask(const uint32_t *x) { in_turns(NULL, NULL, x); }

static const hu_streams streams = {walk, ask};

#ifdef HU_STREAMS_ANYWHERE
static int runs(void) { return 1; }
#define RUNS runs
#elif defined(HU_UNCONFIRMED_UNITS)
static int runs(void) { return __builtin_cpu_is("intel"); }
#define RUNS runs
#else
#define RUNS NULL
#endif

extern const hu_extension HU_OF_LEVEL(hu_extension_streams);
const hu_extension HU_OF_LEVEL(hu_extension_streams) = {
    .name = "streams", .bits = HU_LEVEL_BIT | HU_LEVEL_STREAMS, .runs = RUNS, .streams = &streams};
