/* SPDX-License-Identifier: MIT */
/* emu/gemm/tiles/amx_bf16.c - pairs.h by AMX-BF16 (amx_x86.h). A test compiles this file a second time with a header in
 * place of the compiler's that models the instructions in C. No run on such a processor is recorded yet: Meson's option
 * `unconfirmed_units` asks for it. */
#define _DEFAULT_SOURCE 1 /* syscall */
#include <immintrin.h>

#include "emu/gemm/tiles/pairs.h"
#include "emu/gemm/tiles/weave_x86.h"
#include "halfulp/gemm.h"

/* The compiler may not know them; gcc and clang have a name each for those that they know. */
#if defined(__AMX_BF16__) || defined(__AMXBF16__) || defined(HU_MODELLED_INSTRUCTIONS)
#define HU_AMX_DOT(kind, z, x, y) _tile_dpbf16ps(z, x, y)
#include "emu/gemm/tiles/amx_x86.h"

static void multiply(size_t rows, size_t cols, size_t pairs, const uint32_t *a, const uint32_t *b, float *acc) {
  hu_amx_block block = {rows, cols, pairs, HU_PAIRS_KC, HU_GEMM32_MB, a, b, (char *)acc};
  hui_amx_multiply(&block, 0);
}

static const hu_pair_kernels kernels = {hui_bfloat16_codes, hui_weave_halves, multiply, HU_AMX_SIDE, HU_AMX_SIDE, 1};
#if defined(HU_UNCONFIRMED_UNITS) || defined(HU_MODELLED_INSTRUCTIONS)
static int ask(void) { return hui_amx_permitted(HU_AMX_BF16); }
static int runs(void) {
  static int answer;
  return hui_ask_once(&answer, ask);
}
#define KERNELS .runs = runs, .pair_tiles = &kernels
#else
#define KERNELS .runs = NULL, .pair_tiles = &kernels
#endif
#else
#define KERNELS .runs = NULL
#endif

const hu_extension hu_extension_amx_bf16 = {.name = "amx_bf16", .bits = HU_LEVEL_AVX512 | HU_LEVEL_AMX_BF16, KERNELS};
