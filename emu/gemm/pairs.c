/* SPDX-License-Identifier: MIT */
/* hu_gemm under block(chain,l=2,order=down,daz=sign,ftz=tiny), the model intel.vdpbf16ps, and under
 * block(lanes,l=32,daz=sign,ftz=tiny), the model intel.tdpbf16ps, by the instructions that the models describe.
 *
 * The argument for the first. A lane of VDPBF16PS replaces its binary32 number c by rnd(a0 b0 + rnd(a1 b1 + c)): a1, b1
 * are the codes in the high halves of two words. rnd is one rounding of the exact sum to nearest, ties to even, which
 * makes what is tiny after rounding a zero of its sign, and subnormal a, b, c are read as zeros of their sign; MXCSR is
 * neither read nor written (Intel's manual, and tests/golden/hw for both makers' processors). That is the model's step
 * for the products 2 p (low half) and 2 p + 1 (high half), and it is what these kernels demand of the record: each key
 * of the block as it stands in that name, the sum in all of binary32 with infinities beyond the largest number,
 * operands whose numbers and subnormals are those of bfloat16. Steps follow one another in the order of K, and a sum
 * waits between pieces of K as the binary32 number that it is, so no other step is there. What is left are four ends:
 *
 *   odd K     the model leaves out the last block's second product, which comes first. The word has a1 = -0, b1 = +0
 *             there: adding -0 changes no number, nor a zero of either sign, an infinity, a NaN; a subnormal c becomes
 *             the zero that the other product reads it as.
 *   no C      the sum starts from +0, as the model's does.
 *   k = 0     no step reads C: another way.
 *   NaN       is a NaN in the lane if and only if it is one in the model, as that follows from IEEE 754's rules alone.
 *             Its digits are the CPU's, and hui_gemm_finish32 looks at none of them. A NaN operand is kept from
 *             losing its digits, and so becoming an infinity, when binary32 patterns are cut.
 *
 * The argument for the second is the same with another step. An element of TDPBF16PS (Intel's manual, volume 2, under
 * "Operation") replaces its binary32 number c by rnd(c + rnd(u + v)): from +0, u takes rnd(a b + u) over the low halves
 * of 16 words one after another, v over the high halves; rnd and the reading of subnormals are as above, and MXCSR is
 * neither read nor written. That is the model's step for 32 products, and K is walked from 0 on in pieces that are
 * multiples of 32. A last step with fewer products is filled up with a = -0, b = +0: rnd(-0 + u) is u for each u that
 * is no NaN, zeros of both signs among them, as u is never subnormal, and u starts from +0 in both. */
#include "emu/gemm/tiles/pairs.h"

#include "emu/gemm/words.h"

enum { KC = HU_PAIRS_KC };
_Static_assert(KC % HU_PAIRS_STEPS == 0 && HU_PAIRS_STEPS % MR == 0, "pieces of K are whole steps");
#define MINUS_ZERO 0x8000

/* ---- the choice ---- */

static int none(hu_format format) { return !format.sign && !format.e && !format.m; }

static int is_chain(const hu_block *block) {
  return block->rule == HU_BLOCK_CHAIN && block->length == 2 && block->order == HU_BLOCK_ORDER_DOWN;
}

static int is_lanes(const hu_block *block) {
  return block->rule == HU_BLOCK_LANES && block->length == 32 && block->order == HU_BLOCK_ORDER_UP;
}

static int is_block(const hu_block *block) {
  return block->daz == HU_BLOCK_DAZ_SIGN && block->ftz == HU_BLOCK_FTZ_TINY && block->join == HU_BLOCK_JOIN_FIRST &&
         !block->input && none(block->as) && none(block->scale);
}

static int sums_in_binary32(const hu_accum *accum) {
  hu_spec spec = hui_spec_of(accum->sum, accum->mode);
  return hui_spec_is_plain(&spec) && spec.negzero && spec.m == 23 && spec.emin == -126 && spec.max_code == 0x7F7FFFFF &&
         spec.has_inf && spec.has_nan && spec.round == HU_RNE && spec.saturate == HU_SAT_NONE &&
         spec.tiny == HU_TINY_AFTER;
}

static int is_bfloat16(const hu_matrix *x) {
  const hu_spec *spec = &x->spec;
  return x->carried && hui_spec_is_plain(spec) && spec->m == 7 && spec->emin == -126;
}

