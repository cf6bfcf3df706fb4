/* SPDX-License-Identifier: MIT */
/* tests/train/net/attention_model.h - attention, positions, pairs and labels in binary64, and the same networks in the
 * library, for test_attention.c. The model knows docs/training/training.md and nothing of train/. */
#ifndef HALFULP_TESTS_TRAIN_ATTENTION_MODEL_H
#define HALFULP_TESTS_TRAIN_ATTENTION_MODEL_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/train/net.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

enum { B = 3, TQ = 4, TK = 6, C = 5, HEADS = 4, HEAD = 6, D = HEADS * HEAD, PARAMETERS = 8, ROOM = 4096 };

/* What is computed from inputs q (TQ x C a sample), k (TK x C) and lengths, by which parameters. */
typedef enum { SELF, CAUSAL, ACROSS, PAIRS, LABELS, HOW, HOW_ACROSS } kind;

/* What HOW and HOW_ACROSS add: attention, and positions of queries and keys: 1, 2: rotary, of halves and interleaved;
 * 3: of Llama 3; 4: sines of what is read; 5, 6: YaRN, its bounds whole. */
typedef struct t_how {
  hu_attention how;
  int positions;
} t_how;

typedef struct t_world {
  kind what;
  t_how how;
  double q[B * TQ * C], k[B * TK * C], target[ROOM];
  float length[B];
  uint32_t label[B * TK];
  double *theta[PARAMETERS];
  size_t rows[PARAMETERS], cols[PARAMETERS];
  size_t sink; /* the parameter */
} t_world;

/* ---- the model ---- */

/* x W + b by parameters p and p + 1. */
static void linear(const t_world *world, int p, size_t rows, const double *x, double *z) {
  size_t in = world->rows[p], out = world->cols[p];
  for (size_t i = 0; i < rows * out; i++) {
    z[i] = world->theta[p + 1][i % out];
    for (size_t c = 0; c < in; c++) z[i] += x[i / out * in + c] * world->theta[p][c * out + i % out];
  }
}

/* How many steps of a sample are seen. */
static size_t seen(const t_world *world, size_t sample) {
  double n = (double)world->length[sample];
  return n < TK ? (size_t)(n > 0 ? n : 0) : TK;
}

/* One row of one head: shares of the keys k0 + j ldk by the query from `from` on, then the sum of values. */
static void attend(const hu_attention *how, const double *sink, size_t from, size_t n, const double *query,
                   const double *key, const double *value, size_t ld, double *z) {
  double e[TK], sum = sink ? exp(*sink) : 0;
  for (size_t j = from; j < n; j++) {
    double score = 0;
    for (size_t c = 0; c < HEAD; c++) score += query[c] * key[j * ld + c];
    sum += e[j] = exp(how->scale > 0 ? score * how->scale : score / sqrt(HEAD));
  }
  for (size_t c = 0; c < HEAD; c++) {
    z[c] = 0;
    for (size_t j = from; j < n; j++) z[c] += e[j] / sum * value[j * ld + c];
  }
}

static size_t kv_heads(const t_world *world) { return world->how.how.kv_heads ? world->how.how.kv_heads : HEADS; }

/* The pair, not a whole number, that turns so often in 60 steps, base 50. */
static double pair_at(double times) { return HEAD * log(60 / (times * 2 * acos(-1))) / (2 * log(50)); }

/* The frequency of YaRN: that of pairs which turn 4 times stays, that of pairs which turn 1.5 times is an eighth. */
static double mixed(int whole, size_t pair) {
  double f = pow(50, -2.0 * (double)pair / HEAD), from = pair_at(4), to = pair_at(1.5);
  from = fmax(whole ? floor(from) : from, 0);
  to = fmin(whole ? ceil(to) : to, HEAD - 1);
  double t = fmin(fmax(((double)pair - from) / (to - from), 0), 1);
  return t * f / 8 + (1 - t) * f;
}

/* The frequency of a pair; Llama 3 has three kinds of them. */
static double turns(int positions, size_t pair) {
  if (positions > 4) return mixed(positions == 6, pair);
  double f = pow(positions == 3 ? 50 : 10000, -2.0 * (double)pair / HEAD), wave = 2 * acos(-1) / f, smooth;
  if (positions != 3) return f;
  smooth = (60 / wave - 1) / (4 - 1);
  return wave > 60 ? f / 8 : wave < 15 ? f : (1 - smooth) * f / 8 + smooth * f;
}

/* Turns the first `cols` columns of rows of steps. */
static void turn(int positions, size_t rows, size_t steps, size_t ld, size_t cols, double *x) {
  for (size_t i = 0; i < rows * cols / 2; i++) {
    size_t row = i / (cols / 2), at = i % (cols / 2), head = at / (HEAD / 2) * HEAD, pair = at % (HEAD / 2);
    double *a = x + row * ld + head + (positions == 2 ? 2 * pair : pair), *b = a + (positions == 2 ? 1 : HEAD / 2);
    double angle = (double)(row % steps) * turns(positions, pair), y = *a * cos(angle) - *b * sin(angle);
    double m = positions == 5 ? 0.1 * log(8) + 1 : positions == 6 ? 0.75 : 1;
    *b = (*b * cos(angle) + *a * sin(angle)) * m;
    *a = y * m;
  }
}

