/* SPDX-License-Identifier: MIT */
/* halfulp/train/trainer.h - a training run described by keys and values: data, model, precision, optimizer.
 *
 *   hu_trainer *t = hu_trainer_new();
 *   char why[HU_DATA_WHY_MAX];
 *   if (hu_trainer_set(t, "data.set", "digits", why) != HU_OK) puts(why);      // names the key and what is wrong
 *   if (hu_trainer_set(t, "precision.system", "s2fp8", why) != HU_OK) puts(why);
 *   if (hu_trainer_begin(t, "data", why) != HU_OK) puts(why);
 *   while (!hu_trainer_done(t)) if (hu_trainer_step(t, &r) != HU_OK) ...
 *   if (hu_trainer_evaluate(t, HU_ON_TEST, &seen) != HU_OK) ...
 *
 * Keys are those of `halfulp train`'s configuration file, "section.key"; docs/training/command.md and hu_trainer_key_at
 * list them with their defaults. A run is a function of its keys alone: the same weights, bit for bit, on every
 * machine, for any number of threads and on both devices. Keys that do not change weights are marked so.
 *
 * A trainer is one thread's at a time. It owns its data, its net and all memory. The caller's floating-point
 * environment changes nothing: texts of numbers are read, and steps are computed, as in the default one (train.h). */
#ifndef HALFULP_TRAIN_TRAINER_H
#define HALFULP_TRAIN_TRAINER_H

#include "halfulp/collective.h"
#include "halfulp/train/data.h"
#include "halfulp/train/model.h"
#include "halfulp/train/net.h"
#include "halfulp/train/rounding.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A run; opaque. */
typedef struct hu_trainer hu_trainer;

/* ---- keys ---- */

/* A key. */
typedef struct hu_trainer_key {
  const char *name;         /* "optimizer.rate"; NULL behind the last one */
  const char *by_default;   /* the value that it has if it is not set */
  const char *what;         /* what it says: a sentence */
  int weights;              /* 1: the weights depend on it */
  const char *const *words; /* the values that it takes, up to a NULL; NULL: others */
  double low, high;         /* the least and the largest number that it takes; 0 and 0: not a number */
} hu_trainer_key;
/* How many keys there are; and one of them. */
HU_API size_t hu_trainer_key_count(void);          /* the number of keys */
HU_API hu_trainer_key hu_trainer_key_at(size_t i); /* key i */

/* NULL: no memory. Every key has its default. */
HU_API hu_trainer *hu_trainer_new(void);
/* Frees a trainer; NULL is allowed. */
HU_API void hu_trainer_free(hu_trainer *trainer);
/* HU_E_NAME: no such key; HU_E_TRAIN or what the value's own parser returns: not a value for it; HU_E_SHAPE: the run
 * has begun. Then why, if not NULL, has room for HU_DATA_WHY_MAX bytes and gets a sentence that names the key, what is
 * wrong and what the key takes; nothing is changed. "precision.system" sets several keys at once, later calls change
 * them again. */
HU_API HU_MUST_CHECK hu_status hu_trainer_set(hu_trainer *trainer, const char *key, const char *value, char *why);
/* The value in force; NULL: no such key. It lives until the key is set again. */
HU_API const char *hu_trainer_get(const hu_trainer *trainer, const char *key);

/* What run.device = cuda runs on: hu_engine_device of net.h, in a library of its own. HU_E_SHAPE: the run has
 * begun. */
HU_API HU_MUST_CHECK hu_status hu_trainer_set_engine(hu_trainer *trainer, const hu_engine *engine);

/* ---- weights of other runs ----
 *
 * With model.weights = PATH a run begins with the tensors of a file of weights in place of drawn ones: all parameters,
 * and the running statistics of normalisations (two rows: means, variances; "batch_norm1.running"). Parameters are
 * rounded into optimizer.weights as drawn ones are. A tensor has the name that it has here, unless an entry of
 * model.names says another one. Entries are OURS:THEIRS or OURS:THEIRS:pytorch, commas between them, and the first one
 * that fits a name counts. OURS may have one *, which stands for any characters; a * of THEIRS stands for the same
 * ones. THEIRS "-": the tensor begins as if there were no file. An entry that fits no name is an error.
 *
 * A tensor has the shape rows x cols, or, with one row or one column, that of its length. `pytorch`: that of PyTorch's
 * layers, of linear ones (outputs, inputs), of convolutions (outputs, inputs of a group, kernel's rows, columns). */

