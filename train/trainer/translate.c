/* SPDX-License-Identifier: MIT */
/* Translates the test sentences of parallel text and compares them with the ones of the file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "train/net/net.h"
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

/* The end, the first n words of a text, and ends. */
static void give_words(draft *d, size_t i, float end) {
  float *given = d->x + i * d->each + d->window + 1;
  given[0] = end;
  for (size_t j = 1; j < d->window; j++) given[j] = j <= d->words[i] ? (float)d->text[i * d->window + j - 1] : end;
}

/* The sources of the batch in t->x, and no words yet. */
static void begin_draft(draft *d, const hu_trainer *t, size_t n) {
  memcpy(d->x, t->x, d->batch * d->each * sizeof *d->x);
  for (size_t i = 0; i < d->batch * d->window; i++) d->text[i] = UINT32_MAX;
  for (size_t i = 0; i < d->batch; i++) {
    d->words[i] = 0;
    d->done[i] = i >= n;
    give_words(d, i, (float)t->source.parallel.end);
  }
}

static uint32_t first_largest(size_t n, const float *x) {
  size_t best = 0;
  for (size_t j = 1; j < n; j++) best = x[j] > x[best] ? j : best;
  return (uint32_t)best;
}

/* Answers of a sentence from word `first` on, up to the end; returns whether one is another than before. */
static int answer(draft *d, size_t i, size_t first, uint32_t end, size_t cols, const float *out) {
  uint32_t *text = d->text + i * d->window, word = 0;
  int changed = 0;
  size_t j = first;
  for (; j < d->window; j++) {
    word = first_largest(cols, out + (i * d->window + j) * cols);
    changed |= text[j] != word;
    text[j] = word;
    if (word == end) break;
  }
  d->words[i] = j;
  return changed;
}

/* The network was given all the words that it had answered before. An answer depends on the words before it alone, so
 * that word number `pass` is final now, and all of them are where none has changed. Returns how many are left. */
static size_t look_at_answers(draft *d, const hu_trainer *t, size_t pass) {
  const float *out = hu_net_numbers(t->net, t->ends.output);
  const size_t cols = hu_net_cols(t->net, t->ends.output);
  const uint32_t end = t->source.parallel.end;
  size_t left = 0;
  for (size_t i = 0; i < d->batch && out; i++) {
    if (d->done[i]) continue;
    d->done[i] = !answer(d, i, pass, end, cols, out) || d->words[i] <= pass;
    give_words(d, i, (float)end);
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
  for (size_t pass = 0, left = n; pass < d->window && left && s == HU_OK; pass++) {
    s = hu_model_feed(t->net, &t->ends, d->x);
    if (s == HU_OK) s = hu_net_forward(t->net, 0, NULL);
    if (s == HU_OK) left = look_at_answers(d, t, pass);
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
