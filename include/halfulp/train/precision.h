/* SPDX-License-Identifier: MIT */
/* halfulp/train/precision.h - an assignment of precision (rounding.h) at work on a network (net.h).
 *
 *   hu_precision_rule rule;
 *   hu_precision *plan;
 *   if (hu_precision_rule_parse(&rule, "demote(0.5)", NULL) != HU_OK) ...
 *   if (hu_precision_new(&plan, net, &rule) != HU_OK) ...          // gives every tensor of the net its rounding
 *   each step:  feed, hu_net_forward, hu_net_backward, hu_net_update, then
 *               hu_precision_step(plan, &promoted);                // overflowing tensors are promoted
 *   hu_precision_free(plan);                                       // before the net
 *
 * Lee et al., Training with Mixed-Precision Floating-Point Assignments (TMLR 2023): a candidate has a low and a high
 * format for each tensor; an assignment says which tensors are low. The assignment is chosen from the sizes of tensors
 * before training begins (Algorithm 1, or one of the baselines); during training forward tensors that overflow become
 * high (Algorithm 2).
 *
 * The layout of a net. The numbers of hu_layout are those of the net: value k is value k, and operator i of the layout
 * is what makes value i + 1, whatever else the net's graph looks like: residuals, several readers, branches. So
 * a group of Algorithm 1 is what lies between two products in the order in which operators were added.
 *
 *   parameters  of an operator are all of its own, weights, biases, gains, as one theta: assigned, promoted and
 *               counted together. Parameters that several operators share (those of cells) belong to the first of
 *               them; the others have none.
 *   inputs      but the first, and first states of cells, count as made by an operator without parameters that is no
 *               product. All inputs count with their gradients, as in the paper, although those are never computed.
 *   tokens      An input that an embedding reads holds names, not numbers: it has size 0 and is never rounded.
 *   first read  `input` of an operator is the value that it reads first: X of a product; of attention's products the
 *               queries' value and the softmax.
 *
 * Readings. The numbers above are those of HU_READING_OPERATORS. HU_READING_PUBLISHED is what the authors' code does
 * (wonyeol/mixed-prec-train), where it and the paper's text differ:
 *
 *   groups      rounding.h: parameters are in the group of what their operator reads
 *   gradients   Each reader's gradient of a value is rounded, in the format of that value's dv; their sum is binary32,
 *               in the order in which the backward pass makes them, and is not rounded. A stochastic rounding of the
 *               k-th of them (from 0) has the words of tensor k 2^22 + the value's number. The loss's own gradient,
 *               which is the scale, is not rounded.
 *   shuffles    make no tensor: their values have size 0 and are not rounded, nor is what they give back; an operator
 *               that reads them gives its gradient to what was shuffled
 *   loss        cross_entropy of R rows of C logits counts as two operators, of R C and R numbers. It computes as one,
 *               so the first of them is not rounded; where the loss overflows, all of its numbers do
 *   promotion   where the overflow ratio is at the limit or above it, and not 0
 *
 * A plan owns its arrays; it sets the roundings of the net's values and parameters, nothing else of the net, and refers
 * to the net as long as it lives. All of it is integers: the same on every machine. */
#ifndef HALFULP_TRAIN_PRECISION_H
#define HALFULP_TRAIN_PRECISION_H

#include "halfulp/train/net.h"
#include "halfulp/train/rounding.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Any roundings; overflow is counted, and tensors are promoted, where `low` is a format (rounding.h). */
typedef struct hu_candidate {
  hu_rounding low, low_back;   /* of v and theta; of dv and dtheta */
  hu_rounding high, high_back; /* the same */
} hu_candidate;
/* The paper's: fp(4,3,4), fp(5,2,0), fp(6,9,0), fp(6,9,0), every code finite, ties to even; NaN stays; gradients with
 * over=inf, so that an automatic loss scale sees their overflow. */
HU_API hu_candidate hu_candidate_default(void);

/* Kinds of rules. */
enum {
  HU_PRECISION_HIGH = 0,           /* all tensors high */
  HU_PRECISION_UNIFORM = 1,        /* all low */
  HU_PRECISION_OPERATOR = 2,       /* operator of rounding.h */
  HU_PRECISION_OPERATOR_PRIME = 3, /* operator_prime of rounding.h */
  HU_PRECISION_DEMOTE = 4          /* Algorithm 1: groups become low until a ratio is reached */
};

/* How an assignment is chosen and followed. */
typedef struct hu_precision_rule {
  uint8_t kind;       /* HU_PRECISION_ */
  uint8_t order;      /* demote: HU_DEMOTE_ */
  uint8_t low_dtheta; /* 0: gradients of parameters are high whatever the assignment says, as in the paper */
  uint8_t promote;    /* 1: forward tensors become high whose overflow ratio is above `limit` */
  uint8_t reading;    /* HU_READING_ */
  hu_ratio r;         /* demote: the ratio to reach */
  hu_ratio most;      /* demote: the ratio that it must not pass, before gradients of parameters become high */
  hu_ratio limit;
  uint64_t seed; /* demote, random order: group k has word k of child 7 2^32 of the use `rounding` (data.h) */
  hu_candidate formats;
} hu_precision_rule;

