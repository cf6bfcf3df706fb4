/* SPDX-License-Identifier: MIT */
/* train/net/net.h - the record of a network: values, parameters, operators, and the order of sums. */
#ifndef HALFULP_TRAIN_NET_NET_H
#define HALFULP_TRAIN_NET_NET_H

#include "train/engine/engine.h"

/* An operand as one product had it, for the next one that has it rounded in the same way. */
typedef struct hu_rounded {
  float *numbers, *own; /* own: the engine's memory for this alone, or NULL */
  size_t size;          /* of own */
  hu_rounding by;
  hu_rounding_counts counts;
  int there;
  uint64_t made; /* how often numbers were rounded into `own` */
} hu_rounded;

/* Weights as hu_engine.pack makes them, for operators of this pass that multiply by the same. */
typedef struct hu_panels {
  float *own; /* the engine's memory */
  size_t size;
  const float *of; /* theta, or what it was rounded to at the time `made` of that; NULL: nothing is there */
  uint64_t made;
} hu_panels;

typedef struct hu_value {
  size_t rows, cols;    /* of the whole batch */
  size_t height, width; /* images: rows = batch height width; else 0 */
  float *v, *dv;        /* as all numbers here in the engine's memory */
  hu_rounding round, round_back;
  hu_rounding_counts counts, counts_back;
  hu_rounding_counts *seen; /* both, where the engine's memory is not the host's (hu_tally) */
  uint64_t over, over_seen; /* of counts, in the last pass alone; what counts had before it */
  float *shown[2];          /* copies of v, dv for callers, where the engine's memory is not the host's */
  int made;                 /* 1: by an operator */
  int tokens;               /* 1: an embedding reads it: names, not numbers */
  int gradient;             /* 1: dv holds what readers have given so far */
  uint32_t given;           /* how many of them */
  int by_reader;            /* 1: what each of them gives is rounded, not the sum */
  int state;                /* 1 + the value with the last state of the layer of cells that made this one */
  int sampled;              /* 1 + the value that takes its place in training, for cross entropy, or its own */
  double loss_factor;       /* of the gradient of its cross entropy, over the samples of a step; 0: none */
  int minus;                /* where dv may hold -0: HU_MINUS_, or the number of a part (sequence.c) */
} hu_value;

/* Where gradients of a value may be -0. HU_MINUS_PART + i stands for operator i of the net, a part: only the numbers
 * that this part reads may be. */
enum { HU_MINUS_ANY = 0, HU_MINUS_NONE = 1, HU_MINUS_PART = 2 };

/* How the first numbers of a parameter are made. */
typedef struct hu_first_numbers {
  float start;     /* gains 1, biases 0; weights: see fan_in */
  size_t fan_in;   /* of weights that are drawn, else 0 */
  size_t matrices; /* below each other, each with rows of its own; 0: one */
  int before_relu; /* 1: a ReLU, GELU or SiLU reads what they give */
  int table;       /* 1: a row for each output: inputs are its columns */
  int drawn;       /* HU_DRAWN_: as the caller asked, instead of the three above */
  float deviation; /* of HU_DRAWN_NORMAL and HU_DRAWN_CUT; of HU_DRAWN_UNIFORM the bound */
} hu_first_numbers;

/* What an optimizer keeps of a parameter from step to step. */
typedef struct hu_optimizer_state {
  float *m, *second, *kahan;
} hu_optimizer_state;

/* The moving average of a parameter. */
typedef struct hu_weight_average {
  float *numbers; /* as master; NULL: there is none, or it is that of the first net */
  float decay;
} hu_weight_average;

/* How updates end. */
typedef struct hu_own_update {
  int set; /* 1: with `update` and `mode`; 0: as the optimizer says */
  uint8_t update;
  hu_mode mode;
} hu_own_update;

