/* SPDX-License-Identifier: MIT */
/* train/trainer/trainer.h - the record of a trainer: the values of its keys, its data, its net. */
#ifndef HALFULP_TRAIN_TRAINER_TRAINER_H
#define HALFULP_TRAIN_TRAINER_TRAINER_H

#include "halfulp/collective.h"
#include "halfulp/train/model.h"
#include "halfulp/train/precision.h"
#include "halfulp/train/trainer.h"
#include "train/data/images.h"
#include "train/data/speech.h"
#include "train/data/watch.h"
#include "train/net/net.h"
#include "train/step/schedule.h"

enum {
  SET_DIGITS,
  SET_GRATINGS,
  SET_TEXT,
  SET_LEAST_SQUARES,
  SET_TEACHER,
  SET_RATINGS,
  SET_CIFAR10,
  SET_CIFAR100,
  SET_MNIST,
  SET_NPY,
  SET_WORDS,
  SET_MOVIELENS,
  SET_PARALLEL,
  SET_CRITEO,
  SET_CLICKS,
  SET_IMAGES,
  SET_SPEECH,
  SET_TONES
};
enum {
  LOSS_DEFAULT,
  LOSS_CROSS_ENTROPY,
  LOSS_SQUARED_ERROR,
  LOSS_ABSOLUTE_ERROR,
  LOSS_SMOOTH_L1,
  LOSS_LOGISTIC,
  LOSS_CTC
};
enum { NORMALISE_SET, NORMALISE_MEANS, NORMALISE_IMAGE };
enum { AGAIN_NONE, AGAIN_BINARY32, AGAIN_WEIGHTS };
enum { EXEMPT_NONE = 0, EXEMPT_FIRST = 1, EXEMPT_LAST = 2, EXEMPT_BOTH = 3 };
enum { AFTER_FORWARD, AFTER_BACKWARD, AFTER_BOTH };
enum { FEEDBACK_NONE, FEEDBACK_OWN, FEEDBACK_SUM };
enum { ASSIGN_NONE, ASSIGN_HIGH, ASSIGN_UNIFORM, ASSIGN_OPERATOR, ASSIGN_OPERATOR_PRIME, ASSIGN_DEMOTE };

/* The accumulation model of one product; own: 0: precision.accum's. */
typedef struct hu_own_accum {
  int own;
  hu_accum accum;
} hu_own_accum;

/* The values of keys, read. Texts are those of the trainer's table. */
typedef struct hu_run_keys {
  uint64_t seed, batch, accumulate, stream, rest, epochs, steps, threads, device;
  uint64_t tokens, bucket_first; /* tokens: 0: batches have run.batch samples */
  double bucket_step;
  uint64_t again; /* AGAIN_: what evaluations of the test set are made with a second time */
  uint64_t set, count, test, size, classes, features, window, users, items, rank, implicit, raw, coarse, augment,
      data_seed;
  double deviation, noise;
  uint64_t stride;
  uint64_t vocabulary, by_count, on_valid; /* by_count: 1: tokens by their number; on_valid: 1: evaluations are on it */
  uint64_t subwords;                       /* merges; 0: none, or all of the file `merges` */
  const char *merges;
  uint64_t negatives, candidates;
  uint64_t normalise; /* NORMALISE_ */
  double area;        /* of images: the least share of one that is cut out */
  const char *path, *labels, *valid_file, *test_file, *target, *valid_target, *test_target;
  const char *checksum;
  uint64_t categories, translate; /* translate: 1: evaluations of parallel text have a BLEU */
  hu_model model;
  uint64_t scaling;                      /* HU_SCALING_ */
  const char *weights, *names;           /* of first weights */
  const char *network, *settings;        /* model.file, in place of `model`, and model.keys */
  uint64_t loss, power, margin, largest; /* largest: 1: the scale is chosen from the largest gradient */
  uint64_t smoothing_over, less_minimum; /* of the loss */
  double smoothing, beta;
  hu_loss_rule rule;
  uint64_t optimizer, coupled, nesterov, fused, kahan;
  double rate, momentum, beta1, beta2, eps, decay;
  hu_schedule schedule;
  uint64_t warmup;
  uint64_t ramping, ramping_steps;
  double ramping_ratio;
  hu_format state, weight;
  hu_mode update, decay_mode, momentum_mode;
  hu_rounding stored_m, stored_v;
  uint64_t iterations, aspect; /* aspect: HU_MUON_ */
  uint64_t correction;         /* HU_ADAM_ */
  double accumulated;          /* the first number of Adagrad's sums */
  double average;              /* decay of the moving average of weights; 0: there is none */
  uint64_t average_counts;     /* 1: the decay rises with the number of steps */
  const char *lazy;            /* patterns of parameters */
  double rate_adamw;
  hu_format product;
  hu_accum sums; /* of Muon's products */
  const char *adamw_only;
  const char *kahan_only, *layers, *off;
  const char *rates, *decays, *clipped; /* patterns of parameters */
  const char *averaged;                 /* patterns of parameters; empty: all */
  uint64_t penalty, literal, larc;
  double clip, lambda, eta;
  hu_rounding values, gradients, parameters, parameter_gradients, embeddings;
  hu_rounding x, w, dz, w_back, x_back, dz_w, z_out, dx_out, dw_out;
  hu_accum accum;
  hu_own_accum z_accum, dx_accum, dw_accum;
  uint64_t until, after; /* after: AFTER_ */
  uint64_t twice, history, takes, margin_of_history;
  uint64_t quartet; /* HU_QUARTET_ */
  double w_average;
  uint64_t hadamard, signs, by_window, norms, exempt, attention; /* norms: 1: their parameters stay in binary32 */
  uint64_t assignment, order, reading, keep_high;
  hu_ratio ratio, ratio_max, limit;
  hu_rounding low_forward, low_backward, high_forward, high_backward;
  uint64_t shards, statistics; /* statistics: 1: of the whole batch */
  hu_collective reduce;
  uint64_t feedback;
} hu_run_keys;

