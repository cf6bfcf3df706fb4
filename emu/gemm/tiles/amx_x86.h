/* SPDX-License-Identifier: MIT */
/* emu/gemm/tiles/amx_x86.h - AMX: matrix registers ("tiles") of 16 rows of 64 bytes, and instructions that multiply
 * them. amx_bf16.c and amx_int8.c have a kernel each, whose loops are alike.
 *
 * Linux gives a process tiles when it asks (Documentation/arch/x86/xstate.rst of its sources), once for all of its
 * threads, those that run and later ones. A processor or a kernel that refuses is without the extension.
 *
 * A kernel sets up the tiles when it is called and gives them up before it returns, so that none of its state is left
 * in a thread, and a change of threads need not save tiles. Tiles are not preserved over calls by the x86-64 ABI: a
 * caller with tiles of its own has saved them. */
#ifndef HALFULP_EMU_GEMM_TILES_AMX_X86_H
#define HALFULP_EMU_GEMM_TILES_AMX_X86_H

#include <immintrin.h>

#include "emu/gemm/tiles/features_x86.h"
#include "emu/gemm/tiles/kernels.h"

/* Returns 1 if the CPU has AMX-TILE and the feature (a bit of EDX of leaf 7), and the kernel lets this process use
 * them. */
#ifdef HU_MODELLED_INSTRUCTIONS
static inline int hui_amx_permitted(unsigned feature) { return hui_has_leaf7(feature); }
#elif defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>

static inline int hui_amx_permitted(unsigned feature) {
  enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18, AMX_TILE = 24 };
  return hui_has_leaf7(1u << AMX_TILE | feature) &&
         syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
}
#else
static inline int hui_amx_permitted(unsigned feature) {
  (void)feature;
  return 0;
}
#endif
enum { HU_AMX_BF16 = 1u << 22, HU_AMX_INT8 = 1u << 25 };

#define HU_AMX_SIDE 16 /* rows of a tile, and words of a row */

/* What LDTILECFG reads: all eight tiles are whole. */
typedef struct hu_amx_shape {
  uint8_t palette, start, zero[14];
  uint16_t bytes[16];
  uint8_t rows[16];
} hu_amx_shape;
static const hu_amx_shape hu_amx_whole = {
    1, 0, {0}, {64, 64, 64, 64, 64, 64, 64, 64}, {16, 16, 16, 16, 16, 16, 16, 16}};

/* A block of sums. A is row-major, kc words to a row; B and acc are as kernels.h has them, with `high` rows to a panel
 * of acc. */
typedef struct hu_amx_block {
  size_t rows, cols, words, kc, high;
  const uint32_t *a, *b;
  char *acc;
} hu_amx_block;

/* Columns of 16 words, counted through the panels: where number t of B and of acc begins. */
#define HU_AMX_ACROSS ((size_t)HU_GEMM32_NR / HU_AMX_SIDE)
static inline const uint32_t *hui_amx_b(const hu_amx_block *block, size_t j) {
  return block->b + j / HU_AMX_ACROSS * (block->kc * HU_GEMM32_NR) + j % HU_AMX_ACROSS * HU_AMX_SIDE;
}
static inline char *hui_amx_acc(const hu_amx_block *block, size_t i, size_t j) {
  size_t panel = j / HU_AMX_ACROSS * block->high + i;
  return block->acc + 4 * (panel * HU_GEMM32_NR + j % HU_AMX_ACROSS * HU_AMX_SIDE);
}

#define HU_AMX_INLINE static inline __attribute__((always_inline))

/* Tiles (i, t), (i, t + 1), (i + 16, t), (i + 16, t + 1) of sums are tiles 0 to 3, those of A 4 and 5, of B 6 and 7:
 * four loads for four products. `down`, `across`: two of them, else one. The numbers of tiles are parts of the
 * instructions, and compilers' macros paste them into text. HU_AMX_DOT(kind, z, x, y) is the includer's instruction. */
HU_AMX_INLINE void hui_amx_words(const hu_amx_block *block, const int kind, const int down, const int across,
                                 const uint32_t *a, const uint32_t *b, const uint32_t *next) {
  const long a_pitch = (long)(block->kc * 4), pitch = HU_GEMM32_NR * 4;
  (void)kind;
  for (size_t k = 0; k < block->words; k += HU_AMX_SIDE) {
    _tile_loadd(4, a + k, a_pitch);
    _tile_loadd(6, b + k * HU_GEMM32_NR, pitch);
    HU_AMX_DOT(kind, 0, 4, 6);
    if (across) {
      _tile_loadd(7, next + k * HU_GEMM32_NR, pitch);
      HU_AMX_DOT(kind, 1, 4, 7);
    }
    if (down) {
      _tile_loadd(5, a + HU_AMX_SIDE * block->kc + k, a_pitch);
      HU_AMX_DOT(kind, 2, 5, 6);
      if (across) HU_AMX_DOT(kind, 3, 5, 7);
    }
  }
}

HU_AMX_INLINE void hui_amx_tiles(const hu_amx_block *block, const int kind, size_t i, size_t j, const int down,
                                 const int across) {
  const long pitch = HU_GEMM32_NR * 4;
  char *z0 = hui_amx_acc(block, i, j), *z1 = hui_amx_acc(block, i, j + 1);
  char *z2 = hui_amx_acc(block, i + HU_AMX_SIDE, j), *z3 = hui_amx_acc(block, i + HU_AMX_SIDE, j + 1);
  _tile_loadd(0, z0, pitch);
  if (across) _tile_loadd(1, z1, pitch);
  if (down) _tile_loadd(2, z2, pitch);
  if (down && across) _tile_loadd(3, z3, pitch);
  hui_amx_words(block, kind, down, across, block->a + i * block->kc, hui_amx_b(block, j), hui_amx_b(block, j + 1));
  _tile_stored(0, z0, pitch);
  if (across) _tile_stored(1, z1, pitch);
  if (down) _tile_stored(2, z2, pitch);
  if (down && across) _tile_stored(3, z3, pitch);
}

/* The sums of a block, whose rows, columns and words are taken up to whole tiles. gcc 12's macros do not say that a
 * tile is loaded from memory: what was stored before has to be there. */
HU_AMX_INLINE void hui_amx_multiply(const hu_amx_block *block, const int kind) {
  const size_t last = (block->cols - 1) / HU_AMX_SIDE;
  __asm__ volatile("" ::: "memory");
  _tile_loadconfig(&hu_amx_whole);
  for (size_t j = 0; j <= last; j += 2) {
    for (size_t i = 0; i < block->rows; i += 2 * (size_t)HU_AMX_SIDE) {
      const int down = block->rows - i > HU_AMX_SIDE;
      if (down && j < last) {
        hui_amx_tiles(block, kind, i, j, 1, 1);
      } else if (j < last) {
        hui_amx_tiles(block, kind, i, j, 0, 1);
      } else if (down) {
        hui_amx_tiles(block, kind, i, j, 1, 0);
      } else {
        hui_amx_tiles(block, kind, i, j, 0, 0);
      }
    }
  }
  _tile_release();
}

#endif
