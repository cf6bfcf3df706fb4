/* SPDX-License-Identifier: MIT */
/* emu/scaled_gemm/plan.h - checks a product of scaled tensors and lays out its working space, for the CPU and CUDA. */
#ifndef HALFULP_EMU_SCALED_GEMM_PLAN_H
#define HALFULP_EMU_SCALED_GEMM_PLAN_H

#include "emu/base/matrix_view.h"
#include "emu/core/scaled_sum.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is a matrix's own, and what stands in working space for it. */
enum { HU_VIEW_GIVEN = 0, HU_VIEW_TWOS = 1, HU_VIEW_DECODED = 2 };
typedef struct hu_scaled_view {
  const hu_scaling *scaling; /* NULL: plain */
  hu_scaled scaled;
  hu_view operand;         /* as the sums read it, settled */
  size_t rows, cols;       /* as stored */
  uint8_t how, transposed; /* HU_VIEW_ */
} hu_scaled_view;

typedef struct hu_scaled_plan {
  size_t m, n, k;
  hu_scaled_sum sum;
  hu_mode mode;
  hu_output d;               /* settled, where plain */
  const hu_scaling *scaling; /* of D, with the next three; NULL: plain */
  hu_scaled scaled;
  const float *amax;
  hu_scaled_stats *stats;
  hu_scaled_view a, b, c;
  hu_scale_source sa, sb;
  size_t runs;                /* parts */
  hu_view scale_a, scale_b;   /* unit: one scale to N products, given or spread out in working space */
  uint8_t spread_a, spread_b; /* 1: spread out */
  uint8_t has_c, alpha;       /* alpha: there is an epilogue */
  float *y;                   /* m x n sums, where D is scaled or the unit's epilogue requires them; else NULL */
  uint8_t *work;              /* space for parts */
  size_t each;                /* bytes of a thread's */
  uint32_t threads;
  size_t bytes; /* of working space, all together; every offset below is in it */
  size_t at_a, at_b, at_c, at_scale_a, at_scale_b, at_y, at_work;
  uint8_t has_y;
  hu_matrix_extent in[10], out[4]; /* bytes that the call reads, and writes */
} hu_scaled_plan;

/* Elements of D that a thread has in work at a time, and a row of them at most. */
enum { HU_TILE_MOST = 1 << 15, HU_TILE_COLS = 256, HU_TILE_PARTS = 1 << 18 };

/* Checks everything but overlaps and working space, whose size it leaves in plan->bytes. No pointer to elements or
 * scales is followed. work: bytes of workspace that each thread has for parts; 0 chooses the CPU's own amount. */
hu_status hui_scaled_plan_make(hu_scaled_plan *plan, const hu_product *product, hu_mode mode, const hu_exec *exec,
                               size_t work);
/* The same wherever data lie; pointers to elements and scales are not looked at. */
hu_status hui_scaled_plan_size(hu_scaled_plan *plan, const hu_product *product, const hu_exec *exec, size_t work);
/* Checks that nothing written overlaps; finds places in working space. HU_E_NULL, HU_E_ALIGN, HU_E_SPACE,
 * HU_E_OVERLAP. */
hu_status hui_scaled_plan_place(hu_scaled_plan *plan, void *space, size_t bytes);
/* Ways `unit` and `decoded`: the plain product of a plan in its place, into y if there is one, and how it is done. */
void hui_scaled_plan_whole(hu_product *product, hu_how *how, const hu_scaled_plan *plan, const hu_exec *exec,
                           hu_events *events);
/* Makes the sums of parts; for the NaN of unit: inside is the model. */
int hui_scaled_plan_sums(hu_scaled_sums *sums, const hu_scaled_plan *plan, const hu_exec *exec);
/* Checks for a model with a random rounding among its steps. */
int hui_accum_is_random(const hu_accum *x);
/* across, where it is a chain of steps in binary32, fused or not (HU_JOIN_UNFUSED); -1: it is not. */
int hui_scaled_across_steps(const hu_accum *x);

#ifdef __cplusplus
}
#endif
#endif
