/* SPDX-License-Identifier: MIT */
/* Evaluations of a run: its loss and its figures on the training set and on the test set. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "train/data/file.h"
#include "train/environment.h"
#include "train/net/net.h"
#include "train/trainer/figures.h"
#include "train/trainer/trainer.h"

/* ---- one batch ---- */

typedef struct look_tally {
  double loss, right, rows, squares, sum, sum_of_squares;
  double whole;  /* examples that the loss is of; where some rows have no label, rows */
  double *score; /* of each example; NULL: not needed */
} look_tally;

/* Where the labels are: what the net answers need not come here. */
static hu_status tally_labels(const hu_trainer *trainer, size_t n, look_tally *tally) {
  if (hui_is_speech(trainer)) return hui_tally_speech(trainer, n, &tally->right, &tally->rows);
  hu_answers answers = {0, 0};
  size_t rows = hui_net_rows(trainer->net, trainer->ends.output) / trainer->batch * n;
  hu_status status = hui_net_judge(trainer->net, trainer->ends.output, rows, &answers);
  tally->rows += (double)answers.asked;
  tally->right += (double)answers.right;
  return status;
}

/* Keeps the scores of batch b. */
static hu_status keep_scores(const hu_trainer *trainer, size_t b, size_t n, double *score) {
  const float *out = hui_net_numbers(trainer->net, trainer->ends.output);
  size_t cols = hui_net_cols(trainer->net, trainer->ends.output);
  if (!out) return HU_E_MEMORY;
  for (size_t i = 0; i < n; i++) {
    const float *y = out + i * cols;
    score[b * trainer->batch + i] = cols == 1 ? (double)y[0] : (double)y[1] - (double)y[0];
  }
  return HU_OK;
}

static hu_status tally_targets(const hu_trainer *trainer, size_t n, look_tally *tally) {
  const float *out = hui_net_numbers(trainer->net, trainer->ends.output);
  size_t count = hui_net_rows(trainer->net, trainer->ends.output) * hui_net_cols(trainer->net, trainer->ends.output) /
                 trainer->batch * n;
  if (!out) return HU_E_MEMORY;
  for (size_t i = 0; i < count; i++) {
    double y = (double)trainer->buffers.y[i], error = (double)out[i] - y;
    tally->squares += error * error;
    tally->sum += y;
    tally->sum_of_squares += y * y;
  }
  tally->rows += (double)count;
  return HU_OK;
}

/* Computes the loss of n examples that are less than a batch, whose other rows repeat the last one. Rows without a
 * label do not count in the loss; rows with targets have no error once their targets are what the net answers. */
static hu_status lose_part(hu_trainer *trainer, size_t n, float *loss) {
  size_t all = hui_net_rows(trainer->net, trainer->ends.output) * hui_net_cols(trainer->net, trainer->ends.output),
         kept = all / trainer->batch * n;
  if (hui_has_labels(trainer)) return HU_OK; /* hui_feed_to_see has taken them */
  const float *out = hui_net_numbers(trainer->net, trainer->ends.output);
  if (!out) return HU_E_MEMORY;
  memcpy(trainer->buffers.y + kept, out + kept, (all - kept) * sizeof *out);
  hu_status status = hu_net_targets(trainer->net, trainer->buffers.y);
  if (status == HU_OK) status = hu_net_forward(trainer->net, 0, loss);
  *loss = (float)((double)*loss * (double)trainer->batch / (double)n);
  return status;
}

static hu_status tally_batch(hu_trainer *trainer, int on, size_t b, int labels, look_tally *tally) {
  size_t n;
  float loss;
  hu_status status = hui_feed_to_see(trainer, on, b, &n);
  if (status == HU_OK) status = hu_net_forward(trainer->net, 0, &loss);
  int some = hui_has_some_labels(trainer);
  if (status == HU_OK && n < trainer->batch && !some) status = lose_part(trainer, n, &loss);
  if (status != HU_OK) return status;
  double mean = ldexp((double)loss * (double)trainer->shards.count, (int)trainer->keys.power);
  double counted = some ? trainer->buffers.counted : (double)n;
  if (hui_is_speech(trainer)) mean *= (double)trainer->batch / (double)n; /* the others have lost nothing */
  tally->loss += mean * counted;
  tally->whole += counted;
  if (tally->score) status = keep_scores(trainer, b, n, tally->score);
  if (status != HU_OK) return status;
  return labels ? tally_labels(trainer, n, tally) : tally_targets(trainer, n, tally);
}

/* Processes take every size-th batch each; of every batch they exchange its loss, how much it counts, and its answers,
 * so that the sums are made in one order by all. */
