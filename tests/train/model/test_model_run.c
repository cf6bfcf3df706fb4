/* SPDX-License-Identifier: MIT */
/* Models at work: what they compute against binary64 models of their own, losses that fall, the same bits. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/train.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"
#include "tests/train/model/reference.h"

/* ---- what is computed ---- */

enum { MOST = 4096 };

/* Evaluation with all convolutions 0 but the first, which sees the pixel in the middle alone: blocks pass on what
 * they get, every second pixel of it in stages 2 and 3, and channels from 4 on are zeros. */
static void shortcuts_pass_on(void **state) {
  (void)state;
  enum { SIDE = 11, C = 4, B = 2 };
  const hu_model_sizes sizes = {.height = SIDE, .width = SIDE, .channels = 3, .outputs = 5};
  static float x[B * SIDE * SIDE * 3];
  double mean[B * 4 * C] = {0}, expected[B * 5];
  hu_model_ends ends;
  t_random random = {3};
  hu_net *net = net_of("resnet(blocks=2,width=0.25)", &sizes, B, 1, &ends);
  (void)hu_net_cross_entropy(net, ends.output, 1);
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  for (int p = 0; p < hu_net_parameters(net); p++) {
    hu_net_tensor tensor = hu_net_parameter(net, p);
    int first = p == hu_net_parameter_named(net, "conv1.weight");
    if (!strstr(hu_net_parameter_name(net, p), "conv")) continue;
    for (size_t i = 0; i < tensor.rows * tensor.cols; i++) {
      if (!first || i / tensor.cols / 3 != 4) tensor.numbers[i] = 0;
    }
  }
  for (size_t i = 0; i < sizeof x / sizeof *x; i++) x[i] = (float)t_below(&random, 201) / 100 - 1;
  const float *w = theta(net, "conv1.weight") + 4 * 3 * C;
  for (size_t b = 0; b < B; b++) {
    for (size_t at = 0; at < 9; at++) { /* 11, 6, 3 pixels a side: 0, 4, 8 of the first */
      const float *pixel = x + ((b * SIDE + at / 3 * 4) * SIDE + at % 3 * 4) * 3;
      for (size_t c = 0; c < C; c++) {
        double sum = 0;
        for (size_t k = 0; k < 3; k++) sum += (double)pixel[k] * (double)w[k * C + c];
        mean[b * 4 * C + c] += fmax(sum / sqrt(1 + 1e-5), 0) / 9;
      }
    }
  }
  dense(B, 4 * C, 5, mean, theta(net, "linear1.weight"), theta(net, "linear1.bias"), expected);
  uint32_t labels[B] = {0};
  assert_int_equal(hu_model_feed(net, &ends, x), HU_OK);
  assert_int_equal(hu_net_labels(net, labels), HU_OK);
  assert_int_equal(hu_net_forward(net, 0, NULL), HU_OK);
  close_to("resnet", net, ends.output, expected);
  hu_net_free(net);
}

