/* SPDX-License-Identifier: MIT */
/* The figures that evaluations of some kinds of runs have besides those of all runs. See train.h. */
#include <string.h>

#include "cli/train/train.h"

#define SEEN_BY_ALL \
  "step", "epochs", "training_loss", "training_accuracy", "training_r2", "test_loss", "test_accuracy", "test_r2"
static const char *const names[] = {SEEN_BY_ALL};
static const char *const language_names[] = {SEEN_BY_ALL, "training_perplexity", "test_perplexity"};
static const char *const parallel_names[] = {SEEN_BY_ALL, "training_perplexity", "test_perplexity", "test_bleu"};
static const char *const pair_names[] = {SEEN_BY_ALL, "training_auc", "test_auc", "test_hit_rate_10", "test_ndcg_10"};
static const char *const speech_names[] = {SEEN_BY_ALL, "training_error_rate", "test_error_rate"};
_Static_assert(sizeof speech_names == SEEN_SPEECH_COLUMNS * sizeof *names, "columns of utterances");
_Static_assert(sizeof names == SEEN_COLUMNS * sizeof *names, "columns of all runs");
_Static_assert(sizeof language_names == SEEN_LANGUAGE_COLUMNS * sizeof *names, "columns of language models");
_Static_assert(sizeof parallel_names == SEEN_PARALLEL_COLUMNS * sizeof *names, "columns of parallel text");
_Static_assert(sizeof pair_names == SEEN_RANKED_COLUMNS * sizeof *names, "columns of pairs of users and items");

static const train_figure language[] = {{"perplexity", "perplexity", SEEN_TRAINING_PERPLEXITY, SEEN_TEST_PERPLEXITY},
                                        {"bleu", "BLEU", 0, SEEN_TEST_BLEU}};
static const train_figure speech[] = {{"error_rate", "error rate", SEEN_TRAINING_ERROR_RATE, SEEN_TEST_ERROR_RATE}};
static const train_figure pairs[] = {{"auc", "AUC", SEEN_TRAINING_AUC, SEEN_TEST_AUC},
                                     {"hit_rate_10", "HR@10", 0, SEEN_TEST_HIT},
                                     {"ndcg_10", "NDCG@10", 0, SEEN_TEST_NDCG}};

static const train_seen_kind kinds[] = {
    {names, SEEN_COLUMNS, NULL, 0},
    {language_names, SEEN_LANGUAGE_COLUMNS, language, 1},
    {pair_names, SEEN_PAIR_COLUMNS, pairs, 1},
    {pair_names, SEEN_RANKED_COLUMNS, pairs, 3},
    {parallel_names, SEEN_PARALLEL_COLUMNS, language, 2},
    {speech_names, SEEN_SPEECH_COLUMNS, speech, 1},
};

const train_seen_kind *train_seen_kind_of(const train_run *run) {
  const char *set = hu_trainer_get(run->trainer, "data.set");
  if (strcmp(set, "text") == 0 || strcmp(set, "words") == 0) return &kinds[1];
  if (strcmp(set, "movielens") == 0) return &kinds[3];
  if (strcmp(set, "parallel") == 0) return &kinds[4];
  if (strcmp(set, "speech") == 0 || strcmp(set, "tones") == 0) return &kinds[5];
  if (strcmp(set, "criteo") == 0 || strcmp(set, "clicks") == 0) return &kinds[2];
  int labels = strcmp(set, "ratings") == 0 && strcmp(hu_trainer_get(run->trainer, "data.implicit"), "yes") == 0;
  return &kinds[labels ? 2 : 0];
}

unsigned train_again(const train_run *run) {
  const char *word = hu_trainer_get(run->trainer, "run.again");
  return strcmp(word, "binary32") == 0 ? HU_SEE_BINARY32 : strcmp(word, "weights") == 0 ? HU_SEE_WEIGHTS : 0;
}

size_t train_seen_names(const train_run *run, const char *named[SEEN_MOST]) {
  static const char *const again[] = {"again_loss", "again_accuracy", "again_r2"};
  _Static_assert(sizeof again == SEEN_AGAIN_COLUMNS * sizeof *again, "columns of a second evaluation");
  const train_seen_kind *kind = train_seen_kind_of(run);
  memcpy(named, kind->names, kind->columns * sizeof *named);
  if (!train_again(run)) return kind->columns;
  memcpy(named + kind->columns, again, sizeof again);
  return kind->columns + SEEN_AGAIN_COLUMNS;
}

const double *train_seen_again(const train_run *run, const double *row) {
  return train_again(run) ? row + train_seen_kind_of(run)->columns : NULL;
}

void train_seen_row(const train_run *run, double row[SEEN_MOST], const hu_trainer_seen *training,
                    const hu_trainer_seen *test, const hu_trainer_seen *again) {
  const train_seen_kind *kind = train_seen_kind_of(run);
  row[SEEN_TRAINING_LOSS] = training->loss;
  row[SEEN_TRAINING_ACCURACY] = training->accuracy;
  row[SEEN_TRAINING_R2] = training->r2;
  row[SEEN_TEST_LOSS] = test->loss;
  row[SEEN_TEST_ACCURACY] = test->accuracy;
  row[SEEN_TEST_R2] = test->r2;
  if (kind->figures == language) {
    row[SEEN_TRAINING_PERPLEXITY] = training->perplexity;
    row[SEEN_TEST_PERPLEXITY] = test->perplexity;
    if (kind->count > 1) row[SEEN_TEST_BLEU] = test->bleu;
  }
  if (kind->figures == speech) {
    row[SEEN_TRAINING_ERROR_RATE] = training->error_rate;
    row[SEEN_TEST_ERROR_RATE] = test->error_rate;
  }
  if (kind->figures == pairs) {
    row[SEEN_TRAINING_AUC] = training->auc;
    row[SEEN_TEST_AUC] = test->auc;
    row[SEEN_TEST_HIT] = test->hit;
    row[SEEN_TEST_NDCG] = test->ndcg;
  }
  if (again) {
    row[kind->columns + SEEN_AGAIN_LOSS] = again->loss;
    row[kind->columns + SEEN_AGAIN_ACCURACY] = again->accuracy;
    row[kind->columns + SEEN_AGAIN_R2] = again->r2;
  }
}