/* Reads the value of key i into *keys, which keeps the pointer where it is a text. HU_OK, or the error, and a
 * sentence in why (which may be NULL) that names the key, the part that is wrong and what the key takes (values.c). */
hu_status hui_read_key(hu_run_keys *keys, size_t i, const char *value, char *why);
/* Returns the number of a key; SIZE_MAX: there is none of that name. */
size_t hui_find_key(const char *name);
/* Returns the pairs of key and value that "precision.system" sets, up to a NULL; NULL: there is no such system. */
const char *const *hui_system_pairs(const char *name);
/* Returns all names, up to a NULL. */
const char *const *hui_system_names(void);

/* Where batches come from. */
typedef struct hu_trainer_source {
  int text;
  int whole;              /* text: evaluations on the test set see all of it, not windows of random places */
  hu_data training, test; /* unless text */
  hu_text tokens;         /* of words: kinds above 256, and no values */
  size_t split;           /* text: tokens for training */
  size_t window;
  hu_image_file images[2]; /* of `training` and `test`, which have no numbers then; file is NULL: another set */
  hu_movielens movielens;  /* item is NULL: another set */
  hu_parallel parallel;    /* window is 0: another set; its pairs are in `training` and `test` */
  hu_speech speech;        /* steps is 0: another set; its utterances are in `training` and `test` */
  char *merges;   /* of words and of parallel text: those of the run, as a file; NULL: tokens are whole words */
  uint64_t drawn; /* movielens: the epoch whose negatives are in `training` */
  size_t group;   /* examples of the test set that are ranked with each other, the first one the positive; 0: none */
} hu_trainer_source;

/* A row of numbers in the memory of the engine and in that of the host. They are the same where the engine is on the
 * host; else `here` has a copy where sums over shards are made on the host, and is NULL where they are not. */
typedef struct hu_kept {
  float *there, *here;
} hu_kept;

/* The parts that the batch of a step is cut into, and which of them this process computes. */
typedef struct hu_shards {
  size_t count, first, own;  /* all; this process's: first ... first + own - 1 */
  size_t gradients, running; /* numbers of the gradients of all parameters, of all running statistics */
  int sums_here;             /* 1: sums over shards are made on the host */
  hu_kept gradient;          /* own times as many, shard after shard; NULL where count is 1, as what follows */
  hu_kept statistic;         /* the same of running statistics */
  hu_kept joined;            /* a sum over all shards */
  float *before;             /* in the engine's memory: running statistics before the step */
  float *sum;                /* there: of the batches' gradients, where count is 1; else NULL */
  const void **part;         /* of each own shard */
  hu_net **net;   /* statistics of the whole batch: own ones, one a shard, of which the first is the trainer's */
  hu_whole whole; /* the same */
  float *loss;    /* of each of these nets */
  double *shared; /* what processes exchange */
} hu_shards;

