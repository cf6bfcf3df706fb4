/* SPDX-License-Identifier: MIT */
/* train/engine/engine.h - the table of operations that a network runs on, which the CPU and a device both fill.
 *
 * Tensors live in the engine's memory, and operators (linear, norms, losses, ...) are sequences of calls of this
 * table: none looks at a number of a tensor except through `get`. Everything that is not a rounding, a product or an
 * elementary function is a kernel of train/engine/kernels.h, written once; the engines differ in how they run
 * through its elements, which are independent of each other. So the bits are the same. Calls return what can go
 * wrong while running (HU_E_CUDA, a product's HU_E_GRID); sizes and records were checked when the network was built. */
#ifndef HALFULP_TRAIN_ENGINE_ENGINE_H
#define HALFULP_TRAIN_ENGINE_ENGINE_H

#include <string.h>

#include "halfulp/hadamard.h"
#include "halfulp/operation.h"
#include "halfulp/train/net.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How the elements of a kernel may be divided: numbers of a matrix, each by itself; whole rows. */
enum { HU_BY_NUMBER = 0, HU_BY_ROW = 1 };

/* Kernels of losses and sequences: kernels_sequences.h says what each does. */
#define HU_KERNELS_SEQUENCES(X)                         \
  X(WEIGH, weigh, HU_BY_NUMBER)                         \
  X(OWN_COLUMNS, own_columns, HU_BY_NUMBER)             \
  X(SMOOTH, smooth, HU_BY_ROW)                          \
  X(SMOOTH_BACK, smooth_back, HU_BY_NUMBER)             \
  X(MINUS_SIZE, minus_size, HU_BY_NUMBER)               \
  X(LOGISTIC, logistic, HU_BY_NUMBER)                   \
  X(LOGISTIC_BACK, logistic_back, HU_BY_NUMBER)         \
  X(HUBER, huber, HU_BY_NUMBER)                         \
  X(HUBER_BACK, huber_back, HU_BY_NUMBER)               \
  X(WITHIN, within, HU_BY_NUMBER)                       \
  X(ROW_CONVOLVE, row_convolve, HU_BY_NUMBER)           \
  X(ROW_CONVOLVE_BACK, row_convolve_back, HU_BY_NUMBER) \
  X(LATER, later, HU_BY_NUMBER)                         \
  X(CENTRE, centre, HU_BY_NUMBER)                       \
  X(LESS_EACH, less_each, HU_BY_NUMBER)                 \
  X(CTC_COUNTS, ctc_counts, HU_BY_NUMBER)               \
  X(CTC_WAYS, ctc_ways, HU_BY_NUMBER)                   \
  X(CTC_STATES, ctc_states, HU_BY_NUMBER)               \
  X(CTC_TERMS, ctc_terms, HU_BY_NUMBER)                 \
  X(CTC_THROUGH, ctc_through, HU_BY_NUMBER)             \
  X(CTC_BACK, ctc_back, HU_BY_ROW)

/* Kernels of attention and experts: kernels_attention.h says what each does. */
#define HU_ATTENTION_KERNELS(X)              \
  X(LESS_TOP, less_top, HU_BY_ROW)           \
  X(SHARES, shares, HU_BY_ROW)               \
  X(SHARES_BACK, shares_back, HU_BY_ROW)     \
  X(ROTARY, rotary, HU_BY_NUMBER)            \
  X(ONLINE_BEGIN, online_begin, HU_BY_ROW)   \
  X(ONLINE_TOP, online_top, HU_BY_ROW)       \
  X(ONLINE_SUM, online_sum, HU_BY_ROW)       \
  X(ONLINE_ADD, online_add, HU_BY_NUMBER)    \
  X(ONLINE_END, online_end, HU_BY_NUMBER)    \
  X(ONLINE_LESS, online_less, HU_BY_ROW)     \
  X(ONLINE_SHARES, online_shares, HU_BY_ROW) \
  X(ONLINE_BACK, online_back, HU_BY_ROW)     \
  X(CHOOSE, choose, HU_BY_ROW)               \
  X(CHOSEN, chosen, HU_BY_ROW)               \
  X(CHOSEN_BACK, chosen_back, HU_BY_ROW)     \
  X(EXPERT_COUNT, expert_count, HU_BY_ROW)   \
  X(EXPERT_PLACES, expert_places, HU_BY_ROW) \
  X(EXPERT_ROWS, expert_rows, HU_BY_NUMBER)  \
  X(EXPERT_SUMS, expert_sums, HU_BY_NUMBER)  \
  X(EXPERT_SHARES, expert_shares, HU_BY_ROW) \
  X(LOAD, load, HU_BY_NUMBER)                \
  X(LOG_SUMS, log_sums, HU_BY_ROW)           \
  X(TIMES_COLUMN, times_column, HU_BY_NUMBER)