typedef struct hu_parameter {
  size_t rows, cols;
  float *master, *theta, *dtheta;
  hu_optimizer_state state;
  hu_rounding round, round_back;
  hu_rounding_counts counts, counts_back;
  hu_rounding_counts *seen;
  hu_rounding_counts moments[2];    /* of what the optimizer stores: m, v */
  hu_rounding_counts *moments_seen; /* the same, where the engine's memory is not the host's */
  uint64_t over, over_seen;         /* as of values */
  float *shown[2];
  hu_first_numbers first;
  int gradient;
  hu_rounded rounded;  /* theta, in this pass */
  hu_panels panels[2]; /* of theta or `rounded`: as it is, transposed */
  double back;         /* its gradient is multiplied by this over the root of the samples of a step; 0: it is not */
  int postponed;       /* 1: operators have not given their gradients yet (hui_give_postponed) */
  hu_weight_average average;
  hu_ramping ramping; /* of its updates; a trainer's, which makes its arrays (train/trainer/ramping.c) */
  hu_own_update own;
  hu_parameter_rule rule;
  int not_muon; /* 1: beside Muon AdamW updates it, whatever reads it */
  char *name;   /* HU_PARAMETER_NAME_MAX of them, which stay where they are */
} hu_parameter;

enum { HU_DRAWN_DEFAULT = 0, HU_DRAWN_NORMAL = 1, HU_DRAWN_UNIFORM = 2, HU_DRAWN_CONSTANT = 3, HU_DRAWN_CUT = 4 };
/* Draws a parameter's first numbers as normal ones of which those beyond 2 deviations are drawn again. */
hu_status hui_net_start_cut(hu_net *net, int parameter, float deviation);
/* The deviation of normal numbers of deviation 1 that are cut so. */
#define HU_CUT_DEVIATION 0.87962566103423978f

struct hu_operator;

typedef struct hu_operator_kind {
  const char *name;
  /* Fills v of the output, not rounded. */
  hu_status (*forward)(hu_net *net, struct hu_operator *op);
  /* From dv of the output: adds to those of inputs (hui_give) and of parameters (hui_give_parameter). */
  hu_status (*backward)(hu_net *net, struct hu_operator *op);
  /* What `kept` holds before the first step; normalisations alone have one. */
  void (*start)(hu_net *net, struct hu_operator *op);
  int product;  /* 1: linear, conv, the two of attention */
  int loss;     /* HU_COMPARES_: may end a net */
  int aside;    /* 1: a loss beside those at the end, which is added to them in training */
  int anywhere; /* 1: computes by calls of the engine alone; 0: looks at numbers, on the host only */
} hu_operator_kind;

/* What losses compare with. */
enum { HU_COMPARES_LABELS = 1, HU_COMPARES_TARGETS = 2, HU_COMPARES_SEQUENCES = 4 };

/* Delayed scaling of a product's operands: X, W, dZ. */
enum { HU_DELAYED_OF = 3 };
typedef struct hu_delay {
  hu_delayed rule;
  float *state;                  /* records, one after another; NULL: those of net->first */
  uint8_t looked[HU_DELAYED_OF]; /* 1: in this pass */
  float amax[HU_DELAYED_OF];     /* of the step so far, as far as it was looked at */
} hu_delay;

/* What operators of one kind have beside values and parameters. */
typedef struct hu_conv_sizes {
  hu_window_sizes windows;
  int image;     /* the value that the windows lie on: what is read, or the result of a transposed convolution */
  unsigned kept; /* HU_KEPT_ of convolution.h */
} hu_conv_sizes;
typedef struct hu_pool_sizes {
  hu_window_sizes windows;
  int zeros; /* 1: zeros around the image count as pixels of a mean */
} hu_pool_sizes;
typedef struct hu_norm_sizes {
  float eps, momentum;
  float count;  /* of rows: what a sum of squares is divided by */
  int unbiased; /* 1: the running variance is that of R - 1 */
} hu_norm_sizes;
typedef struct hu_response_sizes {
  size_t size;
  float alpha, beta, k; /* alpha: over the size */
} hu_response_sizes;
typedef struct hu_head_sizes {
  size_t count, width; /* heads of queries; columns of each head */
  size_t keys_count;   /* heads of keys and of values, which divide the others */
  size_t steps, keys;  /* steps of a sample: of its queries, of its keys and values */
  size_t block;        /* of `online`: keys of a block; numbers that gradients of values take of what is kept */
  size_t given;
  size_t window; /* of `online`, as of softmax */
  int causal;
  float scale; /* of the scores */
  int plain;   /* 1: they are not multiplied by it */
} hu_head_sizes;
typedef struct hu_softmax_sizes {
  int causal;
  size_t steps, sample; /* rows of a head, of a sample */
  size_t window;        /* columns up to a row's own that count; 0: all */
} hu_softmax_sizes;
typedef struct hu_rotary_sizes {
  size_t width, columns;
  int interleaved;
} hu_rotary_sizes;
typedef struct hu_expert_sizes {
  int route;              /* the operator that routes; of itself its own number */
  size_t experts, chosen; /* of each row */
  size_t capacity;
  int of_chosen, normed;
  double weight; /* of a loss */
} hu_expert_sizes;
typedef struct hu_part_place {
  size_t step, from; /* the step of each sample; the first column */
} hu_part_place;

