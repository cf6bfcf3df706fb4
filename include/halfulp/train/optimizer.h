/* SPDX-License-Identifier: MIT */
/* halfulp/train/optimizer.h - SGD, AdamW, Adagrad and Muon in any format, and the three ways to end a weight update.
 *
 *   hu_optimizer o = hu_optimizer_adamw(hu_bfloat16());     // all state in bfloat16
 *   o.rate = 1e-3;
 *   o.update = HU_UPDATE_KAHAN;
 *   hu_optimizer_time now = {0, 1, 1};
 *   each step:  hu_optimizer_tick(&now, &o);
 *               for each tensor: hu_status s = hu_optimizer_step(n, &x, &o, &now, stream, &counts);
 *
 * Zamirai et al., Revisiting BFloat16 Training: every operator reads numbers of the format, works in binary32 and
 * rounds its result, and only the last rounding of the weight update changes between the variants. With Q: binary32,
 * ties to even, then rounded into `state` to nearest even; QW: the same into `weight`; and all of the scalars rounded
 * into `state` first, once; D and M are Q with another last rounding (below):
 *
 *   SGD    g = D(g + Q(decay w))            if decay is not 0
 *          m = M(Q(momentum m) + g)         m = g if momentum is 0: then there is no array m
 *          d = m                            with `nesterov` d = Q(g + Q(momentum m)), m the new one; m = g: d = g
 *          u = Q(rate d)
 *   AdamW  g = D(g + Q(decay w))            if `coupled` (Adam with L2 regularisation)
 *          m = Q(Q(beta1 m) + Q((1 - beta1) g))
 *          v = Q(Q(beta2 v) + Q((1 - beta2) Q(g g)))
 *          u = Q(Q(m / Q(1 - beta1^t)) / Q(Q(sqrt(Q(v / Q(1 - beta2^t)))) + eps))
 *          or, with `correction` outside or none,  u = Q(m / Q(Q(sqrt(v)) + eps))
 *          u = D(u + Q(decay w))            unless `coupled`, if decay is not 0
 *          u = Q(rate u), with `correction` outside the rate (rate sqrt(1 - beta2^t)) / (1 - beta1^t)
 *   Adagrad:
 *          g = D(g + Q(decay w))            if decay is not 0
 *          v = Q(v + Q(g g))
 *          u = Q(rate Q(g / Q(Q(sqrt(v)) + eps)))
 *   Muon, of a matrix (below):
 *          m, d as SGD, without a decay
 *          X = N(d)                         N: Newton-Schulz, in the format `product`
 *          u = Q(factor X)
 *          u = D(u + Q(decay w))            if decay is not 0
 *          u = Q(rate u)
 *   then   round   w = the binary32 number w - u rounded into `weight` by `mode`: nearest, or stochastic
 *          Kahan   y = QW(-u - c);  s = QW(w + y);  d = QW(s - w);  c = QW(d - y);  w = s
 *
 * D and M are Q with another last rounding, into `state` by `mode_decay` and by `mode_momentum`; where these are all
 * zero, that is nearest even, which is Q. So all three additions of an update can round stochastically, as in Wang et
 * al., Training Deep Neural Networks with 8-bit Floating Point Numbers (NeurIPS 2018), where state = weight =
 * fp(6,9,0): L2 regularisation, momentum and weight update are three AXPYs there. The products inside them are rounded
 * to nearest; the paper does not say how.
 *
 * 1 - beta is computed in binary64 from the rounded beta, as is beta^t, by t multiplications; so is the rate that is
 * multiplied by the correction, one rounding for each operation, before it is rounded into `state`. With `fused`, SGD
 * ends with w = w - rate d, one binary32 fused multiply-add, in place of u. `nesterov` is the momentum of Sutskever et
 * al., On the importance of initialization and momentum in deep learning (ICML 2013), in the form of torch.optim.SGD:
 * the gradient is that at the weights, and the update looks one step of momentum ahead. state = weight = binary32 is
 * the ordinary optimizer of master weights; state narrow and weight binary32 the ablation "32-bit weights". Where 2p +
 * 2 <= 24 for a format of p digits (bfloat16, binary16, narrower ones) and no result is subnormal in binary32, the
 * binary32 step in between changes nothing: every Q is one rounding of the exact result of its operator.
 *
 * Adagrad is that of Duchi, Hazan, Singer, Adaptive subgradient methods (JMLR 2011), with diagonal matrices:
 * torch.optim.Adagrad with a decay of the rate of 0. v is the sum of the squares; in a narrow format it stops
 * growing where g g is less than half of the last place of v. A weight whose gradients have all been 0 has u = 0 / eps:
 * +0, or NaN where eps is 0.
 *
 * Muon is that of Jordan et al., Muon: An optimizer for hidden layers in neural networks (2024), whose momentum is a
 * sum as here; in their later code it is a mean, which is the sum times 1 - momentum. N divides that factor out again,
 * except for the 1e-7. With P: binary32, ties to even, then rounded into `product` to nearest even, N is
 *
 *   X = P(d);  s = the sum of squares of X by hu_gradient_squares_n;  t = rn(rn(sqrt(s)) + e);  X = P(X / t)
 *   where X has more rows than columns, X is its transpose from here on, and N gives it transposed back
 *   `iterations` times:   A = P(X X^T);  S = P(P(c A) A);  B = P(P(b A) + S);  X = P(P(a X) + P(B X))
 *
 * rn rounds into binary32, ties to even, and sqrt(s) is binary64's; a, b, c, e are the binary32 numbers nearest to
 * 3.4445, -4.775, 2.0315, 1e-7. Each of the three products is summed by the model `accum`, terms in order, into
 * binary32; operands are values of `product`. So product = bfloat16 and accum = fp32 is Newton-Schulz as it runs on a
 * GPU with exact products and binary32 sums. The factor is that of `aspect`, a square root in binary64; like all
 * scalars it is rounded into `state`. A matrix of zeros gives X = 0; an infinity or a NaN spreads as far as `product`
 * has NaN.
 *
 * Between steps m and v may be kept in a storage of their own, `stored_m` and `stored_v` (rounding.h): 8-bit blocks as
 * in Dettmers et al., 8-bit Optimizers via Block-wise Quantization (ICLR 2022), and torchao; one scale per tensor as in
 * Peng et al., FP8-LM (arXiv 2310.18313). The step reads m and v as they were stored, decoded into binary32, and
 * computes everything above from these numbers: u from the new m and v, which are not rounded yet. At its end
 *
 *   m = stored_m(m);  v = stored_v(v)        all n numbers as one row: element i is number (0, i)
 *
 * Blocks lie along this row, a matrix row after row; the last block ends with the tensor, and a scale of the whole
 * tensor is that of its n numbers. So a storage rounds what the next step reads and nothing else. The arrays m and v
 * hold the decoded values, 4 bytes each. hu_optimizer_bits counts the codes and scales that stand for them.
 *
 * Arrays are binary32 values on the grid of their format (not checked); what is not gets rounded with the first
 * operation. NaN results are 0x7FC00000. Element i draws word i of `stream` in the stochastic modes of the last
 * rounding, and word i of the streams of D and M, of stored_m and stored_v, which are children 1, 2, 3 and 4
 * (hu_stream_child) of (stream.key, 0) with stream.counter added to their counters; take another counter or key for
 * every tensor and step. The caller's floating-point environment changes nothing (train.h). */