/* Kernels: what each does is said in kernels.h, kernels_layers.h, kernels_sequences.h, kernels_attention.h. */
#define HU_KERNELS(X)                               \
  HU_KERNELS_SEQUENCES(X)                           \
  X(COPY, copy, HU_BY_NUMBER)                       \
  X(FILL, fill, HU_BY_NUMBER)                       \
  X(KEEP, keep, HU_BY_NUMBER)                       \
  X(ADD, add, HU_BY_NUMBER)                         \
  X(ACCUMULATE, accumulate, HU_BY_NUMBER)           \
  X(ADD_ROW, add_row, HU_BY_NUMBER)                 \
  X(TIMES_ROW, times_row, HU_BY_NUMBER)             \
  X(SCALE, scale, HU_BY_NUMBER)                     \
  X(SIGN, sign, HU_BY_NUMBER)                       \
  X(TIMES, times, HU_BY_NUMBER)                     \
  X(PLUS, plus, HU_BY_NUMBER)                       \
  X(MINUS, minus, HU_BY_NUMBER)                     \
  X(NEGATIVE_SUM, negative_sum, HU_BY_NUMBER)       \
  X(OVER, over, HU_BY_NUMBER)                       \
  X(DIVIDE, divide, HU_BY_NUMBER)                   \
  X(ROOT, root, HU_BY_NUMBER)                       \
  X(FUSED, fused, HU_BY_NUMBER)                     \
  X(RELU, relu, HU_BY_NUMBER)                       \
  X(RELU_BACK, relu_back, HU_BY_NUMBER)             \
  X(LEAKY, leaky, HU_BY_NUMBER)                     \
  X(LEAKY_BACK, leaky_back, HU_BY_NUMBER)           \
  X(CLIP, clip, HU_BY_NUMBER)                       \
  X(CLIP_BACK, clip_back, HU_BY_NUMBER)             \
  X(SILU_BACK, silu_back, HU_BY_NUMBER)             \
  X(GELU_TANH_PART, gelu_tanh_part, HU_BY_NUMBER)   \
  X(GELU_TANH, gelu_tanh, HU_BY_NUMBER)             \
  X(GELU_TANH_BACK, gelu_tanh_back, HU_BY_NUMBER)   \
  X(SOFTPLUS_PART, softplus_part, HU_BY_NUMBER)     \
  X(SOFTPLUS, softplus, HU_BY_NUMBER)               \
  X(GELU_PARTS, gelu_parts, HU_BY_NUMBER)           \
  X(GELU_BACK, gelu_back, HU_BY_NUMBER)             \
  X(TANH_BACK, tanh_back, HU_BY_NUMBER)             \
  X(SIGMOID_BACK, sigmoid_back, HU_BY_NUMBER)       \
  X(MASK, mask, HU_BY_NUMBER)                       \
  X(COLUMNS, columns, HU_BY_NUMBER)                 \
  X(COLUMNS_PRODUCT, columns_product, HU_BY_NUMBER) \
  X(COLUMNS_SPREAD, columns_spread, HU_BY_NUMBER)   \
  X(COLUMNS_GAIN, columns_gain, HU_BY_NUMBER)       \
  X(COLUMNS_BOTH, columns_both, HU_BY_NUMBER)       \
  X(SUM_ROWS, sum_rows, HU_BY_ROW)                  \
  X(SPREAD, spread, HU_BY_NUMBER)                   \
  X(MOVING, moving, HU_BY_NUMBER)                   \
  X(INVERSE, inverse, HU_BY_NUMBER)                 \
  X(NORMALISE, normalise, HU_BY_NUMBER)             \
  X(BATCH_BACK, batch_back, HU_BY_NUMBER)           \
  X(LAYER, layer, HU_BY_ROW)                        \
  X(LAYER_BACK, layer_back, HU_BY_ROW)              \
  X(NEIGHBOURS, neighbours, HU_BY_NUMBER)           \
  X(NEIGHBOURS_PART, neighbours_part, HU_BY_NUMBER) \
  X(NEIGHBOURS_BACK, neighbours_back, HU_BY_NUMBER) \
  X(PATCHES, patches, HU_BY_NUMBER)                 \
  X(PATCHES_BACK, patches_back, HU_BY_NUMBER)       \
  X(GROUPS, groups, HU_BY_NUMBER)                   \
  X(GROUPS_BACK, groups_back, HU_BY_NUMBER)         \
  X(SHUFFLE, shuffle, HU_BY_NUMBER)                 \
  X(MAX_POOL, max_pool, HU_BY_NUMBER)               \
  X(MAX_POOL_BACK, max_pool_back, HU_BY_NUMBER)     \
  X(MEAN_POOL, mean_pool, HU_BY_NUMBER)             \
  X(MEAN_POOL_BACK, mean_pool_back, HU_BY_NUMBER)   \
  X(ENTROPY, entropy, HU_BY_NUMBER)                 \
  X(ENTROPY_BACK, entropy_back, HU_BY_NUMBER)       \
  X(DISTANCE, distance, HU_BY_NUMBER)               \
  X(DISTANCE_BACK, distance_back, HU_BY_NUMBER)     \
  X(ABSOLUTE, absolute, HU_BY_NUMBER)               \
  X(ABSOLUTE_BACK, absolute_back, HU_BY_NUMBER)     \
  X(TOKENS, tokens, HU_BY_NUMBER)                   \
  X(GATHER, gather, HU_BY_NUMBER)                   \
  X(SCATTER, scatter, HU_BY_NUMBER)                 \
  X(GRU_GATES, gru_gates, HU_BY_NUMBER)             \
  X(GRU_CANDIDATE, gru_candidate, HU_BY_NUMBER)     \
  X(GRU_STATE, gru_state, HU_BY_NUMBER)             \
  X(GRU_BACK, gru_back, HU_BY_NUMBER)               \
  X(LSTM_GATES, lstm_gates, HU_BY_NUMBER)           \
  X(LSTM_CELL, lstm_cell, HU_BY_NUMBER)             \
  X(LSTM_STATE, lstm_state, HU_BY_NUMBER)           \
  X(LSTM_BACK, lstm_back, HU_BY_NUMBER)             \
  X(BLOCK_SCALES, block_scales, HU_BY_NUMBER)       \
  X(BLOCK_OVER, block_over, HU_BY_NUMBER)           \
  X(BLOCK_TIMES, block_times, HU_BY_NUMBER)         \
  X(BLOCK_WITHIN, block_within, HU_BY_NUMBER)       \
  X(BLOCK_TOWARD, block_toward, HU_BY_NUMBER)       \
  X(DUE, due, HU_BY_NUMBER)                         \
  X(DUE_TIMES, due_times, HU_BY_NUMBER)             \
  X(DUE_TAKE, due_take, HU_BY_NUMBER)               \
  HU_ATTENTION_KERNELS(X)

