/* SPDX-License-Identifier: MIT */
/* The CPU that runs the kernels has no matrix instructions. For tests of who calls them: with HU_HOST_CAPABILITY=90 in
 * the environment it passes for a device of compute capability 9.0, whose instructions are the models themselves; with
 * HU_HOST_WRONG=N besides, the lowest bit of every Nth result is wrong. */
#include <stdlib.h>
#include <string.h>

#include "gpu/probe/probe.h"

static uint64_t results;

static hu_status element(const hu_device_mma *t, const hu_accum *accum, uint8_t *d, const uint8_t *a, const uint8_t *b,
                         const uint8_t *c) {
  const char *wrong = getenv("HU_HOST_WRONG");
  hu_dot_operands in;
  hu_mode rne;
  memset(&in, 0, sizeof in);
  memset(&rne, 0, sizeof rne);
  hu_vector va = {a, 1, 0, t->a}, vb = {b, 1, 0, t->b}, vc = {c, 1, 0, t->c};
  in.a = va;
  in.b = vb;
  in.c = vc;
  hu_status s = hu_dot(t->k, d, t->c, &in, accum, rne, NULL, NULL);
  if (wrong && ++results % strtoull(wrong, NULL, 10) == 0) d[0] ^= 1;
  return s;
}

static hu_status tile(const hu_device_mma *t, const hu_accum *accum, uint8_t *d, const uint8_t *a, const uint8_t *b,
                      const uint8_t *c) {
  size_t size = hu_element_size(t->a) * t->k, wide = hu_element_size(t->c);
  hu_status s = HU_OK;
  for (size_t i = 0; i < t->m; i++) {
    for (size_t j = 0; j < t->n && s == HU_OK; j++) {
      size_t at = (i * t->n + j) * wide;
      s = element(t, accum, d + at, a + i * size, b + j * size, c + at);
    }
  }
  return s;
}

static hu_status run(int op, size_t tiles, uint8_t *d, const uint8_t *a, const uint8_t *b, const uint8_t *c) {
  hu_device_mma t;
  hu_accum_preset p;
  hu_status s = HU_OK;
  int found = -1;
  for (size_t i = 0; found != op; i++) {
    if (hui_mma_of_capability(&t, &found, hui_device_capability(), i) != HU_OK) return HU_E_DEVICE;
  }
  if (hu_accum_preset_find(&p, t.model) != HU_OK) return HU_E_NAME;
  size_t size = hu_element_size(t.a) * t.k, result = hu_element_size(t.c) * t.m * t.n;
  for (size_t i = 0; i < tiles && s == HU_OK; i++) {
    s = tile(&t, &p.accum, d + i * result, a + i * size * t.m, b + i * size * t.n, c + i * result);
  }
  return s;
}

hu_status hui_probe_mma(int op, size_t tiles, void *d, const void *a, const void *b, const void *c) {
  return run(op, tiles, d, a, b, c);
}

hu_status hui_probe_wgmma(int op, size_t tiles, void *d, const void *a, const void *b, const void *c) {
  return run(op, tiles, d, a, b, c);
}
