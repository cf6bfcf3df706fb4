/* SPDX-License-Identifier: MIT */
/* Attention with lengths and across sequences, products of pairs of rows, losses of rows of which some have no label:
 * values and gradients against differences of a binary64 model; what padding must not change, bit for bit; shapes that
 * are refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/train/net.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"
#include "tests/train/net/attention_model.h"

static void close(hu_net *net, t_world *world) {
  for (int p = 0; p < hu_net_parameters(net); p++) free(world->theta[p]);
  hu_net_free(net);
}

static double slope(t_world *world, double *x) {
  double at = *x, h = 1e-5;
  *x = at + h;
  double up = loss_of(world);
  *x = at - h;
  double down = loss_of(world);
  *x = at;
  return (up - down) / (2 * h);
}

static void check_how(kind what, const t_how *how, float l0, float l1, float l2) {
  t_world *world = calloc(1, sizeof *world);
  t_random random = {t_seed("train-attention", 3 + (uint64_t)what)};
  t_ends ends;
  float loss;
  assert_non_null(world);
  if (how) world->how = *how;
  hu_net *net = open(world, what, &ends, &random);
  world->length[0] = l0;
  world->length[1] = l1;
  world->length[2] = l2;
  feed(net, world, &ends);
  assert_int_equal(hu_net_forward(net, 1, &loss), HU_OK);
  assert_int_equal(hu_net_backward(net, 2), HU_OK);
  double exact = loss_of(world);
  if (!(fabs((double)loss - exact) < 1e-5 * (1 + fabs(exact)))) fail_msg("%d: %g, not %g", what, (double)loss, exact);
  size_t some = 0, all = 0;
  for (int p = 0; p < hu_net_parameters(net); p++) {
    hu_net_tensor tensor = hu_net_parameter(net, p);
    for (size_t i = 0; i < tensor.rows * tensor.cols; i++, all++) {
      double s = slope(world, &world->theta[p][i]), got = (double)tensor.gradients[i] / 2;
      if (!(fabs(got - s) < 2e-5 * (1 + fabs(s)))) fail_msg("%d: parameter %d, %zu: %g, not %g", what, p, i, got, s);
      some += fabs(s) > 1e-3;
    }
  }
  assert_true(all > 0 && some > all / 3);
  close(net, world);
  free(world);
}

static void check(kind what, float l0, float l1, float l2) { check_how(what, NULL, l0, l1, l2); }

/* Attention of heads 4, with the fields in the order of the record behind it. */
static void how(kind what, size_t kv, size_t window, int lengths, int causal, int sink, double scale, int positions,
                size_t block) {
  t_how all = {hu_attention_of(HEADS), positions};
  all.how.kv_heads = kv;
  all.how.window = window;
  all.how.lengths = lengths;
  all.how.causal = (uint8_t)causal;
  all.how.sink = (uint8_t)sink;
  all.how.scale = scale;
  all.how.block = block;
  check_how(what, &all, 6, 2, 4);
}

static void gradients_of_kinds(void **state) {
  (void)state;
  how(HOW, 2, 0, -1, 0, 0, 0, 0, 0); /* grouped queries */
  how(HOW, 1, 0, -1, 1, 0, 0, 0, 0);
  how(HOW, 0, 0, -1, 1, 0, 0.3, 0, 0); /* a scale */
  how(HOW, 0, 2, -1, 1, 0, 0, 0, 0);   /* a window */
  how(HOW, 0, 3, 0, 1, 0, 0, 0, 0);    /* and lengths: some rows see nothing */
  how(HOW, 0, 0, -1, 0, 1, 0, 0, 0);   /* a sink */
  how(HOW, 2, 0, 0, 0, 1, 0, 0, 0);
  for (int positions = 1; positions <= 6; positions++) how(HOW, 0, 0, -1, 1, 0, 0, positions, 0);
  how(HOW, 2, 4, -1, 1, 1, 0.5, 1, 0);
  how(HOW_ACROSS, 0, 0, 0, 0, 0, 0, 0, 0);
  how(HOW_ACROSS, 2, 0, -1, 1, 0, 0, 2, 0);
  how(HOW_ACROSS, 1, 2, -1, 1, 1, 0, 3, 0);
  how(HOW_ACROSS, 2, 0, -1, 0, 0, 0, 6, 0);
}