#define HU_KERNEL_NUMBER(NAME, name, by) HU_RUN_##NAME,
enum { HU_KERNELS(HU_KERNEL_NUMBER) HU_RUN_KERNELS };
#undef HU_KERNEL_NUMBER

/* Windows over images, such as those of a convolution. */
typedef struct hu_window_sizes {
  size_t high, wide;                 /* pixels of a window */
  size_t stride_down, stride_across; /* pixels from one window to the next */
  size_t apart_down, apart_across;   /* pixels from one of a window to the next: 1, or its dilation */
  size_t step_down, step_across;   /* windows from one that sees a pixel to the next one that may: 1 without dilation */
  size_t top, bottom, left, right; /* zeros around an image */
  size_t height, width;            /* pixels of an image */
  size_t down, across;             /* windows below each other and beside each other in an image */
  size_t groups;                   /* of the channels */
} hu_window_sizes;

/* Returns 1 if there are zeros around the image. */
static inline int hui_has_border(const hu_window_sizes *sizes) {
  return (sizes->top | sizes->bottom | sizes->left | sizes->right) != 0;
}

/* What kernels of one kind read and write beside z, a and b. */
typedef struct hu_gelu_task {
  float *erf, *exp; /* what these functions are taken of, then their values */
  const float *x, *dz;
} hu_gelu_task;
typedef struct hu_due_task {
  const float *steps, *period, *sum;
  float *now, *mean; /* results */
} hu_due_task;
typedef struct hu_mask_task {
  hu_stream words;
  uint64_t below;
} hu_mask_task;
typedef struct hu_columns_task {
  size_t rows, chunk; /* of the terms; rows that one row of z sums */
  const float *row;   /* the means or gains of the columns */
} hu_columns_task;
typedef struct hu_block_task {
  int down; /* 1: blocks lie in columns; 0: in rows */
  size_t length, size, across;
  const float *scales, *other;
} hu_block_task;
typedef struct hu_norm_task {
  const float *gain, *offset, *mean, *slope; /* offset, of rows: NULL: there is neither a mean nor an offset */
  float count;                               /* of rows: what a sum of squares is divided by */
  float *inverse, *normalised;               /* inverse: 1 / sqrt(variance + epsilon) */
} hu_norm_task;
typedef struct hu_clip_task {
  float low, high;
} hu_clip_task;
typedef struct hu_response_task {
  size_t size;
  float k, slope;
  const float *power, *sums, *shares;
} hu_response_task;
typedef struct hu_window_task {
  hu_window_sizes sizes;
  float *places; /* of maxima in their windows */
  int zeros;     /* of means: 1: zeros around the image count as pixels */
} hu_window_task;
typedef struct hu_softmax_task {
  int causal;
  size_t steps, sample; /* sample: rows of one */
  size_t window;
  const float *counts;
  const float *sink; /* of each head */
  float *sums, *sinks;
} hu_softmax_task;
typedef struct hu_online_task {
  hu_softmax_task softmax;
  size_t keys, from, width;  /* columns of scores; the first one of the block; columns of a head */
  float *top, *sum, *factor; /* a number a row */
  const float *result;
} hu_online_task;
typedef struct hu_rotary_task {
  const float *cosine, *sine; /* steps x width / 2 */
  size_t steps, width, columns;
  int interleaved;
} hu_rotary_task;
typedef struct hu_experts_task {
  size_t rows, experts, chosen;
  size_t capacity;  /* rows that an expert takes; 0: all */
  uint32_t *place;  /* rows x experts: HU_PLACE_, or where the row lies among those of the experts */
  uint32_t *source; /* rows chosen: HU_PLACE_NONE, or number of the row and expert in `place` */
  uint32_t *counts; /* rows that chose an expert */
  const float *shares;
  int normed;
} hu_experts_task;
enum { HU_PLACE_NONE = -1, HU_PLACE_DROPPED = -2 }; /* as uint32_t: not chosen; chosen, but beyond the capacity */
typedef struct hu_loss_task {
  const uint32_t *labels; /* NULL: there are targets */
  const float *gradient;  /* one number */
  size_t cols;
  float *terms;
  float label, other, less; /* of the target: the share of the label, of each other column; what is taken off */
  float bound;
} hu_loss_task;
typedef struct hu_tokens_task {
  size_t vocabulary, rows;
  uint32_t *flag;
} hu_tokens_task;
typedef struct hu_steps_task {
  size_t sample, count, each; /* rows of a sample; its steps; rows of a step */
  size_t first, seen;         /* the step of row 0, or how many steps later; how many steps a row convolution sees */
  const float *lengths;       /* of the samples; NULL: all steps */
} hu_steps_task;
/* How states of a CTC loss are reached: from the step before, from the step behind, at the end. */
enum { HU_CTC_FORWARD = 0, HU_CTC_BACKWARD = 1, HU_CTC_END = 2 };
typedef struct hu_ctc_task {
  const uint32_t *labels; /* steps of each sample */
  const float *lengths;   /* of samples; NULL: all steps */
  const float *counts, *logs, *total;
  const float *gradient; /* one number */
  float *top;
  size_t steps, cols, step; /* of a sample; of x; the one in hand */
  size_t states;            /* of a sample, where the task has other columns */
  uint32_t blank;
  int way;
  unsigned how; /* HU_CTC_ of losses.h */
} hu_ctc_task;
typedef struct hu_cell_task {
  const float *sums_x, *sums_h; /* linear results of the step's input and of the state h before it */
  const float *state, *dz;      /* the state before the step; the gradient of the state after it */
  float *kept;
  float *d_sums_x, *d_sums_h, *d_state;
} hu_cell_task;