#ifndef HALFULP_TRAIN_OPTIMIZER_H
#define HALFULP_TRAIN_OPTIMIZER_H

#include "halfulp/accum.h"
#include "halfulp/format.h"
#include "halfulp/mode.h"
#include "halfulp/train/rounding.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of optimizers. */
enum {
  HU_SGD = 0,     /* stochastic gradient descent, with momentum or without */
  HU_ADAMW = 1,   /* Adam with decoupled or coupled weight decay */
  HU_ADAGRAD = 2, /* each weight's rate over the root of its squared gradients so far */
  HU_MUON = 3     /* momentum, made orthogonal by Newton-Schulz iterations: of matrices */
};
/* How a weight update ends. */
enum {
  HU_UPDATE_ROUND = 0, /* rounded by `mode` */
  HU_UPDATE_KAHAN = 1  /* with Kahan summation */
};

/* How AdamW corrects moments that begin with 0. */
enum {
  HU_ADAM_INSIDE = 0, /* m and v are divided, eps is added behind the root (Kingma, Ba; PyTorch) */
  HU_ADAM_OUTSIDE =
      1,           /* the rate is multiplied, and eps is added to the root of v (TensorFlow); decay only `coupled` */
  HU_ADAM_NONE = 2 /* none (the published code of BERT) */
};

