/* SPDX-License-Identifier: MIT */
/* Matrix instructions for tests of their callers, since the CPU that runs the kernels has none. With
 * HU_HOST_CAPABILITY=90 in the environment the device has compute capability 9.0, and its instructions are the models
 * themselves. With HU_HOST_WRONG=N, too, the lowest bit of every Nth result is wrong. */
#include <stdlib.h>
#include <string.h>

#include "gpu/probe/probe.h"

static uint64_t results;

static hu_status element(const hu_device_mma *mma, const hu_accum *accum, uint8_t *out, const uint8_t *a,
                         const uint8_t *b, const uint8_t *c) {
  const char *wrong = getenv("HU_HOST_WRONG");
  hu_product x = hu_product_of_dot(mma->k, hu_output_of(out, 1, mma->c), hu_view_of(a, 1, mma->a),
                                   hu_view_of(b, 1, mma->b), accum);
  x.c = hu_view_of(c, 1, mma->c);
  hu_status status = hu_dot(&x, NULL);
  if (wrong && ++results % strtoull(wrong, NULL, 10) == 0) out[0] ^= 1;
  return status;
}

static hu_status tile(const hu_device_mma *mma, const hu_accum *accum, uint8_t *out, const uint8_t *a, const uint8_t *b,
                      const uint8_t *c) {
  size_t size = hu_type_size(mma->a) * mma->k, wide = hu_type_size(mma->c);
  hu_status status = HU_OK;
  for (size_t i = 0; i < mma->m; i++) {
    for (size_t j = 0; j < mma->n && status == HU_OK; j++) {
      size_t at = (i * mma->n + j) * wide;
      status = element(mma, accum, out + at, a + i * size, b + j * size, c + at);
    }
  }
  return status;
}

static hu_status run(int op, size_t tiles, uint8_t *out, const uint8_t *a, const uint8_t *b, const uint8_t *c) {
  hu_device_mma mma;
  hu_accum_preset preset;
  hu_status status = HU_OK;
  int found = -1;
  for (size_t i = 0; found != op; i++) {
    if (hui_mma_of_capability(&mma, &found, hui_device_capability(), i) != HU_OK) return HU_E_DEVICE;
  }
  if (hu_accum_preset_find(&preset, mma.model) != HU_OK) return HU_E_NAME;
  size_t size = hu_type_size(mma.a) * mma.k, result = hu_type_size(mma.c) * mma.m * mma.n;
  for (size_t i = 0; i < tiles && status == HU_OK; i++) {
    status = tile(&mma, &preset.accum, out + i * result, a + i * size * mma.m, b + i * size * mma.n, c + i * result);
  }
  return status;
}

hu_status hui_probe_mma(int op, size_t tiles, void *out, const void *a, const void *b, const void *c) {
  return run(op, tiles, out, a, b, c);
}

hu_status hui_probe_wgmma(int op, size_t tiles, void *out, const void *a, const void *b, const void *c) {
  return run(op, tiles, out, a, b, c);
}
