/* SPDX-License-Identifier: MIT */
/* emu/gemm/tiles/amx_int8.c - products of bytes of short.h by AMX-INT8 (amx_x86.h). A test compiles this file a second
 * time with a header in place of the compiler's that models the instructions in C. No run on such a processor is
 * recorded yet: Meson's option `unconfirmed_units` asks for it. */
#define _DEFAULT_SOURCE 1 /* syscall */
#include <immintrin.h>

#include "emu/gemm/tiles/short.h"
#include "halfulp/gemm.h"

/* The compiler may not know them; gcc and clang have a name each for those that they know. */
#if defined(__AMX_INT8__) || defined(__AMXINT8__) || defined(HU_MODELLED_INSTRUCTIONS)
enum { OF_SIGNED, OF_UNSIGNED };
#define HU_AMX_DOT(kind, z, x, y) \
  do {                            \
    if (kind == OF_UNSIGNED) {    \
      _tile_dpbusd(z, x, y);      \
    } else {                      \
      _tile_dpbssd(z, x, y);      \
    }                             \
  } while (0)
#include "emu/gemm/tiles/amx_x86.h"

static void multiply_bytes(size_t rows, size_t cols, size_t words, const uint32_t *a, const uint32_t *b, int unsigned_a,
                           int32_t *acc, size_t high) {
  hu_amx_block o = {rows, cols, words, HU_SHORT_KC, high, a, b, (char *)acc};
  if (unsigned_a) {
    hu_amx_multiply(&o, OF_UNSIGNED);
  } else {
    hu_amx_multiply(&o, OF_SIGNED);
  }
}

static const hu_byte_tiles kernels = {multiply_bytes};
#if defined(HU_UNCONFIRMED_UNITS) || defined(HU_MODELLED_INSTRUCTIONS)
static int ask(void) { return hu_amx_permitted(HU_AMX_INT8); }
static int runs(void) {
  static int answer;
  return hu_ask_once(&answer, ask);
}
#define KERNELS .runs = runs, .byte_tiles = &kernels
#else
#define KERNELS .runs = NULL, .byte_tiles = &kernels
#endif
#else
#define KERNELS .runs = NULL
#endif

const hu_extension hu_extension_amx_int8 = {
    .name = "amx_int8", .bits = HU_LEVEL_AVX512 | HU_LEVEL_VNNI | HU_LEVEL_AMX_INT8, KERNELS};