/* Softmax by blocks of keys is the same function. */
static void gradients_of_blocks(void **state) {
  (void)state;
  for (size_t block = 1; block <= 7; block++) how(HOW, 0, 0, -1, 0, 0, 0, 0, block);
  how(HOW, 2, 0, -1, 1, 0, 0.3, 1, 2);
  how(HOW, 0, 2, -1, 1, 0, 0, 0, 2); /* blocks that no row of a step sees */
  how(HOW, 0, 3, 0, 1, 0, 0, 0, 4);
  how(HOW, 0, 0, 0, 0, 1, 0, 0, 3); /* a sink */
  how(HOW_ACROSS, 2, 0, 0, 0, 1, 0, 2, 4);
  how(HOW_ACROSS, 1, 4, -1, 1, 1, 0, 3, 1);
}

static void gradients(void **state) {
  (void)state;
  check(SELF, 6, 2, 4);
  check(SELF, 1, 3, 5);
  check(CAUSAL, 6, 3, 1);
  check(ACROSS, 6, 2, 4);
  check(ACROSS, 99, 1, 3.5f); /* above the steps: all of them; what is behind the point does not count */
  check(PAIRS, 6, 6, 6);
  check(LABELS, 6, 6, 6);
}

/* ---- padding ---- */

/* Numbers behind the lengths change nothing that is read, not one bit, whatever they are. */
static void padding_is_not_seen(void **state) {
  (void)state;
  static t_world world;
  t_random random = {5};
  t_ends ends;
  hu_net *net = open(&world, ACROSS, &ends, &random);
  float before[B * TQ * D], gradient[D * 2 * C];
  world.length[0] = 6;
  world.length[1] = 2;
  world.length[2] = 4;
  for (int turn = 0; turn < 3; turn++) {
    for (size_t i = 0; turn && i < B * TK * C; i++) {
      if (i / C % TK >= seen(&world, i / (TK * C))) world.k[i] = turn == 1 ? 1e6 : -3 + (double)i;
    }
    feed(net, &world, &ends);
    assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
    assert_int_equal(hu_net_backward(net, 1), HU_OK);
    hu_net_tensor z = hu_net_value(net, ends.out), q = hu_net_parameter(net, 0);
    if (turn == 0) memcpy(before, z.numbers, sizeof before);
    if (turn == 0) memcpy(gradient, q.gradients, q.rows * q.cols * sizeof *gradient);
    assert_memory_equal(before, z.numbers, sizeof before);
    assert_memory_equal(gradient, q.gradients, q.rows * q.cols * sizeof *gradient);
  }
  close(net, &world);
}

/* No step is seen: all shares are +0, and so is what is read; NaN and infinity mean all steps. */
static void odd_lengths(void **state) {
  (void)state;
  static t_world world;
  t_random random = {6};
  t_ends ends;
  float all[B * TQ * D];
  hu_net *net = open(&world, ACROSS, &ends, &random);
  const float lengths[][B] = {{TK, TK, TK}, {NAN, INFINITY, 1e30f}, {0, -1, 0.99f}};
  for (int turn = 0; turn < 3; turn++) {
    memcpy(world.length, lengths[turn], sizeof world.length);
    feed(net, &world, &ends);
    assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
    assert_int_equal(hu_net_backward(net, 1), HU_OK);
    const float *z = hu_net_value(net, ends.out).numbers;
    if (turn == 0) memcpy(all, z, sizeof all);
    if (turn == 1) assert_memory_equal(all, z, sizeof all);
    for (size_t i = 0; turn == 2 && i < B * TQ * D; i++) assert_int_equal(t_bits32(z[i]), 0);
  }
  close(net, &world);
}

/* ---- labels ---- */

