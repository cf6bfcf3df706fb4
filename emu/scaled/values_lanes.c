/* SPDX-License-Identifier: MIT */
/* Codes of a byte as scaled values (values.h), on the hooks of a level's lanes (emu/simd/loop.h); compiled once a
 * level. */
#include "emu/scaled/values.h"
#include "emu/simd/lanes.h"

#if HU_LANES_HERE

#include "emu/base/float_env.h"
#include "emu/simd/loop.h"

/* The codes of a format that are not finite numbers. */
enum { FINITE, BEYOND, ODD_ZERO, TWOS };

typedef struct values_lanes {
  hu_plain_lanes plain; /* base and scale: those of the block, under HU_SHIFT */
  hu_lane all;          /* the bits of a code in two's complement */
} values_lanes;

/* Returns the constants of a block. */
static inline __attribute__((always_inline)) values_lanes scaled_by(const values_lanes *constants, int way,
                                                                    hu_lane by) {
  values_lanes z = *constants;
  if (way != HU_SHIFT) return z;
  z.plain.base -= by;
  z.plain.scale -= by;
  return z;
}

/* Decodes two's complement: the lowest code, too, is its units. No -0. */
static inline __attribute__((always_inline)) hu_lane twos_value(const values_lanes *constants, hu_lane code) {
  hu_lane c = code & constants->all, units = (c ^ constants->plain.sign_code) - constants->plain.sign_code;
  return hui_mask_keep(hui_mask_test(c, constants->all), hui_lane_float(units) + constants->plain.scale);
}

/* Decodes one vector. Returns 0, and stores nothing, if this loop does not take one of the codes. */
static inline __attribute__((always_inline)) int value_one(const values_lanes *constants, int codes, int way,
                                                           uint32_t *z, const uint8_t *x, hu_lane by) {
  hu_lane code = hui_load8(x);
  if ((codes == BEYOND || codes == ODD_ZERO) && HU_UNLIKELY(hui_mask_any(hui_plain_not(&constants->plain, code))))
    return 0;
  hu_lane value = codes == TWOS ? twos_value(constants, code) : hui_plain_decode(&constants->plain, 2, code);
  store(z, way == HU_SHIFT ? value : hui_lane_times(value, by));
  return 1;
}

static inline __attribute__((always_inline)) size_t values_loop(const hu_scaled_grid *grid, int codes, int way,
                                                                size_t n, size_t side, uint32_t *z, const uint8_t *x,
                                                                const uint32_t *by) {
  const hu_lane_constants *lanes = &grid->constants;
  values_lanes constants = {hui_plain_lanes_of(lanes), HU_ALL(2 * lanes->sign_code - 1)};
  constants.plain.has_sign = 1;
  constants.plain.odd_negzero = codes == ODD_ZERO;
  const size_t end = n / HU_W * HU_W;
  size_t i = 0;
  if (side == 1) {
    for (; i < end; i += HU_W) {
      const hu_lane own = load(by + i);
      const values_lanes block = scaled_by(&constants, way, own);
      if (!value_one(&block, codes, way, z + i, x + i, own)) break;
    }
    return i;
  }
  while (i < end) {
    const hu_lane own = HU_ALL(*by);
    const values_lanes block = scaled_by(&constants, way, own);
    const size_t past = hui_min_size(i + side, end);
    for (; i < past; i += HU_W) {
      if (!value_one(&block, codes, way, z + i, x + i, own)) return i;
    }
    by++;
  }
  return i;
}

/* One function each, so that a loop's constants have the registers. */
#define LOOP(name, codes, way)                                                                                     \
  static HU_NOINLINE size_t name(const hu_scaled_grid *grid, size_t n, size_t side, uint32_t *z, const uint8_t *x, \
                                 const uint32_t *by) {                                                             \
    return values_loop(grid, codes, way, n, side, z, x, by);                                                       \
  }
LOOP(finite_shift, FINITE, HU_SHIFT)
LOOP(beyond_shift, BEYOND, HU_SHIFT)
LOOP(odd_shift, ODD_ZERO, HU_SHIFT)
LOOP(twos_shift, TWOS, HU_SHIFT)
LOOP(finite_times, FINITE, HU_TIMES)
LOOP(beyond_times, BEYOND, HU_TIMES)
LOOP(odd_times, ODD_ZERO, HU_TIMES)
LOOP(twos_times, TWOS, HU_TIMES)

static int codes_of(const hu_scaled_grid *grid) {
  const hu_lane_constants *lanes = &grid->constants;
  if (grid->twos) return TWOS;
  if (!lanes->negzero) return ODD_ZERO;
  return lanes->max_code < lanes->mag_mask ? BEYOND : FINITE;
}

static size_t decode(const hu_scaled_grid *grid, int way, size_t n, size_t side, uint32_t *z, const uint8_t *codes,
                     const uint32_t *by) {
  typedef size_t (*loop)(const hu_scaled_grid *, size_t, size_t, uint32_t *, const uint8_t *, const uint32_t *);
  static const loop loops[][2] = {[FINITE] = {finite_shift, finite_times},
                                  [BEYOND] = {beyond_shift, beyond_times},
                                  [ODD_ZERO] = {odd_shift, odd_times},
                                  [TWOS] = {twos_shift, twos_times}};
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  size_t done = loops[codes_of(grid)][way != HU_SHIFT](grid, n, side, z, codes, by);
  hui_float_env_leave(saved);
  return done;
}

const hu_scaled_values HU_OF_LEVEL(hu_scaled_values) = {decode};

#endif
