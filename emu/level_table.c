/* SPDX-License-Identifier: MIT */
/* The record of a level, with the table that each family has for it; compiled once per level. */
#include "emu/arith/function_lanes.h"
#include "emu/arith/wide.h"
#include "emu/gemm/seq.h"
#include "emu/gemm/seq_modes.h"
#include "emu/gemm/unfused.h"
#include "emu/gemm/unit.h"
#include "emu/hadamard/lanes.h"
#include "emu/number/lanes.h"
#include "emu/s2fp8/lanes.h"
#include "emu/scaled/rows.h"
#include "emu/scaled/strip.h"
#include "emu/scaled/values.h"
#include "emu/scaled_gemm/join.h"
#include "emu/simd/convert.h"
#include "emu/simd/lanes.h"
#include "emu/simd/level.h"

/* Which loops compilers put into lanes, every level has. */
#define LOOPS                                                                             \
  .function = &HU_OF_LEVEL(hu_function_kernels), .number = &HU_OF_LEVEL(hu_number_lanes), \
  .s2fp8 = &HU_OF_LEVEL(hu_s2_lanes)

#if HU_LANES_HERE
#define LANES                                                                                                      \
  .convert = &HU_OF_LEVEL(hu_kernels), .wide = &HU_OF_LEVEL(hu_wide), .hadamard = &HU_OF_LEVEL(hu_hadamard_lanes), \
  .scaled_rows = &HU_OF_LEVEL(hu_scaled_lanes), .scaled_strips = &HU_OF_LEVEL(hu_scaled_strips),                   \
  .scaled_values = &HU_OF_LEVEL(hu_scaled_values)
#else
#define LANES .convert = NULL
#endif

#if HU_LEVEL_FMA
#define PRODUCTS                                                                                   \
  .gemm = &HU_OF_LEVEL(hu_gemm), .seq = &HU_OF_LEVEL(hu_seq), .seq_modes = &HU_OF_LEVEL(hu_modes), \
  .unfused = &HU_OF_LEVEL(hu_unfused), .unit = &HU_OF_LEVEL(hu_unit), .join = &HU_OF_LEVEL(hu_scaled_join)
#elif HU_LANES_HERE
static const hu_modes_kernels without_fused = {NULL, &HU_OF_LEVEL(hu_steps)};
#define PRODUCTS .seq_modes = &without_fused
#else
#define PRODUCTS .gemm = NULL
#endif

extern const hu_level HU_OF_LEVEL(hu_level);
const hu_level HU_OF_LEVEL(hu_level) = {.name = HU_LEVEL_NAME, .bits = HU_LEVEL_BIT, LOOPS, LANES, PRODUCTS};

/* An extension is the level that it extends, with tables replaced. */
#if HU_LEVEL_ID == 2
extern const hu_level hu_level_vbmi;
const hu_level hu_level_vbmi = {
    .name = "vbmi", .bits = HU_LEVEL_AVX512 | HU_LEVEL_VBMI, LOOPS, LANES, PRODUCTS, .s2fp8_bytes = &hu_s2_bytes_vbmi};
#endif