/* A layer of sampled classes, which keeps one array after another: of each column its class and the negative logarithm
 * of how often that is expected among the samples; of each row the column of its label; the table's rows. */
typedef struct hu_sampled_sizes {
  size_t samples;
  size_t width; /* columns of the result: as many as there can be */
  size_t count; /* those of this pass: the samples, and labels that were not drawn */
} hu_sampled_sizes;

typedef struct hu_cell_sizes {
  size_t units;
  float forget_bias; /* of lstm */
} hu_cell_sizes;

/* How a loss is computed. */
typedef struct hu_loss_how {
  double weight;
  double factor;            /* of the gradient alone; 1: none */
  int smoothed;             /* 1: cross entropy with a smoothed label */
  float label, other, less; /* its shares of the label and of other columns; what is taken off each row */
  float bound;              /* of the smooth absolute error: from here on it is linear */
  uint32_t blank;           /* of labels of sequences, and HU_CTC_ of losses.h */
  unsigned how;
} hu_loss_how;

/* Values that an operator reads, where they are more than three. */
typedef struct hu_value_list {
  size_t count;
  int *value;
} hu_value_list;

/* Which passes an operator computes in. */
enum { HU_PASSES_ALL = 0, HU_PASSES_TRAINING = 1, HU_PASSES_EVALUATION = 2 };

/* Linear operators that share their weights with others. */
typedef struct hu_sharing {
  int shared, postponed; /* others have its weights, too; their gradient is still to be given */
  int ahead;             /* the product of this pass is there already */
  int later;             /* dX of this pass is made with that of other steps */
  int transposed;        /* Z = X W^T: W is a table, a row for each column of Z */
} hu_sharing;

typedef struct hu_operator {
  const hu_operator_kind *kind;
  int in[3], out; /* values, -1: none */
  hu_value_list list;
  int theta[2]; /* parameters, -1: none */
  union {
    hu_conv_sizes convolution;
    hu_pool_sizes pool;
    hu_norm_sizes norm;
    hu_response_sizes response;
    hu_head_sizes heads; /* scores, mix */
    hu_softmax_sizes softmax;
    hu_rotary_sizes rotary;
    hu_expert_sizes experts;
    hu_part_place part;
    hu_cell_sizes cell;
    hu_sampled_sizes sampled;
    size_t shuffled; /* shuffle: groups */
    float by[2];     /* of operators on one number: a slope, both bounds, factors forward and backward */
    double dropped;  /* dropout: the part that becomes 0 */
    hu_loss_how loss;
  };
  int passes;    /* HU_PASSES_ */
  size_t groups; /* of a convolution: each has products of its own; of all other operators 1 */
  float *kept;   /* what the forward pass leaves for the backward one */
  size_t kept_size;
  float factor[2]; /* of a linear layer: of X W, of dZ W^T; 0: none */
  hu_product_rounding rounding;
  hu_delay *delay;              /* NULL: scales of operands are their own */
  hu_rounding_counts counts[2]; /* of roundings of operands and results of products, forward and backward */
  hu_rounding_counts *seen;     /* the same, where the engine's memory is not the host's */
  hu_rounded rounded;           /* X of the product, in this pass */
  uint64_t number;              /* of the operator */
  hu_sharing sharing;
} hu_operator;

enum {
  HU_TENSORS_MAX = 1 << 22,   /* values, parameters */
  HU_OPERATORS_MAX = 1 << 17, /* a record of about 4 KiB each, beside their values */
  HU_BUFFERS = 4
};
enum { HU_SHARED_ALL = -1 }; /* of hu_net.shared: a layer has taken all parameters of the other one */

/* Statistics of the batch that all nets of a pass, here and in other processes, have together: of net->passes times as
 * many rows as a net has. */