/* Reads the numbers of a tensor of a file as binary32: rows x cols of them, those of `name`; pytorch: 1: as above.
 * Returns HU_OK, or the error and a sentence in why (HU_DATA_WHY_MAX bytes). */
typedef hu_status hu_trainer_reader(void *context, const char *path, const char *name, int pytorch, size_t rows,
                                    size_t cols, float *numbers, char *why);
/* What model.weights reads with. HU_E_SHAPE: the run has begun. Without it, hu_trainer_begin refuses model.weights. */
HU_API HU_MUST_CHECK hu_status hu_trainer_set_reader(hu_trainer *trainer, hu_trainer_reader *read, void *context);

/* ---- shards and processes ----
 *
 * With parallel.shards = S the batch of a step is cut into S shards of run.batch / S samples each, in order. A shard is
 * a pass of its own: its values, its gradients, the statistics of its batch norms, its random words (shard 0 has those
 * of a run without shards). Its loss has the factor 1 / S, so that the sum over the shards is the loss of the batch.
 * The gradients of all parameters, one after another in the order of the net, are then joined over the shards under
 * parallel.reduce (hu_collective_reduce, collective.h: numbers are binary32, the result is rounded to nearest even),
 * and the optimizer sees what that gives. So the run is a function of its keys, and it does not matter which process
 * computes a shard.
 *
 * With parallel.statistics = shard a batch norm has the mean and the variance of its shard, and its running statistics
 * become the mean over the shards of what each would have: the exact sum, rounded to binary32, over S. With
 * parallel.statistics = batch it has those of the whole batch. Let R be the rows of all shards as binary32, and let the
 * sum of terms be their exact sum, rounded once to binary32, ties to even, where a zero is +0. Terms are binary32
 * numbers: each operation on the way is rounded. Then
 *
 *   forward    mean = sum of x, / R; variance = sum of (x - mean)(x - mean), / R
 *   backward   s = sum of u, t = sum of u h, where u = dz g and h is normalised x (docs/training/training.md section 3)
 *
 * over the rows of all shards. The running statistics follow this mean and variance once a step. One shard is a batch
 * of one shard: its sums are exact, too. Values, gradients, and the gradients of gains and offsets remain those of a
 * shard. A process holds the values of all of its shards at the same time; with `shard` it holds those of one.
 *
 * Error feedback: parallel.feedback says what becomes of what the roundings of parallel.reduce lose. Residuals are
 * binary32 numbers, 0 at first, in units of gradients without the loss scale s: they outlive a change of s. Each
 * operation on them is one of binary32, to nearest even; 1/s is rounded once.
 *
 *   none     nothing: it is lost
 *   own      shard k has a residual e_k. In place of its gradients g it gives the model a message m. Per number
 *              a = g + s e_k    m = a rounded    the next e_k = (a - m) (1/s)
 *            m is a rounded once as the first base of the model rounds what travels: into its wire W, in its MODE and
 *            with W's own saturation; a scaled W in the pieces of the model; without a wire into F, in its MODE and
 *            POLICY. It is then taken back into binary32, which is exact where W (F) fits binary32. What is in W stays
 *            what it is when the model rounds it into W, unless W takes its scales from other bits than powers of
 *            two. What roundings of partial sums lose is lost. Where the first base is exact nothing is rounded: all
 *            residuals stay 0, and the run has the bits of `none`
 *   sum      the run has one residual e. Shard 0 gives the model a = g + s e in place of its gradients g. With z what
 *            the model gives and x the exact sum of the same numbers (`exact`), the next e = (x - z) (1/s): what all
 *            roundings of the all-reduce have lost. On a cluster each participant would keep what its own roundings of
 *            partial sums lose, and the sum of these is the same
 *
 * A number of the next residual that is not finite becomes 0. A step that is not taken leaves residuals as they are.
 * Random words of messages: shard k's rounding of number i takes word i of a stream of the shard and the step, which no
 * other rounding has. With parallel.shards = 1 nothing is joined, and there are no residuals. */

/* Processes that share the shards of a run: process `rank` of `size` takes consecutive ones, the first S mod size of
 * them one more. All processes have the same keys and make the same calls; each has the same weights, reports and
 * states. The calls may fail with any status, which hu_trainer_step and hu_trainer_evaluate return. halfulp-mpi has
 * them over MPI (docs/cluster.md). */