/* What roundings of an all-reduce have lost and the next step gets back: a residual a shard, or one for all. */
typedef struct hu_feedback {
  size_t residuals, first, own; /* all; those that are here: first ... first + own - 1 */
  size_t each;                  /* numbers of one */
  float *kept, *next;           /* own: in force; of the step that is being made. NULL: no feedback */
  float *whole;                 /* all, in process 0 of several; else NULL */
  int stale;                    /* 1: a step has changed what `whole` has */
} hu_feedback;

/* Q-Ramping: the trial steps of an epoch. */
typedef struct hu_trial {
  struct hu_watched *watched; /* tensors of weights */
  size_t count;               /* 0: there is no ramping */
  float *state;               /* of the run before the trial: tensors, and a text */
  char *text;
  uint64_t steps; /* made so far */
} hu_trial;

/* What passes over the last batch of a stream, which is smaller than others. */
typedef struct hu_rest {
  hu_net *net; /* of that batch, beside the trainer's; NULL: there is none */
  float *row;  /* in the engine's memory: gradients of all parameters, then running statistics */
  int passed;  /* 1: the last pass for training was one of this net */
} hu_rest;

/* Sentences of about one length: those that have more tokens than the bucket before allows. */
typedef struct hu_bucket {
  size_t length; /* the most tokens of a sentence, to which others are padded */
  size_t size;   /* pairs of a batch */
  size_t pairs;  /* pairs for training */
  size_t first;  /* of these, in hu_buckets.sorted */
} hu_bucket;
typedef struct hu_token_batch {
  size_t bucket;
  size_t first; /* pair, in hu_buckets.sorted */
} hu_token_batch;
/* Batches by tokens (run.tokens). */
typedef struct hu_buckets {
  hu_bucket *bucket;
  size_t count;          /* 0: batches have run.batch samples */
  size_t batches;        /* of an epoch */
  uint32_t *of;          /* the bucket of each pair for training */
  uint32_t *order;       /* pairs of an epoch as they come */
  uint32_t *sorted;      /* the same bucket by bucket */
  hu_token_batch *batch; /* of an epoch, in their order */
  uint64_t ordered;      /* the epoch that these are of */
  size_t *met;           /* where the next pair of each bucket goes, while they are sorted */
  uint32_t *label;       /* labels of a pair */
  size_t now;            /* the bucket of the batch in these: */
  float *x;
  uint32_t *labels;
  double counted; /* labels per pass */
  hu_net *net;    /* of bucket `built` */
  size_t built;
  hu_model_ends ends;
  size_t steps; /* of the net that is being built; 0: data.window */
} hu_buckets;

/* Moving averages of weights, each as large as its parameter and in the engine's memory. */
typedef struct hu_averages {
  float **of; /* one a parameter, NULL where it has none; NULL: no parameter has one */
} hu_averages;

/* The batches of a step. */
typedef struct hu_batch_buffers {
  float *x, *y;
  uint32_t *labels, *index, *words;
  double counted; /* where some rows have no label: the number of labels per pass */
} hu_batch_buffers;

struct hu_trainer {
  char **value; /* as set, one a key */
  hu_run_keys keys;
  int begun;
  hu_file_watch files; /* that the run has read */
  int failed;          /* 1: a step failed half-way */
  int late;            /* 1: products are rounded as from step precision.until on */
  uint64_t rounded;    /* the step that precision.off was looked up for */
  hu_trainer_source source;
  hu_trainer_reader *read; /* of model.weights; NULL: nothing reads */
  void *read_context;
  const hu_engine *engine; /* of run.device = cuda; NULL: none */
  hu_trainer_ranks ranks;  /* alone: 0 of 1 */
  size_t batch;            /* samples of a pass of the net: run.batch, or a shard of it */
  size_t samples;          /* of a step */
  hu_shards shards;
  hu_feedback feedback;
  hu_trial trial;
  hu_rest rest;
  hu_averages averages;
  hu_buckets buckets;
  hu_net *net;
  hu_model model;     /* what is built: keys.model, or model.file */
  char *network;      /* the text of model.file; NULL: it has not been read */
  hu_precision *plan; /* NULL: no assignment */
  hu_model_ends ends;
  int loss;
  hu_batches order;
  hu_loss_rule rule;
  hu_loss_scale scale;
  hu_optimizer optimizer;
  hu_net_gradient_rules rules;
  hu_penalty *penalty; /* one a parameter; NULL: none */
  uint64_t step, steps, steps_an_epoch;
  hu_stall stall; /* of optimizer.schedule = plateau(...) */
  hu_batch_buffers buffers;
  struct hu_slot *slot; /* the tensors that are its state */
  size_t slots;
};