static void some_labels(void **state) {
  (void)state;
  hu_net *net = hu_net_new(2, 1);
  int x = hu_net_input(net, 2, 3), z = hu_net_linear(net, x, 3, 0);
  hu_net_cross_entropy(net, z, 1);
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  const float in[12] = {1, 0, 0, NAN, NAN, NAN, 0, 1, 0, 0, 0, 1};
  const uint32_t none[4] = {HU_LABEL_NONE, HU_LABEL_NONE, HU_LABEL_NONE, HU_LABEL_NONE};
  uint32_t labels[4] = {0, HU_LABEL_NONE, 2, HU_LABEL_NONE};
  float loss, *w = hu_net_parameter(net, 0).numbers;
  for (int i = 0; i < 9; i++) w[i] = 0;
  assert_int_equal(hu_net_labels(net, none), HU_E_SHAPE); /* nothing to be compared with */
  labels[1] = 3;
  assert_int_equal(hu_net_labels(net, labels), HU_E_SHAPE); /* no column */
  labels[1] = HU_LABEL_NONE;
  assert_int_equal(hu_net_labels(net, labels), HU_OK);
  assert_int_equal(hu_net_feed(net, x, in), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, &loss), HU_OK);
  assert_int_equal(hu_net_backward(net, 1), HU_OK);
  assert_true(fabsf(loss - logf(3)) < 1e-6f); /* not half of it, and the NaN of a row without a label is not there */
  const float *d = hu_net_value(net, z).gradients;
  for (int i = 0; i < 12; i++) {
    float third = 1 / 3.0f, expected = i / 3 == 0 ? (third - (i == 0)) / 2 : i / 3 == 2 ? (third - (i == 8)) / 2 : 0;
    assert_int_equal(t_bits32(d[i]), t_bits32(expected));
  }
  hu_net_free(net);
}

/* ---- what is refused ---- */

static void refused(void **state) {
  (void)state;
  for (int i = 0; i < 11; i++) {
    const char *why = "";
    hu_net *net = hu_net_new(2, 1);
    int x = hu_net_input(net, 3, 4), one = hu_net_input(net, 1, 1), q = hu_net_linear(net, x, 4, 0);
    int kv = hu_net_linear(net, x, 8, 0), row = hu_net_linear(net, hu_net_input(net, 1, 4), 4, 0), z = 0, both[2];
    both[0] = q;
    both[1] = kv;
    if (i == 0) z = hu_net_attention_across(net, q, q, 2, -1);
    if (i == 1) z = hu_net_attention_across(net, q, kv, 3, -1);
    if (i == 2) z = hu_net_attention_across(net, x, kv, 2, -1);
    if (i == 3) z = hu_net_attention_across(net, q, kv, 2, q);
    if (i == 4) z = hu_net_attention_across(net, q, kv, 2, x);
    if (i == 5) z = hu_net_attention_across(net, q, kv, 2, 99);
    if (i == 6) z = hu_net_attention_masked(net, hu_net_linear(net, x, 12, 0), 0, 0, one);
    if (i == 7) z = hu_net_stack_rows(net, 2, both);
    if (i == 8) z = hu_net_stack_rows(net, 0, both);
    if (i == 9) z = hu_net_interactions(net, x);
    if (i == 10) z = hu_net_interactions(net, row);
    assert_int_equal(z, -1);
    assert_int_equal(hu_net_status(net, &why), HU_E_SHAPE);
    assert_true(*why != 0);
    hu_net_free(net);
  }
  assert_int_equal(hu_net_attention_across(NULL, 0, 1, 1, -1), -1);
  assert_int_equal(hu_net_interactions(NULL, 0), -1);
}

/* Fields of attention and of rotary positions that are refused; the others are those that are taken. */
static void kinds_refused(void **state) {
  (void)state;
  for (int i = 0; i < 23; i++) {
    const char *why = "";
    hu_net *net = hu_net_new(2, 1);
    int x = hu_net_input(net, 3, 4), q = hu_net_linear(net, x, 8, 0), kv = hu_net_linear(net, x, 16, 0);
    int other = hu_net_linear(net, hu_net_input(net, 5, 4), 16, 0);
    hu_attention how = hu_attention_of(2);
    hu_rotary rotary = hu_rotary_of(4);
    if (i == 0) how.kv_heads = 4;
    if (i == 1) how.heads = 0;
    if (i == 2) q = x;
    if (i == 3) how.kv_heads = 1; /* 8 columns in the memory */
    if (i == 4) how.window = 2;
    if (i == 5) how.causal = 1, kv = other;
    if (i == 6) how.scale = -1;
    if (i == 7) how.scale = NAN;
    if (i == 8) how.dropout = 1;
    if (i == 9) rotary.width = 3;
    if (i == 10) rotary.columns = 6;
    if (i == 11) rotary.columns = 12;
    if (i == 12) q = x;
    if (i == 13) rotary.base = 0;
    if (i == 14) rotary.factor = NAN;
    if (i == 15) rotary.factor = 2, rotary.high = rotary.low;
    if (i == 16) how.block = 2, how.dropout = 0.5;
    if (i == 17) rotary.yarn = 2;
    if (i == 18) rotary.whole = 1;
    if (i == 19) rotary.magnitude = 1;
    if (i == 20) rotary.yarn = 1, rotary.base = 1;
    if (i == 21) rotary.yarn = 1, rotary.magnitude = -1;
    if (i == 22) rotary.yarn = 1, rotary.high = 0.5;
    assert_int_equal(i < 9 || i == 16 ? hu_net_attend(net, q, kv, &how) : hu_net_rotary(net, q, &rotary), -1);
    assert_int_equal(hu_net_status(net, &why), i < 4 || (i > 8 && i < 13) ? HU_E_SHAPE : HU_E_TRAIN);
    assert_true(*why != 0);
    hu_net_free(net);
  }
}