typedef struct hu_whole {
  /* x[i] = the sum of x[i] over the processes: whole numbers, less than 2^48 in all. NULL: there is one process. */
  hu_status (*sum)(void *context, size_t n, double *x);
  void *context;
} hu_whole;

/* Counts of all tensors and products, two each, where the engine's memory is not the host's. */
typedef struct hu_tally {
  hu_rounding_counts *there, *here; /* in the engine's memory; as it was when it was read last */
  size_t capacity, used;            /* in twos */
} hu_tally;

/* What delayed operands of all operators reach in passes since the last look, HU_DELAYED_OF for each of them. */
typedef struct hu_amaxes {
  hu_gradient_found *there, *here; /* in the engine's memory; as it was at the last look, and behind it as many zeros */
  size_t capacity;                 /* operators */
} hu_amaxes;

/* States that the next pass begins with. */
typedef struct hu_carried {
  size_t count;
  int (*value)[2]; /* the first and the last state of a layer */
  int there;       /* 1: a pass has been made since they were forgotten */
} hu_carried;

/* What a pass leaves beside its tensors, side by side: one copy brings it to the host. */
typedef struct hu_outcome {
  float loss;    /* before its rounding */
  uint32_t flag; /* 1: some token is not one of its vocabulary */
} hu_outcome;

struct hu_net {
  size_t batch;
  uint32_t threads;
  const hu_engine *engine;
  void *self;            /* the engine's */
  struct hu_net *first;  /* whose weights and state of the optimizer these are, and whose `self`; NULL: its own */
  const hu_whole *whole; /* NULL: batch norms have statistics of the net's own batch */
  uint64_t seed, step;
  hu_status status;
  char why[320];
  char scope[HU_SCOPE_MAX]; /* of layers that are added now */
  int shared; /* 1 + the parameter that the next one of a layer is to be, or HU_SHARED_ALL; 0: the next one is new */
  hu_value *value;
  hu_parameter *parameter;
  hu_operator *op;
  int values, parameters, operators;
  int capacity[3];         /* of these three tables, which grow and may move while a net is built */
  float *work[HU_BUFFERS]; /* intermediate tensors, work_size numbers each; the last one is hui_do_columns's */
  size_t work_size;
  hu_rounded rounded; /* dZ of the product whose gradient is being made */
  uint32_t *labels;
  double counted; /* rows that the loss divides by; 0: all */
  size_t longest; /* labels of the longest sequence */
  int labelled;   /* 1: labels were set after targets: those of losses that may have either */
  float *targets;
  float *weights; /* of rows; NULL: each is 1 */
  double weighed; /* their sum; 0: there are none */
  hu_outcome *outcome;
  hu_tally tally;
  hu_amaxes amaxes;
  hu_carried carried;
  int has_tokens;            /* 1: kernels of this pass set the outcome's flag, which is read at its end */
  hu_gradient_found *found;  /* of a step */
  hu_update_counts *updates; /* of a step */
  hu_status fault;           /* of the pass: the first call of the engine that failed */
  hu_optimizer_time time;
  size_t passes;         /* the batch of a step is so many batches of the net, its shards; 1: no shards */
  uint64_t shard;        /* the one in hand: words for roundings of values and gradients are its own */
  int same_weights;      /* 1: theta stays as the last pass rounded it */
  int planned;           /* 1: a precision plan asks what overflowed in each pass */
  int training, trained; /* the last pass was for training; a backward pass has been made since */
  hu_net_observer *observer;
  void *observer_context;
};

/* ---- counts in the engine's memory; where it is the host's, these do nothing ---- */

/* Two counts more, zeros, for a tensor or a product that is in its table; 0: no memory. */
int hui_tally_add(hu_net *net, hu_rounding_counts **seen);
void hui_tally_free(hu_net *net);
/* All are 0. */
void hui_tally_forget(hu_net *net);
/* Copies all to the host, where hui_tally_of finds those of a tensor. */
void hui_tally_read(hu_net *net);
const hu_rounding_counts *hui_tally_of(const hu_net *net, const hu_rounding_counts *seen);

/* ---- looking at one thing alone ---- */

/* Return the rows and columns of a value, 0 if there is none. Unlike hu_net_value they bring nothing to the host. */
size_t hui_net_rows(const hu_net *net, int value);
size_t hui_net_cols(const hu_net *net, int value);
/* Returns its numbers alone, those of hu_net_value; NULL: there is no such value, no memory, or the engine failed. */
const float *hui_net_numbers(const hu_net *net, int value);
/* Adds the answers in the first rows of a value, whose labels are those of the net. */
hu_status hui_net_judge(hu_net *net, int value, size_t rows, hu_answers *answers);

