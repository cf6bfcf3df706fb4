/* SPDX-License-Identifier: MIT */
/* emu/simd/extensions.c for kernels whose instructions are modelled in C (immintrin.h beside this): every processor has
 * them, and they require no level. */
#include "emu/gemm/tiles/half.h"
#include "emu/gemm/tiles/pairs.h"
#include "emu/gemm/tiles/short.h"
#include "emu/simd/level.h"
#include "halfulp/gemm.h"

long model_vex_sums(void);
extern long model_vex_count;
long model_vex_count;
long model_vex_sums(void) { return __atomic_load_n(&model_vex_count, __ATOMIC_RELAXED); }

hu_extensions hui_extensions_for(const hu_exec *exec) {
  hu_extensions z = {NULL, NULL, NULL, NULL, NULL, NULL};
  uint32_t off = exec ? exec->levels_off : 0;
  if (!(off & HU_LEVEL_BF16)) z.pairs = hu_extension_bf16.pairs;
  if (!(off & HU_LEVEL_AMX_BF16)) z.pair_tiles = hu_extension_amx_bf16.pair_tiles;
  if (!(off & HU_LEVEL_MADD)) z.shorts = hu_extension_madd.shorts;
  if (!(off & HU_LEVEL_AVX_VNNI)) z.shorts = hu_extension_avx_vnni.shorts;
  if (!(off & HU_LEVEL_VNNI)) z.shorts = hu_extension_vnni.shorts;
  if (!(off & (HU_LEVEL_VNNI | HU_LEVEL_AMX_INT8))) z.byte_tiles = hu_extension_amx_int8.byte_tiles;
  if (!(off & HU_LEVEL_FP16)) {
    z.halves = hu_extension_fp16.halves;
    z.half_arith = hu_extension_fp16.half_arith;
  }
  return z;
}

const struct hu_streams *hui_streams_for(const hu_exec *exec) {
  (void)exec;
  return NULL;
}

static const hu_extension *const known[] = {&hu_extension_bf16,     &hu_extension_vnni, &hu_extension_amx_bf16,
                                            &hu_extension_amx_int8, &hu_extension_fp16, &hu_extension_avx_vnni};
static const uint32_t own[] = {HU_LEVEL_BF16,     HU_LEVEL_VNNI, HU_LEVEL_AMX_BF16,
                               HU_LEVEL_AMX_INT8, HU_LEVEL_FP16, HU_LEVEL_AVX_VNNI};
enum { KNOWN = sizeof own / sizeof *own };

uint32_t hui_extension_bits(void) {
  uint32_t bits = 0;
  for (int i = 0; i < KNOWN; i++) bits |= own[i];
  return bits;
}

const char *hui_extension_name(uint32_t level) {
  for (int i = 0; i < KNOWN; i++) {
    if (level == own[i]) return known[i]->name;
  }
  return NULL;
}
