/* SPDX-License-Identifier: MIT */
/* Translates the test sentences of parallel text, word by word, and compares them with the ones of the file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "train/trainer/bleu.h"
#include "train/trainer/trainer.h"

/* ---- BLEU ---- */

static int same(size_t n, const uint32_t *a, const uint32_t *b) { return memcmp(a, b, n * sizeof *a) == 0; }

static size_t times(size_t n, const uint32_t *part, size_t words, const uint32_t *text) {
  size_t found = 0;
  for (size_t i = 0; i + n <= words; i++) found += (size_t)same(n, part, text + i);
  return found;
}

/* How many of the parts of n words have a partner in the reference, each of which is one's partner once. */
static size_t matches(size_t n, size_t words, const uint32_t *text, size_t others, const uint32_t *reference) {
  size_t found = 0;
  for (size_t i = 0; i + n <= words; i++) {
    if (times(n, text + i, i + n - 1, text)) continue; /* it was met before */
    size_t here = times(n, text + i, words, text), there = times(n, text + i, others, reference);
    found += here < there ? here : there;
  }
  return found;
}

void hu_bleu_add(hu_bleu *z, size_t words, const uint32_t *text, size_t others, const uint32_t *reference) {
  for (size_t n = 1; n <= HU_BLEU_PARTS; n++) {
    z->number[n - 1] += (double)matches(n, words, text, others, reference);
    z->number[HU_BLEU_PARTS + n - 1] += words >= n ? (double)(words - n + 1) : 0;
  }
  z->number[2 * HU_BLEU_PARTS] += (double)words;
  z->number[2 * HU_BLEU_PARTS + 1] += (double)others;
}

double hu_bleu_of(const hu_bleu *x) {
  const double words = x->number[2 * HU_BLEU_PARTS], others = x->number[2 * HU_BLEU_PARTS + 1];
  double product = 1;
  for (size_t n = 0; n < HU_BLEU_PARTS; n++) {
    if (x->number[n] == 0) return 0;
    product *= x->number[n] / x->number[HU_BLEU_PARTS + n];
  }
  double mean = sqrt(sqrt(product)), brevity = words > others ? 1 : hu_exp_of_loss(1 - others / words);
  return 100 * (brevity * mean);
}

/* ---- one batch: n sentences side by side ---- */

typedef struct draft {
  size_t batch, window, each; /* each: numbers of an example */
  float *x;                   /* as it is fed */
  uint32_t *text, *labels;
  size_t *words;
  uint8_t *done;
} draft;

static void close_draft(draft *d) {
  free(d->x);
  free(d->text);
  free(d->labels);
  free(d->words);
  free(d->done);
}

static hu_status open_draft(draft *d, const hu_trainer *t) {
  const size_t window = t->source.parallel.window, n = t->batch;
  *d = (draft){n, window, 2 * window + 1, NULL, NULL, NULL, NULL, NULL};
  d->x = calloc(n * d->each, sizeof *d->x);
  d->text = calloc(n * window, sizeof *d->text);
  d->labels = calloc(window, sizeof *d->labels);
  d->words = calloc(n, sizeof *d->words);
  d->done = calloc(n, 1);
  return d->x && d->text && d->labels && d->words && d->done ? HU_OK : HU_E_MEMORY;
}

/* The sources of the batch in t->x, and of the targets nothing but the end that they begin with. */
static void begin_draft(draft *d, const hu_trainer *t, size_t n) {
  memcpy(d->x, t->x, d->batch * d->each * sizeof *d->x);
  for (size_t i = 0; i < d->batch; i++) {
    d->words[i] = 0;
    d->done[i] = i >= n;
    for (size_t j = 0; j < d->window; j++) d->x[i * d->each + d->window + 1 + j] = (float)t->source.parallel.end;
  }
}

static uint32_t first_largest(size_t n, const float *x) {
  size_t best = 0;
  for (size_t j = 1; j < n; j++) best = x[j] > x[best] ? j : best;
  return (uint32_t)best;
}

/* Word j of each sentence that goes on; returns how many do. */
static size_t add_words(draft *d, const hu_trainer *t, size_t j) {
  hu_net_tensor out = hu_net_value(t->net, t->ends.output);
  size_t left = 0;
  for (size_t i = 0; i < d->batch && out.numbers; i++) {
    if (d->done[i]) continue;
    uint32_t word = first_largest(out.cols, out.numbers + (i * d->window + j) * out.cols);
    d->done[i] = word == t->source.parallel.end || j + 1 == d->window;
    if (word != t->source.parallel.end) d->text[i * d->window + d->words[i]++] = word;
    if (!d->done[i]) d->x[i * d->each + d->window + 2 + j] = (float)word;
    left += !d->done[i];
  }
  return left;
}

/* A word that the vocabulary has not is like no other: none of the references has the number of an unknown one. */
static void judge(draft *d, const hu_trainer *t, size_t n, hu_bleu *bleu) {
  const hu_parallel *p = &t->source.parallel;
  for (size_t i = 0; i < n; i++) {
    size_t others = hu_parallel_labels(p, t->x + i * d->each, d->labels) - 1;
    for (size_t j = 0; j < others; j++) d->labels[j] = d->labels[j] == p->unknown ? UINT32_MAX : d->labels[j];
    hu_bleu_add(bleu, d->words[i], d->text + i * d->window, others, d->labels);
  }
}

static hu_status translate_batch(hu_trainer *t, draft *d, size_t b, hu_bleu *bleu) {
  size_t n;
  hu_status s = hu_feed_to_see(t, HU_ON_TEST, b, &n);
  if (s != HU_OK) return s;
  begin_draft(d, t, n);
  for (size_t j = 0, left = n; j < d->window && left && s == HU_OK; j++) {
    s = hu_model_feed(t->net, &t->ends, d->x);
    if (s == HU_OK) s = hu_net_forward(t->net, 0, NULL);
    if (s == HU_OK) left = add_words(d, t, j);
  }
  if (s == HU_OK) judge(d, t, n, bleu);
  return s;
}

hu_status hu_translate(hu_trainer *t, double *z) {
  hu_bleu bleu;
  draft d;
  memset(&bleu, 0, sizeof bleu);
  hu_status s = open_draft(&d, t);
  size_t size = (size_t)t->ranks.size, batches = hu_batches_to_see(t, HU_ON_TEST);
  for (size_t b = (size_t)t->ranks.rank; b < batches && s == HU_OK; b += size) s = translate_batch(t, &d, b, &bleu);
  close_draft(&d);
  if (s == HU_OK && size > 1) s = t->ranks.sum(t->ranks.context, HU_BLEU_NUMBERS, bleu.number);
  if (s == HU_OK) *z = hu_bleu_of(&bleu);
  return s;
}
