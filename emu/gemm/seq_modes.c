/* SPDX-License-Identifier: MIT */
/* hu_gemm under seq(F) and seq2(P,F) in modes other than ties to even, in binary32 lanes (seq_modes.h). */
#include "emu/gemm/seq_modes.h"

#include "emu/core/accum_plan.h"
#include "emu/core/bits.h"
#include "emu/gemm/call.h"

static float step_in_integers(const hu_modes *q, float a, float b, float acc, uint64_t element, uint64_t k) {
  hu_draw d = hui_draw_of(q->key, element, NULL);
  d.next = q->unfused ? 2 * k : k;
  hu_num x = hui_unpack32(hui_bits_of_float(a)), y = hui_unpack32(hui_bits_of_float(b));
  hu_num c = hui_unpack32(hui_bits_of_float(acc)), z;
  if (q->unfused) {
    hu_num p = hui_grid_mul(&q->product.grid, x, y, &d);
    z = hui_grid_add(&q->sum.grid, c, p, &d);
  } else {
    z = hui_grid_fma(&q->sum.grid, x, y, c, &d);
  }
  return hui_float_of_bits(hui_pack32(z));
}

/* Does what t has of x suffice? */
static int digits_suffice(const hu_spec *f) {
  int32_t d = 23 - f->m;
  switch (f->round) {
    case HU_RTZ:
    case HU_RTP:
    case HU_RTN:
    case HU_RNA: return d >= 1;
    case HU_SRA: return f->bits <= d;
    case HU_SRB: return f->bits + 1 <= d;
    default: return hui_odd_is_enough(f);
  }
}

int hui_mode_grid_of(hu_mode_grid *z, hu_format format, hu_mode mode) {
  memset(z, 0, sizeof *z);
  z->grid = hui_grid_of(format, mode);
  const hu_spec *f = &z->grid.spec;
  const int single = f->round == HU_RNE && f->m == 23 && f->emin == -126;
  if (!hui_lanes_round_into(f, 23) || !f->fits_binary32 || !(single || digits_suffice(f))) return 0;
  z->floor = hui_power_bits(f->emin);
  z->span = (uint32_t)(f->emax - f->emin) << 23;
  z->d = (uint32_t)(23 - f->m);
  int32_t spare = (int32_t)z->d - f->bits; /* fraction digits below the random ones */
  z->keep = spare > 0 ? ~(((uint32_t)1 << spare) - 1) : 0xFFFFFFFFu;
  z->half = spare > 0 ? (uint32_t)1 << (spare - 1) : 0;
  return 1;
}

static int products_are_exact(hu_gemm_call *g) {
  if (g->a.spec.m + g->b.spec.m + 2 > 24) return 0;
  hui_gemm_look(g);
  return !g->sa.any || !g->sb.any || g->sa.low + g->sb.low >= -149;
}

/* What the way keeps of a call. */
typedef struct modes_way {
  const hu_modes_kernels *kernels;
  hu_modes modes;
} modes_way;

/* 1 if the lanes serve the model. */
static int choose(modes_way *w, hu_gemm_call *g, const hu_level *level) {
  const hu_accum *x = g->accum;
  hu_modes *q = &w->modes;
  w->kernels = level->seq_modes;
  if (!w->kernels || !w->kernels->tile || !hui_gemm_is_bare(g)) return 0;
  memset(q, 0, sizeof *q);
  q->unfused = x->kind == HU_ACCUM_SEQ2;
  if ((x->kind != HU_ACCUM_SEQ && !q->unfused) || x->promote || x->slices) return 0;
  if (x->mode.round == HU_RNE || g->k == 0) return 0;
  if (!g->a.carried || !g->b.carried || (g->c.data && !g->c.carried)) return 0;
  if (!hui_mode_grid_of(&q->sum, x->sum, x->mode)) return 0;
  if (!hui_mode_grid_of(&q->product, q->unfused ? x->product : x->sum, x->mode)) return 0;
  q->key = g->stream.key;
  q->lane = step_in_integers;
  return !q->unfused || products_are_exact(g);
}

/* ---- blocks ---- */

/* i0, j0, k0: where the block and the piece of K begin. */
static void run_tiles(const hu_gemm_call *g, size_t i0, size_t j0, size_t k0, size_t rows, size_t cols, size_t kc,
                      const float *a, const float *b, float *acc, int fresh) {
  const modes_way *w = g->way;
  for (size_t j = 0; j < cols; j += HU_GEMM32_NR) {
    for (size_t i = 0; i < rows; i += HU_GEMM_MR) {
      float *z = acc + j * HU_GEMM32_MB + i * HU_GEMM32_NR;
      for (size_t t = 0; fresh && t < HU_GEMM_MR * HU_GEMM32_NR; t++) z[t] = 0;
      uint64_t element = g->stream.counter + (uint64_t)(i0 + i) * g->n + j0 + j;
      w->kernels->tile(&w->modes, hui_least(rows - i, HU_GEMM_MR), hui_least(cols - j, HU_GEMM32_NR), kc,
                       a + i * HU_GEMM32_KC, b + j * HU_GEMM32_KC, z, element, g->n, k0);
    }
  }
}

#define HU_FINISH hui_gemm_finish_open
#define HU_TILE_KERNEL(padded, cols, kc, a, b, acc, fresh, ahead) \
  run_tiles(g, i0, j0, k0, rows, cols, kc, a, b, acc, fresh)
#include "emu/gemm/float_block32.h"

_Static_assert(HU_KC % 4 == 0, "pieces of K begin with whole blocks of random words");

static int run(hu_gemm_call *g, const hu_level *level, hu_events *events) {
  modes_way w;
  if (!choose(&w, g, level)) return 0;
  g->way = &w;
  hui_gemm_set_blocks(g, HU_MB, HU_GEMM_MR, HU_NB, HU_NR);
  hui_gemm_run(g, run_block, events);
  return 1;
}

const hu_gemm_way hu_way_seq_modes = {"seq_modes", run};
