/* SPDX-License-Identifier: MIT */
/* halfulp/train/net.h - a network whose every tensor has a precision, and its gradients.
 *
 *   hu_net *net = hu_net_new(64, 1);                       // batches of 64 samples, one thread
 *   int x = hu_net_input(net, 1, 64);                      // a row of 64 numbers a sample
 *   int h = hu_net_relu(net, hu_net_linear(net, x, 128, 1));
 *   int y = hu_net_linear(net, h, 10, 1);
 *   int loss = hu_net_cross_entropy(net, y, 1);
 *   if (hu_net_status(net, &why) != HU_OK) ...             // building calls fail silently, this one tells
 *   hu_net_initialize(net, 1);
 *   each step:  hu_net_feed(net, x, images);
 *               hu_net_labels(net, labels);
 *               hu_net_forward(net, 1, &l);
 *               hu_net_backward(net, scale.scale);
 *               hu_net_update(net, &optimizer, &rule, &scale, NULL, NULL);
 *
 * Values (numbers from 0) are matrices, row-major: `rows` rows a sample, the batch's samples one after another, `cols`
 * columns. Images are rows of pixels, columns of channels (height x width x channels). Operators run in the order in
 * which they were added. Every operator computes in binary32, ties to even, in the order that docs/training/training.md
 * states; then each tensor of the gradient computation is rounded once, by its own rounding (rounding.h):
 *
 *   v_out = rnd(op(v_in, theta))         theta = rnd(master weights), once a step
 *   dv    = rnd(the sum of what its readers give, last reader first)       dtheta = rnd(...)
 *
 * (Lee et al., Training with Mixed-Precision Floating-Point Assignments, equation (1); all keep: plain binary32.)
 * Matrix products and convolutions have an accumulation model (accum.h; default fp32) and six more roundings, of
 * the operands of their three products Z = X W, dX = dZ W^T, dW = X^T dZ, for systems that round there (S2FP8, MX).
 * Random words come from (seed, tensor, step), so that nothing depends on threads or order of calls: the same bits for
 * any number of threads. Elementary functions are the library's, correctly rounded.
 *
 * A net is one thread's at a time; it owns its memory. The caller's floating-point environment changes nothing, neither
 * in his thread nor in the net's own (train.h). docs/training/training.md is normative. */
#ifndef HALFULP_TRAIN_NET_H
#define HALFULP_TRAIN_NET_H

#include "halfulp/accum.h"
#include "halfulp/train/experts.h"
#include "halfulp/train/gradient.h"
#include "halfulp/train/layers.h"
#include "halfulp/train/losses.h"
#include "halfulp/train/norms.h"
#include "halfulp/train/optimizer.h"
#include "halfulp/train/products.h"
#include "halfulp/train/recurrent.h"
#include "halfulp/train/rounding.h"
#include "halfulp/train/transformer.h"
#include "halfulp/train/windows.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- parameters in several places ---- */

/* The next layer that has parameters takes those of an earlier layer, from number `parameter` on, and makes none of its
 * own. They keep their names and first weights; each has one gradient, the sum of what the layers give, last layer
 * first. HU_E_SHAPE, of the net, if there is no such parameter, or if that layer has parameters of other sizes or fewer
 * than the next one takes; if it has more, those that are left over are not taken. Muon leaves a table to AdamW, also
 * where a layer multiplies by it. */
HU_API void hu_net_share(hu_net *net, int parameter);

/* ---- names of parameters, as checkpoints and assignments require them ---- */

/* Every parameter has a name of its own, "scope.layerN.part": `layer` is the building call that made it (linear, conv,
 * conv_transpose, batch_norm, layer_norm, rms_norm, l2_norm, embedding, position, gru, lstm, row_convolution,
 * sampled_linear, attending_lstm), N counts the layers of that kind in their scope from 1 on, and the parts are weight
 * and bias (linear, both conv, sampled_linear), gain and offset (batch_norm, layer_norm), gain (rms_norm, l2_norm),
 * weight (embedding, position, row_convolution), weight_x, bias_x, weight_h, bias_h, projection (cells;
 * docs/training/training.md: Wx, bx, Wh, bh, P; of attending_lstm the first three with the number of the layer behind,
 * weight_keys, weight_input, bias_input, weight_query, bias_query, weight_score, weight_output, bias_output), the same
 * with reverse_ before them for the second direction. No scope, the state at first: "linear1.weight". Layers that are
 * added from here on are of `scope`: up to 63 letters a to z, digits, '_', and '.' between them; "": of none. A scope
 * may be left and entered again. Other texts: HU_E_NAME. */