typedef struct hu_trainer_ranks {
  int rank, size;
  void *context; /* the first argument of the two calls */
  /* z = what hu_collective_reduce gives to binary32 numbers of all shards, to nearest even: x[0] ... x[own - 1] are
   * those of this process's, n numbers each. */
  hu_status (*join)(void *context, size_t n, float *z, size_t own, const void *const *x, const hu_collective *model,
                    const hu_exec *exec);
  /* x[i] = the sum of x[i] over the processes. At most one of them is not zero, or all are whole numbers whose sum is
   * less than 2^53. */
  hu_status (*sum)(void *context, size_t n, double *x);
} hu_trainer_ranks;
/* Before hu_trainer_begin, which fails with HU_E_TRAIN where there are more processes than shards. HU_E_NULL: no calls,
 * and size is above 1; HU_E_SHAPE: the run has begun, or rank is not from 0 to size - 1. */
HU_API HU_MUST_CHECK hu_status hu_trainer_set_ranks(hu_trainer *trainer, const hu_trainer_ranks *ranks);

/* ---- streams of epochs ----
 *
 * With run.stream = K, K epochs are one stream that is cut into batches, so that batches cross epochs
 * (hu_batches_open_streams). What a stream has behind its last whole batch is left out (run.rest = drop) or a batch of
 * its own (keep). That batch of r examples is a pass of a net with r samples: the loss is the mean over them, and
 * batch norms have their mean and variance. It has the random words of every other batch, from word 0 on. With an
 * assignment (assignment.kind) overflow ratios of its values are shares of its own tensors, and the low elements that
 * enter the mean ratio are those of a whole batch. It does not go with run.accumulate, parallel.shards and
 * precision.history. Values of the net that are looked at after such a step are those of the step before it; gradients
 * and counts of roundings are its own. */

/* ---- batches by tokens ----
 *
 * With run.tokens = N pairs of sentences (data.set = parallel) are in buckets by length, and a batch has about N tokens
 * of one bucket: docs/training/data.md section 4 says which pairs, and in which order. It is a pass of a net for
 * sentences of the bucket's length, which reads the run's weights. An epoch has a number of steps of its own
 * (hu_trainer_steps_an_epoch). The net of hu_trainer_net is that of evaluations, of run.batch pairs in whole windows:
 * after a step its gradients of parameters and the counts of roundings are those of the step, its values are not, and
 * hu_trainer_memory_of is of its shape. HU_E_TRAIN of hu_trainer_begin: another data set, no bucket with enough pairs
 * for a batch, a network with other layers for another length, or a key that it does not go with (named there). */

/* ---- accumulated gradients ----
 *
 * With run.accumulate = N a step has N batches of run.batch samples each, and one update (OpenSeq2Seq's iter_size). Its
 * samples are those of a step of one batch that is N times as large, in the same order: batch 0 has the first
 * run.batch of them. An epoch has as many steps as that larger batch goes into the training set. Each batch is a pass
 * of its own: its values, its gradients, the mean and the variance of its batch norms, and random words of its own:
 * those that shard m of a run with shards has, for batch m. The weights are rounded once for all of them.
 *
 *   gradients      g = +0;  for m = 0 ... N - 1:  g = rn(g + rn(g_m / N)), as hu_gradient_gather_n does: g_m are the
 *                  gradients of the parameters of batch m, after their own roundings and with the loss scale; rn is
 *                  binary32, ties to even. What follows sees g as it would see the gradients of one batch
 *   loss scale     is that of the step for all N batches, and its rule sees g: one infinity or NaN in a batch makes the
 *                  step one that is not taken. All N passes are made nevertheless. loss.scale = largest looks at the
 *                  gradients of each batch of 8 steps
 *   batch norms    running statistics follow the batches one after another: N times a step
 *   report         the loss is the mean over the batches, in binary64: added in their order from 0, then divided by N;
 *                  roundings are counted over all batches; `largest` and `norm` are those of g
 *
 * A tensor that is looked at after the step is that of batch N - 1. With parallel.shards each batch is cut into shards.
 * Shard k adds its own gradients up as above, random words being those of shard m S + k, and these sums are joined,
 * once a step; running statistics are joined after each batch. With assignments (assignment.kind) N is 1: what
 * overflows is said there of one batch. N = 1 is a run without accumulation, bit for bit. */

/* ---- a run ---- */

