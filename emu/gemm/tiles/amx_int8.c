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
#include "emu/gemm/tiles/join_x86.h"

static void multiply_bytes(size_t rows, size_t cols, size_t words, const uint32_t *a, const uint32_t *b, int unsigned_a,
                           int32_t *acc, size_t high) {
  hu_amx_block block = {rows, cols, words, HU_SHORT_KC, high, a, b, (char *)acc};
  if (unsigned_a) {
    hui_amx_multiply(&block, OF_UNSIGNED);
  } else {
    hui_amx_multiply(&block, OF_SIGNED);
  }
}

/* ---- parts: tiles 0 to 2 are sums of 16 rows and up to 48 columns, 3 is A, 4 to 6 are B ---- */

/* Sets up tiles of A and of B for `words` words of K, at most 16. */
static void set_up(size_t words) {
  hu_amx_shape shape = hu_amx_whole;
  shape.bytes[3] = (uint16_t)(4 * words);
  for (size_t j = 4; j <= 6; j++) shape.rows[j] = (uint8_t)words;
  __asm__ volatile("" ::: "memory");
  _tile_loadconfig(&shape);
}

/* The sums of 16 rows; `across`: how many columns of tiles there are. */
HU_AMX_INLINE void part_tiles(const int kind, size_t words, const int across, const uint32_t *a, const uint32_t *b,
                              int32_t *part) {
  const long a_pitch = HU_SHORT_KC * 4, pitch = HU_GEMM32_NR * 4;
  (void)kind;
  _tile_zero(0);
  if (across > 1) _tile_zero(1);
  if (across > 2) _tile_zero(2);
  for (size_t k = 0; k < words; k += HU_AMX_SIDE, b += HU_AMX_SIDE * HU_GEMM32_NR) {
    _tile_loadd(3, a + k, a_pitch);
    _tile_loadd(4, b, pitch);
    HU_AMX_DOT(kind, 0, 3, 4);
    if (across > 1) _tile_loadd(5, b + HU_AMX_SIDE, pitch);
    if (across > 1) HU_AMX_DOT(kind, 1, 3, 5);
    if (across > 2) _tile_loadd(6, b + 2 * HU_AMX_SIDE, pitch);
    if (across > 2) HU_AMX_DOT(kind, 2, 3, 6);
  }
  _tile_stored(0, part, pitch);
  if (across > 1) _tile_stored(1, part + HU_AMX_SIDE, pitch);
  if (across > 2) _tile_stored(2, part + 2 * HU_AMX_SIDE, pitch);
}

HU_AMX_INLINE void add_parts(const int kind, size_t rows, size_t cols, size_t words, const uint32_t *a,
                             const uint32_t *b, const hu_short_join *join, float *sum) {
  _Alignas(64) int32_t part[HU_AMX_SIDE * HU_GEMM32_NR];
  set_up(words < HU_AMX_SIDE ? words : HU_AMX_SIDE);
  for (size_t j = 0; j < cols; j += HU_GEMM32_NR) {
    const size_t across = (cols - j + HU_AMX_SIDE - 1) / HU_AMX_SIDE;
    for (size_t i = 0; i < rows; i += HU_AMX_SIDE) {
      const hu_corner corner = {sum + i * cols + j, rows - i, cols - j, cols, join->row + i, join->column + j, join};
      part_tiles(kind, words, across > 2 ? 3 : (int)across, a + i * HU_SHORT_KC, b + j * HU_SHORT_KC, part);
      __asm__ volatile("" ::: "memory");
      for (int k = 0; k < HU_AMX_SIDE && (size_t)k < corner.rows; k++) {
        for (int column = 0; column < 3 && (size_t)column < across; column++) {
          hui_join_row(&corner, k, column, _mm512_loadu_si512(part + k * HU_GEMM32_NR + column * HU_AMX_SIDE));
        }
      }
    }
  }
  _tile_release();
}

static void add_part(size_t rows, size_t cols, size_t words, const uint32_t *a, const uint32_t *b, int unsigned_a,
                     const hu_short_join *join, float *sum) {
  if (!unsigned_a) {
    add_parts(OF_SIGNED, rows, cols, words, a, b, join, sum);
  } else {
    add_parts(OF_UNSIGNED, rows, cols, words, a, b, join, sum);
  }
}

static void digit(size_t n, uint8_t *z, const float *x, float scale, uint32_t from) {
  const __m512i low = _mm512_set1_epi32((int)from), seven = _mm512_set1_epi32(127);
  for (size_t i = 0; i < n; i += 16) {
    __m512i bits = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_loadu_ps(x + i), _mm512_set1_ps(scale)));
    __m512i size = _mm512_and_si512(_mm512_srlv_epi32(_mm512_abs_epi32(bits), low), seven);
    __m512i minus = _mm512_srai_epi32(bits, 31);
    size = _mm512_sub_epi32(_mm512_xor_si512(size, minus), minus);
    _mm_storeu_si128((__m128i *)(void *)(z + i), _mm512_cvtepi32_epi8(size));
  }
}

static const hu_byte_tiles kernels = {multiply_bytes, add_part, digit};
#if defined(HU_UNCONFIRMED_UNITS) || defined(HU_MODELLED_INSTRUCTIONS)
static int ask(void) { return hui_amx_permitted(HU_AMX_INT8); }
static int runs(void) {
  static int answer;
  return hui_ask_once(&answer, ask);
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