/* What a kernel runs over, and on what. kernels.h and kernels_layers.h say which fields each kernel uses. */
typedef struct hu_task {
  size_t rows, cols;
  float *z;           /* result */
  const float *a, *b; /* operands */
  size_t ldz, lda;    /* from one row of z, of a, to the next */
  float p;            /* a factor, a divisor, ... */
  size_t work;        /* about how many numbers are looked at; 0: rows x cols */
  union {
    hu_gelu_task gelu;
    hu_due_task due;
    hu_mask_task mask;
    hu_columns_task columns;
    int onto; /* of sum_rows */
    hu_block_task blocks;
    hu_norm_task norm;
    hu_window_task windows;
    size_t groups; /* of shuffle */
    size_t each;   /* of add_row: rows of a for one of b; 0: all */
    hu_clip_task clip;
    hu_response_task response;
    hu_softmax_task softmax;
    hu_online_task online;
    hu_rotary_task rotary;
    hu_experts_task experts;
    hu_loss_task loss;
    hu_tokens_task tokens;
    hu_steps_task steps;
    hu_ctc_task ctc;
    hu_cell_task cell;
  };
} hu_task;

/* A matrix of many: number (i, k) is at data + i outer + k inner. */
typedef struct hu_matrices {
  float *data;
  size_t ld, outer, inner;
  hu_format format; /* on whose grid operands are; of results binary32 */
  int transposed;   /* operands: 1: stored as the transpose */
} hu_matrices;

