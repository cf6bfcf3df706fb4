/* SPDX-License-Identifier: MIT */
/* halfulp/train/products.h - how the matrix products of a network are computed: roundings of operands and results,
 * accumulation models, Quartet, moving averages of weights, delayed scaling. */
#ifndef HALFULP_TRAIN_PRODUCTS_H
#define HALFULP_TRAIN_PRODUCTS_H

#include "halfulp/accum.h"
#include "halfulp/train/layers.h"
#include "halfulp/train/rounding.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of the products of the operator that makes `value` (linear, conv, the two of attention): operands of Z = X W, of dX =
 * dZ W^T, of dW = X^T dZ, rounded once more before each, and the results, before a bias is added to Z and before
 * gradients of several readers are added up. Blocks of scaled roundings lie along rows of these matrices, or columns
 * where the rounding is `turned`. Of attention's scores and of hu_net_linear_transposed, K and dK, T and dT are meant
 * as they are stored: they are used as W^T and dW^T. Groups of a convolution are products, too, but a rounding sees all
 * of them: whole tensors, or the patches of all groups side by side. Each product has an accumulation model of its own:
 * a unit of 8-bit formats has one instruction per pair of formats, so that E4M3 forward and E5M2 backward are three of
 * them. */
typedef struct hu_product_rounding {
  hu_rounding x, w;         /* of Z = X W: X is rows x I, W is I x O */
  hu_rounding dz, w_back;   /* of dX = dZ W^T */
  hu_rounding x_back, dz_w; /* of dW = X^T dZ */
  hu_rounding z_out, dx_out, dw_out;
  hu_accum z_accum, dx_accum, dw_accum; /* of Z, dX and dW; the results are binary32 */
  uint32_t hadamard; /* 0; or 16, 32, 64, 128: X and dZ of dW = X^T dZ are transformed before they are rounded
                        (hadamard.h, HU_HADAMARD_ROOT): blocks of so many rows; rows behind the last whole block stay.
                        The product is the same up to roundings. Linear and conv only. */
  uint32_t signs;    /* bit i mod 32 set: the sign of row i of a block is inverted before */
  uint8_t by_window; /* conv only. 0: x, x_back and dx_out round the images X and dX as tensors, each pixel once, dX
                        after what the windows give to a pixel has been added in binary32; statistics are the image's,
                        blocks lie along channels (with `hadamard`, x_back still rounds patches). 1: x and x_back round
                        the patches, a number in each window that sees it, and dx_out what a window gives, before it is
                        added. */
  uint8_t twice;   /* 0: w_back and x_back round W and X; 1: what w and x have made of them, with the same words (double
                        quantization: TetraJet, Chen et al. 2025, arXiv 2502.20853, and its code, QLinear.py). Not with
                        hadamard, nor with by_window of a conv. */
  uint8_t quartet; /* HU_QUARTET_: linear only; not with hadamard or twice, and x to dz_w keep */
  float w_average; /* 0; or the decay of the moving average of W that decides between neighbours (below); less than 1 */
} hu_product_rounding;
/* Q-EMA (Chen et al. 2025, arXiv 2502.20853, section 5; its code: QLinear.py, engine.py and the quantizer with EMA): a
 * weight that oscillates between two codes stays with the one that its moving average is nearer to. E is as large as
 * the master weights, which it equals before the first update, and after each one, taken or not, in binary32:
 *
 *   E = d E + c W    d = w_average, c = binary32(1 - d), each product and the sum rounded
 *
 * The forward product (and the backward one, by `twice`) takes in place of W rounded to nearest, from the 11th step on:
 *
 *   sign(W) s toward(|W| / s, sign(W) E / s), s the block's scale, that of W's largest magnitude by rceil
 *   toward(x, e) = the largest number l <= x of E2M1 if e is below the middle of l and the next larger one, l + u, else
 *   l + u; u = 1/2, 1, 2 from 0, 2, 4 on; at most 6. +0 where W is 0.
 *
 * w has to be scaled(float4_e2m1fn;scale=float8_e8m0fnu;block=1x32;rule=rceil), turned or not, and twice 1. The events
 * that are counted are those of W to nearest. Layers that share W have one E, with the decay that was set last. E is
 * state of a run, as momenta are. */
enum {
  HU_AVERAGE_AFTER = 10 /* steps round to nearest before the average decides */
};