/* Muon's factor, of a matrix with so many inputs and outputs. */
enum {
  HU_MUON_SPECTRAL = 0, /* spectral: sqrt(max(1, outputs / inputs))  (Jordan et al.) */
  HU_MUON_RMS = 1,      /* rms: 0.2 sqrt(max(inputs, outputs)): as large as updates of AdamW are
                           (Liu et al. 2025, arXiv 2502.16982) */
  HU_MUON_ONE = 2       /* one: 1 */
};

/* An optimizer: formats and numbers, no state. */
typedef struct hu_optimizer {
  hu_format state;  /* of momenta, second moments, and of every operator */
  hu_format weight; /* of weights and Kahan terms */
  uint8_t kind;     /* HU_SGD, HU_ADAMW, HU_ADAGRAD, HU_MUON */
  uint8_t update;   /* HU_UPDATE_ */
  uint8_t coupled;  /* AdamW: 1: weight decay goes into the gradient */
  uint8_t fused;    /* SGD, HU_UPDATE_ROUND: 1: w - rate d has one rounding */
  hu_mode mode;     /* of the last rounding; HU_UPDATE_KAHAN: all zero */
  uint8_t nesterov; /* SGD, Muon: 1: Nesterov's momentum; changes nothing where momentum is 0 */
  double rate, momentum, beta1, beta2, eps, decay;
  hu_mode mode_decay;    /* of the addition of the decay */
  hu_mode mode_momentum; /* SGD, Muon: of the addition of the momentum; else all zero */
  hu_rounding stored_m;  /* of m between steps: blocks of one row or of the whole tensor, not turned, no amax */
  hu_rounding stored_v;  /* of v between steps, likewise; may be unsigned */
  hu_format product;     /* Muon: of Newton-Schulz; within binary32, signed */
  hu_accum accum;        /* Muon: sums of its products, which draw no random words and take operands in `product` */
  uint32_t iterations;   /* Muon: 0 to 64 */
  uint8_t aspect;        /* Muon: HU_MUON_: the factor */
  double rate_adamw;     /* hu_net_update with Muon: the rate of parameters that AdamW updates */
  uint8_t correction;    /* AdamW: HU_ADAM_: the correction of moments */
  double accumulated;    /* Adagrad: what v begins with, rounded into `state` */
} hu_optimizer;

/* Steps so far, and beta1^t, beta2^t. Before the first step: {0, 1, 1}. */
typedef struct hu_optimizer_time {
  uint64_t t;
  double power1, power2;
} hu_optimizer_time;

/* The tensor of a step: its elements, row after row. */
typedef struct hu_optimizer_matrix {
  size_t rows, cols;
  uint8_t outputs_first; /* Muon: 0: inputs x outputs, as W of Z = X W; 1: outputs x inputs, as in PyTorch */
} hu_optimizer_matrix;

/* One tensor's arrays, of equal length, that do not overlap. m: NULL for SGD and Muon without momentum and for Adagrad;
 * v: AdamW, Adagrad; c: Kahan; else NULL. All but w and g are zero before the first step; of Adagrad v is
 * `accumulated`, rounded into `state`. */
typedef struct hu_optimizer_arrays {
  float *w;
  const float *g;
  float *m, *v, *c;
} hu_optimizer_arrays;

/* What the last roundings did. */
typedef struct hu_update_counts {
  uint64_t moved; /* weights with an update that is not zero */
  uint64_t lost;  /* those of them that stayed as they were (Kahan: w; the update is kept in c) */
} hu_update_counts;

