/* SPDX-License-Identifier: MIT */
/* Translates the test sentences of parallel text and compares them with the ones of the file; shows answers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "train/data/file.h"
#include "train/data/subwords.h"
#include "train/environment.h"
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

void hui_bleu_add(hu_bleu *bleu, size_t words, const uint32_t *text, size_t others, const uint32_t *reference) {
  for (size_t n = 1; n <= HU_BLEU_PARTS; n++) {
    bleu->number[n - 1] += (double)matches(n, words, text, others, reference);
    bleu->number[HU_BLEU_PARTS + n - 1] += words >= n ? (double)(words - n + 1) : 0;
  }
  bleu->number[2 * HU_BLEU_PARTS] += (double)words;
  bleu->number[2 * HU_BLEU_PARTS + 1] += (double)others;
}

double hui_bleu_of(const hu_bleu *bleu) {
  const double words = bleu->number[2 * HU_BLEU_PARTS], others = bleu->number[2 * HU_BLEU_PARTS + 1];
  double product = 1;
  for (size_t n = 0; n < HU_BLEU_PARTS; n++) {
    if (bleu->number[n] == 0) return 0;
    product *= bleu->number[n] / bleu->number[HU_BLEU_PARTS + n];
  }
  double mean = sqrt(sqrt(product)), brevity = words > others ? 1 : hui_exp_of(1 - others / words);
  return 100 * (brevity * mean);
}

/* ---- one batch: n sentences side by side ---- */

typedef struct batch_draft {
  size_t batch, window, each; /* each: numbers of an example */
  float *x;                   /* as it is fed */
  uint32_t *text, *labels;
  size_t *words;
  uint8_t *done;
  hu_table joined; /* words that parts were put together to */
} batch_draft;

static void close_draft(batch_draft *draft) {
  free(draft->x);
  free(draft->text);
  free(draft->labels);
  free(draft->words);
  free(draft->done);
  for (size_t i = 0; i < draft->joined.count; i++) free((void *)(uintptr_t)draft->joined.known[i].word.at);
  hui_table_close(&draft->joined);
}

static hu_status open_draft(batch_draft *draft, const hu_trainer *trainer) {
  const size_t window = trainer->source.parallel.window, n = trainer->batch;
  *draft = (batch_draft){.batch = n, .window = window, .each = 2 * window + 1};
  draft->x = calloc(n * draft->each, sizeof *draft->x);
  draft->text = calloc(n * window, sizeof *draft->text);
  draft->labels = calloc(window, sizeof *draft->labels);
  draft->words = calloc(n, sizeof *draft->words);
  draft->done = calloc(n, 1);
  return draft->x && draft->text && draft->labels && draft->words && draft->done ? HU_OK : HU_E_MEMORY;
}

/* Writes the end, the first n words of a text, and ends. */
static void give_words(batch_draft *draft, size_t i, float end) {
  float *given = draft->x + i * draft->each + draft->window + 1;
  given[0] = end;
  for (size_t j = 1; j < draft->window; j++)
    given[j] = j <= draft->words[i] ? (float)draft->text[i * draft->window + j - 1] : end;
}

/* Begins with the sources of the batch in trainer->buffers.x and no words. */
static void begin_draft(batch_draft *draft, const hu_trainer *trainer, size_t n) {
  memcpy(draft->x, trainer->buffers.x, draft->batch * draft->each * sizeof *draft->x);
  for (size_t i = 0; i < draft->batch * draft->window; i++) draft->text[i] = UINT32_MAX;
  for (size_t i = 0; i < draft->batch; i++) {
    draft->words[i] = 0;
    draft->done[i] = i >= n;
    give_words(draft, i, (float)trainer->source.parallel.end);
  }
}

static uint32_t first_largest(size_t n, const float *x) {
  size_t best = 0;
  for (size_t j = 1; j < n; j++) best = x[j] > x[best] ? j : best;
  return (uint32_t)best;
}

/* Answers of a sentence from word `first` on, up to the end; returns whether one is another than before. */
static int answer(batch_draft *draft, size_t i, size_t first, uint32_t end, size_t cols, const float *out) {
  uint32_t *text = draft->text + i * draft->window, word = 0;
  int changed = 0;
  size_t j = first;
  for (; j < draft->window; j++) {
    word = first_largest(cols, out + (i * draft->window + j) * cols);
    changed |= text[j] != word;
    text[j] = word;
    if (word == end) break;
  }
  draft->words[i] = j;
  return changed;
}

/* The network was given all the words that it had answered before. An answer depends on the words before it alone, so
 * that word number `pass` is final now, and all of them are where none has changed. Returns how many are left. */
