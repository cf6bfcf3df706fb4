/* SPDX-License-Identifier: MIT */
/* hu_pack_n and hu_unpack_n: codes of 1 to 8 bits become a dense bit string, and back. */
#include "emu/array/pack.h"

#include "emu/base/codes.h"
#include "emu/base/device_calls.h"

static hu_status check(size_t n, const uint8_t *z, size_t nz, const uint8_t *x, size_t nx, unsigned width) {
  if (width < 1 || width > 8) return HU_E_SHAPE;
  if (n == 0) return HU_OK;
  if (nz > PTRDIFF_MAX || nx > PTRDIFF_MAX) return HU_E_SHAPE;
  if (!z || !x) return HU_E_NULL;
  uintptr_t a = (uintptr_t)z, b = (uintptr_t)x;
  return a + nz <= b || b + nx <= a ? HU_OK : HU_E_OVERLAP;
}

/* Eight codes are `width` whole bytes, so the string is made of groups of eight. */
static void pack_group(uint8_t *z, const uint8_t *x, unsigned codes, unsigned width) {
  uint64_t pattern = 0, mask = (1u << width) - 1;
  for (unsigned i = 0; i < codes; i++) pattern |= (x[i] & mask) << (i * width);
  for (unsigned i = 0; i < (codes * width + 7) / 8; i++) z[i] = (uint8_t)(pattern >> (8 * i));
}

static void unpack_group(uint8_t *z, const uint8_t *x, unsigned codes, unsigned width) {
  uint64_t pattern = 0, mask = (1u << width) - 1;
  for (unsigned i = 0; i < (codes * width + 7) / 8; i++) pattern |= (uint64_t)x[i] << (8 * i);
  for (unsigned i = 0; i < codes; i++) z[i] = (uint8_t)(pattern >> (i * width) & mask);
}

void hui_pack_run(size_t n, uint8_t *z, const uint8_t *x, unsigned width) {
  if (width == 4) { /* the common case, in a form that compilers vectorise */
    for (size_t i = 0; i < n / 2; i++) z[i] = (uint8_t)((x[2 * i] & 15) | x[2 * i + 1] << 4);
    if (n & 1) z[n / 2] = x[n - 1] & 15;
    return;
  }
  for (size_t i = 0; i < n / 8; i++) pack_group(z + i * width, x + 8 * i, 8, width);
  if (n % 8) pack_group(z + n / 8 * width, x + n / 8 * 8, (unsigned)(n % 8), width);
}

hu_status hu_pack_n(size_t n, uint8_t *z, const uint8_t *x, unsigned width, const hu_exec *exec) {
  if (hui_is_elsewhere(exec)) return HUI_THERE(exec, pack_n, (n, z, x, width, exec));
  hu_code_area codes = {.data = x, .rows = 1, .cols = n, .step = 1, .size = 1, .width = width};
  hu_status status = check(n, z, hu_pack_size(n, width), x, n, width);
  if (status == HU_OK) status = hui_code_area_check(&codes, 1);
  if (status == HU_OK && n) hui_pack_run(n, z, x, width);
  return status;
}

hu_status hu_unpack_n(size_t n, uint8_t *z, const uint8_t *x, unsigned width, const hu_exec *exec) {
  if (hui_is_elsewhere(exec)) return HUI_THERE(exec, unpack_n, (n, z, x, width, exec));
  hu_status status = check(n, z, n, x, hu_pack_size(n, width), width);
  if (status != HU_OK) return status;
  if (width == 4) {
    for (size_t i = 0; i < n / 2; i++) {
      z[2 * i] = x[i] & 15;
      z[2 * i + 1] = x[i] >> 4;
    }
    if (n & 1) z[n - 1] = x[n / 2] & 15;
    return HU_OK;
  }
  for (size_t i = 0; i < n / 8; i++) unpack_group(z + 8 * i, x + i * width, 8, width);
  if (n % 8) unpack_group(z + n / 8 * 8, x + n / 8 * width, (unsigned)(n % 8), width);
  return HU_OK;
}