/* ---- roundings that are left out (off.c) ---- */

enum {
  HU_OFF_X = 1 << 0,
  HU_OFF_W = 1 << 1,
  HU_OFF_Z = 1 << 2,
  HU_OFF_VALUE = 1 << 3,
  HU_OFF_PARAMETER = 1 << 4,
  HU_OFF_FORWARD = 0x1F,
  HU_OFF_DZ = 1 << 5,
  HU_OFF_W_BACK = 1 << 6,
  HU_OFF_DX = 1 << 7,
  HU_OFF_GRADIENT = 1 << 8,
  HU_OFF_BACKWARD = 0x1E0,
  HU_OFF_X_BACK = 1 << 9,
  HU_OFF_DZ_W = 1 << 10,
  HU_OFF_DW = 1 << 11,
  HU_OFF_PARAMETER_GRADIENT = 1 << 12,
  HU_OFF_WEIGHTS = 0x1E00,
  HU_OFF_ALL = 0x1FFF
};
/* An entry of precision.off. */
typedef struct hu_off_entry {
  const char *layer; /* its name has so many characters; "*": all */
  size_t length;
  uint32_t parts; /* HU_OFF_ */
  uint64_t from, to;
} hu_off_entry;
/* Reads an entry (off_text.c); *text moves behind it and its comma. 0: something else. */
int hui_off_read(const char **text, hu_off_entry *z);
/* Is this a text of precision.off? Its layers are checked when the net is there: HU_E_TRAIN, and why. */
int hui_off_is_text(const char *text);
hu_status hui_off_check(const hu_trainer *trainer, char *why);
/* Return which parts are left out in the next step: HU_OFF_, of the layer of an operator (-1: inputs), or of a
 * parameter. */
uint32_t hui_off_of_operator(const hu_trainer *trainer, int op);
uint32_t hui_off_of_parameter(const hu_trainer *trainer, int parameter);
/* Takes these parts out of a product's roundings. */
void hui_off_product(hu_product_rounding *rounding, uint32_t parts);
/* Are other parts left out in the next step than in step `before`? */
int hui_off_changes(const hu_trainer *trainer, uint64_t before);
/* Do two texts have the same entries, as far as these are of steps before `step`? */
int hui_off_same_before(const char *x, const char *y, uint64_t step);
/* Goes to the next step from which others are left out; 0: there is none. */
int hui_off_next(const hu_trainer *trainer, uint64_t *step);

/* ---- the state's text (state.c) ---- */