/* Loads or makes the data (files are looked for in `folder` unless their path is absolute), builds the net, draws first
 * weights. Errors of data.h, model.h, net.h; HU_E_TRAIN: keys that do not go together; HU_E_DEVICE: run.device
 * is cuda, and no engine was set. why as in hu_trainer_set. */
HU_API HU_MUST_CHECK hu_status hu_trainer_begin(hu_trainer *trainer, const char *folder, char *why);

/* What a step was like. */
typedef struct hu_trainer_report {
  uint64_t step;  /* steps so far, this one counted */
  uint64_t epoch; /* from 0 */
  double loss;    /* of the batch, or the mean of its batches; without the factor of loss.power, before the step */
  double rate;    /* of the optimizer */
  float scale;    /* of the loss, in this step */
  float largest;  /* the largest magnitude among the gradients of parameters, unscaled; of the finite ones */
  double norm;    /* their global norm before clipping; 0 where [gradient] asks for nothing, or the step is not taken */
  uint64_t skipped; /* steps not taken so far */
  int taken;
  hu_update_counts updates;   /* of this step */
  hu_rounding_counts forward; /* of values, parameters and products, of this step */
  hu_rounding_counts backward;
  double low;      /* share of low elements (assignments), else 0 */
  size_t promoted; /* tensors promoted so far */
} hu_trainer_report;

/* One step. *report, if report is not NULL, is set. HU_E_TRAIN: the run has not begun, or an earlier step failed; else
 * the net's own errors, and those of hu_trainer_ranks. A step that failed has moved the order of the batches on, and
 * running statistics are those of one shard. The run continues only from a state: hu_trainer_write and
 * hu_trainer_resume. */
HU_API HU_MUST_CHECK hu_status hu_trainer_step(hu_trainer *trainer, hu_trainer_report *report);
/* Steps of the whole run (0: not begun), of an epoch, done so far; and 1 where all are done. */
HU_API uint64_t hu_trainer_steps(const hu_trainer *trainer);          /* steps of the whole run */
HU_API uint64_t hu_trainer_steps_an_epoch(const hu_trainer *trainer); /* steps of the first epoch of a stream */
/* Returns the epoch, from 0, in which a step takes its first example; step: its number from 0. */
HU_API uint64_t hu_trainer_epoch_of(const hu_trainer *trainer, uint64_t step);
HU_API uint64_t hu_trainer_at(const hu_trainer *trainer); /* steps done so far */
HU_API int hu_trainer_done(const hu_trainer *trainer);    /* 1: all are done */

/* Sets that an evaluation can be on. */
enum {
  HU_ON_TRAINING = 0, /* the training set */
  HU_ON_TEST = 1      /* the test set */
};
/* What an evaluation found. */
typedef struct hu_trainer_seen {
  double loss;     /* mean over all examples, without the factor of loss.power; of parallel text and of masked language
                      models over all words that are asked for */
  double accuracy; /* share of right answers, of all examples; NaN where there are no classes */
  double r2; /* 1 - sum of squared errors / sum of squared deviations from the mean; NaN where there are classes */
  double perplexity; /* e to the loss, of a language model (text, words, parallel); NaN of any other */
  double auc;        /* labels of two classes: area under the ROC curve of all examples; else NaN */
  double hit, ndcg;  /* the test set of movielens: HR@10 and NDCG@10; else NaN */
  double bleu;       /* the test set of parallel text: BLEU from 0 to 100; else NaN */
  double error_rate; /* of utterances: labels that have to be put in, left out or replaced, over all labels, of what the
                        largest output of each step reads (hu_edit_distance, hu_ctc_greedy); else NaN */
} hu_trainer_seen;
/* Evaluation: dropout off, running statistics. Changes nothing. What is seen is the whole set, and of text 8 batches of
 * windows, whose places are always the same. The test set of words is seen whole: windows of data.window tokens, one
 * behind the other from the first token on, as many as there are with one token behind them. Perplexity is a function
 * of the loss alone, within 2 units in its last place (binary64), with the same bits on every machine.
 *
 * Where there are two classes, the score of an example is its output 1 minus its output 0, a binary64 difference. AUC
 * is the share of pairs, of an example with label 1 and one with label 0, in which the former has the larger score; a
 * pair of equal scores counts half. It is NaN where a score is NaN, or all labels are equal. In the test set of
 * movielens (data.h) the rank of a user's held-out item is the number of the user's candidates whose score it does not
 * exceed: an equal score stands against it. HR@10 is the share of tested users with a rank below 10; NDCG@10 the mean
 * of 1 / log2(rank + 2) over all tested users, 0 for a rank of 10 or more (He et al. 2017).
 *
 * Of parallel text the training set is seen in up to 8 batches, the first ones. Its BLEU is that of greedy translations
 * of all test sentences (docs/training/data.md, section 6; data.translate = no: NaN). HU_E_NULL; HU_E_TRAIN: the run
 * has not begun, or there is no such set. */
