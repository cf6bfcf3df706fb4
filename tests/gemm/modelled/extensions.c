/* SPDX-License-Identifier: MIT */
/* emu/simd/extensions.c for kernels whose instructions are modelled in C (immintrin.h beside this): every processor has
 * them, and they require no level. */
#include "emu/gemm/tiles/pairs.h"
#include "emu/gemm/tiles/short.h"
#include "emu/simd/level.h"

hu_extensions hu_extensions_for(const hu_exec *exec) {
  hu_extensions z = {NULL, NULL};
  uint32_t off = exec ? exec->levels_off : 0;
  if (!(off & HU_LEVEL_BF16)) z.pairs = hu_extension_bf16.pairs;
  if (!(off & HU_LEVEL_VNNI)) z.shorts = hu_extension_vnni.shorts;
  return z;
}

uint32_t hu_extension_bits(void) { return HU_LEVEL_BF16 | HU_LEVEL_VNNI; }

const char *hu_extension_name(uint32_t level) {
  return level == HU_LEVEL_BF16 ? "bf16" : level == HU_LEVEL_VNNI ? "vnni" : NULL;
}