/* Text that grows, or is only measured. */
typedef struct hu_paper {
  char *text;
  size_t size, used;
} hu_paper;
void hui_print(hu_paper *paper, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Read the value of the line `name=`, and a whole number there. Return 0 if there is none. */
enum { HU_LINE_MAX = 8192 };
int hui_state_line(const char *text, const char *name, char z[HU_LINE_MAX]);
int hui_state_count(const char *text, const char *name, uint64_t *z);

/* ---- paths (sets.c) ---- */
/* Writes folder/path/name; path and name may be empty, an absolute path stands alone. */
enum { HU_PATH_SIZE = 4096 };
hu_status hui_path_of(char z[HU_PATH_SIZE], const char *folder, const char *path, const char *name, char *why);

/* ---- data (sets.c) ---- */
hu_status hui_open_source(hu_trainer *trainer, const char *folder, char *why);
void hui_close_source(hu_trainer *trainer);
/* Draws the negatives of the epoch that the order of batches is in, if the training set has those of another one. */
hu_status hui_draw_negatives(hu_trainer *trainer);
hu_model_sizes hui_sizes_of_source(const hu_trainer *trainer);
/* Returns 1 if one logit answers which of two classes an example has (loss.kind = logistic). */
int hui_is_logistic(const hu_trainer *trainer);

/* ---- batches (data.c) ---- */
/* Allocates the buffers for batches, whose sizes are known. */
hu_status hui_make_buffers(hu_trainer *trainer, char *why);
/* Draws the batches of step trainer->step into the buffers; feeds a part of them, trainer->batch samples, to a net. */
hu_status hui_draw_training(hu_trainer *trainer);
hu_status hui_feed_part(hu_trainer *trainer, hu_net *net, size_t part);
/* Feeds batch b of an evaluation, of the training or the test set; *n is how many of its examples count. Fails with
 * HU_E_SHAPE behind the last one. */
size_t hui_batches_to_see(const hu_trainer *trainer, int on);
hu_status hui_feed_to_see(hu_trainer *trainer, int on, size_t b, size_t *n);

/* ---- text, and rows without labels (tokens.c) ---- */
hu_status hui_open_words(hu_trainer *trainer, const char *folder, char *why);
hu_status hui_open_parallel(hu_trainer *trainer, const char *folder, char *why);
/* Makes the labels of n pairs of sentences in the buffer of inputs. */
void hui_label_pairs(hu_trainer *trainer, size_t n);
/* Masks some tokens of n windows in the buffers; those that are asked for get labels. Window i draws from child i. */
hu_status hui_mask_windows(hu_trainer *trainer, size_t n, hu_stream words);
/* Return 1 if rows of the output have labels, all or some; and 1 if only some have. */
int hui_has_labels(const hu_trainer *trainer);
int hui_has_some_labels(const hu_trainer *trainer);
/* Sets trainer->buffers.counted for so many samples in the buffers, of which the first `counted` keep their labels. */
void hui_count_labels(hu_trainer *trainer, size_t samples, size_t counted);
/* Computes the BLEU of the greedy translations of all test sentences (translate.c). */
hu_status hui_translate(hu_trainer *trainer, double *z);

/* ---- utterances (sequences.c) ---- */
/* Returns 1 if the data are utterances, whose labels are sequences. */
int hui_is_speech(const hu_trainer *trainer);
hu_status hui_open_speech(hu_trainer *trainer, const char *folder, char *why);
/* Sets the sizes of utterances, if the data are some. */
void hui_speech_sizes(hu_model_sizes *sizes, const hu_trainer *trainer);
/* Checks that the output has the steps and labels of the data, and knows the steps of each sample. */
hu_status hui_check_speech(const hu_trainer *trainer, size_t rows, size_t cols, char *why);
/* Makes the labels of n utterances whose targets are in the buffers. */
void hui_label_speech(hu_trainer *trainer, const hu_data *data, size_t n);
/* Makes the utterances of a batch from number n on have neither steps nor labels, so that they lose nothing. */
void hui_drop_speech(hu_trainer *trainer, size_t n);
/* Adds, of the first n utterances, the edit distances of what the net reads from the labels, and the labels. */
hu_status hui_tally_speech(const hu_trainer *trainer, size_t n, double *wrong, double *labels);

/* ---- shards (shards.c) ---- */
/* Decide which shards there are, before the net is built; allocate them, afterwards. */
hu_status hui_open_shards(hu_trainer *trainer, char *why);
hu_status hui_make_shards(hu_trainer *trainer);
/* Allocates what processes exchange; again when more is to be exchanged. */
hu_status hui_make_shared(hu_trainer *trainer);
void hui_close_shards(hu_trainer *trainer);
/* What a pass over a batch found. */
typedef struct hu_pass {
  int needs_largest;
  float largest; /* if it was asked for: the largest magnitude of gradients, of values and parameters of all passes */
  double loss;   /* of the step, with the factor of loss.power */
  hu_trainer_report counted; /* forward and backward counts alone */
} hu_pass;
/* Runs the batches of a step forward and backward; the gradients of the parameters are then those of the whole step. */
hu_status hui_make_pass(hu_trainer *trainer, float scale, hu_pass *pass);
/* Adds the counts of all tensors to those of the report (counts.c). */
void hui_count_tensors(const hu_trainer *trainer, hu_trainer_report *report);

/* ---- streams of epochs and their last batches (rest.c) ---- */
/* Opens the order of batches at a state. */
hu_status hui_open_batches(const hu_trainer *trainer, hu_batches *order, hu_batch_state state);
/* Return the steps of so many epochs, and the epoch in which a step takes its first example, both from 0. */
uint64_t hui_steps_of_epochs(const hu_trainer *trainer, uint64_t epochs);
uint64_t hui_epoch_of(const hu_trainer *trainer, uint64_t step);
/* Builds the net of the last batch, if it is smaller and kept; frees it. */
hu_status hui_make_rest(hu_trainer *trainer, char *why);
void hui_close_rest(hu_trainer *trainer);
/* Allocates what goes between the trainer's net and one beside it. */
hu_status hui_make_rest_row(hu_trainer *trainer);
/* Runs a batch of another shape forward and backward in a net beside the trainer's, which then has the gradients. */
hu_status hui_pass_beside(hu_trainer *trainer, hu_net *net, float scale, hu_pass *pass);

/* ---- batches by tokens (buckets.c) ---- */
/* Sorts the training set into buckets, and tries their nets, if run.tokens asks for it. */
hu_status hui_make_buckets(hu_trainer *trainer, char *why);
hu_status hui_make_bucket_buffers(hu_trainer *trainer);
void hui_close_buckets(hu_trainer *trainer);
/* Draws the next batch; builds its net, if there is another one; feeds a part of it. */
void hui_draw_bucket(hu_trainer *trainer);
hu_status hui_build_bucket(hu_trainer *trainer);
hu_status hui_feed_bucket(hu_trainer *trainer, hu_net *net, size_t part);

/* Adds the layers of the model and its losses to a net; *loss is the loss's value (build.c). */
hu_status hui_add_layers(hu_trainer *trainer, hu_net *net, hu_model_ends *ends, int *loss, char *why);
/* Return how many numbers the gradients of all parameters, and all running statistics, have (shards.c). */
size_t hui_gradient_numbers(const hu_net *net);
size_t hui_running_numbers(const hu_net *net);
/* Adds the counts of a net to those of the report; weights: 1: those of its parameters, too (counts.c). */
void hui_count_net(hu_net *net, int weights, hu_trainer_report *report);
/* Returns the largest magnitude among gradients of values and parameters; `loss` is the last value (shards.c). */
float hui_largest_gradient(hu_net *net, int loss);

/* ---- what shards leave (kept.c); rows are in the engine's memory ---- */
/* Allocates the rows; their sizes are known, and there are several shards. */
hu_status hui_make_kept(hu_trainer *trainer);
void hui_close_kept(hu_trainer *trainer);
/* Copies gradients of all parameters, or running statistics, from a net into a row (keep) or back (take). */
void hui_keep_gradients(hu_net *net, float *row);
void hui_take_gradients(hu_net *net, const float *row);
void hui_keep_running(hu_net *net, float *row);
void hui_take_running(hu_net *net, const float *row);
/* row = rn(row + rn(g / batches)), as hu_gradient_gather_n. */
void hui_add_gradients(hu_net *net, float *row, uint64_t batches);
/* Copies the n numbers of a row to the host, if sums are made there. */
void hui_bring(hu_trainer *trainer, const hu_kept *kept, size_t n);
/* joined = the model's sum over all shards of n numbers each, of which `own` has this process's, brought. */
hu_status hui_join_shards(hu_trainer *trainer, size_t n, const hu_kept *own, const hu_collective *model,
                          hu_stream words);

/* ---- error feedback (feedback.c) ---- */
/* Allocates the residuals, all 0; the shards have theirs. */
hu_status hui_make_feedback(hu_trainer *trainer);
void hui_close_feedback(hu_trainer *trainer);
/* Replaces the gradients of the shards by what is given to the model. */
hu_status hui_feed_back(hu_trainer *trainer, float scale);
/* Returns 1 if parallel.feedback = sum, and the model rounds. Then come the exact sum of what is given to the model,
 * and what the model gives, which is nothing to the other kinds. */
int hui_feedback_is_of_sums(const hu_trainer *trainer);
void hui_feedback_exact(hu_trainer *trainer, const float *z);
void hui_feedback_joined(hu_trainer *trainer, const float *z, float scale);
/* Keeps what a step that was taken has lost, which the next one gets. */
void hui_keep_feedback(hu_trainer *trainer);
/* Read and write n numbers from number `first` on of every residual, one after another. */
hu_status hui_read_residual(const hu_trainer *trainer, size_t first, size_t n, float *z);
hu_status hui_write_residual(hu_trainer *trainer, size_t first, size_t n, const float *x);

/* ---- moving averages of weights (averages.c) ---- */
/* Allocates the averages that optimizer.average asks for, as large as the weights are now. */
hu_status hui_make_averages(hu_trainer *trainer, char *why);
void hui_close_averages(hu_trainer *trainer);
/* Makes them the weights, before the first step; moves them behind a step that was taken. */
hu_status hui_start_averages(hu_trainer *trainer);
hu_status hui_step_averages(hu_trainer *trainer);
/* Evaluates with the weights and the roundings that the net has (look.c). */
hu_status hui_evaluate(hu_trainer *trainer, int on, hu_trainer_seen *seen);

/* ---- nets (build.c) ---- */
/* Builds the trainer's net, and where batch norms have statistics of the whole batch one per shard. */
hu_status hui_build_nets(hu_trainer *trainer, char *why);
/* Sets `model`, from the keys or from the file that they name. */
hu_status hui_read_model(hu_trainer *trainer, char *why);
/* A digest of the text of model.file: FNV-1a, 64 bits; 0 where there is none. */
uint64_t hui_network_digest(const hu_trainer *trainer);

/* ---- precision (precision.c) ---- */
hu_status hui_set_precision(hu_trainer *trainer, char *why);
/* Makes products rounded as in step trainer->step. */
hu_status hui_set_products(hu_trainer *trainer);
/* Checks that each of a key's patterns names a parameter; reports whether one of them is that of a name. */
hu_status hui_check_patterns(hu_trainer *trainer, const char *key, const char *patterns, char *why);
int hui_is_among(const char *name, const char *patterns);
/* Chooses the scale of loss.scale = largest: computes gradients of some batches in binary32, then restores the
 * weights. */
hu_status hui_choose_scale(hu_trainer *trainer, char *why);

/* ---- assignments (assignment.c) ---- */
hu_status hui_start_plan(hu_trainer *trainer, char *why);
/* Returns what `check` says where every forward tensor is high, which is what promotion leads to; HU_OK where none
 * is promoted. The assignment stays as it was. */
hu_status hui_check_promoted(hu_trainer *trainer, hu_status (*check)(const hu_trainer *trainer, char *why), char *why);
/* Counts the assignment of this step, and promotes tensors for the next one. */
hu_status hui_step_plan(hu_trainer *trainer, hu_trainer_report *report);
/* Write which tensors are low, as lines of the state's text, and read them. */
void hui_print_plan(const hu_trainer *trainer, hu_paper *paper);
hu_status hui_read_plan(hu_trainer *trainer, const char *text, char *why);

/* Returns the rate of a step in an epoch (both from 0) of a run of so many steps. */
double hui_rate_of(const hu_trainer *trainer, double rate, uint64_t step, uint64_t epoch, uint64_t steps);
/* Makes the first weights as the optimizer keeps them. */
hu_status hui_first_weights(hu_trainer *trainer, char *why);

/* ---- Q-Ramping (ramping.c) ---- */
/* Makes periods of 1 for the weights of rounded products, whose roundings are set; does nothing without the key. */
hu_status hui_make_ramping(hu_trainer *trainer, char *why);
void hui_close_ramping(hu_trainer *trainer);
/* Returns 1 where an epoch begins: before its first step a trial is made. It begins, looks at the weights after each
 * of its steps, and ends: then the run's state is as it was, and periods are those of the epoch. */
int hui_trial_is_due(const hu_trainer *trainer);
hu_status hui_begin_trial(hu_trainer *trainer);
hu_status hui_look_at_trial(hu_trainer *trainer);
hu_status hui_end_trial(hu_trainer *trainer);

/* ---- state (state.c) ---- */
hu_status hui_list_state(hu_trainer *trainer);

/* Writes the sentence, returns the status. */
hu_status hui_say(char *why, hu_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
