/* SPDX-License-Identifier: MIT */
/* Error feedback: what the roundings of an all-reduce lose is kept and added to the gradients of the next step. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "train/net/net.h"
#include "train/trainer/trainer.h"

/* ---- buffers ---- */

hu_status hui_make_feedback(hu_trainer *trainer) {
  hu_feedback *feedback = &trainer->feedback;
  const hu_shards *shards = &trainer->shards;
  int one = trainer->keys.feedback == FEEDBACK_SUM;
  if (shards->count == 1 || trainer->keys.feedback == FEEDBACK_NONE) return HU_OK;
  feedback->residuals = one ? 1 : shards->count;
  feedback->first = one ? 0 : shards->first;
  feedback->own = one ? 1 : shards->own;
  feedback->each = shards->gradients;
  feedback->kept = calloc(feedback->own * feedback->each + 1, sizeof *feedback->kept);
  feedback->next = calloc(feedback->own * feedback->each + 1, sizeof *feedback->next);
  if (feedback->own < feedback->residuals && trainer->ranks.rank == 0) {
    feedback->whole = calloc(feedback->residuals * feedback->each + 1, sizeof *feedback->whole);
    if (!feedback->whole) return HU_E_MEMORY;
  }
  return feedback->kept && feedback->next ? HU_OK : HU_E_MEMORY;
}

void hui_close_feedback(hu_trainer *trainer) {
  hu_feedback *feedback = &trainer->feedback;
  free(feedback->kept);
  free(feedback->next);
  free(feedback->whole);
  memset(feedback, 0, sizeof *feedback);
}

/* ---- pieces of a model ---- */