/* NULL: none serves. */
static const hu_pair_kernels *choose(const hu_gemm_call *call) {
  const hu_accum *accum = call->accum;
  if (!hui_gemm_is_bare(call) || call->k == 0) return NULL;
  if (accum->kind != HU_ACCUM_BLOCK || accum->promote || accum->slices || !is_block(&accum->block)) return NULL;
  if (!sums_in_binary32(accum) || !is_bfloat16(&call->a) || !is_bfloat16(&call->b) ||
      (call->c.data && !call->c.carried))
    return NULL;
  return is_chain(&accum->block)   ? call->extensions.pairs
         : is_lanes(&accum->block) ? call->extensions.pair_tiles
                                   : NULL;
}

/* ---- operands ---- */

static void read_codes(const hu_gemm_call *call, const hu_matrix *x, size_t row, size_t column, size_t n, void *z) {
  _Alignas(64) float values[NB + 16];
  const hu_pair_kernels *kernels = call->way;
  if (x->size == 2 && hu_format_equal(x->format, hu_format_ieee(8, 7, 0))) {
    memcpy(z, (const uint16_t *)x->data + row * x->ld + column, n * 2);
    return;
  }
  hui_gemm_read32(x, row, column, n, values);
  memset(values + n, 0, 16 * sizeof *values);
  kernels->halves(hui_up_to(n, 16), z, values);
}

/* ---- blocks of D ---- */

/* acc = C, or +0. */
static void load_c(const hu_gemm_call *call, size_t i0, size_t j0, size_t rows, size_t cols, float *acc) {
  float line[MB > NB ? MB : NB];
  memset(acc, 0, MB * hui_up_to(cols, NR) * sizeof *acc);
  if (!call->c.data) return;
  for (size_t i = 0; !call->c.transposed && i < rows; i++) {
    hui_gemm_read32(&call->c, i0 + i, j0, cols, line);
    for (size_t j = 0; j < cols; j += NR) {
      memcpy(acc + j * MB + i * NR, line + j, hui_least(NR, cols - j) * sizeof *acc);
    }
  }
  for (size_t j = 0; call->c.transposed && j < cols; j++) {
    hui_gemm_read32(&call->c, j0 + j, i0, rows, line);
    for (size_t i = 0; i < rows; i++) acc[j / NR * (MB * NR) + i * NR + j % NR] = line[i];
  }
}

static void run_block(const hu_gemm_call *call, size_t i0, size_t j0, hu_events *events) {
  _Alignas(64) float acc[MB * NB];
  _Alignas(64) uint32_t a[KC * MB + 16], b[KC * NB];
  const hu_pair_kernels *kernels = call->way;
  size_t rows = hui_least(call->m - i0, call->block_rows), cols = hui_least(call->n - j0, call->block_cols);
  words_rule rule = {2, KC, kernels->step, read_codes, kernels->weave};
  load_c(call, i0, j0, rows, cols, acc);
  for (size_t k0 = 0; k0 < call->k; k0 += 2 * KC) {
    size_t kc = hui_least(call->k - k0, 2 * KC);
    if (kernels->by_rows) {
      pack_word_rows(call, &rule, i0, k0, rows, kc, MINUS_ZERO, kernels->high, a);
    } else {
      pack_words_a(call, &rule, i0, k0, rows, kc, MINUS_ZERO, a);
    }
    pack_words_b(call, &rule, j0, k0, cols, kc, 0, b);
    kernels->multiply(hui_up_to(rows, kernels->high), cols, in_steps(&rule, kc) / 2, a, b, acc);
  }
  for (size_t i = 0; i < rows; i++) {
    float row[NB];
    for (size_t j = 0; j < cols; j += NR) memcpy(row + j, acc + j * MB + i * NR, NR * sizeof *row);
    hui_gemm_finish32(call, i0 + i, j0, cols, row, events);
  }
}

static int run(hu_gemm_call *call, const hu_level *level, hu_events *events) {
  (void)level;
  const hu_pair_kernels *kernels = choose(call);
  if (!kernels) return 0;
  call->way = kernels;
  hui_gemm_set_blocks(call, MB, MR, NB, NR);
  hui_gemm_run(call, run_block, events);
  return 1;
}

const hu_gemm_way hu_way_pairs = {"pairs", run};