/* ---- bits ---- */

/* Rotary positions and sines of ones, by cosines and sines of binary64, which are rounded to binary32. */
static void positions_by_hand(void **state) {
  (void)state;
  enum { STEPS = 300, WIDTH = 64 };
  hu_net *net = hu_net_new(1, 1);
  int x = hu_net_input(net, STEPS, 2 * WIDTH), y = hu_net_columns(net, x, 0, 2 * WIDTH);
  hu_rotary how = hu_rotary_of(WIDTH);
  how.base = 500000;
  how.columns = WIDTH;
  int turned = hu_net_rotary(net, y, &how), added = hu_net_sines(net, y);
  assert_int_equal(hu_net_status(net, NULL), HU_OK);
  float *ones = calloc(STEPS * 2 * WIDTH, sizeof *ones);
  for (size_t i = 0; i < STEPS * 2 * WIDTH; i++) ones[i] = 1 + (float)(i % 7) * 0x1p-9f;
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  assert_int_equal(hu_net_feed(net, x, ones), HU_OK);
  assert_int_equal(hu_net_forward(net, 0, NULL), HU_OK);
  const float *z = hu_net_value(net, turned).numbers, *s = hu_net_value(net, added).numbers;
  for (size_t i = 0; i < STEPS * 2 * WIDTH; i++) {
    size_t p = i / (2 * WIDTH), j = i % (2 * WIDTH), k = j % (WIDTH / 2);
    float f = 1 / (float)pow(500000, (double)((float)(2 * k) / WIDTH)), angle = (float)p * f;
    float c = (float)cos((double)angle), sine = (float)sin((double)angle), a = ones[i], expected = a;
    size_t away = WIDTH / 2;
    if (j < away) {
      float left = a * c, right = ones[i + away] * sine;
      expected = left - right;
    } else if (j < WIDTH) {
      float left = a * c, right = ones[i - away] * sine;
      expected = left + right;
    }
    assert_int_equal(t_bits32(z[i]), t_bits32(expected));
    float step = (float)log(10000) / (float)(WIDTH - 1), back = (float)(j % WIDTH) * -step;
    angle = (float)p * (float)exp((double)back);
    float add = j < WIDTH ? (float)sin((double)angle) : (float)cos((double)angle);
    assert_int_equal(t_bits32(s[i]), t_bits32(a + add));
  }
  free(ones);
  hu_net_free(net);
}

/* A frequency of YaRN of 64 columns, by the operations of transformers' code: Python's numbers are binary64, tensors
 * binary32. */
static float yarn_by_hand(const hu_rotary *how, size_t pair) {
  const double pi = acos(-1), width = 64;
  double from = width * log(how->original / (how->high * 2 * pi)) / (2 * log(how->base));
  double to = width * log(how->original / (how->low * 2 * pi)) / (2 * log(how->base));
  from = fmax(how->whole ? floor(from) : from, 0);
  to = fmin(how->whole ? ceil(to) : to, width - 1);
  if (from == to) to += 0.001;
  float b = (float)pow(how->base, (double)((float)(2 * pair) / 64)), extrapolated = 1 / b;
  float below = (float)how->factor * b, interpolated = 1 / below, above = (float)pair - (float)from;
  float ramp = fminf(fmaxf(above / (float)(to - from), 0), 1), keep = 1 - ramp, rest = 1 - keep;
  float slow = interpolated * rest, quick = extrapolated * keep;
  return slow + quick;
}

