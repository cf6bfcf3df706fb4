/* SPDX-License-Identifier: MIT */
/* hu_gemm under block(chain,l=2,order=down,daz=sign,ftz=tiny), the model intel.vdpbf16ps, and under
 * block(lanes,l=32,daz=sign,ftz=tiny), the model intel.tdpbf16ps, by the instructions that the models describe.
 *
 * The argument for the first. A lane of VDPBF16PS replaces its binary32 number c by rnd(a0 b0 + rnd(a1 b1 + c)): a1, b1
 * are the codes in the high halves of two words. rnd is one rounding of the exact sum to nearest, ties to even, which
 * makes what is tiny after rounding a zero of its sign, and subnormal a, b, c are read as zeros of their sign; MXCSR is
 * neither read nor written (Intel's manual, and tests/golden/hw for both makers' processors). That is the model's step
 * for the products 2 p (low half) and 2 p + 1 (high half), and it is what this way demands of the record: each key of
 * the block as it stands in that name, the sum in all of binary32 with infinities beyond the largest number, operands
 * whose numbers and subnormals are those of bfloat16. Steps follow one another in the order of K, and a sum waits
 * between pieces of K as the binary32 number that it is, so no other step is there. What is left are four ends:
 *
 *   odd K     the model leaves out the last block's second product, which comes first. The word has a1 = -0, b1 = +0
 *             there: adding -0 changes no number, nor a zero of either sign, an infinity, a NaN; a subnormal c becomes
 *             the zero that the other product reads it as.
 *   no C      the sum starts from +0, as the model's does.
 *   k = 0     no step reads C: another way.
 *   NaN       is a NaN in the lane if and only if it is one in the model, as that follows from IEEE 754's rules alone.
 *             Its digits are the processor's, and hui_gemm_finish32 looks at none of them. A NaN operand is kept from
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

static int none(hu_format f) { return !f.sign && !f.e && !f.m; }

static int is_chain(const hu_block *o) {
  return o->rule == HU_BLOCK_CHAIN && o->length == 2 && o->order == HU_BLOCK_ORDER_DOWN;
}

static int is_lanes(const hu_block *o) {
  return o->rule == HU_BLOCK_LANES && o->length == 32 && o->order == HU_BLOCK_ORDER_UP;
}

static int is_block(const hu_block *o) {
  return o->daz == HU_BLOCK_DAZ_SIGN && o->ftz == HU_BLOCK_FTZ_TINY && o->join == HU_BLOCK_JOIN_FIRST && !o->input &&
         none(o->as) && none(o->scale);
}

static int sums_in_binary32(const hu_accum *x) {
  hu_spec s = hui_spec_of(x->sum, x->mode);
  return hui_spec_is_plain(&s) && s.negzero && s.m == 23 && s.emin == -126 && s.max_code == 0x7F7FFFFF && s.has_inf &&
         s.has_nan && s.round == HU_RNE && s.saturate == HU_SAT_NONE && s.tiny == HU_TINY_AFTER;
}

static int is_bfloat16(const hu_matrix *x) {
  const hu_spec *s = &x->spec;
  return x->carried && hui_spec_is_plain(s) && s->m == 7 && s->emin == -126;
}

/* NULL: none serves. */
static const hu_pair_kernels *choose(const hu_gemm_call *g) {
  const hu_accum *x = g->accum;
  if (!hui_gemm_is_bare(g) || g->k == 0) return NULL;
  if (x->kind != HU_ACCUM_BLOCK || x->promote || x->slices || !is_block(&x->block)) return NULL;
  if (!sums_in_binary32(x) || !is_bfloat16(&g->a) || !is_bfloat16(&g->b) || (g->c.data && !g->c.carried)) return NULL;
  return is_chain(&x->block) ? g->extensions.pairs : is_lanes(&x->block) ? g->extensions.pair_tiles : NULL;
}

/* ---- operands ---- */

/* As codes. */
static void read_codes(const hu_gemm_call *g, const hu_matrix *x, size_t row, size_t column, size_t n, void *z) {
  _Alignas(64) float f[NB + 16];
  const hu_pair_kernels *kernels = g->way;
  if (x->size == 2 && hu_format_equal(x->format, hu_format_ieee(8, 7, 0))) {
    memcpy(z, (const uint16_t *)x->data + row * x->ld + column, n * 2);
    return;
  }
  hui_gemm_read32(x, row, column, n, f);
  memset(f + n, 0, 16 * sizeof *f);
  kernels->halves(hui_up_to(n, 16), z, f);
}

/* ---- blocks of D ---- */

/* acc = C, or +0. */
static void load_c(const hu_gemm_call *g, size_t i0, size_t j0, size_t rows, size_t cols, float *acc) {
  float line[MB > NB ? MB : NB];
  memset(acc, 0, MB * hui_up_to(cols, NR) * sizeof *acc);
  if (!g->c.data) return;
  for (size_t i = 0; !g->c.transposed && i < rows; i++) {
    hui_gemm_read32(&g->c, i0 + i, j0, cols, line);
    for (size_t j = 0; j < cols; j += NR) {
      memcpy(acc + j * MB + i * NR, line + j, hui_least(NR, cols - j) * sizeof *acc);
    }
  }
  for (size_t j = 0; g->c.transposed && j < cols; j++) {
    hui_gemm_read32(&g->c, j0 + j, i0, rows, line);
    for (size_t i = 0; i < rows; i++) acc[j / NR * (MB * NR) + i * NR + j % NR] = line[i];
  }
}

static void run_block(const hu_gemm_call *g, size_t i0, size_t j0, hu_events *events) {
  _Alignas(64) float acc[MB * NB];
  _Alignas(64) uint32_t a[KC * MB + 16], b[KC * NB];
  const hu_pair_kernels *kernels = g->way;
  size_t rows = hui_least(g->m - i0, g->block_rows), cols = hui_least(g->n - j0, g->block_cols);
  words_rule w = {2, KC, kernels->step, read_codes, kernels->weave};
  load_c(g, i0, j0, rows, cols, acc);
  for (size_t k0 = 0; k0 < g->k; k0 += 2 * KC) {
    size_t kc = hui_least(g->k - k0, 2 * KC);
    if (kernels->by_rows) {
      pack_word_rows(g, &w, i0, k0, rows, kc, MINUS_ZERO, kernels->high, a);
    } else {
      pack_words_a(g, &w, i0, k0, rows, kc, MINUS_ZERO, a);
    }
    pack_words_b(g, &w, j0, k0, cols, kc, 0, b);
    kernels->multiply(hui_up_to(rows, kernels->high), cols, in_steps(&w, kc) / 2, a, b, acc);
  }
  for (size_t i = 0; i < rows; i++) {
    float row[NB];
    for (size_t j = 0; j < cols; j += NR) memcpy(row + j, acc + j * MB + i * NR, NR * sizeof *row);
    hui_gemm_finish32(g, i0 + i, j0, cols, row, events);
  }
}

static int run(hu_gemm_call *g, const hu_level *level, hu_events *events) {
  (void)level;
  const hu_pair_kernels *kernels = choose(g);
  if (!kernels) return 0;
  g->way = kernels;
  hui_gemm_set_blocks(g, MB, MR, NB, NR);
  hui_gemm_run(g, run_block, events);
  return 1;
}

const hu_gemm_way hu_way_pairs = {"pairs", run};