HU_API HU_MUST_CHECK hu_status hu_trainer_evaluate(hu_trainer *trainer, int on, hu_trainer_seen *seen);
/* Ways of an evaluation, as bits. */
enum {
  HU_SEE_WEIGHTS = 1, /* with the weights themselves, where optimizer.average has averages in their place */
  HU_SEE_BINARY32 = 2 /* without any rounding of values, parameters and products, which are sums under `fp32` */
};
/* hu_trainer_evaluate with these; how: 0, or HU_SEE_ bits. The authors of Lee et al. 2023 evaluate each epoch twice:
 * under the assignment in force, and with HU_SEE_BINARY32. Afterwards the parameters that operators see are the run's
 * weights with the run's roundings. Errors of hu_trainer_evaluate; HU_E_TRAIN: other bits. */
HU_API HU_MUST_CHECK hu_status hu_trainer_evaluate_as(hu_trainer *trainer, int on, unsigned how, hu_trainer_seen *seen);

/* What a run answers to an example of the test set. */
typedef struct hu_trainer_answer {
  size_t example;       /* its number */
  size_t outputs;       /* numbers of the network's output */
  const float *output;  /* these */
  uint32_t label;       /* HU_LABEL_NONE: it has targets, or is an utterance */
  uint32_t answer;      /* of labels: the first largest output; of loss.kind = logistic: 1 if the output is above 0 */
  const float *targets; /* as many as outputs, or NULL: it has a label, or is an utterance */
  const char *text;     /* of parallel text: the translation, words with a blank between two; else NULL */
} hu_trainer_answer;
/* Called for each example, in order; what the record points to is valid until it returns. It returns 0 to continue, and
 * something else to stop, which is no error. */
typedef int hu_trainer_look(void *context, const hu_trainer_answer *answer);
/* Computes the answers to all examples of the test set as an evaluation does: dropout off, running statistics, of
 * parallel text greedy translations. Changes nothing. HU_E_TRAIN: the run has not begun, or has no examples (text,
 * words), or several processes. Else the net's own errors. */
HU_API HU_MUST_CHECK hu_status hu_trainer_answers(hu_trainer *trainer, hu_trainer_look *look, void *context);

/* Files that the run has read, in order: what the key data.checksum compares with. */
typedef struct hu_trainer_file {
  const char *path; /* lives as long as the run */
  size_t bytes;
  const char *sha256; /* 64 small hexadecimal digits: FIPS 180-4; lives as long as the run */
} hu_trainer_file;
HU_API size_t hu_trainer_file_count(const hu_trainer *trainer); /* the number of files; 0: it has not begun */
HU_API hu_trainer_file hu_trainer_file_at(const hu_trainer *trainer,
                                          size_t i); /* file i; all zero where there is none */
/* Pairs of sentences for training that data.set = parallel has left out, because they are longer than data.window. */
HU_API size_t hu_trainer_left_out(const hu_trainer *trainer);
/* The merges of a run with parts of words (data.subwords, data.merges), as the file that data.merges takes: the text
 * lives as long as the run. NULL: its tokens are whole words or none, or it has not begun. */
HU_API const char *hu_trainer_merges(const hu_trainer *trainer);
/* A digest of the text of model.file and of the numbers, labels and tokens that the run reads (64 bits, FNV-1a over
 * words of 64 bits), by which processes tell that they have the same; 0 before hu_trainer_begin. */
HU_API uint64_t hu_trainer_data_digest(const hu_trainer *trainer);
/* The layers of the run's net as a text, of model.net or model.file: hu_model_describe. sizes: NULL after
 * hu_trainer_begin, for those of the data; before it, what the data are to be. 0: refused, and why, if not NULL, has a
 * sentence (HU_DATA_WHY_MAX bytes). */