/* Rotary positions of YaRN: of gpt-oss, of DeepSeek-V3 (whole bounds, magnitude 1), of bounds that meet, with a factor
 * of 1, and with one below 1 and a magnitude. */
static void yarn_positions(void **state) {
  (void)state;
  enum { STEPS = 40, WIDTH = 64, KINDS = 5 };
  static const hu_rotary kinds[KINDS] = {
      {.width = WIDTH, .base = 150000, .factor = 32, .low = 1, .high = 32, .original = 4096, .yarn = 1},
      {WIDTH, 0, 1, 1, 1, 10000, 40, 1, 32, 4096, 1},
      {WIDTH, 0, 0, 1, 1, 10000, 4, 652, 653, 4096, 0},
      {.width = WIDTH, .base = 500, .factor = 1, .low = 1, .high = 32, .original = 512, .yarn = 1},
      {.width = WIDTH, .base = 500, .factor = 0.5, .low = 2, .high = 9, .original = 512, .yarn = 1, .magnitude = 3}};
  for (size_t each = 0; each < KINDS; each++) {
    const hu_rotary *how = &kinds[each];
    hu_net *net = hu_net_new(1, 1);
    int x = hu_net_input(net, STEPS, WIDTH), turned = hu_net_rotary(net, hu_net_columns(net, x, 0, WIDTH), how);
    float numbers[STEPS * WIDTH];
    double m = how->magnitude > 0 ? how->magnitude : how->factor > 1 ? 0.1 * log(how->factor) + 1 : 1;
    for (size_t i = 0; i < STEPS * WIDTH; i++) numbers[i] = 1 + (float)(i % 7) * 0x1p-9f;
    assert_int_equal(hu_net_status(net, NULL), HU_OK);
    assert_int_equal(hu_net_initialize(net, 1), HU_OK);
    assert_int_equal(hu_net_feed(net, x, numbers), HU_OK);
    assert_int_equal(hu_net_forward(net, 0, NULL), HU_OK);
    const float *z = hu_net_value(net, turned).numbers;
    for (size_t i = 0; i < STEPS * WIDTH / 2; i++) {
      size_t p = i / (WIDTH / 2), k = i % (WIDTH / 2);
      size_t first = p * WIDTH + (how->interleaved ? 2 * k : k), second = first + (how->interleaved ? 1 : WIDTH / 2);
      float angle = (float)p * yarn_by_hand(how, k);
      float c = (float)cos((double)angle) * (float)m, s = (float)sin((double)angle) * (float)m;
      float left = numbers[first] * c, right = numbers[second] * s, up = numbers[second] * c, down = numbers[first] * s;
      assert_int_equal(t_bits32(z[first]), t_bits32(left - right));
      assert_int_equal(t_bits32(z[second]), t_bits32(up + down));
    }
    hu_net_free(net);
  }
}

/* The operators of attention, and the order of sums of a head of keys that several heads of queries read: the gradients
 * of its copies, first head first. */