/* One of the operands, whose numbers are at data. */
static inline hu_view hui_matrices_view(const hu_matrices *x, const float *data) {
  hu_view view = hu_matrix_of(data, x->ld, hu_type_values(HU_TYPE_VALUES32, x->format));
  return x->transposed ? hu_transposed(view) : view;
}

/* outer x inner products Z = A B, A m x k, B k x n, each as by hu_gemm, ties to even. */
typedef struct hu_products {
  size_t m, n, k, outer, inner;
  hu_matrices z, a, b;
  const hu_accum *accum;
  hu_stream words;     /* of a model that rounds stochastically; product i of several takes hui_words_of_product */
  const float *panels; /* of one product: B as hu_engine.pack makes it, beside b; or NULL */
} hu_products;

/* Returns 1 for binary32 sums and nothing else: no formats that operands must have, no promotion, no slices. */
static inline int hui_is_plain_fp32(const hu_accum *x) {
  hu_accum any = hu_accum_any(*x);
  return x->kind == HU_ACCUM_FP32 && !x->promote && !x->slices && memcmp(x, &any, sizeof any) == 0;
}

/* Returns the random words of product i: its own, since each has results from 0 on. They are those that hu_stream_child
 * makes, which the device's library does not have. */
static inline hu_stream hui_words_of_product(const hu_products *products, size_t i) {
  if (!products->accum->mode.bits || products->outer * products->inner == 1) return products->words;
  uint64_t low = hu_stream_word(products->words, 2 * i), high = hu_stream_word(products->words, 2 * i + 1);
  hu_stream own = {high << 32 | low, 0};
  return own;
}