/* Both branches from tables by hand. */
static void factors(void **state) {
  (void)state;
  enum { B = 6, F = 3, USERS = 5, ITEMS = 7 };
  const hu_model_sizes sizes = {.users = USERS, .items = ITEMS, .outputs = 2};
  float x[B][2];
  double both[B][2 * F], pair[4 * F], h[2 * F], expected[B * 2];
  hu_model_ends ends;
  hu_net *net = net_of("ncf(layers=2,units=3)", &sizes, B, 1, &ends);
  (void)hu_net_squared_error(net, ends.output, 1);
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  fill(net, 4);
  for (size_t i = 0; i < B; i++) {
    x[i][0] = (float)(i % USERS);
    x[i][1] = (float)(3 * i % ITEMS);
    const float *u = theta(net, "product.embedding1.weight") + F * (i % USERS);
    const float *v = theta(net, "product.embedding2.weight") + F * (3 * i % ITEMS);
    for (size_t k = 0; k < F; k++) both[i][k] = (double)u[k] * (double)v[k];
    u = theta(net, "dense.embedding1.weight") + 2 * F * (i % USERS);
    v = theta(net, "dense.embedding2.weight") + 2 * F * (3 * i % ITEMS);
    for (size_t k = 0; k < 2 * F; k++) {
      pair[k] = (double)u[k];
      pair[2 * F + k] = (double)v[k];
    }
    dense(1, 4 * F, 2 * F, pair, theta(net, "dense.linear1.weight"), theta(net, "dense.linear1.bias"), h);
    rectify(2 * F, h);
    dense(1, 2 * F, F, h, theta(net, "dense.linear2.weight"), theta(net, "dense.linear2.bias"), &both[i][F]);
    rectify(F, &both[i][F]);
  }
  dense(B, 2 * F, 2, &both[0][0], theta(net, "linear1.weight"), theta(net, "linear1.bias"), expected);
  float targets[B * 2] = {0};
  assert_int_equal(hu_model_feed(net, &ends, &x[0][0]), HU_OK);
  assert_int_equal(hu_net_targets(net, targets), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
  close_to("ncf", net, ends.output, expected);
  hu_net_free(net);
}

static void attend(const double *qkv, double *z) {
  enum { H = D / HEADS };
  for (size_t head = 0; head < HEADS; head++) {
    for (size_t t = 0; t < T; t++) {
      const double *q = qkv + t * 3 * D + head * H;
      double p[T], sum = 0;
      for (size_t s = 0; s <= t; s++) {
        const double *k = qkv + s * 3 * D + D + head * H;
        double score = 0;
        for (size_t j = 0; j < H; j++) score += q[j] * k[j];
        p[s] = exp(score / sqrt(H));
        sum += p[s];
      }
      for (size_t j = 0; j < H; j++) {
        double *to = z + t * D + head * H + j;
        *to = 0;
        for (size_t s = 0; s <= t; s++) *to += p[s] / sum * qkv[s * 3 * D + 2 * D + head * H + j];
      }
    }
  }
}

/* h1 = h0 + Attn(LN h0) Wo; h2 = h1 + W2 relu(W1 LN h1 + b1) + b2, twice; logits = LN(h) Wout + bout. */
static void pre_norm(void **state) {
  (void)state;
  const hu_model_sizes sizes = {.steps = T, .vocabulary = V};
  static const float x[T] = {3, 0, 5, 5, 1};
  double h[T * D], n[T * D], a[T * D], wide[T * 3 * D], f[T * FORWARD], expected[T * V];
  hu_model_ends ends;
  hu_net *net = net_of("transformer(layers=2,units=4,heads=2,hidden=7)", &sizes, 1, 1, &ends);
  (void)hu_net_cross_entropy(net, ends.output, 1);
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  fill(net, 5);
  for (size_t i = 0; i < T * D; i++) {
    h[i] = (double)theta(net, "embedding1.weight")[(size_t)x[i / D] * D + i % D] +
           (double)theta(net, "position1.weight")[i];
  }
#define B(name) theta(net, block ? "block2." name : "block1." name)
  for (int block = 0; block < 2; block++) {
    norm(h, B("layer_norm1.gain"), B("layer_norm1.offset"), n);
    dense(T, D, 3 * D, n, B("linear1.weight"), NULL, wide);
    attend(wide, a);
    dense(T, D, D, a, B("linear2.weight"), NULL, n);
    add(T * D, h, n);
    norm(h, B("layer_norm2.gain"), B("layer_norm2.offset"), n);
    dense(T, D, FORWARD, n, B("linear3.weight"), B("linear3.bias"), f);
    rectify(T * FORWARD, f);
    dense(T, FORWARD, D, f, B("linear4.weight"), B("linear4.bias"), n);
    add(T * D, h, n);
  }
#undef B
  norm(h, theta(net, "layer_norm1.gain"), theta(net, "layer_norm1.offset"), n);
  dense(T, D, V, n, theta(net, "linear1.weight"), theta(net, "linear1.bias"), expected);
  uint32_t labels[T] = {0};
  assert_int_equal(hu_model_feed(net, &ends, x), HU_OK);
  assert_int_equal(hu_net_labels(net, labels), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
  close_to("transformer", net, ends.output, expected);
  hu_net_free(net);
}

/* ---- training ---- */

enum { BATCH = 16, STEPS = 25, FEW = 3, WINDOW = 12, TOKENS = 7 };

/* A batch that a model learns by heart. */
typedef struct t_task {
  hu_model_sizes sizes;
  float *x, *y;
  uint32_t *labels;
} t_task;

static t_task images, texts, scores, likes;

static void *buffer(size_t n) {
  void *z = calloc(n, sizeof(float));
  assert_non_null(z);
  return z;
}

static t_task task_of(const hu_data *data) {
  t_task task = {hu_model_sizes_of_data(data), data->x, data->y, data->labels};
  return task;
}

static int set_up(void **state) {
  (void)state;
  static hu_data gratings, rated, liked;
  hu_ratings what = hu_ratings_default();
  what.count = BATCH;
  assert_int_equal(hu_data_gratings(&gratings, 0, BATCH, 16, 10, 1), HU_OK);
  assert_int_equal(hu_data_ratings(&rated, 0, &what, 1), HU_OK);
  what.labels = 1;
  assert_int_equal(hu_data_ratings(&liked, 0, &what, 1), HU_OK);
  images = task_of(&gratings);
  scores = task_of(&rated);
  likes = task_of(&liked);
  scores.sizes.users = likes.sizes.users = what.users;
  scores.sizes.items = likes.sizes.items = what.items;
  /* Windows of i^2 mod 7. */
  hu_model_sizes sizes = {.steps = WINDOW, .vocabulary = TOKENS, .outputs = TOKENS};
  texts.sizes = sizes;
  texts.x = buffer(BATCH * WINDOW);
  texts.labels = buffer(BATCH * WINDOW);
  for (size_t i = 0; i < BATCH * WINDOW; i++) {
    size_t at = i / WINDOW + i % WINDOW;
    texts.x[i] = (float)(at * at % TOKENS);
    texts.labels[i] = (uint32_t)((at + 1) * (at + 1) % TOKENS);
  }
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  t_task *all[] = {&images, &texts, &scores, &likes};
  for (size_t i = 0; i < 4; i++) {
    free(all[i]->x);
    free(all[i]->y);
    free(all[i]->labels);
  }
  return 0;
}

typedef struct way {
  double rate;
  int steps;
  uint32_t threads;
  const char *precision; /* NULL: binary32 throughout */
} way;

/* The digest of the weights; the loss before the first step and the last one. */
static uint64_t train(const char *text, const t_task *task, way w, float loss[2]) {
  hu_model_ends ends;
  hu_net *net = net_of(text, &task->sizes, BATCH, w.threads, &ends);
  (void)(task->labels ? hu_net_cross_entropy : hu_net_squared_error)(net, ends.output, 1);
  assert_int_equal(hu_net_status(net, NULL), HU_OK);
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  hu_optimizer optimizer = hu_optimizer_adamw(hu_binary32());
  hu_loss_rule rule;
  assert_int_equal(hu_loss_rule_parse(&rule, w.precision ? "static(64)" : "none", NULL), HU_OK);
  hu_loss_scale scale = hu_loss_scale_start(&rule);
  optimizer.rate = w.rate;
  hu_precision_rule assigned;
  hu_precision *plan = NULL;
  if (w.precision) {
    assert_int_equal(hu_precision_rule_parse(&assigned, w.precision, NULL), HU_OK);
    assert_int_equal(hu_precision_new(&plan, net, &assigned), HU_OK);
  }
  for (int i = 0; i < w.steps; i++) {
    assert_int_equal(hu_model_feed(net, &ends, task->x), HU_OK);
    assert_int_equal(task->labels ? hu_net_labels(net, task->labels) : hu_net_targets(net, task->y), HU_OK);
    assert_int_equal(hu_net_forward(net, 1, &loss[i > 0]), HU_OK);
    assert_int_equal(hu_net_backward(net, scale.scale), HU_OK);
    assert_int_equal(hu_net_update(net, &optimizer, &rule, &scale, NULL, NULL), HU_OK);
    if (plan) assert_int_equal(hu_precision_step(plan, NULL), HU_OK);
  }
  uint64_t z = hu_net_digest(net);
  hu_precision_free(plan);
  hu_net_free(net);
  return z;
}

static const struct {
  const char *text;
  const t_task *t;
  double rate;
  uint64_t digest;
} table[] = {{"linear", &images, 0.01, 0x11B3B625B69E1F76},
             {"mlp(units=32)", &images, 0.01, 0x21F1F2940AC6AD51},
             {"mlp(layers=1,activation=gelu)", &images, 0.01, 0x68199E2BC3F8138B},
             {"mlp(layers=3,units=16,activation=tanh)", &images, 0.01, 0x0D9597FDD111EEBA},
             {"conv(channels=4/8)", &images, 0.1, 0x22EC1390193140AD},
             {"resnet(blocks=1,width=0.25)", &images, 0.01, 0x922A0078EEA97E6A},
             {"resnet20(width=0.125,projection)", &images, 0.01, 0x0FF05DA0877332A7},
             {"squeezenet(width=0.125)", &images, 0.01, 0x810528AECBB8FFD5},
             {"squeezenet(width=0.125,bypass)", &images, 0.01, 0x0AFA6AB65F0ABD17},
             {"mobilenet2(width=0.1)", &images, 0.01, 0x4B309109B439370D},
             {"shufflenet2(width=0.1)", &images, 0.01, 0xCC40781126398AF4},
             {"gru(units=16)", &images, 0.01, 0x6502EAA78035E7D4},
             {"gru(layers=2,units=16)", &images, 0.01, 0xB2DA82CAF499DED1},
             {"lstm(units=16)", &texts, 0.05, 0x2A308E0F94D047D6},
             {"lstm(layers=2,units=16)", &texts, 0.05, 0xD8AD43F24DAB323E},
             {"transformer(units=16,hidden=32)", &texts, 0.01, 0x90A82DFC417AD696},
             {"transformer(layers=2,units=16,heads=4,hidden=32,activation=gelu)", &texts, 0.01, 0x0B009317F626DD29},
             {"ncf(layers=2,deviation=0.3)", &scores, 0.01, 0x3F6017E0DDBCBFE4},
             {"ncf", &likes, 0.01, 0x37434C393C5DB2D5}};
enum { MODELS = sizeof table / sizeof *table };

/* ---- what mobile networks are made of ---- */

enum { SAMPLES = 2 };

static size_t kinds_of(const hu_net *net, const char *kind) {
  size_t n = 0;
  for (int i = 0; i < hu_net_values(net); i++) n += strcmp(hu_net_value_kind(net, i), kind) == 0;
  return n;
}

/* The sides and channels of images, each once where they change, of the values of one kind. */
static void shapes_of(const hu_net *net, const char *kind, char *text, size_t size) {
  size_t used = 0, rows = 0, cols = 0;
  text[0] = 0;
  for (int i = 0; i < hu_net_values(net); i++) {
    hu_net_tensor tensor = hu_net_value(net, i);
    if (strcmp(hu_net_value_kind(net, i), kind) != 0 || (tensor.rows == rows && tensor.cols == cols)) continue;
    rows = tensor.rows;
    cols = tensor.cols;
    used += (size_t)snprintf(text + used, size - used, "%g:%zu ", sqrt((double)rows / SAMPLES), cols);
    assert_true(used < size);
  }
}

static void mobile_layers(void **state) {
  (void)state;
  const hu_model_sizes cifar = {.height = 32, .width = 32, .channels = 3, .outputs = 10};
  static const struct {
    const char *text, *kind;
    size_t count;
    const char *shapes; /* pixels a side, channels */
  } parts[] = {{"mobilenet2", "conv", 52, NULL},
               {"mobilenet2", "relu6", 35, "32:32 32:96 32:144 16:144 16:192 8:192 8:384 8:576 4:576 4:960 4:1280 "},
               {"mobilenet2", "add", 10, "32:24 16:32 8:64 8:96 4:160 "},
               {"mobilenet2", "relu", 0, ""},
               {"mobilenet2", "dropout", 0, ""},
               {"mobilenet2(dropout=0.2)", "dropout", 1, "1:1280 "},
               {"shufflenet2", "conv", 56, NULL},
               {"shufflenet2", "shuffle", 16, "16:116 8:232 4:464 "},
               {"shufflenet2", "concat", 16, "16:116 8:232 4:464 "},
               {"shufflenet2", "part", 26, "16:58 8:116 4:232 "},
               {"shufflenet2", "relu", 37, "32:24 16:58 32:58 16:58 8:116 16:116 8:116 4:232 8:232 4:232 4:1024 "},
               {"shufflenet2", "add", 0, ""}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    char shapes[256];
    hu_model_ends ends;
    hu_net *net = net_of(parts[i].text, &cifar, SAMPLES, 1, &ends);
    shapes_of(net, parts[i].kind, shapes, sizeof shapes);
    if (kinds_of(net, parts[i].kind) != parts[i].count)
      fail_msg("%s: %zu %s", parts[i].text, kinds_of(net, parts[i].kind), parts[i].kind);
    if (parts[i].shapes && strcmp(shapes, parts[i].shapes) != 0)
      fail_msg("%s: %s: %s", parts[i].text, parts[i].kind, shapes);
    hu_net_free(net);
  }
}

/* ---- all of them ---- */

static void losses_fall(void **state) {
  (void)state;
  for (size_t i = 0; i < MODELS; i++) {
    float loss[2] = {0, 0};
    uint64_t z = train(table[i].text, table[i].t, (way){table[i].rate, STEPS, 1, NULL}, loss);
    print_message("%s: %g to %g\n", table[i].text, (double)loss[0], (double)loss[1]);
    if (!(loss[1] < 0.7f * loss[0])) fail_msg("%s: the loss does not fall", table[i].text);
    if (z != table[i].digest) fail_msg("%s: digest 0x%016llX", table[i].text, (unsigned long long)z);
  }
}

/* In binary32, and half of all elements in eight bits. */
static void threads_do_not_matter(void **state) {
  (void)state;
  for (size_t i = 0; i < MODELS; i++) {
    uint64_t one[2];
    for (int low = 0; low < 2; low++) {
      float loss[2];
      way w = {table[i].rate, FEW, 1, low ? "demote(0.5)" : NULL};
      one[low] = train(table[i].text, table[i].t, w, loss);
      w.threads = 3;
      if (train(table[i].text, table[i].t, w, loss) != one[low]) fail_msg("%s: other weights", table[i].text);
    }
    if (one[0] == one[1]) fail_msg("%s: the same weights in low precision", table[i].text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(shortcuts_pass_on), cmocka_unit_test(factors),
                                     cmocka_unit_test(pre_norm),          cmocka_unit_test(mobile_layers),
                                     cmocka_unit_test(losses_fall),       cmocka_unit_test(threads_do_not_matter)};
  return cmocka_run_group_tests_name("models at work", tests, set_up, tear_down);
}