HU_API size_t hu_trainer_describe(hu_trainer *trainer, const hu_model_sizes *sizes, char *text, size_t size, char *why);
/* The net, for looking; NULL before hu_trainer_begin. */
HU_API hu_net *hu_trainer_net(const hu_trainer *trainer);
/* hu_net_digest of it. */
HU_API uint64_t hu_trainer_digest(const hu_trainer *trainer);
/* Writes the SHA-256 (FIPS 180-4) of a parameter's master weights, or for -1 of those of all parameters, one after
 * another in the order of the net: of the bits of binary32 numbers, row by row, the least significant byte of each
 * first. text gets 64 small hexadecimal digits and a 0. HU_E_NULL; HU_E_TRAIN: the run has not begun; HU_E_SHAPE: no
 * parameter of that number; HU_E_MEMORY; HU_E_CUDA. */
HU_API HU_MUST_CHECK hu_status hu_trainer_sha256(const hu_trainer *trainer, int parameter, char text[65]);
/* Bytes of the tensors of a step. weights: master weights, and the copy that operators see where it is narrower.
 * state: the optimizer's, with its storage (8, 16 or 32 bits), and averages of weights. values; gradients: of values
 * and parameters. Each element counts with the bits of its format, scales included. With shards these are the values
 * and gradients of one; residuals of error feedback are not counted. With run.accumulate above 1 `gradients` has their
 * binary32 sums, too. */
typedef struct hu_trainer_memory {
  double weights, state, values, gradients;
} hu_trainer_memory;
/* As a system stores them that computes with the operands and results of its products as codes: a value whose readers
 * are all products counts as X of dW, one that a product without bias makes as the result Z; the gradient of a value as
 * dZ of the product that made it, or as dX of the only product that reads it; a parameter's copy as W, its gradient as
 * dW. Of these and the tensor's own rounding the narrowest counts (Cambier et al. 2020: N bytes and two numbers for a
 * tensor). Attention's scores and sums count with the wider of their two operands. All are 0 where there is no memory
 * to count. */
HU_API hu_trainer_memory hu_trainer_memory_of(const hu_trainer *trainer);
/* As this library keeps them: tensors by their own roundings alone (precision.values, gradients, parameters ...),
 * operands of products as the binary32 numbers that they are made from. */
HU_API hu_trainer_memory hu_trainer_stored_of(const hu_trainer *trainer);

/* ---- looking at tensors ---- */

/* z[e + 150] counts the numbers of magnitude from 2^e to below 2^(e+1), e = -149 ... 127; z[0] the zeros, z[278] what
 * is not finite. Counts are added. */
enum {
  HU_EXPONENTS = 279 /* the counts of a histogram of exponents */
};
HU_API void hu_exponents_of(size_t n, const float *x, uint64_t z[HU_EXPONENTS]);

/* ---- Q-Ramping ---- */

/* With optimizer.ramping above 0 (Chen et al. 2025, arXiv 2502.20853, section 6; its code: update_BSRamping_period,
 * AdamW_BS_Ramping), weights whose rounded value oscillates are updated once in several steps, by the mean of their
 * gradients and with a rate that is as many times as large. Each weight of a matrix W that precision.w rounds has a
 * period, which a trial finds before the first step of each epoch: the T + 1 steps, T = optimizer.ramping_steps, that
 * would come next without ramping, all with the rate of this epoch (and optimizer.warmup), which are undone afterwards.
 * With w(i) the weight and q(i) the weight rounded by precision.w, both after step i of these, in binary32:
 *
 *   D = sum of |w(i) - w(i - 1)|, R = sum of |q(i) - q(i - 1)|, i from 1 to T, in this order from 0 on
 *   period = K floor((R / optimizer.ramping_ratio) / (D + 1e-8)) + 1, K = optimizer.ramping
 *
 * where floor is that of the exact quotient of two binary32 numbers; at most the number of steps of an epoch and 2^22;
 * 1 where D or R is NaN. A step that is taken does the following to each of these weights, in binary32 and with
 * the words of optimizer.h, s and n being 0 at first:
 *
 *   n = n + 1;  s = s + g
 *   due, where the period divides n:  AdamW with s / n in place of g, and u = Q(n u) behind u's quotient, before a
 *                                     decay that is not coupled is added to it; then n = s = 0
 *   else:                             m and v stay, and u = 0 in its place
 *
 * A new period keeps s and n. The t of beta^t counts all steps. All other parameters have ordinary steps. The authors'
 * code makes its trials with batches of their own, and leaves out a tensor's gradient that is not finite, which is
 * added here; its constants are 4, 16 and 30. HU_E_TRAIN of hu_trainer_begin: an optimizer that is not AdamW, no W that
 * is rounded, a precision.w with random bits, or ramping together with assignment.kind, parallel.feedback,
 * precision.history, optimizer.stored_m or optimizer.stored_v. */