/* A convolution of images, under `fp32`. Each operation reads and writes these fields of hu_convolution:
 *
 *   HU_CONVOLVE_     reads                    writes            what it does
 *   POSSIBLE         windows                                    returns 1 if the engine has the others
 *   RESULT           x, w                     framed, z         Z, and x with its border of zeros in framed
 *   WEIGHTS          framed, dz               dw                the gradient of the weights
 *   IMAGES           dz, w                    dx                the gradient of the images; with `rounding` (one that
 *                                                               hui_rounds_alone accepts) what each window contributes
 *                                                               is rounded and counted before it is added
 *   ROUND            x, rounding              rounded, counts   x rounded in patches; pixels in no window are copied;
 *                                                               returns 0 if the rounding needs the patches themselves
 *   GIFTS            dz, w                    gifts             first half of IMAGES: gradients per window, a row each
 *   SCATTER          gifts                    dx                second half: adds them to the pixels
 *   FRAMES           x                        framed            x with its border of zeros; there must be one
 *   BLOCKS           rounding                                   returns 1 if images' patches can be rounded some images
 *                                                               at a time
 *   RESULT_BLOCKS, WEIGHTS_BLOCKS                               as RESULT and WEIGHTS, from x rounded so, and counted
 *
 * framed: x itself where there is no border. buffer: space for the kernel's numbers, each side rounded up to 16.
 * gathered: space for the images (ROUND) or for the patches of some of them (..._BLOCKS). */
enum {
  HU_CONVOLVE_POSSIBLE,
  HU_CONVOLVE_RESULT,
  HU_CONVOLVE_WEIGHTS,
  HU_CONVOLVE_IMAGES,
  HU_CONVOLVE_ROUND,
  HU_CONVOLVE_GIFTS,
  HU_CONVOLVE_SCATTER,
  HU_CONVOLVE_FRAMES,
  HU_CONVOLVE_BLOCKS,
  HU_CONVOLVE_RESULT_BLOCKS,
  HU_CONVOLVE_WEIGHTS_BLOCKS
};
typedef struct hu_convolution {
  /* Possible without dilation; several groups: from 16 on, of one channel and one output each. */
  hu_window_sizes windows;
  size_t images, channels, outputs;
  const float *x, *w, *dz;
  float *framed, *z, *dw, *dx, *buffer;
  const hu_rounding *rounding;
  float *rounded, *gathered, *gifts;
  hu_rounding_counts *counts;
  /* An engine that computes in one thread calls this where rounding within a loop begins and ends; NULL: never. */
  void (*notify)(void *const notified[2], int ends);
  void *notified[2];
} hu_convolution;

/* Return the numbers of a row of an image with its border, and of such an image. */
static inline size_t hui_frame_row(const hu_convolution *convolution) {
  const hu_window_sizes *sizes = &convolution->windows;
  return (sizes->left + sizes->width + sizes->right) * convolution->channels;
}
static inline size_t hui_frame_size(const hu_convolution *convolution) {
  const hu_window_sizes *sizes = &convolution->windows;
  return (sizes->top + sizes->height + sizes->bottom) * hui_frame_row(convolution);
}

