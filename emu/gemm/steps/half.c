/* SPDX-License-Identifier: MIT */
/* hu_gemm under seq(binary16) in ties to even, toward zero, positive and negative, by the CPU's fused multiply-adds of
 * binary16 (tiles/half.h).
 *
 * The argument. A step of the model is one rounding of a b + acc into binary16 by the mode (docs/numerics.md, section
 * 11), where a and b are values of any formats. Where binary16 has them all, a b + acc is IEEE 754's
 * fusedMultiplyAdd of binary16 in that rounding direction, and VFMADD...PH is that operation (Intel's AVX512-FP16
 * architecture specification, document 347407): the direction stands in the instruction, which also suppresses
 * exceptions, subnormal numbers are operands and results whatever MXCSR says of others, and overflow is IEEE 754's. So
 * is the model's, as the sum's format is binary16 with infinities and the mode does not saturate. Arm's FMLA of halves
 * is it, too, where FPCR has the direction, FZ16 = 0 and AH = 0 (FEAT_FP16; Arm Architecture Reference Manual,
 * FPMulAdd): subnormal numbers are not flushed, and exceptions only set flags of FPSR. An exact zero has the
 * sign of IEEE 754 in both. Steps follow one another in the order of K, and between pieces of K a sum waits as the code
 * that it is. What is left are three ends:
 *
 *   no C     the sum starts from +0, as the model's does.
 *   NaN      a sum is NaN in the lane if and only if it is one in the model, by IEEE 754's rules. Its digits are the
 *            CPU's, and hui_gemm_finish32 looks at none of them.
 *   events   are those of the last rounding, of the sum into D, which is the library's own (halfulp/gemm.h). */
#include "emu/core/bits.h"
#include "emu/gemm/call.h"
#include "emu/gemm/steps/half.h"

/* What the way keeps of a call. */
typedef struct half_way {
  const hu_half_kernels *kernels;
  uint32_t round;
} half_way;

/* ---- the choice ---- */

int hui_half_holds(const hu_matrix *x) {
  const hu_spec *spec = &x->spec;
  return !x->data || (x->carried && spec->m <= 10 && spec->emin - spec->m >= -24 && spec->emax <= 15);
}

static int choose(half_way *way, const hu_gemm_call *call) {
  const hu_accum *accum = call->accum;
  way->kernels = call->extensions.halves;
  if (!way->kernels || !hui_gemm_is_bare(call) || call->k == 0) return 0;
  if (accum->kind != HU_ACCUM_SEQ || accum->promote || accum->slices) return 0;
  hu_spec spec = hui_spec_of(accum->sum, accum->mode);
  way->round = spec.round;
  return hui_half_serves(&spec) && hui_half_holds(&call->a) && hui_half_holds(&call->b) && hui_half_holds(&call->c);
}

/* ---- operands ---- */

void hui_half_narrow(const hu_half_kernels *kernels, size_t n, uint16_t *z, const float *x) {
  size_t whole = n / 16 * 16;
  float rest[16] = {0};
  uint16_t codes[16];
  kernels->narrow(whole, z, x);
  if (whole == n) return;
  memcpy(rest, x + whole, (n - whole) * sizeof *x);
  kernels->narrow(16, codes, rest);
  memcpy(z + whole, codes, (n - whole) * sizeof *z);
}

void hui_half_read(const hu_half_kernels *kernels, const hu_matrix *x, size_t row, size_t column, size_t n,
                   uint16_t *z) {
  float values[HU_HALF_NB];
  if (x->size == 2 && hu_format_equal(x->format, hu_format_ieee(5, 10, 0))) {
    memcpy(z, (const uint16_t *)x->data + row * x->ld + column, n * sizeof *z);
    return;
  }
  hui_gemm_read32(x, row, column, n, values);
  hui_half_narrow(kernels, n, z, values);
}

static const hu_half_kernels *kernels_of(const hu_gemm_call *call) { return ((const half_way *)call->way)->kernels; }

/* HU_GEMM_MR rows of values, ldx apart, become columns of codes: z[c ldz + r] is that of x[r ldx + c], c < n. */
static void transpose_codes(const hu_gemm_call *call, size_t n, uint16_t *z, size_t ldz, const float *x, size_t ldx) {
  uint16_t line[HU_HALF_KC];
  for (size_t i = 0; i < HU_GEMM_MR; i++) {
    hui_half_narrow(kernels_of(call), n, line, x + i * ldx);
    for (size_t c = 0; c < n; c++) z[c * ldz + i] = line[c];
  }
}

/* Spreads one row of B over whole panels. */
static void spread_codes(const hu_gemm_call *call, size_t panels, uint16_t *z, const float *x) {
  for (size_t panel = 0; panel < panels; panel++)
    hui_half_narrow(kernels_of(call), HU_HALF_NR, z + panel * HU_HALF_KC * HU_HALF_NR, x + panel * HU_HALF_NR);
}

/* ---- blocks of D ---- */

static void finish(const hu_gemm_call *call, size_t i, size_t j0, size_t n, const uint16_t *sum, hu_events *events) {
  float values[HU_HALF_NB];
  kernels_of(call)->widen(hui_up_to(n, 16), values, sum);
  hui_gemm_finish32(call, i, j0, n, values, events);
}

#define HU_REAL uint16_t
#define HU_READ(x, row, column, n, z) hui_half_read(kernels_of(call), x, row, column, n, z)
#define HU_COPY(n, z, x) hui_half_narrow(kernels_of(call), n, z, x)
#define HU_SPREAD(panels, z, x) spread_codes(call, panels, z, x)
#define HU_TRANSPOSE(n, z, ldz, x, ldx) transpose_codes(call, n, z, ldz, x, ldx)
#define HU_FINISH finish
#define HU_TILE_KERNEL(padded, cols, kc, a, b, acc, fresh, ahead) \
  kernels_of(call)->multiply(((const half_way *)call->way)->round, padded, cols, kc, a, b, acc, fresh)
#define HU_NR HU_HALF_NR
#define HU_MB HU_HALF_MB
#define HU_NB HU_HALF_NB
#define HU_KC HU_HALF_KC
#include "emu/gemm/float_block.h"

static int run(hu_gemm_call *call, const hu_level *level, hu_events *events) {
  half_way way;
  (void)level;
  if (!choose(&way, call)) return 0;
  call->way = &way;
  hui_gemm_set_blocks(call, HU_MB, HU_GEMM_MR, HU_NB, HU_NR);
  hui_gemm_run(call, run_block, events);
  return 1;
}

const hu_gemm_way hu_way_half = {"half", run};