/* ---- building ---- */

/* Returns a net of another batch that is to be built as `first` was, layer by layer. It reads the weights of
 * `first`, which rounds them, and must be freed before it. It has values and gradients of its own. NULL: no memory. */
hu_net *hui_net_new_beside(hu_net *first, size_t batch);
/* Copies roundings, seed, step, statistics and the observer from its `first`. */
void hui_net_follow(hu_net *net);
/* Rounds the parameters for the passes of nets beside this one. */
hu_status hui_net_round_parameters(hu_net *net);
/* Notes what overflowed in a pass: counts since the end of the one before. */
void hui_note_over(hu_net *net);
/* Sets the net's error, if it has none yet; returns -1. */
int hui_refuse(hu_net *net, hu_status status, const char *what);
/* Sets the net's error to a whole sentence, whatever was said before. */
void hui_refuse_whole(hu_net *net, hu_status status, const char *sentence);
/* Return the number of a new value or parameter, which holds zeros; or set the error and return -1. After hu_net_share
 * the parameter is one that is there. */
int hui_new_value(hu_net *net, size_t rows, size_t cols, size_t height, size_t width);
int hui_new_parameter(hu_net *net, size_t rows, size_t cols, float start, size_t fan_in);
/* Names the parameters from `first` on, those of a new layer: "scope.kindN.part", N from 1 on in each scope;
 * `parts` has a word for each of them. */
void hui_name_parameters(hu_net *net, const char *kind, int first, const char *parts);
/* Returns 1 if the numbers of windows are in their ranges. */
int hui_are_windows(const hu_net_windows *windows);
/* Lays windows over an image (ceil: 1: sizes are rounded up). Returns NULL; or what is wrong with them. */
const char *hui_windows_over(hu_window_sizes *sizes, const hu_value *image, const hu_net_windows *windows, int ceil);
/* Returns a new operator of a kind that reads x (and y) and has `kept` numbers of its own; or sets the error and
 * returns NULL. */
hu_operator *hui_new_operator(hu_net *net, const hu_operator_kind *kind, int x, int y, int out, size_t kept);
/* Adds the operator that makes `out` of a list of values, and copies the list. Returns `out`; or sets the error and
 * returns -1. */
int hui_add_list(hu_net *net, const hu_operator_kind *kind, size_t count, const int *values, int out);
/* Returns 1 if the list has some, and all are values of this net. */
int hui_all_usable(hu_net *net, size_t count, const int *values);
/* Adds rows of a value: of each sample row `step` of its columns from, from + 1 ... */
int hui_add_part(hu_net *net, int x, size_t rows, size_t step, size_t from, size_t cols);
/* Adds the operator that puts the steps side by side again; the net owns the list. */
int hui_add_stack(hu_net *net, size_t steps, int *list);
/* Returns 1 if there are no lengths (-1), or if they are an input of one number a sample; else says so. */
int hui_are_lengths(hu_net *net, int lengths, const char *layer);
/* Adds x, or, of samples with no such step, the value before it. */
int hui_add_hold(hu_net *net, int x, int before, int lengths, size_t step);
/* Adds x with zeros in the steps behind the end of each sample. */
int hui_add_within(hu_net *net, int x, int lengths);
/* Makes a pass begin with what the value `last` had at the end of the one before it in place of `first`. */
void hui_carry(hu_net *net, int first, int last);
/* Copies these states, as a pass begins. */
void hui_carry_states(hu_net *net);
/* Adds X X^T of the rows X of each sample, computed as scores of attention are. */
int hui_add_gram(hu_net *net, int x);
/* Gives the linear operator that made a value factors of its products X W and dZ W^T. */
void hui_net_factors(hu_net *net, int value, float forward, float backward);
/* Returns the samples of a step's batch, of all shards. */
double hui_net_samples(const hu_net *net);
/* Adds X W + b with given parameters (bias -1: there is none), which may be those of another operator, too; or, with a
 * table, X T^T + b. */