static size_t look_at_answers(batch_draft *draft, const hu_trainer *trainer, size_t pass) {
  const float *out = hui_net_numbers(trainer->net, trainer->ends.output);
  const size_t cols = hui_net_cols(trainer->net, trainer->ends.output);
  const uint32_t end = trainer->source.parallel.end;
  size_t left = 0;
  for (size_t i = 0; i < draft->batch && out; i++) {
    if (draft->done[i]) continue;
    draft->done[i] = !answer(draft, i, pass, end, cols, out) || draft->words[i] <= pass;
    give_words(draft, i, (float)end);
    left += !draft->done[i];
  }
  return left;
}

/* ---- words of parts ---- */

enum { MORE = sizeof HU_SUBWORD_MORE - 1 };

/* Returns the bytes of a part without its mark; *goes_on: 1: it has one. */
static size_t size_of_part(const char *part, int *goes_on) {
  size_t n = strlen(part);
  *goes_on = n >= MORE && memcmp(part + n - MORE, HU_SUBWORD_MORE, MORE) == 0;
  return *goes_on ? n - MORE : n;
}

/* Returns the number of a word of the first n parts; UINT32_MAX: no memory. */
static uint32_t number_of_parts(hu_table *joined, char **words, size_t n, const uint32_t *parts) {
  size_t size = 0, at = 0;
  int goes_on;
  for (size_t i = 0; i < n; i++) size += size_of_part(words[parts[i]], &goes_on);
  uint8_t *text = malloc(size + 1);
  if (!text) return UINT32_MAX;
  for (size_t i = 0; i < n; i++) {
    size_t more = size_of_part(words[parts[i]], &goes_on);
    memcpy(text + at, words[parts[i]], more);
    at += more;
  }
  const hu_word word = {text, size};
  uint32_t known = joined->count ? *hui_table_slot(joined, word) : 0;
  if (!known && hui_table_meet(joined, word, 0) == HU_OK) return (uint32_t)joined->count - 1;
  free(text);
  return known - 1; /* UINT32_MAX for 0 */
}

/* Puts numbers of whole words instead of parts; returns how many. unknown: words with this part have no number of
 * their own: UINT32_MAX; where it is UINT32_MAX, none has. Sets *memory to 0 if there is none. */
static size_t join_parts(batch_draft *draft, const hu_parallel *parallel, size_t n, uint32_t *text, uint32_t unknown,
                         int *memory) {
  size_t words = 0;
  for (size_t first = 0, end; first < n; first = end) {
    int goes_on = 1, known = 1;
    for (end = first; end < n && goes_on; end++) {
      (void)size_of_part(parallel->words[text[end]], &goes_on);
      known &= text[end] != unknown;
    }
    uint32_t number = number_of_parts(&draft->joined, parallel->words, end - first, text + first);
    *memory &= number != UINT32_MAX;
    text[words++] = known ? number : UINT32_MAX;
  }
  return words;
}

/* ---- figures ---- */

/* Writes the reference of sentence i to draft->labels; returns how many words it has. A word that the vocabulary has
 * not is like no other: none of the references has the number of an unknown one. */
static size_t reference_of(batch_draft *draft, const hu_trainer *trainer, size_t i, int *memory) {
  const hu_parallel *parallel = &trainer->source.parallel;
  size_t n = hu_parallel_labels(parallel, trainer->buffers.x + i * draft->each, draft->labels) - 1;
  if (parallel->joined) return join_parts(draft, parallel, n, draft->labels, parallel->unknown, memory);
  for (size_t j = 0; j < n; j++)
    draft->labels[j] = draft->labels[j] == parallel->unknown ? UINT32_MAX : draft->labels[j];
  return n;
}

static hu_status judge(batch_draft *draft, const hu_trainer *trainer, size_t n, hu_bleu *bleu) {
  const hu_parallel *parallel = &trainer->source.parallel;
  int memory = 1;
  for (size_t i = 0; i < n && memory; i++) {
    uint32_t *text = draft->text + i * draft->window;
    size_t others = reference_of(draft, trainer, i, &memory), words = draft->words[i];
    if (parallel->joined) words = join_parts(draft, parallel, words, text, UINT32_MAX, &memory);
    if (memory) hui_bleu_add(bleu, words, text, others, draft->labels);
  }
  return memory ? HU_OK : HU_E_MEMORY;
}

/* Translates batch b, of which n sentences count, into draft->text. */
static hu_status draft_batch(hu_trainer *trainer, batch_draft *draft, size_t b, size_t *n) {
  hu_status status = hui_feed_to_see(trainer, HU_ON_TEST, b, n);
  if (status != HU_OK) return status;
  begin_draft(draft, trainer, *n);
  for (size_t pass = 0, left = *n; pass < draft->window && left && status == HU_OK; pass++) {
    status = hu_model_feed(trainer->net, &trainer->ends, draft->x);
    if (status == HU_OK) status = hu_net_forward(trainer->net, 0, NULL);
    if (status == HU_OK) left = look_at_answers(draft, trainer, pass);
  }
  return status;
}

