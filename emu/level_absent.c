/* SPDX-License-Identifier: MIT */
/* The record of a level that the build leaves out (Meson's option `levels`): it has no kernels, so that no call takes
 * it. */
#include "emu/simd/level.h"
#include "emu/simd/of_level.h"
#include "halfulp/gemm.h"

extern const hu_level HU_OF_LEVEL(hu_level);
const hu_level HU_OF_LEVEL(hu_level) = {.name = HU_LEVEL_NAME, .bits = HU_LEVEL_BIT};

#if HU_LEVEL_ID == 1
extern const hu_extension hu_extension_madd, hu_extension_avx_vnni, hu_extension_streams_avx2;
const hu_extension hu_extension_madd = {.name = "madd", .bits = HU_LEVEL_AVX2 | HU_LEVEL_MADD};
const hu_extension hu_extension_avx_vnni = {.name = "avx_vnni", .bits = HU_LEVEL_AVX2 | HU_LEVEL_AVX_VNNI};
const hu_extension hu_extension_streams_avx2 = {.name = "streams", .bits = HU_LEVEL_AVX2 | HU_LEVEL_STREAMS};
#endif

#if HU_LEVEL_ID == 3
extern const hu_extension hu_extension_fp16_neon;
const hu_extension hu_extension_fp16_neon = {.name = "fp16", .bits = HU_LEVEL_NEON | HU_LEVEL_FP16};
#endif

#if HU_LEVEL_ID == 2
extern const hu_level hu_level_vbmi;
const hu_level hu_level_vbmi = {.name = "vbmi", .bits = HU_LEVEL_AVX512 | HU_LEVEL_VBMI};

extern const hu_extension hu_extension_bf16, hu_extension_vnni, hu_extension_amx_bf16, hu_extension_amx_int8,
    hu_extension_fp16, hu_extension_streams_avx512;
const hu_extension hu_extension_bf16 = {.name = "bf16", .bits = HU_LEVEL_AVX512 | HU_LEVEL_BF16};
const hu_extension hu_extension_vnni = {.name = "vnni", .bits = HU_LEVEL_AVX512 | HU_LEVEL_VNNI};
const hu_extension hu_extension_amx_bf16 = {.name = "amx_bf16", .bits = HU_LEVEL_AVX512 | HU_LEVEL_AMX_BF16};
const hu_extension hu_extension_amx_int8 = {.name = "amx_int8",
                                            .bits = HU_LEVEL_AVX512 | HU_LEVEL_VNNI | HU_LEVEL_AMX_INT8};
const hu_extension hu_extension_fp16 = {.name = "fp16", .bits = HU_LEVEL_AVX512 | HU_LEVEL_FP16};
const hu_extension hu_extension_streams_avx512 = {.name = "streams", .bits = HU_LEVEL_AVX512 | HU_LEVEL_STREAMS};
#endif