#define HU_SCOPE_MAX 64
#define HU_PARAMETER_NAME_MAX 112
HU_API void hu_net_scope(hu_net *net, const char *scope);
/* The one that is set; "" for NULL. */
HU_API const char *hu_net_scope_of(const hu_net *net);
/* NULL for a wrong number. Lives as long as the net. */
HU_API const char *hu_net_parameter_name(const hu_net *net, int parameter);
/* -1: none of that name. */
HU_API int hu_net_parameter_named(const hu_net *net, const char *name);

/* ---- first weights, other than hu_net_initialize's own; before it ---- */

/* N(0, deviation^2); all +0 if the deviation is 0. HU_E_SHAPE: no parameter of that number. HU_E_TRAIN: negative or not
 * finite. */
HU_API HU_MUST_CHECK hu_status hu_net_start_normal(hu_net *net, int parameter, float deviation);
/* Uniform between +-1/sqrt(hidden) (hu_init_uniform of data.h). HU_E_TRAIN: hidden is 0. */
HU_API HU_MUST_CHECK hu_status hu_net_start_uniform(hu_net *net, int parameter, size_t hidden);
/* Uniform between +-bound, both ends open, by the same words; and x everywhere. HU_E_TRAIN: a negative bound, or a
 * number that is not finite. */
HU_API HU_MUST_CHECK hu_status hu_net_start_within(hu_net *net, int parameter, float bound); /* uniform */
HU_API HU_MUST_CHECK hu_status hu_net_start_constant(hu_net *net, int parameter, float x);   /* one number */

/* ---- precision; before or between steps ---- */

/* Of values, from 0 on, and of parameters: weights and biases in the order in which the operators were added. */
HU_API int hu_net_values(const hu_net *net);     /* the number of values */
HU_API int hu_net_parameters(const hu_net *net); /* the number of parameters */

/* HU_E_SHAPE: no tensor of that number; else a rounding's own errors. Roundings are keep before. */
HU_API HU_MUST_CHECK hu_status hu_net_round_value(hu_net *net, int value, const hu_rounding *rounding,
                                                  const hu_rounding *dv); /* a value and its gradient */
HU_API HU_MUST_CHECK hu_status hu_net_round_parameter(hu_net *net, int parameter, const hu_rounding *theta,
                                                      const hu_rounding *dtheta); /* a parameter and its gradient */

/* How a parameter's weight updates end, whatever the optimizer says (optimizer.h: update, mode): tensors of one net can
 * differ, as in Zamirai et al., figure 4. HU_E_SHAPE: no such parameter; HU_E_MODE, HU_E_TRAIN: as hu_optimizer_check.
 */
HU_API HU_MUST_CHECK hu_status hu_net_update_parameter(hu_net *net, int parameter, unsigned update, hu_mode mode);

/* What the optimizer and clipping do to one parameter otherwise than to others. In a step its rate is rnd64(rate times
 * `rate`) and its decay rnd64(decay times `decay`), before they are rounded into `state` (of AdamW beside Muon,
 * rate_adamw times `rate`). LARC takes the rate without the factor. */
typedef struct hu_parameter_rule {
  double rate, decay; /* factors: 1 and 1; not negative, finite */
  uint8_t unclipped;  /* 1: the norm of hu_gradient_rules does not count its gradient, nor is that multiplied; 0 */
  uint8_t lazy;       /* 1: rows whose gradients are all 0 keep weights, moments and Kahan terms; nothing to Muon */
} hu_parameter_rule;
/* {1, 1, 0, 0}: all parameters have it at first. */
HU_API hu_parameter_rule hu_parameter_rule_none(void);
/* HU_E_SHAPE: no such parameter; HU_E_TRAIN: a factor out of range. */
HU_API HU_MUST_CHECK hu_status hu_net_rule_parameter(hu_net *net, int parameter, const hu_parameter_rule *rule);

/* What Muon updates (hu_net_update with HU_MUON): the matrices that linear layers, convolutions and recurrent cells
 * multiply by (a convolution's as a row for each number of a window; of several groups as one matrix). AdamW of the
 * same record updates all other parameters (embeddings, positions, biases, gains), with the rate rate_adamw. on: 0:
 * this parameter is among those, such as the last layer of a classifier in Jordan et al.; 1: it is not, as at first.
 * HU_E_SHAPE: no such parameter. */