/* An array, and the sum of its squares by hu_gradient_squares_n. */
typedef struct hu_squares {
  size_t n;
  const float *x;
  double sum;
} hu_squares;

/* A product that is added to a sum once it is rounded, as `products`, `round` and the kernel `accumulate` would do it
 * one after another: Z, m x n, is rounded as a tensor, with word i n + j of `words` for number (i, j) (a rounding that
 * keeps numbers does nothing and counts nothing), and number (i, j) is added to sum[i n + j]. products->z is
 * contiguous; what it holds afterwards is not specified. */
typedef struct hu_rounded_product {
  const hu_products *products;
  const hu_rounding *rounding;
  hu_stream words;
  hu_rounding_counts *counts;
  float *sum;
  /* As in hu_convolution. */
  void (*notify)(void *const notified[2], int ends);
  void *notified[2];
} hu_rounded_product;

/* Answers of a classifier. */
typedef struct hu_answers {
  uint64_t asked, right; /* rows with a label, rows whose label is their first largest number */
} hu_answers;

/* self: what `open` made. Pointers are into the engine's memory unless stated otherwise. */
struct hu_engine {
  const char *name;
  int on_host; /* 1: its memory is the host's, too */
  hu_status (*open)(void **self, uint32_t threads);
  void (*close)(void *self);
  /* Returns zeroed memory; NULL: there is none. */
  void *(*allocate)(void *self, size_t bytes);
  void (*release)(void *self, void *p);
  /* Copy from and to the host. The host's bytes may change when `put` returns, and are there when `get` does; `put`
   * need not wait until they have arrived. */
  hu_status (*put)(void *self, void *z, const void *host, size_t bytes);
  hu_status (*get)(void *self, void *host, const void *x, size_t bytes);
  hu_status (*run)(void *self, int kernel, const hu_task *task);
  hu_status (*products)(void *self, const hu_products *products);
  /* Computes an operation of one operand, HU_OP_, of n numbers of binary32, ties to even; z may be x. */
  hu_status (*function)(void *self, int op, size_t n, float *z, const float *x);
  /* Does hu_rounding_apply; z may be x; counts may be NULL. */
  hu_status (*round)(void *self, size_t rows, size_t cols, float *z, const float *x, const hu_rounding *rounding,
                     hu_stream words, hu_rounding_counts *counts);
  /* Does hu_quantize_n in place. */
  hu_status (*quantize)(void *self, size_t n, float *x, hu_format format, hu_mode mode, hu_stream words);
  /* Does hu_hadamard_forward of contiguous matrices; the transform with its mask is on the host. */
  hu_status (*transform)(void *self, size_t rows, size_t cols, float *z, const float *x, const hu_hadamard *transform);
  /* Does hu_gradient_unscale_n. */
  hu_status (*unscale)(void *self, size_t n, float *g, float scale, hu_gradient_found *found);
  /* Adds how many u are not 0, and where of those before and after are equal. */
  hu_status (*compare)(void *self, size_t n, const float *u, const float *before, const float *after,
                       hu_update_counts *counts);
  /* Does hu_optimizer_step in threads, but stores no moments; its arguments are checked, and Muon is not among them.
   * NULL: the caller does hui_optimizer_step_on. */
  hu_status (*step)(void *self, size_t n, const hu_optimizer_arrays *arrays, const hu_optimizer *optimizer,
                    const hu_optimizer_time *now, hu_stream words, hu_update_counts *counts);
  /* Carries out HU_CONVOLVE_ without patches, with the bits of patches and products. Returns 1 if it was done, or is
   * possible, and 0 if these sizes are not. NULL: no sizes are. */
  int (*convolve)(void *self, int what, const hu_convolution *convolution);
  /* Z = the sum of `count` products in order, of the same Z, each whole before it is added; begun: the first is added
   * to what Z holds. Returns 1 if it was done, and 0 if these products are not possible. NULL: none are. */
  int (*sum_products)(void *self, size_t count, const hu_products *products, int begun);
  /* Computes the sums of so many arrays; the table is the host's. NULL: the arrays are the host's, too. */
  hu_status (*squares)(void *self, size_t count, hu_squares *x);
  /* z[i] = the sum of the numbers i of so many rows of n, rounded once, with the bits of hu_sum_round. NULL: the host
   * can read the rows. */
  hu_status (*sum_rows)(void *self, size_t rows, size_t n, float *z, const float *x);
  /* Adds the answers in rows of x, with the label of each; `answers` is the host's. */
  hu_status (*judge)(void *self, size_t rows, size_t cols, const float *x, const uint32_t *labels, hu_answers *answers);
  /* Writes B, k x n, to z in the order in which products read it, for those of few rows that multiply by it in turn
   * (hu_products.panels); z is NULL: nothing is written. Returns how many numbers that are; 0: products read B alone.
   * NULL: never. */
  size_t (*pack)(void *self, const hu_matrices *b, size_t k, size_t n, float *z);
  /* Computes such a product and sets *done to 1; or sets it to 0, if it cannot compute this one, and changes nothing.
   * NULL: it can compute none. */
  hu_status (*add_rounded)(void *self, const hu_rounded_product *product, int *done);
};

