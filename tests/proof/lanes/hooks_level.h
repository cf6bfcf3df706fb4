/* SPDX-License-Identifier: MIT */
/* tests/proof/lanes/hooks_level.h - the table of hooks.h for the lanes whose header has been included. The including
 * file defines HOOKS_HERE, the table's name, and HOOKS_LEVEL, the level's. */
#include <string.h>

#include "hooks.h"

static inline hu_lane get(const uint32_t *x) {
  hu_lane v;
  memcpy(&v, x, sizeof v);
  return v;
}
static inline void set(uint32_t *z, hu_lane v) { memcpy(z, &v, sizeof v); }

#define BIT(mask) hui_mask_sel(mask, HU_ALL(1), HU_ALL(0))
#define COUNT(first, second) \
  HU_ALL((uint32_t)hui_count_sum(hui_count_mask(hui_count_mask(hui_count_none(), first), second)))

static inline int within4(hu_lane a, hu_lane b, hu_lane c) {
  const hu_lane v[4] = {a, b, a & b, c & 0x7FFFFFFFu};
  return hui_all_within4(v, HU_ALL(0x7FFFFFFFu));
}
#define WITHIN4(a, b, c) within4(a, b, c)

#define X(name, text, ...)                                                                                  \
  static void hook_##name(size_t n, uint32_t *z, const uint32_t *a, const uint32_t *b, const uint32_t *c) { \
    for (size_t i = 0; i < n; i += HU_W) {                                                                  \
      const hu_lane A = get(a + i), B = get(b + i), C = get(c + i);                                         \
      (void)B, (void)C;                                                                                     \
      set(z + i, text);                                                                                     \
    }                                                                                                       \
  }
HOOKS(X)
FLOAT_HOOKS(X)
#undef X
#define X(name, text, ...)                                                                                  \
  static void hook_##name(size_t n, uint32_t *z, const uint32_t *a, const uint32_t *b, const uint32_t *c) { \
    for (size_t i = 0; i < n; i += HU_W) {                                                                  \
      const hu_lane A = get(a + i), B = get(b + i), C = get(c + i);                                         \
      (void)B, (void)C;                                                                                     \
      set(z + i, HU_ALL((uint32_t)(text)));                                                                 \
    }                                                                                                       \
  }
WHOLE_HOOKS(X)
#undef X

static void load8(size_t n, uint32_t *z, const uint8_t *x) {
  for (size_t i = 0; i < n; i += HU_W) set(z + i, hui_load8(x + i));
}
static void load16(size_t n, uint32_t *z, const uint16_t *x) {
  for (size_t i = 0; i < n; i += HU_W) set(z + i, hui_load16(x + i));
}
static void store8(size_t n, uint8_t *z, const uint32_t *x) {
  for (size_t i = 0; i < n; i += HU_W) hui_store8(z + i, get(x + i));
}
static void store16(size_t n, uint16_t *z, const uint32_t *x) {
  for (size_t i = 0; i < n; i += HU_W) hui_store16(z + i, get(x + i));
}
static void few(size_t n, uint32_t *z, const uint32_t *x) { hui_store_few(z, hui_load_few(x, n), n); }

const hooks HOOKS_HERE = {HOOKS_LEVEL,
                          HU_W,
                          {
#define X(name, ...) hook_##name,
                              HOOKS(X) WHOLE_HOOKS(X) FLOAT_HOOKS(X)
#undef X
                          },
                          load8,
                          load16,
                          store8,
                          store16,
                          few};