/* The end of the chunk that element i lies in, where the base cuts the buffer for `count` participants. */
static size_t chunk_end(const hu_collective_base *base, size_t i, size_t n, size_t count) {
  if ((base->kind != HU_COLLECTIVE_RING && base->kind != HU_COLLECTIVE_DIRECT) || count < 2) return n;
  size_t length = n / count, longer = n % count, of_longer = longer * (length + 1);
  if (i < of_longer) return i - i % (length + 1) + length + 1;
  return i - (i - of_longer) % length + length;
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* Returns the end of the piece that begins with element i (collective.h, wire). */
static size_t piece_end(const hu_collective *collective, size_t i, size_t n, size_t ranks) {
  size_t group = collective->group && collective->group < ranks ? collective->group : ranks;
  size_t end = smaller(n, i - i % HU_COLLECTIVE_PIECE + HU_COLLECTIVE_PIECE);
  end = smaller(end, chunk_end(&collective->base, i, n, group));
  end = smaller(end, chunk_end(&collective->base, i, n, ranks % group));
  return collective->group ? smaller(end, chunk_end(&collective->outer, i, n, (ranks - 1) / group + 1)) : end;
}

/* ---- messages ---- */

/* z = x as it travels in a base. */
static hu_status round_message(const hu_collective_base *base, size_t n, float *z, const float *x,
                               const hu_exec *exec) {
  uint32_t codes[HU_COLLECTIVE_PIECE]; /* of any format */
  hu_mode mode = base->mode, rne;
  memset(&rne, 0, sizeof rne);
  if (base->wired != HU_COLLECTIVE_WIRE_NONE) mode.saturate = HU_SAT_DEFAULT;
  if (base->wired == HU_COLLECTIVE_WIRE_SCALED)
    return hu_scaled_quantize(1, n, z, n, x, n, &base->scaling, mode, NULL, NULL, exec, NULL);
  hu_format format = base->wired == HU_COLLECTIVE_WIRE_FORMAT ? base->wire : base->sum;
  hu_status status = hu_convert_n(n, codes, 1, format, x, 1, hu_binary32(), mode, exec, NULL);
  return status == HU_OK ? hu_convert_n(n, z, 1, hu_binary32(), codes, 1, format, rne, NULL, NULL) : status;
}

/* What is kept where z came of x. */
static float left(float x, float z, float inverse) {
  float e = (x - z) * inverse;
  return isfinite(e) ? e : 0;
}

static hu_stream words_of_shard(const hu_trainer *trainer, size_t shard) {
  trainer->net->shard = shard;
  hu_stream words = hui_net_words(trainer->net, HU_OF_MESSAGE, 0);
  trainer->net->shard = 0;
  return words;
}

/* The gradients of own shard k become its message. */
static hu_status send_shard(hu_trainer *trainer, size_t k, float scale) {
  const hu_feedback *feedback = &trainer->feedback;
  const hu_collective *model = &trainer->keys.reduce;
  float *g = trainer->shards.gradient.here + k * feedback->each, *next = feedback->next + k * feedback->each,
        inverse = 1 / scale;
  const float *kept = feedback->kept + k * feedback->each;
  hu_stream words = words_of_shard(trainer, feedback->first + k);
  for (size_t i = 0, end; i < feedback->each; i = end) {
    float a[HU_COLLECTIVE_PIECE];
    end = piece_end(model, i, feedback->each, trainer->shards.count);
    size_t n = end - i;
    hu_exec exec = {1, 0, {words.key, words.counter + i}, {0}};
    for (size_t j = 0; j < n; j++) a[j] = g[i + j] + scale * kept[i + j];
    hu_status status = round_message(&model->base, n, g + i, a, &exec);
    if (status != HU_OK) return status;
    for (size_t j = 0; j < n; j++) next[i + j] = left(a[j], g[i + j], inverse);
  }
  return HU_OK;
}

/* ---- a step ---- */

/* Where nothing is rounded there is nothing to be kept: not even the sign of a zero changes. */
static int loses(const hu_trainer *trainer) {
  const hu_collective *collective = &trainer->keys.reduce;
  if (!trainer->feedback.kept) return 0;
  return collective->base.kind != HU_COLLECTIVE_EXACT || (trainer->keys.feedback == FEEDBACK_SUM && collective->group);
}

int hui_feedback_is_of_sums(const hu_trainer *trainer) {
  return loses(trainer) && trainer->keys.feedback == FEEDBACK_SUM;
}

hu_status hui_feed_back(hu_trainer *trainer, float scale) {
  const hu_feedback *feedback = &trainer->feedback;
  hu_status status = HU_OK;
  if (!loses(trainer)) return status;
  if (!hui_feedback_is_of_sums(trainer)) {
    for (size_t k = 0; k < feedback->own && status == HU_OK; k++) status = send_shard(trainer, k, scale);
    return status;
  }
  for (size_t i = 0; i < feedback->each && trainer->shards.first == 0; i++)
    trainer->shards.gradient.here[i] += scale * feedback->kept[i];
  return status;
}

void hui_feedback_exact(hu_trainer *trainer, const float *z) {
  memcpy(trainer->feedback.next, z, trainer->feedback.each * sizeof *z);
}

void hui_feedback_joined(hu_trainer *trainer, const float *z, float scale) {
  const hu_feedback *feedback = &trainer->feedback;
  if (!hui_feedback_is_of_sums(trainer)) return;
  for (size_t i = 0; i < feedback->each; i++) feedback->next[i] = left(feedback->next[i], z[i], 1 / scale);
}

void hui_keep_feedback(hu_trainer *trainer) {
  hu_feedback *feedback = &trainer->feedback;
  float *next = feedback->next;
  if (!loses(trainer)) return;
  feedback->next = feedback->kept;
  feedback->kept = next;
  feedback->stale = feedback->own < feedback->residuals;
}

/* ---- as a part of the state ---- */

/* One residual into `whole` of process 0. Bits are whole numbers, which sums keep. */
static hu_status collect_one(hu_trainer *trainer, size_t k, double *bits) {
  const hu_feedback *feedback = &trainer->feedback;
  uint32_t u;
  memset(bits, 0, feedback->each * sizeof *bits);
  for (size_t i = 0; i < feedback->each && k - feedback->first < feedback->own; i++) {
    memcpy(&u, feedback->kept + (k - feedback->first) * feedback->each + i, sizeof u);
    bits[i] = (double)u;
  }
  hu_status status = trainer->ranks.sum(trainer->ranks.context, feedback->each, bits);
  for (size_t i = 0; i < feedback->each && feedback->whole && status == HU_OK; i++) {
    u = (uint32_t)bits[i];
    memcpy(feedback->whole + k * feedback->each + i, &u, sizeof u);
  }
  return status;
}

hu_status hu_trainer_collect(hu_trainer *trainer) {
  if (!trainer) return HU_E_NULL;
  if (!trainer->net) return HU_E_TRAIN;
  hu_feedback *feedback = &trainer->feedback;
  if (!feedback->stale) return HU_OK;
  double *bits = malloc((feedback->each + 1) * sizeof *bits);
  hu_status status = bits ? HU_OK : HU_E_MEMORY;
  for (size_t k = 0; k < feedback->residuals && status == HU_OK; k++) status = collect_one(trainer, k, bits);
  free(bits);
  if (status == HU_OK) feedback->stale = 0;
  return status;
}

hu_status hui_read_residual(const hu_trainer *trainer, size_t first, size_t n, float *z) {
  const hu_feedback *feedback = &trainer->feedback;
  const float *all = feedback->own == feedback->residuals ? feedback->kept : feedback->whole;
  if (!all || feedback->stale) return HU_E_TRAIN;
  for (size_t k = 0; k < feedback->residuals; k++) memcpy(z + k * n, all + k * feedback->each + first, n * sizeof *z);
  return HU_OK;
}

hu_status hui_write_residual(hu_trainer *trainer, size_t first, size_t n, const float *x) {
  const hu_feedback *feedback = &trainer->feedback;
  for (size_t i = 0; i < feedback->residuals * n; i++) {
    if (!isfinite(x[i])) return HU_E_TRAIN;
  }
  for (size_t k = 0; k < feedback->residuals; k++) {
    if (feedback->whole) memcpy(feedback->whole + k * feedback->each + first, x + k * n, n * sizeof *x);
    if (k - feedback->first < feedback->own)
      memcpy(feedback->kept + (k - feedback->first) * feedback->each + first, x + k * n, n * sizeof *x);
  }
  return HU_OK;
}