int hui_linear_of(hu_net *net, int x, int weights, int bias);
int hui_linear_by_table(hu_net *net, int x, int table, int bias);
/* Returns the model of A B for the product B^T A^T: A and B have changed places. */
hu_accum hui_accum_swapped(const hu_accum *accum);
/* Returns the accumulation model of the product that a part (HU_PART_) belongs to. */
const hu_accum *hui_accum_of(const hu_operator *op, unsigned part);
/* Returns the grid on which a rounding of an operand (HU_PART_) leaves numbers that were on that of `before`. Models of
 * narrow units need it; for fp32, which does not, it is binary32. */
hu_format hui_operand_grid(const hu_operator *op, unsigned part, const hu_rounding *rounding,
                           const hu_rounding *before);
/* Returns the rounding of an operand, or under `twice` that of the forward pass, where the rounding keeps what that has
 * left. */
const hu_rounding *hui_last_rounding(const hu_operator *op, unsigned part, const hu_rounding *rounding);
/* Rounds operand or result `part` (docs/training/training.md section 4) of the products of an operator in place. */
hu_status hui_round_product(hu_net *net, hu_operator *op, size_t rows, size_t cols, float *x,
                            const hu_rounding *rounding, unsigned part);
/* Operands and results of the three products, as their random words are numbered. */
enum {
  HU_PART_Z_X = 0,
  HU_PART_Z_W = 1,
  HU_PART_DW_X = 2,
  HU_PART_DW_DZ = 3,
  HU_PART_DX_DZ = 4,
  HU_PART_DX_W = 5,
  HU_PART_Z_OUT = 6,
  HU_PART_DX_OUT = 7,
  HU_PART_DW_OUT = 8,
  HU_PART_SIGNS = 9
};
/* Returns 1 if an operand (HU_PART_) is a tensor as that was rounded: nothing rounds or transforms it before its
 * product. */
int hui_operand_is_tensor(const hu_net *net, const hu_operator *op, unsigned part);
/* Returns HU_OK; or what hu_gemm says of the formats of an operand and the model of its product, as they will be in a
 * step: HU_E_OPERAND_A, HU_E_OPERAND_B, HU_E_ACCUM, ... Then *part and *format are the operand's. */
hu_status hui_operands_taken(const hu_net *net, const hu_operator *op, unsigned *part, hu_format *format);
/* Returns the operand that a product sees: x itself, or x transformed or rounded once more, in `buffer` or where it is
 * kept for the next product. The product gets the grid that a rounding leaves, which models of narrow units have to
 * know. */
hu_matrices hui_product_operand(hu_net *net, hu_operator *op, size_t rows, size_t cols, const float *x,
                                const hu_rounding *rounding, const hu_rounding *before, float *buffer, unsigned part);
/* Returns 1 if roundings are known to give equal bits. Random words are a part's own. */
int hui_roundings_alike(const hu_rounding *a, const hu_rounding *b);
/* Returns the counts of the roundings of a part. */
hu_rounding_counts *hui_counts_of_part(const hu_net *net, hu_operator *op, unsigned part);
/* Returns the rounding of operand `part` (HU_PART_), n numbers x that are not rounded yet. Where its scale is delayed,
 * this is a copy in *given with the amax in force. A pass for training notes how large the numbers are. */
const hu_rounding *hui_delayed_rounding(hu_net *net, hu_operator *op, size_t n, const float *x,
                                        const hu_rounding *rounding, unsigned part, hu_rounding *given);
/* Returns how many records the products of a net have. */
size_t hui_delayed_records(const hu_net *net);
/* Take their amaxes of the step so far from the net, z[i] = max(z[i], that of record i), and put them back. */
hu_status hui_delayed_take(hu_net *net, double *z);
void hui_delayed_put(hu_net *net, const double *x);
/* Prepare for a pass; end a step; make all records 0; end the delayed scaling of an operator, of the net. */
void hui_delayed_begin(hu_net *net);
hu_status hui_delayed_step(hu_net *net);
void hui_delayed_forget(hu_net *net);
void hui_delayed_free(hu_operator *op);
void hui_delayed_end(hu_net *net);
/* Q-EMA: checks what w_average requires of the other fields and the operator, and allocates the average of its W,
 * which begins as W. HU_E_TRAIN, HU_E_MEMORY. */