static void groups_by_hand(void **state) {
  (void)state;
  static const char *const kinds[] = {"scores", "softmax", "dropout", "mix"};
  hu_net *net = hu_net_new(1, 1);
  hu_attention how = hu_attention_of(3);
  how.kv_heads = 1;
  how.dropout = 0;
  int x = hu_net_input(net, 1, 5), z = hu_net_attend(net, hu_net_linear(net, x, 5, 0), -1, &how);
  (void)hu_net_squared_error(net, z, 1);
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  const float in[5] = {0, 0, 0, 0, 1}, targets[3] = {1 - 0x1p24f, 0, 0};
  float *w = hu_net_parameter(net, 0).numbers;
  for (int i = 0; i < 25; i++) w[i] = i % 6 == 0;
  assert_int_equal(hu_net_feed(net, x, in), HU_OK);
  assert_int_equal(hu_net_targets(net, targets), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
  assert_int_equal(hu_net_backward(net, 1), HU_OK);
  /* One step: all shares are 1, all results the value, 1. (2^24 + 1) + 1 is 2^24, and 1 + 1 + 2^24 would be more. */
  assert_true(hu_net_value(net, 1).gradients[4] == 0x1p24f);
  hu_net_free(net);
  net = hu_net_new(1, 1);
  how.dropout = 0.5;
  x = hu_net_input(net, 1, 5);
  z = hu_net_attend(net, hu_net_linear(net, x, 5, 0), -1, &how);
  for (int i = 0; i < 4; i++) assert_string_equal(hu_net_value_kind(net, z - 3 + i), kinds[i]);
  hu_net_free(net);
}

/* A head of one column, blocks of two keys, P in FP8 under a scale of each row, one operation after another. */
static void blocks_by_hand(void **state) {
  (void)state;
  enum { N = 5, BLOCK = 2 };
  hu_net *net = hu_net_new(1, 1);
  hu_attention how = hu_attention_of(1);
  hu_product_rounding rounding = hu_product_rounding_plain();
  how.block = BLOCK;
  how.causal = 1;
  int x = hu_net_input(net, N, 3), z = hu_net_attend(net, hu_net_columns(net, x, 0, 3), -1, &how);
  assert_int_equal(hu_rounding_parse(&rounding.x, "scaled(float8_e4m3fn;scale=binary32;block=1x*;rule=ratio)", NULL),
                   HU_OK);
  assert_int_equal(hu_rounding_parse(&rounding.w, "float8_e5m2", NULL), HU_OK);
  assert_int_equal(hu_net_round_product(net, z, &rounding), HU_OK);
  assert_string_equal(hu_net_value_kind(net, z), "online");
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  t_random random = {11};
  float in[3 * N], v[N], top[N], sum[N], o[N];
  for (int i = 0; i < 3 * N; i++) in[i] = 2 * (float)random_number(&random);
  for (int i = 0; i < N; i++) v[i] = in[3 * i + 2], top[i] = -INFINITY, sum[i] = o[i] = 0;
  assert_int_equal(hu_rounding_apply(1, N, v, v, &rounding.w, NULL, NULL), HU_OK);
  assert_int_equal(hu_net_feed(net, x, in), HU_OK);
  assert_int_equal(hu_net_forward(net, 0, NULL), HU_OK);
  for (int from = 0; from < N; from += BLOCK) {
    int cols = N - from < BLOCK ? N - from : BLOCK;
    float p[N * BLOCK], factor[N];
    for (int i = 0; i < N; i++) {
      float before = top[i], total = 0;
      int end = i + 1 - from < cols ? i + 1 - from : cols;
      for (int j = 0; j < end; j++) top[i] = fmaxf(top[i], in[3 * i] * in[3 * (from + j) + 1]);
      factor[i] = end > 0 ? (float)exp((double)(before - top[i])) : 1;
      for (int j = 0; j < cols; j++) {
        float score = in[3 * i] * in[3 * (from + j) + 1], less = score - top[i];
        p[i * cols + j] = j < end ? (float)exp((double)less) : 0;
        total += p[i * cols + j];
      }
      float scaled = sum[i] * factor[i];
      sum[i] = scaled + total;
    }
    assert_int_equal(hu_rounding_apply(N, (size_t)cols, p, p, &rounding.x, NULL, NULL), HU_OK);
    for (int i = 0; i < N; i++) {
      float part = 0, scaled = o[i] * factor[i];
      for (int j = 0; j < cols; j++) part = fmaf(p[i * cols + j], v[from + j], part);
      o[i] = scaled + part;
    }
  }
  for (int i = 0; i < N; i++) assert_int_equal(t_bits32(hu_net_value(net, z).numbers[i]), t_bits32(o[i] / sum[i]));
  hu_net_free(net);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(gradients),           cmocka_unit_test(gradients_of_kinds),
                                     cmocka_unit_test(gradients_of_blocks), cmocka_unit_test(blocks_by_hand),
                                     cmocka_unit_test(padding_is_not_seen), cmocka_unit_test(odd_lengths),
                                     cmocka_unit_test(some_labels),         cmocka_unit_test(refused),
                                     cmocka_unit_test(kinds_refused),       cmocka_unit_test(positions_by_hand),
                                     cmocka_unit_test(yarn_positions),      cmocka_unit_test(groups_by_hand)};
  return cmocka_run_group_tests_name("attention", tests, NULL, NULL);
}
