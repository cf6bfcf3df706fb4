/* SPDX-License-Identifier: MIT */
/* Products as chains of fused multiply-adds in binary32: the model fp32 and what is the same, and exact sums that
 * binary32 never rounds. */
#include "emu/gemm/call.h"

#define HU_FINISH hui_gemm_finish32
#define HU_TILE_KERNEL call->kernels->fma32
#include "emu/gemm/float_block32.h"

static int serves(const hu_gemm_call *call) {
  const hu_spec *sc = call->c.data ? &call->c.spec : NULL;
  int fit = call->a.carried && call->b.carried && (!sc || call->c.carried);
  if (call->exact) return fit && hui_gemm_specs_fit(call->k, &call->a.spec, &call->b.spec, sc, 24, -149);
  return !call->watches && hui_gemm_is_fp32(call->accum, fit);
}

static int run(hu_gemm_call *call, const hu_level *level, hu_events *events) {
  (void)level;
  if (!serves(call)) return 0;
  hui_gemm_set_blocks(call, HU_MB, HU_GEMM_MR, HU_NB, HU_NR);
  hui_gemm_run(call, run_block, events);
  return 1;
}

const hu_gemm_way hu_way_fp32 = {"fp32", run};
