/* SPDX-License-Identifier: MIT */
/* Error feedback: what the roundings of an all-reduce lose is kept and added to the gradients of the next step. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "train/net/net.h"
#include "train/trainer/trainer.h"

/* ---- rooms ---- */

hu_status hu_make_feedback(hu_trainer *t) {
  hu_feedback *f = &t->feedback;
  const hu_shards *s = &t->shards;
  int one = t->keys.feedback == FEEDBACK_SUM;
  if (s->count == 1 || t->keys.feedback == FEEDBACK_NONE) return HU_OK;
  f->residuals = one ? 1 : s->count;
  f->first = one ? 0 : s->first;
  f->own = one ? 1 : s->own;
  f->each = s->gradients;
  f->kept = calloc(f->own * f->each + 1, sizeof *f->kept);
  f->next = calloc(f->own * f->each + 1, sizeof *f->next);
  if (f->own < f->residuals && t->ranks.rank == 0) {
    f->whole = calloc(f->residuals * f->each + 1, sizeof *f->whole);
    if (!f->whole) return HU_E_MEMORY;
  }
  return f->kept && f->next ? HU_OK : HU_E_MEMORY;
}

void hu_close_feedback(hu_trainer *t) {
  hu_feedback *f = &t->feedback;
  free(f->kept);
  free(f->next);
  free(f->whole);
  memset(f, 0, sizeof *f);
}

/* ---- pieces of a model ---- */