HU_API HU_MUST_CHECK hu_status hu_net_muon_parameter(hu_net *net, int parameter, int on);

/* ---- running ---- */

/* Weights N(0, 2 / fan_in) where a ReLU, GELU or SiLU reads the result, else N(0, 1 / fan_in); biases 0, gains 1;
 * unless hu_net_start_... said otherwise. Normal numbers: docs/training/training.md. */
HU_API HU_MUST_CHECK hu_status hu_net_initialize(hu_net *net, uint64_t seed);
/* Copies a batch of an input in: batch x rows x cols numbers. The next call is a forward pass. */
HU_API HU_MUST_CHECK hu_status hu_net_feed(hu_net *net, int input, const float *x);
/* What the loss compares with: batch x rows labels, or batch x rows x cols targets. A row with the label HU_LABEL_NONE
 * has no part in the loss: its term and its gradient are +0, and R counts the other rows alone (padding; tokens that a
 * language model is not asked for). HU_E_SHAPE: a label that is no column, or no row with a label. */
#define HU_LABEL_NONE 0xFFFFFFFFu
HU_API HU_MUST_CHECK hu_status hu_net_labels(hu_net *net, const uint32_t *labels); /* labels, for cross entropy */
HU_API HU_MUST_CHECK hu_status hu_net_targets(hu_net *net,
                                              const float *targets); /* targets, for squared and absolute errors */
/* A weight for each row that the losses look at, from 0 on: its terms and its gradients are multiplied by it, +0 where
 * it is 0 (padding, whatever is there), and R is the sum of the weights in binary64. They hold until the next call;
 * NULL: each row weighs 1 again. HU_E_TRAIN: a weight is negative or not finite; HU_E_SHAPE: all are 0. */
HU_API HU_MUST_CHECK hu_status hu_net_row_weights(hu_net *net, const float *weights);
/* One pass; training: 1: batch statistics and dropout, 0: evaluation. *loss, if not NULL, is the loss, not rounded. */
HU_API HU_MUST_CHECK hu_status hu_net_forward(hu_net *net, int training, float *loss);
/* Gradients of scale times the loss, after a forward pass for training. */
HU_API HU_MUST_CHECK hu_status hu_net_backward(hu_net *net, float scale);
/* One step of the optimizer for all parameters: gradients times 1 / scale; where the rule does not take the step (an
 * infinity or a NaN among them) only the loss scale moves. *taken, if not NULL: 1 if weights were updated. */
HU_API HU_MUST_CHECK hu_status hu_net_update(hu_net *net, const hu_optimizer *optimizer, const hu_loss_rule *rule,
                                             hu_loss_scale *scale, hu_update_counts *counts, int *taken);
/* The same with what gradient.h defines in between: penalties on the master weights, clipping by the global norm, LARC
 * (the rate is o->rate; HU_E_TRAIN with HU_MUON, which has two). with NULL: hu_net_update. Errors too: HU_E_MEMORY,
 * those of hu_gradient_prepare. */
typedef struct hu_net_gradient_rules {
  hu_gradient_rules rules;
  const hu_penalty *penalties; /* one for every parameter of the net, in order; NULL: none */
  hu_gradient_norms norms;     /* of the last update; written by it, as is `found` */
  hu_gradient_found found;     /* what the unscaled gradients contained: the loss scale's input */
} hu_net_gradient_rules;
HU_API HU_MUST_CHECK hu_status hu_net_update_with(hu_net *net, const hu_optimizer *optimizer, const hu_loss_rule *rule,
                                                  hu_loss_scale *scale, hu_net_gradient_rules *with,
                                                  hu_update_counts *counts, int *taken);

/* ---- looking ---- */

/* A value's or a parameter's matrix; NULL for a wrong number, and where a device failed. They live as long as the net.
 * On the CPU they are the net's own and change with it. Of a net on a device they are copies, made (waiting for
 * the device) by each of these calls; what is written into them is not seen: hu_net_set_parameter. */
typedef struct hu_net_tensor {
  size_t rows, cols;
  float *numbers;             /* v; theta: the master weights */
  float *gradients;           /* dv, dtheta, as rounded */
  hu_rounding_counts forward; /* since the last look */
  hu_rounding_counts backward;
} hu_net_tensor;
HU_API hu_net_tensor hu_net_value(const hu_net *net, int value);         /* value number `value` */
HU_API hu_net_tensor hu_net_parameter(const hu_net *net, int parameter); /* parameter number `parameter` */
/* The kind of the operator that makes a value, a static text ("linear"; docs/training/training.md section 3); "" for an
 * input, which may stand anywhere among the values. NULL for a wrong number. */