/* Returns the CPU as an engine; never NULL. */
const hu_engine *hui_engine_cpu(void);

/* Does one step of an optimizer as calls of an engine, each for all n numbers of a matrix, but stores no moments. There
 * are four buffers of n numbers; counts may be NULL. Muon's step is that of the whole matrix; steps of the other
 * optimizers may be made piece by piece, a row each. */
hu_status hui_optimizer_step_on(const hu_engine *engine, void *self, const hu_optimizer_matrix *matrix,
                                const hu_optimizer_arrays *arrays, const hu_optimizer *optimizer,
                                const hu_optimizer_time *now, hu_stream words, float *const buffer[4],
                                hu_update_counts *counts);

/* Ends a step: rounds the moments of all n numbers by stored_m and stored_v. moments: two counts in the engine's
 * memory, or NULL. */
hu_status hui_optimizer_store(const hu_engine *engine, void *self, size_t n, const hu_optimizer_arrays *arrays,
                              const hu_optimizer *optimizer, hu_stream words, hu_rounding_counts *moments);

/* Q-Ramping (halfulp/train/trainer.h): a period for each weight of a tensor. Arrays of n numbers in the engine's
 * memory; all but sum and mean are whole numbers below 2^23. */
typedef struct hu_ramping {
  float *period; /* from 1 on; NULL: there is no ramping */
  float *steps;  /* since the weight's last update */
  float *sum;    /* of its gradients in these */
  float *due;    /* of the step in hand: `steps` where the weight is updated, else 0 */
  float *mean;   /* of the step in hand: sum / steps where the weight is updated, else 0 */
  int off;       /* 1: steps are ordinary ones, and none of the arrays changes */
} hu_ramping;
/* Does the same for AdamW with periods. HU_E_TRAIN: it is another optimizer. */
hu_status hui_optimizer_step_ramped(const hu_engine *engine, void *self, size_t n, const hu_optimizer_arrays *arrays,
                                    const hu_optimizer *optimizer, const hu_optimizer_time *now, hu_stream words,
                                    float *const buffer[4], const hu_ramping *ramping, hu_update_counts *counts);

static inline hu_task hui_task_of(size_t rows, size_t cols, float *z, const float *a, const float *b) {
  hu_task task;
  memset(&task, 0, sizeof task);
  task.rows = rows;
  task.cols = task.ldz = task.lda = cols;
  task.z = z;
  task.a = a;
  task.b = b;
  return task;
}

#ifdef __cplusplus
}
#endif
#endif