/* The end of the chunk that element i lies in, where the base is a ring of `count` participants. */
static size_t chunk_end(const hu_collective_base *base, size_t i, size_t n, size_t count) {
  if (base->kind != HU_COLLECTIVE_RING || count < 2) return n;
  size_t length = n / count, longer = n % count, of_longer = longer * (length + 1);
  if (i < of_longer) return i - i % (length + 1) + length + 1;
  return i - (i - of_longer) % length + length;
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* The end of the piece that begins with element i (collective.h, wire). */
static size_t piece_end(const hu_collective *m, size_t i, size_t n, size_t ranks) {
  size_t group = m->group && m->group < ranks ? m->group : ranks;
  size_t end = smaller(n, i - i % HU_COLLECTIVE_PIECE + HU_COLLECTIVE_PIECE);
  end = smaller(end, chunk_end(&m->base, i, n, group));
  end = smaller(end, chunk_end(&m->base, i, n, ranks % group));
  return m->group ? smaller(end, chunk_end(&m->outer, i, n, (ranks - 1) / group + 1)) : end;
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
  hu_status s = hu_convert_n(n, codes, 1, format, x, 1, hu_binary32(), mode, exec, NULL);
  return s == HU_OK ? hu_convert_n(n, z, 1, hu_binary32(), codes, 1, format, rne, NULL, NULL) : s;
}

/* What is kept where z came of x. */
static float left(float x, float z, float inverse) {
  float e = (x - z) * inverse;
  return isfinite(e) ? e : 0;
}

static hu_stream words_of_shard(const hu_trainer *t, size_t shard) {
  t->net->shard = shard;
  hu_stream words = hu_net_words(t->net, HU_OF_MESSAGE, 0);
  t->net->shard = 0;
  return words;
}

/* The gradients of own shard k become its message. */
static hu_status send_shard(hu_trainer *t, size_t k, float scale) {
  const hu_feedback *f = &t->feedback;
  const hu_collective *model = &t->keys.reduce;
  float *g = t->shards.gradient.here + k * f->each, *next = f->next + k * f->each, inverse = 1 / scale;
  const float *kept = f->kept + k * f->each;
  hu_stream words = words_of_shard(t, f->first + k);
  for (size_t i = 0, end; i < f->each; i = end) {
    float a[HU_COLLECTIVE_PIECE];
    end = piece_end(model, i, f->each, t->shards.count);
    size_t n = end - i;
    hu_exec exec = {1, 0, {words.key, words.counter + i}};
    for (size_t j = 0; j < n; j++) a[j] = g[i + j] + scale * kept[i + j];
    hu_status s = round_message(&model->base, n, g + i, a, &exec);
    if (s != HU_OK) return s;
    for (size_t j = 0; j < n; j++) next[i + j] = left(a[j], g[i + j], inverse);
  }
  return HU_OK;
}

/* ---- a step ---- */

/* Where nothing is rounded there is nothing to be kept: not even the sign of a zero changes. */
static int loses(const hu_trainer *t) {
  const hu_collective *m = &t->keys.reduce;
  if (!t->feedback.kept) return 0;
  return m->base.kind != HU_COLLECTIVE_EXACT || (t->keys.feedback == FEEDBACK_SUM && m->group);
}

int hu_feedback_is_of_sums(const hu_trainer *t) { return loses(t) && t->keys.feedback == FEEDBACK_SUM; }

hu_status hu_feed_back(hu_trainer *t, float scale) {
  const hu_feedback *f = &t->feedback;
  hu_status s = HU_OK;
  if (!loses(t)) return s;
  if (!hu_feedback_is_of_sums(t)) {
    for (size_t k = 0; k < f->own && s == HU_OK; k++) s = send_shard(t, k, scale);
    return s;
  }
  for (size_t i = 0; i < f->each && t->shards.first == 0; i++) t->shards.gradient.here[i] += scale * f->kept[i];
  return s;
}

void hu_feedback_exact(hu_trainer *t, const float *z) { memcpy(t->feedback.next, z, t->feedback.each * sizeof *z); }

void hu_feedback_joined(hu_trainer *t, const float *z, float scale) {
  const hu_feedback *f = &t->feedback;
  if (!hu_feedback_is_of_sums(t)) return;
  for (size_t i = 0; i < f->each; i++) f->next[i] = left(f->next[i], z[i], 1 / scale);
}

void hu_keep_feedback(hu_trainer *t) {
  hu_feedback *f = &t->feedback;
  float *next = f->next;
  if (!loses(t)) return;
  f->next = f->kept;
  f->kept = next;
  f->stale = f->own < f->residuals;
}

/* ---- as a part of the state ---- */

/* One residual into `whole` of process 0. Bits are whole numbers, which sums keep. */
static hu_status collect_one(hu_trainer *t, size_t k, double *bits) {
  const hu_feedback *f = &t->feedback;
  uint32_t u;
  memset(bits, 0, f->each * sizeof *bits);
  for (size_t i = 0; i < f->each && k - f->first < f->own; i++) {
    memcpy(&u, f->kept + (k - f->first) * f->each + i, sizeof u);
    bits[i] = (double)u;
  }
  hu_status s = t->ranks.sum(t->ranks.context, f->each, bits);
  for (size_t i = 0; i < f->each && f->whole && s == HU_OK; i++) {
    u = (uint32_t)bits[i];
    memcpy(f->whole + k * f->each + i, &u, sizeof u);
  }
  return s;
}

hu_status hu_trainer_collect(hu_trainer *t) {
  if (!t) return HU_E_NULL;
  if (!t->net) return HU_E_TRAIN;
  hu_feedback *f = &t->feedback;
  if (!f->stale) return HU_OK;
  double *bits = malloc((f->each + 1) * sizeof *bits);
  hu_status s = bits ? HU_OK : HU_E_MEMORY;
  for (size_t k = 0; k < f->residuals && s == HU_OK; k++) s = collect_one(t, k, bits);
  free(bits);
  if (s == HU_OK) f->stale = 0;
  return s;
}

hu_status hu_read_residual(const hu_trainer *t, size_t first, size_t n, float *z) {
  const hu_feedback *f = &t->feedback;
  const float *all = f->own == f->residuals ? f->kept : f->whole;
  if (!all || f->stale) return HU_E_TRAIN;
  for (size_t k = 0; k < f->residuals; k++) memcpy(z + k * n, all + k * f->each + first, n * sizeof *z);
  return HU_OK;
}

hu_status hu_write_residual(hu_trainer *t, size_t first, size_t n, const float *x) {
  const hu_feedback *f = &t->feedback;
  for (size_t i = 0; i < f->residuals * n; i++) {
    if (!isfinite(x[i])) return HU_E_TRAIN;
  }
  for (size_t k = 0; k < f->residuals; k++) {
    if (f->whole) memcpy(f->whole + k * f->each + first, x + k * n, n * sizeof *x);
    if (k - f->first < f->own) memcpy(f->kept + (k - f->first) * f->each + first, x + k * n, n * sizeof *x);
  }
  return HU_OK;
}