hu_status hui_average_begin(hu_net *net, const hu_operator *op, const hu_product_rounding *rounding);
/* Are called before an update is made, and after it. */
void hui_average_start(hu_net *net);
void hui_average_step(hu_net *net);
/* Replaces z, which is W of an operator rounded to nearest, by what its average decides, where it does. */
void hui_average_choose(hu_net *net, const hu_operator *op, size_t rows, size_t cols, float *z, const float *w);
/* Returns 1 if patches were rounded in place, for another rounding. */
int hui_patches_spoilt(const hu_operator *op, const hu_rounding *rounding);
/* Forgets what operands were rounded to, as a pass begins; frees the memory for it. */
void hui_forget_operands(hu_net *net);
void hui_free_operands(hu_net *net);
/* Makes the buffers `work` hold at least n numbers. */
hu_status hui_reserve_work(hu_net *net, size_t n);
/* Returns 1 if x is a value of this net and nothing went wrong yet. */
int hui_usable(hu_net *net, int x);

/* ---- the engine: after a failure the calls of a pass do nothing, and hui_done returns it ---- */

hu_status hui_done(const hu_net *net);
void hui_do(hu_net *net, int kernel, const hu_task *task);
/* Computes the result `part` (HU_PART_) of an operator; the part and the step decide the words of stochastic sums. */
void hui_do_products(hu_net *net, const hu_operator *op, unsigned part, hu_products *products);
void hui_do_function(hu_net *net, int op, size_t n, float *z, const float *x);
void hui_do_round(hu_net *net, size_t rows, size_t cols, float *z, const float *x, const hu_rounding *rounding,
                  hu_stream words, hu_rounding_counts *counts);
void hui_add_counts(hu_rounding_counts *sum, const hu_rounding_counts *counts);
/* Copies from and to the host. */
void hui_do_put(hu_net *net, void *z, const void *host, size_t bytes);
void hui_do_get(hu_net *net, void *host, const void *x, size_t bytes);
/* z = x for n numbers; z = a for rows x cols of matrices with leading dimensions. */
void hui_do_fill(hu_net *net, size_t n, float *z, float x);
void hui_do_copy(hu_net *net, size_t rows, size_t cols, float *z, size_t ldz, const float *a, size_t lda);
/* Runs one kernel of a (and b): rows = 1, cols = n. */
void hui_do_each(hu_net *net, int kernel, size_t n, float *z, const float *a, const float *b, float p);
/* z = the column sums of rows x cols terms, by one of HU_RUN_COLUMNS...; b and row are the kernel's operands. */
void hui_do_columns(hu_net *net, int kernel, size_t rows, size_t cols, float *z, const float *a, const float *b,
                    const float *row);

/* Sets labels that are right, as hu_net_labels does; all of them may be HU_LABEL_NONE. The loss divides by
 * `counted`: the rows with a label of a whole step over the number of its passes, where the net sees a part of the
 * step. */
hu_status hui_net_labels_among(hu_net *net, const uint32_t *labels, double counted);
/* Returns the number of the first of the losses that end the net; that of its operators if there is none. */
int hui_first_loss(const hu_net *net);

/* ---- running ---- */

/* Run the passes of several nets, the first of them and those beside it, an operator at a time. loss: one per net, or
 * NULL. The calls of halfulp/train/net.h are those for one net. */
hu_status hui_net_forward_all(hu_net *const *nets, size_t count, int training, float *loss);
hu_status hui_net_backward_all(hu_net *const *nets, size_t count, float scale);
/* Return where the gradient that an operator gives to a value may be written: in its place if it is the first one, else
 * in `buffer`. hui_give comes next. */
float *hui_gift(hu_net *net, int value, float *buffer);
float *hui_gift_parameter(hu_net *net, int parameter, float *buffer);
/* Write numbers to the dv of a value or to a parameter's gradient, the first time as they are, and add them later. */
void hui_give(hu_net *net, int value, const float *x);
/* The same of what is not to be rounded where each reader's gradient is (by_reader). */
void hui_give_unrounded(hu_net *net, int value, const float *x);
/* Rounds rows x cols numbers that the next reader gives to a value. z may be x. */
void hui_round_gift(hu_net *net, int value, size_t rows, size_t cols, float *z, const float *x);
void hui_give_parameter(hu_net *net, int parameter, const float *x);
/* Gives the gradients that operators with the same weights left for later (product.c), in the order in which they
 * came. It comes before any other gradient is given to a parameter that they may share. */