/* Quartet (Castro et al. 2025-2026, arXiv 2505.14669, Algorithm 1 in appendix A.1 of version 4, whose lines are in
 * brackets; the scales are those of the authors' code, mxfp4_triton.py): a linear layer all of whose products have
 * MXFP4 operands.
 *
 *   forward   X_h = H(X), W_h = H(W) along I [2]; (X_q, M_x) = quest(X_h), (W_q, M_w) = quest(W_h) [3, 4];
 *             Z = X_q W_q [5]
 *   dX        G = range(H(S dZ)), V = range(H(S W_q^T)) along O [3, 4]; dX = 16/9 H((G V^T) M_x) along I [5, 6]
 *   dW        G = range(H(S dZ)), Y = range(H(S X_q)) along the rows of dZ [7, 8]; dW = 16/9 H((Y^T G) M_w) along I
 *             [9, 10]
 *
 * H is the transform of hadamard.h, n = 32, HU_HADAMARD_ROOT, of blocks of 32 numbers along the axis that the product
 * sums over (I columns of X, O columns of Z). S are 32 random signs, the same for all blocks of a pass and for dX and
 * dW: word 0 of part 9 of the operator's products (docs/training/training.md, section 4). Numbers behind the last whole
 * block of 32 stay as they are, and are a shorter block of the scales. Blocks of scales are those 32 numbers, and a
 * scale s is a power of two from 2^-127 to 2^127, all operations IEEE 754 binary32, ties to even, in the order written:
 *
 *   quest(x)  s = the power of two at or below p d + 1e-8, p = binary32(2.92247856 / 6), d = sqrt(v), v = the sum of
 *             x x over n, minus m m, m = the sum of x over n, both sums from the first number on; d = 1 if v < 0;
 *             x_q = s E2M1(x / s), nearest, ties to even, at most 6; M = 1 where |x / s| < 6, else 0
 *   range(x)  s = a quarter of the power of two at or below the largest |x|; x_q = s E2M1(0.75 x / s), which is at most
 *             6, nearest (HU_QUARTET_NEAREST) or by 16 random bits, sra:16 (HU_QUARTET_STOCHASTIC)
 *
 * A block with an infinity or a NaN, or whose sums are beyond the range, is NaN as a whole. Products are made by
 * z_accum, dx_accum, dw_accum; z_out rounds Z, dx_out and dw_out round dX and dW as they are above. The bias has the
 * gradient of dZ itself. Version 1 of the paper and the repository's main_setup.sh round stochastically in the backward
 * pass, and version 4 to nearest (its section 4.3 says why). The authors' Triton code breaks ties toward zero, and the
 * instruction of their kernels for Blackwell (section 4.4) to even: cvt.rn. */
enum {
  HU_QUARTET_NONE = 0,      /* not this */
  HU_QUARTET_NEAREST = 1,   /* version 4 */
  HU_QUARTET_STOCHASTIC = 2 /* earlier versions: range() rounds stochastically */
};
/* All keep, fp32, as tensors. */
HU_API hu_product_rounding hu_product_rounding_plain(void);
/* For the operator that makes `value`. HU_E_SHAPE: no product makes it, or `hadamard` is another number; HU_E_TRAIN:
 * by_window or twice is above 1, quartet above 2, w_average is not from 0 to below 1, or one of them does not go with
 * another field or with the kind of the operator; HU_E_MEMORY; else the parts' own errors. */
HU_API HU_MUST_CHECK hu_status hu_net_round_product(hu_net *net, int value, const hu_product_rounding *rounding);

/* Delayed scaling (NVIDIA Transformer Engine: recipe DelayedScaling, common/recipe/delayed_scaling.cu): the scale of an
 * operand comes from the largest magnitudes of earlier steps, so that it is known before the operand is. Of each
 * product there are three records, of X, W and dZ, with an amax in force and the amaxes of the last `history` steps,
 * all 0 at first. A rounding of an operand (x and x_back; w and w_back; dz and dz_w) that is a scaled tensor with one
 * block, `*x*`, one level and the rule ratio takes
 *
 *   A = min(2^margin amax in force, binary32's largest number), and M, the element's largest number, so that the
 *       scale is 1, while none is in force
 *
 * in place of the tensor's own amax; so its scale is M / A, and a number above A saturates. Other roundings of operands
 * stay as they are. When hu_net_update ends a step, taken or not, each record takes the amax of the step:
 *
 *   a       the largest magnitude of the numbers of all passes for training since the step before, as they were before
 *           their rounding; an infinity if there is an infinity or a NaN among them; 0 if there was none
 *   f       the largest of a and the history - 1 amaxes before it (HU_AMAX_MAX), or a itself (HU_AMAX_RECENT)
 *   amax in force = f, if f is finite and not 0; else it stays
 *
 * So an infinity keeps the scale as it is until it has left the history. A pass uses what earlier steps have left and
 * never its own numbers; evaluation uses it, too, and records nothing. (Transformer Engine's kernels leave a NaN out of
 * the maximum, and do not limit A but the scale; hu_scaled_quantize limits that in the same way.) */
enum {
  HU_AMAX_MAX = 0,   /* max: the largest of the history */
  HU_AMAX_RECENT = 1 /* most_recent: that of the last step */
};
typedef struct hu_delayed {
  uint32_t history; /* steps that are remembered: 1 to 65536; 0: scales are the tensors' own (current scaling) */
  uint8_t takes;    /* HU_AMAX_ */
  uint8_t margin;   /* binades that are left free: up to 64 */
} hu_delayed;
/* For the operator that makes `value`, after hu_net_round_product, whose next call ends it; records begin again.
 * HU_E_SHAPE: no product makes it; HU_E_TRAIN: a number out of range, no operand with one scale, `hadamard`, or
 * `by_window` of a convolution; HU_E_SCALING: an operand with several scales, two levels or another rule; HU_E_MEMORY.
 * hu_net_initialize forgets all records. */
HU_API HU_MUST_CHECK hu_status hu_net_delay_product(hu_net *net, int value, const hu_delayed *delayed);
/* The record of X (0), W (1) or dZ (2) of the product that makes `value`: 1 + history numbers, the amax in force (0:
 * none), then those of the steps, the last one first. They are the net's own, to be read, or written to continue a run.
 * NULL: there is none. */
HU_API float *hu_net_delayed_record(const hu_net *net, int value, int of);

#ifdef __cplusplus
}
#endif
#endif