/* High in all; the default candidate; limit 1/100; most 1; no promotion. */
HU_API hu_precision_rule hu_precision_rule_default(void);
/* Text to rule, except the formats, which are the default ones:
 *
 *   rule = ( "high" | "uniform" | "operator" | "operator_prime" | "demote" ) [ "(" part { "," part } ")" ]
 *   part = ratio                                   of demote alone, first: r (default 1)
 *        | "most=" ratio                            of demote alone (default 1)
 *        | "order=" ( "largest" | "smallest" | "random" ) | "seed=" number      of demote alone
 *        | "promote=" ( ratio | "none" )           default: 1/100 of demote, none of the others
 *        | "dtheta=" ( "high" | "low" )            default: high
 *        | "reading=" ( "operators" | "published" )  default: operators
 *
 * each part at most once, no blanks; ratio as hu_ratio_parse reads it. HU_E_TEXT, HU_E_NAME (no such rule or key); then
 * *where, if where is not NULL, is the offset of the part that is wrong, and *rule is untouched. */
HU_API HU_MUST_CHECK hu_status hu_precision_rule_parse(hu_precision_rule *rule, const char *text, size_t *where);

/* An assignment at work on a net; opaque. */
typedef struct hu_precision hu_precision;

/* For a net that is built. Errors: HU_E_NULL, HU_E_MEMORY, the net's own status, hu_layout_check's (no operators),
 * HU_E_TRAIN (an unknown kind, order or reading, an invalid ratio, an assignment above
 * `most`), hu_rounding_check's. *plan is NULL then. */
HU_API HU_MUST_CHECK hu_status hu_precision_new(hu_precision **plan, hu_net *net, const hu_precision_rule *rule);
/* Frees a plan; NULL is allowed. */
HU_API void hu_precision_free(hu_precision *plan);

/* After hu_net_backward and before the net is fed again (hu_net_update may have been called or not): the assignment of
 * this iteration is counted into the mean ratio; then tensors are promoted, which the next iteration will see.
 * *promoted, if not NULL: how many. HU_E_TRAIN: the last pass was not one for training; HU_E_SHAPE: the net has grown
 * since the plan was made. */
HU_API HU_MUST_CHECK hu_status hu_precision_step(hu_precision *plan, size_t *promoted);

/* ---- looking; NULL or 0 / 1 for a plan that is NULL ---- */

/* The groups of a plan's net, and the format of each now. Both live as long as the plan; the assignment changes with
 * every step. */
HU_API const hu_layout *hu_precision_layout(const hu_precision *plan);         /* the groups */
HU_API const hu_assignment *hu_precision_assignment(const hu_precision *plan); /* the format of each */
/* Low elements among all, now; and the mean over the steps so far, each with the assignment that it ran with: now's
 * before the first step. Exact as long as steps times elements are below 2^63; later steps are not counted. */
HU_API hu_ratio hu_precision_ratio(const hu_precision *plan);      /* the ratio of low elements now */
HU_API hu_ratio hu_precision_mean_ratio(const hu_precision *plan); /* its mean over the steps so far */
/* Overflow ratio of a forward tensor in the last pass: its finite elements whose magnitude before rounding was above
 * the largest number of its format, among all: of value k, of theta of operator i. 0 / 1 where there is none. */
HU_API hu_ratio hu_precision_overflow(const hu_precision *plan, size_t value); /* the overflow ratio of value k */
HU_API hu_ratio hu_precision_overflow_theta(const hu_precision *plan,
                                            size_t op); /* the overflow ratio of theta of operator i */

/* ---- memory ---- */

/* Bits (hu_rounding_bits), of one iteration. The paper's model aggregate is the number of bits of all tensors of a
 * gradient computation; master weights and the optimizer's state are not among them. */
typedef struct hu_precision_memory {
  uint64_t values, value_gradients, weights, weight_gradients;
  uint64_t aggregate; /* their sum */
  uint64_t high;      /* the same with all tensors high: the largest aggregate */
  uint64_t master;    /* master weights, as they are stored (hu_limits.storage) */
  uint64_t state;     /* momenta, second moments, Kahan terms */
} hu_precision_memory;
/* HU_E_NULL, hu_optimizer_check's. optimizer may be NULL: then master and state are 0. */
HU_API HU_MUST_CHECK hu_status hu_precision_memory_of(hu_precision_memory *z, const hu_precision *plan,
                                                      const hu_optimizer *optimizer);

/* ---- other assignments, and resuming a run ---- */

/* What a mean ratio is made of. */
typedef struct hu_precision_past {
  uint64_t steps;    /* counted in the mean */
  uint64_t low;      /* the sum over them of low elements */
  uint64_t promoted; /* tensors so far */
} hu_precision_past;
/* The past so far. */
HU_API hu_precision_past hu_precision_past_of(const hu_precision *plan);
/* The plan continues with this assignment (its arrays as long as the layout says; copied) and this past (NULL: none).
 * The rule of dtheta is not applied to it. */
HU_API HU_MUST_CHECK hu_status hu_precision_set(hu_precision *plan, const hu_assignment *a,
                                                const hu_precision_past *past);

#ifdef __cplusplus
}
#endif
#endif