/* Rate 0.01, momentum 0.9; AdamW: rate 0.001, beta 0.9 and 0.999, eps 1e-8; Adagrad: rate 0.01, eps 1e-10; Muon:
 * rate 0.02, momentum 0.95, nesterov, 5 iterations in the same format under fp32, spectral; AdamW beside it: rate
 * 3e-4, beta 0.9 and 0.95, eps 1e-10; no decay; weights in the same format, rounded to nearest even; stored_m and
 * stored_v keep; correction inside, accumulated 0. Narrow formats do not keep all of these numbers, and
 * hu_optimizer_check then refuses them: 0.999 is 1 in bfloat16, 1e-8 is 0 in binary16. */
HU_API hu_optimizer hu_optimizer_sgd(hu_format format);     /* gradient descent with momentum */
HU_API hu_optimizer hu_optimizer_adamw(hu_format format);   /* AdamW */
HU_API hu_optimizer hu_optimizer_adagrad(hu_format format); /* Adagrad */
HU_API hu_optimizer hu_optimizer_muon(hu_format format);    /* Muon */
/* HU_OK; HU_E_FORMAT or HU_E_CARRIER (a format that is invalid, or not within binary32), HU_E_MODE, or HU_E_TRAIN: a
 * number out of range, or one of those that `kind` uses (rate, decay, momentum, beta1, beta2, eps, rate_adamw) that is
 * not 0 and 0 in `state`, or below 1 and 1 there: an eps of 0 divides 0 by 0, and with a beta of 1 nothing would ever
 * be forgotten; or a storage that does not suit a moment, or of a moment that `kind` does not have; or sums that round
 * stochastically, or do not take operands in `product`. One that is not a rounding gives the status of
 * hu_rounding_check. Then *why, if why is not NULL, is a sentence that names the field, and of such a number the
 * smallest above 0 or the largest below 1; it stands until this thread's next call. */
HU_API HU_MUST_CHECK hu_status hu_optimizer_check(const hu_optimizer *optimizer, const char **why);
/* The same of a record whose rate is that of one step: a schedule may end so low that it is 0 in `state`. What takes a
 * step (hu_optimizer_step, hu_net_update) and hu_optimizer_bytes ask for this. */
HU_API HU_MUST_CHECK hu_status hu_optimizer_check_step(const hu_optimizer *optimizer, const char **why);
/* The next step begins. */
HU_API void hu_optimizer_tick(hu_optimizer_time *now, const hu_optimizer *optimizer);
/* One step of a tensor of n elements, which happens wholly or, on an error, not at all: those of
 * hu_optimizer_check_step, HU_E_NULL (an array that is wanted, or one that is not, the counts excepted: NULL or added
 * to), HU_E_SHAPE (t is 0; Muon, which steps on matrices). */
HU_API HU_MUST_CHECK hu_status hu_optimizer_step(size_t n, const hu_optimizer_arrays *x, const hu_optimizer *optimizer,
                                                 const hu_optimizer_time *now, hu_stream stream,
                                                 hu_update_counts *counts);
/* The same of a tensor that is a matrix. Also, unless moments is NULL, the counts of what stored_m (0) and stored_v (1)
 * rounded are added; a storage that keeps counts nothing. HU_E_SHAPE, too: rows x cols is too large, or
 * outputs_first above 1. Muon takes memory for four matrices of this size while it runs: HU_E_MEMORY. */
HU_API HU_MUST_CHECK hu_status hu_optimizer_step_matrix(const hu_optimizer_matrix *matrix, const hu_optimizer_arrays *x,
                                                        const hu_optimizer *optimizer, const hu_optimizer_time *now,
                                                        hu_stream stream, hu_update_counts *counts,
                                                        hu_rounding_counts moments[2]);
/* Bytes of storage that an element takes: weight, momenta and Kahan term, as codes of `state` and `weight`. 0: a record
 * that is not valid, or whose moments are stored otherwise, where an element need not take whole bytes. */
HU_API size_t hu_optimizer_bytes(const hu_optimizer *optimizer);
/* Bits of storage that a tensor of n elements takes: the same with moments as stored_m and stored_v keep them, as
 * hu_rounding_bits counts them, scales included. 0: a record that is not valid, or n is 0. */
HU_API uint64_t hu_optimizer_bits(size_t n, const hu_optimizer *optimizer);

#ifdef __cplusplus
}
#endif
#endif