static hu_status translate_batch(hu_trainer *trainer, batch_draft *draft, size_t b, hu_bleu *bleu) {
  size_t n;
  hu_status status = draft_batch(trainer, draft, b, &n);
  return status == HU_OK ? judge(draft, trainer, n, bleu) : status;
}

hu_status hui_translate(hu_trainer *trainer, double *z) {
  hu_bleu bleu;
  batch_draft draft;
  memset(&bleu, 0, sizeof bleu);
  hu_status status = open_draft(&draft, trainer);
  size_t size = (size_t)trainer->ranks.size, batches = hui_batches_to_see(trainer, HU_ON_TEST);
  for (size_t b = (size_t)trainer->ranks.rank; b < batches && status == HU_OK; b += size)
    status = translate_batch(trainer, &draft, b, &bleu);
  close_draft(&draft);
  if (status == HU_OK && size > 1) status = trainer->ranks.sum(trainer->ranks.context, HU_BLEU_NUMBERS, bleu.number);
  if (status == HU_OK) *z = hui_bleu_of(&bleu);
  return status;
}

/* ---- answers, one by one ---- */

/* Returns the words of n tokens with a blank between two, parts put together; NULL: no memory. */
static char *text_of(const hu_parallel *parallel, size_t n, const uint32_t *tokens) {
  size_t size = 1;
  int goes_on = 0;
  for (size_t i = 0; i < n; i++) size += strlen(parallel->words[tokens[i]]) + 1;
  char *z = malloc(size), *to = z;
  if (!z) return NULL;
  for (size_t i = 0; i < n; i++) {
    const char *word = parallel->words[tokens[i]];
    if (i && !goes_on) *to++ = ' ';
    const size_t bytes = parallel->joined ? size_of_part(word, &goes_on) : strlen(word);
    memcpy(to, word, bytes);
    to += bytes;
  }
  *to = 0;
  return z;
}

static hu_status show_sentences(hu_trainer *trainer, hu_trainer_look *look, void *context) {
  batch_draft draft;
  int stopped = 0;
  hu_status status = open_draft(&draft, trainer);
  for (size_t b = 0, n; b < hui_batches_to_see(trainer, HU_ON_TEST) && status == HU_OK && !stopped; b++) {
    status = draft_batch(trainer, &draft, b, &n);
    for (size_t i = 0; i < n && status == HU_OK && !stopped; i++) {
      char *text = text_of(&trainer->source.parallel, draft.words[i], draft.text + i * draft.window);
      if (!text) status = HU_E_MEMORY;
      if (text)
        stopped = look(context,
                       &(hu_trainer_answer){.example = b * trainer->batch + i, .label = HU_LABEL_NONE, .text = text});
      free(text);
    }
  }
  close_draft(&draft);
  return status;
}

/* The answers of a batch that was computed. */
static int show_batch(const hu_trainer *trainer, size_t b, size_t n, const float *out, hu_trainer_look *look,
                      void *context) {
  const hu_data *data = &trainer->source.test;
  const size_t outputs = hui_net_rows(trainer->net, trainer->ends.output) *
                         hui_net_cols(trainer->net, trainer->ends.output) / trainer->batch;
  for (size_t i = 0; i < n; i++) {
    const size_t example = b * trainer->batch + i;
    hu_trainer_answer answer = {
        .example = example, .outputs = outputs, .output = out + i * outputs, .label = HU_LABEL_NONE};
    if (data->labels) {
      answer.label = data->labels[example];
      answer.answer = hui_is_logistic(trainer) ? answer.output[0] > 0 : first_largest(outputs, answer.output);
    } else if (!hui_is_speech(trainer)) {
      answer.targets = data->y + example * data->targets;
    }
    if (look(context, &answer)) return 1;
  }
  return 0;
}

static HU_NOINLINE hu_status show_answers(hu_trainer *trainer, hu_trainer_look *look, void *context) {
  if (!trainer || !look) return HU_E_NULL;
  if (!trainer->net || trainer->source.text || trainer->ranks.size > 1) return HU_E_TRAIN;
  if (trainer->source.parallel.window) return show_sentences(trainer, look, context);
  for (size_t b = 0, n; b < hui_batches_to_see(trainer, HU_ON_TEST); b++) {
    hu_status status = hui_feed_to_see(trainer, HU_ON_TEST, b, &n);
    if (status == HU_OK) status = hu_net_forward(trainer->net, 0, NULL);
    const float *out = status == HU_OK ? hui_net_numbers(trainer->net, trainer->ends.output) : NULL;
    if (status != HU_OK) return status;
    if (!out) return HU_E_MEMORY;
    if (show_batch(trainer, b, n, out, look, context)) return HU_OK;
  }
  return HU_OK;
}

hu_status hu_trainer_answers(hu_trainer *trainer, hu_trainer_look *look, void *context) {
  HU_ENV_RETURN(hu_status, show_answers(trainer, look, context));
}