static void add_sines(size_t rows, size_t steps, size_t cols, double *x) {
  size_t n = cols / 2;
  for (size_t i = 0; i < rows * n; i++) {
    double angle = (double)(i / n % steps) * pow(10000, -(double)(i % n) / (double)(n - 1));
    x[i / n * cols + i % n] += sin(angle);
    x[i / n * cols + n + i % n] += cos(angle);
  }
}

static void attention(const t_world *world, size_t steps, const double *q, size_t ldq, const double *kv, size_t ldk,
                      size_t keys, double *z) {
  for (size_t i = 0; i < B * steps; i++) {
    size_t sample = i / steps, n = seen(world, sample);
    const double *first = kv + sample * TK * ldk + keys;
    const hu_attention *how = &world->how.how;
    size_t own = i % steps + 1, group = HEADS / kv_heads(world),
           from = how->window && own > how->window ? own - how->window : 0;
    if (how->lengths < 0) n = TK;
    if (how->causal && n > own) n = own;
    for (size_t h = 0; h < HEADS; h++) {
      const double *key = first + h / group * HEAD;
      attend(how, how->sink ? &world->theta[world->sink][h] : NULL, from, n, q + i * ldq + h * HEAD, key,
             key + kv_heads(world) * HEAD, ldk, z + i * D + h * HEAD);
    }
  }
}

static double half_squares(const t_world *world, size_t n, size_t rows, const double *z) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += (z[i] - world->target[i]) * (z[i] - world->target[i]) / 2;
  return sum / (double)rows;
}

/* Rows of k and the first row of q, as many columns; all pairs. */
static double pairs_loss(const t_world *world) {
  double top[B * D], rows[B * TK * D], z[B * (TK + 1) * TK / 2];
  size_t at = 0;
  double first[B * C];
  for (size_t i = 0; i < B; i++) memcpy(first + i * C, world->q + i * TQ * C, C * sizeof *first);
  linear(world, 0, B, first, top);
  linear(world, 2, B * TK, world->k, rows);
  for (size_t s = 0; s < B; s++) {
    for (size_t i = 1; i <= TK; i++) {
      for (size_t j = 0; j < i; j++, at++) {
        const double *a = rows + (s * TK + i - 1) * D, *b = j ? rows + (s * TK + j - 1) * D : top + s * D;
        z[at] = 0;
        for (size_t c = 0; c < D; c++) z[at] += a[c] * b[c];
      }
    }
  }
  return half_squares(world, at, B, z);
}

static double labels_loss(const t_world *world) {
  double z[B * TK * D], sum = 0, counted = 0;
  linear(world, 0, B * TK, world->k, z);
  for (size_t i = 0; i < B * TK; i++) {
    double all = 0;
    if (world->label[i] == HU_LABEL_NONE) continue;
    for (size_t j = 0; j < D; j++) all += exp(z[i * D + j]);
    sum += log(all) - z[i * D + world->label[i]];
    counted++;
  }
  return sum / counted;
}

static double loss_of(const t_world *world) {
  double q[B * TK * 3 * D], kv[B * TK * 3 * D], z[B * TK * D], *own = kv;
  if (world->what == PAIRS) return pairs_loss(world);
  if (world->what == LABELS) return labels_loss(world);
  size_t steps = world->what == ACROSS ? TQ : TK, keys = kv_heads(world) * HEAD;
  int positions = world->how.positions, rotary = positions > 0 && positions != 4;
  if (world->what == ACROSS || world->what == HOW_ACROSS) {
    linear(world, 0, B * steps, world->what == ACROSS ? world->q : world->k, q);
    linear(world, 2, B * TK, world->k, kv);
    if (rotary) turn(positions, B * steps, steps, D, D, q);
    if (rotary) turn(positions, B * TK, TK, 2 * keys, keys, kv);
    attention(world, steps, q, D, kv, 2 * keys, 0, z);
  } else {
    linear(world, 0, B * TK, world->k, own);
    if (rotary) turn(positions, B * TK, TK, D + 2 * keys, D + keys, own);
    if (positions == 4) add_sines(B * TK, TK, D + 2 * keys, own);
    attention(world, steps, own, D + 2 * keys, own, D + 2 * keys, D, z);
  }
  return half_squares(world, B * steps * D, B * steps, z);
}

/* ---- the same in the library ---- */

typedef struct t_ends {
  int q, k, length, out;
} t_ends;

static int positions_of(hu_net *net, int x, int positions, size_t columns) {
  hu_rotary how = hu_rotary_of(HEAD);
  how.columns = columns;
  how.interleaved = positions == 2;
  if (positions == 3 || positions > 4) how.base = 50, how.factor = 8, how.original = 60;
  if (positions > 4) how.yarn = 1, how.low = 1.5, how.high = 4;
  if (positions == 6) how.whole = 1, how.magnitude = 0.75;
  return positions == 0 ? x : positions == 4 ? hu_net_sines(net, x) : hu_net_rotary(net, x, &how);
}