void hui_give_postponed(hu_net *net, int parameter);
/* Runs the backward pass of an operator, within that of one which stands before it. The gradient of its result,
 * which was not there when its turn was, has come since. */
void hui_backward_after_turn(hu_net *net, hu_operator *op);
/* Returns 1 if the gradient of a value is needed: it was computed from something. */
int hui_needs_gradient(const hu_net *net, int value);
/* Notifies the observer that a phase of op (NULL: of none) begins or ends. */
void hui_notify(hu_net *net, unsigned phase, const hu_operator *op, int ends);
/* The same, called by an engine: `notified` is the net and an operator. */
void hui_notify_rounding(void *const notified[2], int ends);
/* Does hui_do_round on a tensor that belongs to op (NULL: an input, a parameter) with the words of (of, number) where
 * it draws any; the observer is notified. */
void hui_round_of(hu_net *net, const hu_operator *op, size_t rows, size_t cols, float *z, const float *x,
                  const hu_rounding *rounding, unsigned of, uint64_t number, hu_rounding_counts *counts);
/* Returns the optimizer of parameter i: beside Muon AdamW, where it is not Muon's; with its own end of an update. */
hu_optimizer hui_optimizer_of(const hu_net *net, int i, const hu_optimizer *optimizer);
/* Returns the running statistics that an operator keeps from step to step, and how many numbers they are; NULL:
 * none. */
float *hui_running_of(const hu_net *net, const hu_operator *op, size_t *n);
/* Random words for roundings and operators: of (seed, use, number), and of the step. */
enum {
  HU_OF_VALUE = 0,
  HU_OF_GRADIENT = 1,
  HU_OF_PARAMETER = 2,
  HU_OF_PARAMETER_GRADIENT = 3,
  HU_OF_UPDATE = 4,
  HU_OF_PRODUCT = 5,
  HU_OF_DROPOUT = 6,
  HU_OF_SUM = 7,     /* inside sums of products */
  HU_OF_JOIN = 8,    /* the gradients of shards become those of the batch */
  HU_OF_MESSAGE = 9, /* the gradients of a shard become what travels */
  HU_OF_SAMPLES = 10 /* classes of a sampled softmax */
};
hu_stream hui_net_words(const hu_net *net, unsigned of, uint64_t number);

/* Before operator i of any of these nets is run, forward or (back: 1) backward: a batch norm of nets that have `whole`
 * gets what it must know of the whole batch. */
hu_status hui_whole_statistics(hu_net *const *nets, size_t count, int i, int back);
/* Column sums of terms of several nets, exact until they are rounded once. */
typedef struct hu_exact_columns {
  size_t cols, side; /* sums of a column side by side, each of every side-th row */
  uint64_t *sums;
  float *terms; /* of a net, on the host, where its engine's memory is not the host's */
  float *z;     /* the sums, rounded to binary32 (ties to even) */
} hu_exact_columns;
hu_status hui_exact_columns_open(hu_exact_columns *columns, size_t cols);
void hui_exact_columns_close(hu_exact_columns *columns);
/* Adds the rows x cols terms of a net's task, +0 before each: those of kernel HU_RUN_COLUMNS... with its operands.
 * The last of the net's buffers is used. */
hu_status hui_exact_columns_add(hu_exact_columns *columns, hu_net *net, int kernel, hu_task task);
/* columns->z = the sums over all nets that were added, and over all processes. */
hu_status hui_exact_columns_round(hu_exact_columns *columns, const hu_whole *whole);

/* Does what happens to dtheta of all parameters before the optimizer (gradient.h). */
hu_status hui_prepare_gradients(hu_net *net, hu_net_gradient_rules *with, float scale, double rate,
                                hu_gradient_found *found);

/* ---- sums on the host, in the orders of docs/training/training.md section 2 ---- */

/* Returns the sum of n numbers side by side: 16 partial sums, number i to the partial sum i mod 16, these in halves. */
float hui_sum_row(size_t n, const float *x);
/* z[j] = the sum over rows of x[i cols + j] y[i cols + j] (y NULL: of x): chunks of 64 rows from zero, downwards, then
 * the chunks' sums; each step a binary32 addition of a binary32 product. */
void hui_sum_columns(size_t rows, size_t cols, float *z, const float *x, const float *y);

#endif
