/* SPDX-License-Identifier: MIT */
/* hu_gemm under seq(F) and seq2(P,F) in modes other than ties to even, in binary32 lanes (seq_modes.h). */
#include "emu/gemm/seq_modes.h"

#include "emu/core/accum_plan.h"
#include "emu/core/bits.h"
#include "emu/core/modes.h"
#include "emu/gemm/call.h"

static float step_in_integers(const hu_modes *modes, float a, float b, float acc, uint64_t element, uint64_t k) {
  hu_draw draw = hui_draw_of(modes->key, element, NULL);
  draw.next = modes->unfused ? 2 * k : k;
  hu_num x = hui_unpack32(hui_bits_of_float(a)), y = hui_unpack32(hui_bits_of_float(b));
  hu_num c = hui_unpack32(hui_bits_of_float(acc)), z;
  if (modes->unfused) {
    hu_num product = hui_grid_mul(&modes->product.grid, x, y, &draw);
    z = hui_grid_add(&modes->sum.grid, c, product, &draw);
  } else {
    z = hui_grid_fma(&modes->sum.grid, x, y, c, &draw);
  }
  return hui_float_of_bits(hui_pack32(z));
}

/* Does what t has of x suffice? */
static int digits_suffice(const hu_spec *spec) {
  int32_t looks_at = spec->round == HU_SRA ? spec->bits : spec->bits + 1;
  if (hui_first_rounding(spec->round) == HU_FIRST_ODD) return hui_odd_is_enough(spec);
  return looks_at <= 23 - spec->m;
}

int hui_mode_grid_of(hu_mode_grid *z, hu_format format, hu_mode mode) {
  memset(z, 0, sizeof *z);
  z->grid = hui_grid_of(format, mode);
  const hu_spec *spec = &z->grid.spec;
  const int single = spec->round == HU_RNE && spec->m == 23 && spec->emin == -126;
  if (!hui_lanes_round_into(spec, 23) || !spec->fits_binary32 || !(single || digits_suffice(spec))) return 0;
  z->floor = hui_power_bits(spec->emin);
  z->span = (uint32_t)(spec->emax - spec->emin) << 23;
  z->dropped = (uint32_t)(23 - spec->m);
  int32_t spare = (int32_t)z->dropped - spec->bits; /* fraction digits below the random ones */
  z->keep = spare > 0 ? ~(((uint32_t)1 << spare) - 1) : 0xFFFFFFFFu;
  z->half = spare > 0 ? (uint32_t)1 << (spare - 1) : 0;
  return 1;
}

static int products_are_exact(hu_gemm_call *call) {
  if (call->a.spec.m + call->b.spec.m + 2 > 24) return 0;
  hui_gemm_look(call);
  return !call->sa.any || !call->sb.any || call->sa.low + call->sb.low >= -149;
}

/* What the way keeps of a call. */
typedef struct modes_way {
  const hu_modes_kernels *kernels;
  hu_modes modes;
} modes_way;

/* 1 if the lanes serve the model. */
static int choose(modes_way *way, hu_gemm_call *call, const hu_level *level) {
  const hu_accum *accum = call->accum;
  hu_modes *modes = &way->modes;
  way->kernels = level->seq_modes;
  if (!way->kernels || !way->kernels->tile || !hui_gemm_is_bare(call)) return 0;
  memset(modes, 0, sizeof *modes);
  modes->unfused = accum->kind == HU_ACCUM_SEQ2;
  if ((accum->kind != HU_ACCUM_SEQ && !modes->unfused) || accum->promote || accum->slices) return 0;
  if (accum->mode.round == HU_RNE || call->k == 0) return 0;
  if (!call->a.carried || !call->b.carried || (call->c.data && !call->c.carried)) return 0;
  if (!hui_mode_grid_of(&modes->sum, accum->sum, accum->mode)) return 0;
  if (!hui_mode_grid_of(&modes->product, modes->unfused ? accum->product : accum->sum, accum->mode)) return 0;
  modes->key = call->stream.key;
  modes->lane = step_in_integers;
  return !modes->unfused || products_are_exact(call);
}

/* ---- blocks ---- */

/* Runs the tiles; i0, j0, k0: where the block and the piece of K begin. */
static void run_tiles(const hu_gemm_call *call, size_t i0, size_t j0, size_t k0, size_t rows, size_t cols, size_t kc,
                      const float *a, const float *b, float *acc, int fresh) {
  const modes_way *way = call->way;
  for (size_t j = 0; j < cols; j += HU_GEMM32_NR) {
    for (size_t i = 0; i < rows; i += HU_GEMM_MR) {
      float *z = acc + j * HU_GEMM32_MB + i * HU_GEMM32_NR;
      for (size_t k = 0; fresh && k < HU_GEMM_MR * HU_GEMM32_NR; k++) z[k] = 0;
      uint64_t element = call->stream.counter + (uint64_t)(i0 + i) * call->n + j0 + j;
      way->kernels->tile(&way->modes, hui_least(rows - i, HU_GEMM_MR), hui_least(cols - j, HU_GEMM32_NR), kc,
                         a + i * HU_GEMM32_KC, b + j * HU_GEMM32_KC, z, element, call->n, k0);
    }
  }
}

#define HU_FINISH hui_gemm_finish_open
#define HU_TILE_KERNEL(padded, cols, kc, a, b, acc, fresh, ahead) \
  run_tiles(call, i0, j0, k0, rows, cols, kc, a, b, acc, fresh)
#include "emu/gemm/float_block32.h"

_Static_assert(HU_KC % 4 == 0, "pieces of K begin with whole blocks of random words");

static int run(hu_gemm_call *call, const hu_level *level, hu_events *events) {
  modes_way way;
  if (!choose(&way, call, level)) return 0;
  call->way = &way;
  hui_gemm_set_blocks(call, HU_MB, HU_GEMM_MR, HU_NB, HU_NR);
  hui_gemm_run(call, run_block, events);
  return 1;
}

const hu_gemm_way hu_way_seq_modes = {"seq_modes", run};