/* Attention of HOW and HOW_ACROSS; `lengths` of it: 0: those of the input. */
static int build_how(hu_net *net, kind what, t_how how, const t_ends *ends) {
  size_t keys = (how.how.kv_heads ? how.how.kv_heads : HEADS) * HEAD;
  if (how.how.lengths >= 0) how.how.lengths = ends->length;
  if (what == HOW)
    return hu_net_attend(net,
                         positions_of(net, hu_net_linear(net, ends->k, D + 2 * keys, 1), how.positions,
                                      how.positions == 4 ? 0 : D + keys),
                         -1, &how.how);
  int q = positions_of(net, hu_net_linear(net, ends->k, D, 1), how.positions, 0);
  int kv = positions_of(net, hu_net_linear(net, ends->k, 2 * keys, 1), how.positions, keys);
  return hu_net_attend(net, q, kv, &how.how);
}

static int build(hu_net *net, kind what, const t_how *how, t_ends *ends) {
  ends->q = hu_net_input(net, what == PAIRS ? 1 : TQ, C);
  ends->k = hu_net_input(net, TK, C);
  ends->length = hu_net_input(net, 1, 1);
  if (what == HOW || what == HOW_ACROSS) return build_how(net, what, *how, ends);
  if (what == SELF || what == CAUSAL)
    return hu_net_attention_masked(net, hu_net_linear(net, ends->k, 3 * D, 1), HEADS, what == CAUSAL, ends->length);
  if (what == LABELS) return hu_net_linear(net, ends->k, D, 1);
  int both[2] = {hu_net_linear(net, ends->q, D, 1), -1};
  both[1] = hu_net_linear(net, ends->k, what == PAIRS ? D : 2 * D, 1);
  if (what == PAIRS) return hu_net_interactions(net, hu_net_stack_rows(net, 2, both));
  return hu_net_attention_across(net, both[0], both[1], HEADS, ends->length);
}

static void feed(hu_net *net, const t_world *world, const t_ends *ends) {
  float q[B * TQ * C], k[B * TK * C], target[ROOM];
  size_t nq = world->what == PAIRS ? 1 : TQ;
  for (size_t i = 0; i < B * nq * C; i++) q[i] = (float)world->q[i / (nq * C) * TQ * C + i % (nq * C)];
  for (size_t i = 0; i < B * TK * C; i++) k[i] = (float)world->k[i];
  for (size_t i = 0; i < ROOM; i++) target[i] = (float)world->target[i];
  assert_int_equal(hu_net_feed(net, ends->q, q), HU_OK);
  assert_int_equal(hu_net_feed(net, ends->k, k), HU_OK);
  assert_int_equal(hu_net_feed(net, ends->length, world->length), HU_OK);
  assert_int_equal(world->what == LABELS ? hu_net_labels(net, world->label) : hu_net_targets(net, target), HU_OK);
}

static double random_number(t_random *random) { return (double)(float)(((double)t_next32(random) - 0x1p31) * 0x1p-31); }

static hu_net *open(t_world *world, kind what, t_ends *ends, t_random *random) {
  const char *why = "";
  hu_net *net = hu_net_new(B, 1);
  world->what = what;
  if (what < HOW) {
    world->how = (t_how){hu_attention_of(HEADS), 0};
    world->how.how.causal = what == CAUSAL;
    world->how.how.lengths = 0;
  }
  ends->out = build(net, what, &world->how, ends);
  (void)(what == LABELS ? hu_net_cross_entropy(net, ends->out, 1) : hu_net_squared_error(net, ends->out, 1));
  if (hu_net_status(net, &why) != HU_OK) fail_msg("%s", why);
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  for (size_t i = 0; i < sizeof world->q / sizeof *world->q; i++) world->q[i] = random_number(random);
  for (size_t i = 0; i < sizeof world->k / sizeof *world->k; i++) world->k[i] = random_number(random);
  for (size_t i = 0; i < ROOM; i++) world->target[i] = random_number(random);
  for (size_t i = 0; i < B * TK; i++) world->label[i] = i % 3 == 1 ? HU_LABEL_NONE : t_below(random, D);
  for (int p = 0; p < hu_net_parameters(net); p++) {
    hu_net_tensor tensor = hu_net_parameter(net, p);
    if (strcmp(hu_net_parameter_name(net, p), "attention1.sink") == 0) world->sink = (size_t)p;
    world->rows[p] = tensor.rows;
    world->cols[p] = tensor.cols;
    world->theta[p] = calloc(tensor.rows * tensor.cols, sizeof(double));
    for (size_t i = 0; i < tensor.rows * tensor.cols; i++)
      tensor.numbers[i] = (float)(world->theta[p][i] = random_number(random));
  }
  return net;
}

#endif