HU_API const char *hu_net_value_kind(const hu_net *net, int value);
/* The number of the operator that makes a value, from 0 in the order in which operators are added; random words of
 * products are numbered by it (docs/training/training.md section 4). -1 for an input, a state of zeros, or a wrong
 * number. */
HU_API int hu_net_value_operator(const hu_net *net, int value);
/* Master weights: rows x cols numbers. x may be the net's own matrix. HU_E_SHAPE: no parameter of that number. */
HU_API HU_MUST_CHECK hu_status hu_net_set_parameter(hu_net *net, int parameter, const float *x);
/* Counts, since the last look, of the roundings of operands and results of the products (hu_product_rounding) of the
 * operator that makes `value`: forward, backward. 1; 0 where no product makes it, or a device failed. */
HU_API int hu_net_product_counts(const hu_net *net, int value, hu_rounding_counts counts[2]);
/* Counts, since the last look, of what the optimizer's stored_m (0) and stored_v (1) rounded of a parameter's moments.
 * 1; 0 where there is no such parameter, or a device failed. */
HU_API int hu_net_moment_counts(const hu_net *net, int parameter, hu_rounding_counts counts[2]);
/* Counts of all tensors, moments and products to zero. */
HU_API void hu_net_forget_counts(hu_net *net);
/* A digest of all parameters' bits (64 bits, FNV-1a over their bytes, little-endian). */
HU_API uint64_t hu_net_digest(const hu_net *net);

/* What a step is doing, for those who measure it: called when a phase begins and when it ends. Roundings of operands
 * and results of products lie inside the phases of their operators, all other phases side by side; what is not in one
 * is the engine's own. What a convolution rounds on its way (patches in blocks, dX as it is made) is reported piece by
 * piece if one thread computes; with several threads that time belongs to its operator. No bits depend on it, and the
 * library reads no clock. The observer is called in the thread of the call that it observes and in the library's
 * floating-point environment (train.h), not in the caller's. */
enum {
  HU_PHASE_FORWARD = 0,  /* an operator computes */
  HU_PHASE_BACKWARD = 1, /* its gradients are computed */
  HU_PHASE_ROUNDING = 2, /* a tensor is rounded */
  HU_PHASE_UPDATE = 3    /* the optimizer is at work */
};
typedef struct hu_net_phase {
  uint8_t phase;    /* HU_PHASE_ */
  uint8_t product;  /* 1: the operator is a matrix product or convolution */
  const char *kind; /* the operator's: "linear", "relu"; "" where there is none: inputs, parameters, the update */
  uint64_t number;  /* of the operator, in the order in which they were added; else 0 */
} hu_net_phase;
typedef void hu_net_observer(void *context, const hu_net_phase *phase, int ends);
/* NULL ends the observation. */
HU_API void hu_net_observe(hu_net *net, hu_net_observer *observer, void *context);

/* ---- on a CUDA device (library halfulp-train-cuda) ----
 *
 *   const hu_engine *device;
 *   if (hu_engine_device(&device) != HU_OK) ...            // HU_E_DEVICE: none, or a library without CUDA
 *   hu_net *net = hu_net_new_on(device, 64, 1);            // everything else as on the CPU
 *
 * All tensors of such a net live in the device's memory, every operator, rounding and step of the optimizer runs there,
 * and every bit is the same as on the CPU: weights, values, gradients, counts, losses (docs/training/training.md
 * section 6). These calls copy data to the device: hu_net_feed, hu_net_labels, hu_net_targets, hu_net_set_parameter.
 * They return when the caller's array may change, and wait for the device only where the array has more than 2^18
 * bytes.
 *
 * These bring data back, and wait: hu_net_forward where the loss is asked for, or where the net has an embedding, whose
 * tokens are checked; hu_net_update, for the largest gradient, for the counts of updates where they are asked for, and
 * for sums of squares where rules ask for norms; hu_net_value, hu_net_parameter, hu_net_digest. No step copies weights
 * or gradients. */

/* The current device. HU_E_DEVICE: there is none, or the library was built without CUDA; *engine is NULL then. */
HU_API HU_MUST_CHECK hu_status hu_engine_device(const hu_engine **engine);

#ifdef __cplusplus
}
#endif
#endif
