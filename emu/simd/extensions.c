/* SPDX-License-Identifier: MIT */
/* Which extensions this build has and this processor can run. */
#include "emu/core/port.h"
#include "emu/simd/level.h"
#include "emu/simd/of_level.h"
#include "halfulp/gemm.h"

/* A later one's table is taken in place of an earlier one's. */
#if HU_X86_LEVELS
extern const hu_extension hu_extension_madd, hu_extension_avx_vnni, hu_extension_bf16, hu_extension_vnni,
    hu_extension_amx_bf16, hu_extension_amx_int8, hu_extension_fp16, hu_extension_streams_avx2,
    hu_extension_streams_avx512;
static const hu_extension *const known[] = {
    &hu_extension_madd, &hu_extension_avx_vnni,     &hu_extension_bf16,
    &hu_extension_vnni, &hu_extension_amx_bf16,     &hu_extension_amx_int8,
    &hu_extension_fp16, &hu_extension_streams_avx2, &hu_extension_streams_avx512};
static int has_level(const hu_extension *extension) {
  return extension->bits & HU_LEVEL_AVX512 ? HU_RUNS_avx512 : HU_RUNS_avx2;
}
#elif HU_ARM_LEVELS
extern const hu_extension hu_extension_fp16_neon;
static const hu_extension *const known[] = {&hu_extension_fp16_neon};
static int has_level(const hu_extension *extension) { return (extension->bits & HU_LEVEL_NEON) && HU_RUNS_neon; }
#endif

#if HU_X86_LEVELS || HU_ARM_LEVELS
enum { KNOWN = sizeof known / sizeof *known };

static int is_there(const hu_extension *extension) {
  return extension->runs && has_level(extension) && extension->runs();
}

/* 0: it is a switch alone. */
static uint32_t own_bit(const hu_extension *extension) {
  return (uint32_t)((uint64_t)1 << (63 - hui_clz64(extension->bits))) & ~(uint32_t)HU_LEVEL_MADD;
}

hu_extensions hui_extensions_for(const hu_exec *exec) {
  hu_extensions extensions = {NULL, NULL, NULL, NULL, NULL, NULL};
  uint32_t off = exec ? exec->levels_off : 0;
  for (size_t i = 0; i < KNOWN; i++) {
    if ((known[i]->bits & off) || !is_there(known[i])) continue;
    if (known[i]->pairs) extensions.pairs = known[i]->pairs;
    if (known[i]->pair_tiles) extensions.pair_tiles = known[i]->pair_tiles;
    if (known[i]->shorts) extensions.shorts = known[i]->shorts;
    if (known[i]->halves) extensions.halves = known[i]->halves;
    if (known[i]->half_arith) extensions.half_arith = known[i]->half_arith;
    if (known[i]->byte_tiles) extensions.byte_tiles = known[i]->byte_tiles;
  }
  return extensions;
}

const struct hu_streams *hui_streams_for(const hu_exec *exec) {
  const struct hu_streams *streams = NULL;
  uint32_t off = exec ? exec->levels_off : 0;
  for (size_t i = 0; i < KNOWN; i++) {
    if (known[i]->streams && !(known[i]->bits & off) && is_there(known[i])) streams = known[i]->streams;
  }
  return streams;
}

uint32_t hui_extension_bits(void) {
  uint32_t bits = 0;
  for (size_t i = 0; i < KNOWN; i++) bits |= is_there(known[i]) ? own_bit(known[i]) : 0;
  return bits;
}

const char *hui_extension_name(uint32_t level) {
  for (size_t i = 0; i < KNOWN; i++) {
    if (level && level == own_bit(known[i])) return known[i]->name;
  }
  return NULL;
}
#else
hu_extensions hui_extensions_for(const hu_exec *exec) {
  hu_extensions none = {NULL, NULL, NULL, NULL, NULL, NULL};
  (void)exec;
  return none;
}

const struct hu_streams *hui_streams_for(const hu_exec *exec) {
  (void)exec;
  return NULL;
}

uint32_t hui_extension_bits(void) { return 0; }

const char *hui_extension_name(uint32_t level) {
  (void)level;
  return NULL;
}
#endif