static hu_status tally_shared(hu_trainer *trainer, int on, look_tally *tally) {
  enum { SHARED = 4 };
  size_t batches = hui_batches_to_see(trainer, on), size = (size_t)trainer->ranks.size;
  double *shared = calloc(batches * SHARED + 1, sizeof *shared);
  if (!shared) return HU_E_MEMORY;
  hu_status status = HU_OK;
  for (size_t b = (size_t)trainer->ranks.rank; b < batches && status == HU_OK; b += size) {
    look_tally one = {.score = tally->score};
    status = tally_batch(trainer, on, b, 1, &one);
    const double of_batch[SHARED] = {one.loss, one.whole, one.right, one.rows};
    memcpy(shared + b * SHARED, of_batch, sizeof of_batch);
  }
  if (status == HU_OK) status = trainer->ranks.sum(trainer->ranks.context, batches * SHARED, shared);
  for (size_t b = 0; b < batches; b++) {
    tally->loss += shared[b * SHARED];
    tally->whole += shared[b * SHARED + 1];
    tally->right += shared[b * SHARED + 2];
    tally->rows += shared[b * SHARED + 3];
  }
  free(shared);
  return status;
}

/* The examples of a set of two classes; NULL: it has others. */
static const hu_data *pairs_to_see(const hu_trainer *trainer, int on) {
  const hu_data *data = on == HU_ON_TEST ? &trainer->source.test : &trainer->source.training;
  return !trainer->source.text && data->labels && data->classes == 2 ? data : NULL;
}

static hu_status rank(const hu_trainer *trainer, int on, double *score, hu_trainer_seen *seen) {
  const hu_data *data = pairs_to_see(trainer, on);
  hu_status status = trainer->ranks.size > 1 ? trainer->ranks.sum(trainer->ranks.context, data->count, score) : HU_OK;
  if (status == HU_OK) status = hui_auc(data->count, score, data->labels, &seen->auc);
  if (status == HU_OK && on == HU_ON_TEST && trainer->source.group)
    hui_rank_groups(data->count / trainer->source.group, trainer->source.group, score, &seen->hit, &seen->ndcg);
  return status;
}

static hu_status tally_all(hu_trainer *trainer, int on, int labels, look_tally *tally) {
  hu_status status = HU_OK;
  if (labels && trainer->ranks.size > 1) return tally_shared(trainer, on, tally);
  for (size_t b = 0; b < hui_batches_to_see(trainer, on) && status == HU_OK; b++)
    status = tally_batch(trainer, on, b, labels, tally);
  return status;
}

hu_status hui_evaluate(hu_trainer *trainer, int on, hu_trainer_seen *seen) {
  const double none = (double)NAN;
  look_tally tally;
  hu_trainer_seen ranked = {none, none, none, none, none, none, none, none, none};
  memset(&tally, 0, sizeof tally);
  int labels = hui_has_labels(trainer), sentences = trainer->source.parallel.window != 0;
  const hu_data *pairs = pairs_to_see(trainer, on);
  if (pairs) tally.score = calloc(pairs->count, sizeof *tally.score);
  if (pairs && !tally.score) return HU_E_MEMORY;
  hu_status status = tally_all(trainer, on, labels, &tally);
  if (status == HU_OK && pairs) status = rank(trainer, on, tally.score, &ranked);
  free(tally.score);
  if (status == HU_OK && sentences && on == HU_ON_TEST && trainer->keys.translate)
    status = hui_translate(trainer, &ranked.bleu);
  if (status != HU_OK) return status;
  *seen = ranked;
  seen->loss = tally.whole > 0 ? tally.loss / tally.whole : none;
  seen->perplexity = trainer->source.text || sentences ? hui_exp_of(seen->loss) : (double)NAN;
  const double share = labels ? tally.right / tally.rows : none;
  seen->accuracy = hui_is_speech(trainer) ? none : share;
  seen->error_rate = hui_is_speech(trainer) ? share : none;
  seen->r2 = labels ? (double)NAN : 1 - tally.squares / (tally.sum_of_squares - tally.sum * tally.sum / tally.rows);
  return HU_OK;
}

static HU_NOINLINE void count_exponents(size_t n, const float *x, uint64_t z[HU_EXPONENTS]) {
  for (size_t i = 0; i < n; i++) {
    int e;
    if (x[i] == 0) {
      z[0]++;
    } else if (!isfinite(x[i])) {
      z[HU_EXPONENTS - 1]++;
    } else {
      (void)frexpf(x[i], &e);
      z[e - 1 + 150]++;
    }
  }
}

void hu_exponents_of(size_t n, const float *x, uint64_t z[HU_EXPONENTS]) { HU_ENV_DO(count_exponents(n, x, z)); }