/* ---- moving averages of the weights ---- */

/* With optimizer.average = D above 0, evaluations are of moving averages of the weights (TensorFlow's
 * ExponentialMovingAverage; of bigLSTM 0.999, and optimizer.averaged = lstm* there). An average a is in binary32,
 * whatever the run's formats are, and begins as the weights are before the first step. Behind each step that is taken,
 * for every weight w, in binary32 with a rounding of each operation:
 *
 *   a = a - (a - w) c      c = binary32(1 - D), the difference in binary64
 *   optimizer.average_counts = yes (num_updates), in the n-th step that is taken, n from 1:
 *   c = 1 - min(binary32(D), (1 + n) / (10 + n)), a rounding of n, of both sums, the quotient and the difference
 *
 * A step that is not taken leaves averages as they are. An evaluation rounds averages as it would round weights;
 * running statistics are the run's own. Weights do not depend on any of this. Averages are not what
 * precision.w_average keeps, which decides how weights are rounded. HU_E_TRAIN of hu_trainer_begin: optimizer.averaged
 * names no parameter, or D is 0 and another key says how to average; a D that is 0 or 1 in binary32. */

/* ---- stopping and resuming ---- */

/* Everything that the next step depends on: tensors (binary32, by name) and a text. A run that is stopped after any
 * step and gone on with has the same weights as one that was not. Tensors: weights ("conv1.weight", the name of
 * hu_net_parameter_name), then "NAME.momentum" and "NAME.second" (m and v of optimizer.h) and "NAME.kahan" where the
 * optimizer has them, "NAME.average" with precision.w_average, "NAME.averaged" with optimizer.average, "NAME.period",
 * "NAME.waiting" (n) and "NAME.gradients" (s) with optimizer.ramping, "NAME.residual" with parallel.feedback (own:
 * those of the shards, one below the other), running statistics of normalisations. Names are unique; shapes are
 * rows x cols. */
typedef struct hu_trainer_tensor {
  const char *name; /* lives as long as the trainer */
  size_t rows, cols;
} hu_trainer_tensor;
HU_API size_t hu_trainer_tensor_count(const hu_trainer *trainer);                   /* the number of tensors */
HU_API hu_trainer_tensor hu_trainer_tensor_at(const hu_trainer *trainer, size_t i); /* tensor i */
/* Residuals of parallel.feedback = own are with the processes that compute their shards. After this call, which all
 * processes make, process 0 can read them until its next step. Does nothing where there is nothing to be collected.
 * HU_E_NULL, HU_E_TRAIN (the run has not begun), or what the call `sum` returns. */
HU_API HU_MUST_CHECK hu_status hu_trainer_collect(hu_trainer *trainer);
/* Its numbers copied out, or in. HU_E_SHAPE: no tensor i. HU_E_TRAIN: residuals that have to be collected before they
 * are read, or are read by another process than 0; a residual that is not finite is written: nothing is changed. */
HU_API HU_MUST_CHECK hu_status hu_trainer_read(const hu_trainer *trainer, size_t i,
                                               float *numbers); /* copies tensor i out */
HU_API HU_MUST_CHECK hu_status hu_trainer_write(hu_trainer *trainer, size_t i,
                                                const float *numbers); /* copies tensor i in */
/* "key=value" lines: step, batches, loss scale, times, which tensors are low, and the keys of the run that weights
 * depend on. Returns the length needed without the final 0, like snprintf. */
HU_API size_t hu_trainer_state(const hu_trainer *trainer, char *text, size_t size);
/* After hu_trainer_begin with the same keys, and after the tensors were written: continues from there. run.epochs and
 * run.steps may differ: a run is prolonged, or ends earlier, with the weights of a run that had this length from the
 * beginning. HU_E_TEXT; HU_E_TRAIN for a run of other keys (why names the first one that differs), for a length below
 * the steps that are done, and for one with which these steps would have had other rates (optimizer.schedule); nothing
 * is changed then. */
HU_API HU_MUST_CHECK hu_status hu_trainer_resume(hu_trainer *trainer, const char *text, char *why);

#ifdef __cplusplus
}
#endif
#endif
