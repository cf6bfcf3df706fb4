/* SPDX-License-Identifier: MIT */
/* Texts of transformers of others: their numbers of parameters at the sizes that are published, and short runs of small
 * ones, whose loss falls in binary32, S2FP8, FP8 and MX. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/train/model.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"
#include "tests/train/model/models.h"

/* ---- texts ---- */

/* Radford et al., Language models are unsupervised multitask learners (2019). */
static const char gpt2[] =
    "key layers = 2\nkey units = 16\nkey heads = 2\n"
    "x = input(data.steps, 1)\n"
    "e = embedding(x, data.vocabulary, units, start=normal(0.02))\n"
    "h = position(e, start=normal(0.02))\n"
    "for i in 1 to layers\n  scope block{i}\n"
    "    z = linear(layer_norm(h), 3 * units, start=normal(0.02))\n"
    "    z = linear(attention(z, heads, causal=1), units, start=normal(0.02 / sqrt(2 * layers)))\n"
    "    h = add(h, z)\n"
    "    z = gelu_tanh(linear(layer_norm(h), 4 * units, start=normal(0.02)))\n"
    "    h = add(h, linear(z, units, start=normal(0.02 / sqrt(2 * layers))))\n"
    "  end\nend\n"
    "output linear(layer_norm(h), data.vocabulary, bias=0, share=e)\n";

/* Devlin et al. (2019), with the head of the masked language model. */
static const char bert[] =
    "key layers = 2\nkey units = 16\nkey heads = 2\nkey segments = 2\n"
    "x = input(data.steps, 1)\ns = input(data.steps, 1)\n"
    "e = embedding(x, data.vocabulary, units, start=normal(0.02))\n"
    "h = add(e, embedding(s, segments, units, start=normal(0.02)))\n"
    "h = layer_norm(position(h, start=normal(0.02)), eps=1e-12)\n"
    "for i in 1 to layers\n  scope block{i}\n"
    "    z = linear(attention(linear(h, 3 * units), heads), units)\n"
    "    h = layer_norm(add(h, z), eps=1e-12)\n"
    "    z = linear(gelu(linear(h, 4 * units)), units)\n"
    "    h = layer_norm(add(h, z), eps=1e-12)\n"
    "  end\nend\n"
    "h = layer_norm(gelu(linear(h, units)), eps=1e-12)\n"
    "output linear(h, data.vocabulary, share=e)\n";

/* tensor2tensor, transformer_tiny: source, target shifted by a row, and a number of the problem. */
static const char tiny[] =
    "key layers = 2\nkey units = 16\nkey heads = 2\nkey hidden = 32\nkey dropped = 0\n"
    "block attend(h)\n"
    "  z = linear(layer_norm(h, eps=1e-6), 3 * units, bias=0, start=fan_sum(6))\n"
    "  z = attention(z, heads, dropout=dropped)\n"
    "  return add(h, dropout(linear(z, units, bias=0, start=fan_sum(6)), dropped))\nend\n"
    "block dense(h)\n"
    "  z = relu(linear(layer_norm(h, eps=1e-6), hidden, start=fan_sum(6)))\n"
    "  return add(h, dropout(linear(dropout(z, dropped), units, start=fan_sum(6)), dropped))\nend\n"
    "x = input(data.steps, 1)\ny = input(data.steps, 1)\np = input(1, 1)\n"
    "e = embedding(x, data.vocabulary, units, start=normal(1 / sqrt(units)))\n"
    "h = add_row(scale(e, sqrt(units)), embedding(p, 32, units, start=normal(1 / sqrt(units))))\n"
    "h = dropout(sines(h), dropped)\n"
    "for i in 1 to layers\n  scope encoder{i}\n    h = dense(attend(h))\n  end\nend\n"
    "memory = layer_norm(h, eps=1e-6)\n"
    "d = embedding(y, data.vocabulary, units, share=e)\n"
    "h = dropout(sines(scale(d, sqrt(units))), dropped)\n"
    "for i in 1 to layers\n  scope decoder{i}\n"
    "    z = linear(layer_norm(h, eps=1e-6), 3 * units, bias=0, start=fan_sum(6))\n"
    "    z = attention(z, heads, causal=1, dropout=dropped)\n"
    "    h = add(h, dropout(linear(z, units, bias=0, start=fan_sum(6)), dropped))\n"
    "    q = linear(layer_norm(h, eps=1e-6), units, bias=0, start=fan_sum(6))\n"
    "    kv = linear(memory, 2 * units, bias=0, start=fan_sum(6))\n"
    "    z = attention_across(q, kv, heads, dropout=dropped)\n"
    "    h = add(h, dropout(linear(z, units, bias=0, start=fan_sum(6)), dropped))\n"
    "    h = dense(h)\n"
    "  end\nend\n"
    "output linear(layer_norm(h, eps=1e-6), data.vocabulary, bias=0, share=e)\n";

/* Llama 3: grouped queries, rotary positions with its frequencies, SwiGLU. */
static const char llama[] =
    "key layers = 2\nkey units = 16\nkey heads = 4\nkey kv = 2\nkey hidden = 24\n"
    "x = input(data.steps, 1)\n"
    "h = embedding(x, data.vocabulary, units)\n"
    "width = units / heads\n"
    "for i in 1 to layers\n  scope block{i}\n"
    "    z = linear(rms_norm(h), units + 2 * kv * width, bias=0)\n"
    "    z = rotary(z, width, units + kv * width, base=500000, factor=8)\n"
    "    h = add(h, linear(attention(z, heads, causal=1, kv_heads=kv), units, bias=0))\n"
    "    z = rms_norm(h)\n"
    "    z = multiply(silu(linear(z, hidden, bias=0)), linear(z, hidden, bias=0))\n"
    "    h = add(h, linear(z, units, bias=0))\n"
    "  end\nend\n"
    "output linear(rms_norm(h), data.vocabulary, bias=0)\n";

/* Mixtral: two of the experts, whose shares are those of softmax over all, divided by their sum. */
static const char mixtral[] =
    "key layers = 2\nkey units = 16\nkey heads = 4\nkey kv = 2\nkey hidden = 24\nkey experts = 4\n"
    "x = input(data.steps, 1)\n"
    "h = embedding(x, data.vocabulary, units)\n"
    "width = units / heads\n"
    "for i in 1 to layers\n  scope block{i}\n"
    "    z = linear(rms_norm(h), units + 2 * kv * width, bias=0)\n"
    "    z = rotary(z, width, units + kv * width, base=1000000)\n"
    "    h = add(h, linear(attention(z, heads, causal=1, kv_heads=kv), units, bias=0))\n"
    "    z = rms_norm(h)\n"
    "    r = route(linear(z, experts, bias=0), 2, normed=1)\n"
    "    b = balance_loss(r, 0.02)\n"
    "    z = to_experts(z, r)\n"
    "    z = multiply(silu(experts(z, r, hidden, bias=0)), experts(z, r, hidden, bias=0))\n"
    "    h = add(h, from_experts(experts(z, r, units, bias=0), r))\n"
    "  end\nend\n"
    "output linear(rms_norm(h), data.vocabulary, bias=0)\n";

/* gpt-oss: positions of YaRN, sinks, a window in every second layer, shares of the chosen experts, biases, bounded
 * functions. */
static const char oss[] =
    "key layers = 2\nkey units = 16\nkey heads = 4\nkey kv = 2\nkey width = 4\nkey hidden = 12\nkey experts = 4\n"
    "key chosen = 2\nkey window = 3\n"
    "x = input(data.steps, 1)\n"
    "h = embedding(x, data.vocabulary, units)\n"
    "for i in 1 to layers\n  scope block{i}\n"
    "    z = linear(rms_norm(h), (heads + 2 * kv) * width)\n"
    "    z = rotary(z, width, (heads + kv) * width, base=150000, factor=32, original=4096, yarn=1)\n"
    "    seen = 0\n    if i - 2 * floor(i / 2)\n      seen = window\n    end\n"
    "    z = attention(z, heads, causal=1, kv_heads=kv, window=seen, sink=1)\n"
    "    h = add(h, linear(z, units))\n"
    "    z = rms_norm(h)\n"
    "    r = route(linear(z, experts), chosen, of_chosen=1)\n"
    "    z = to_experts(z, r)\n"
    "    gate = silu(clip(experts(z, r, hidden), -1e30, 7), beta=1.702)\n"
    "    up = clip(experts(z, r, hidden), -7, 7)\n"
    "    z = add(multiply(gate, up), gate)\n"
    "    h = add(h, from_experts(experts(z, r, units), r))\n"
    "  end\nend\n"
    "output linear(rms_norm(h), data.vocabulary, bias=0)\n";

/* Counts: of the transformers library for GPT-2 and BERT, and of the layers' sizes by hand. Tiny: 923136 in the layers,
 * 32 rows of the problem, and the table. Llama: V d in both tables, d at the end, and for each layer 2 d, d (d + 2 k),
 * d d and 3 d h, d 16, h 24, k 8 columns of keys; the others are counted likewise. */
static const struct {
  const char *name, *text, *settings;
  size_t steps, vocabulary, parameters;
} published[] = {
    {"gpt-2", gpt2, "layers=12,units=768,heads=12", 1024, 50257, 124439808},
    {"bert-base", bert, "layers=12,units=768,heads=12", 512, 30522, 109514298},
    {"transformer_tiny", tiny, "units=128,heads=4,hidden=512,dropped=0.1", 8, 32768, 923136 + 32 * 128 + 128 * 32768},
    {"llama", llama, NULL, 8, 11, 2 * 11 * 16 + 16 + 2 * (2 * 16 + 16 * 32 + 16 * 16 + 3 * 16 * 24)},
    {"mixtral", mixtral, NULL, 8, 11, 2 * 11 * 16 + 16 + 2 * (2 * 16 + 16 * 32 + 16 * 16 + 16 * 4 + 4 * 3 * 16 * 24)},
    {"gpt-oss", oss, NULL, 8, 11,
     2 * 11 * 16 + 16 + 2 * (2 * 16 + 17 * 32 + 17 * 16 + 4 + 17 * 4 + 4 * (2 * 17 * 12 + 13 * 16))}};
enum { TEXTS = sizeof published / sizeof *published };

static void counts(void **state) {
  (void)state;
  for (size_t i = 0; i < TEXTS; i++) {
    hu_model_sizes sizes = {.steps = published[i].steps, .vocabulary = published[i].vocabulary};
    hu_model m = model_of(published[i].text);
    hu_model_ends ends;
    const char *why = "";
    size_t all = 0;
    hu_net *net = hu_net_new(1, 1);
    m.settings = published[i].settings;
    if (hu_model_build(net, &m, &sizes, &ends, &why) != HU_OK) fail_msg("%s: %s", published[i].name, why);
    for (int p = 0; p < hu_net_parameters(net); p++) {
      hu_net_tensor tensor = hu_net_parameter(net, p);
      all += tensor.rows * tensor.cols;
    }
    if (all != published[i].parameters)
      fail_msg("%s: %zu parameters, not %zu", published[i].name, all, published[i].parameters);
    hu_net_free(net);
  }
}

/* ---- runs ---- */

enum { BATCH = 2, STEPS = 8, WORDS = 11, TURNS = 30 };

typedef struct t_recipe {
  const char *name, *forward, *turned, *gradients;
} t_recipe;

static const t_recipe recipes[] = {
    {"binary32", "keep", "keep", "keep"},
    {"S2FP8", "s2fp8", "s2fp8", "s2fp8"},
    {"FP8", "float8_e4m3fn,sat=finite", "float8_e4m3fn,sat=finite", "float8_e5m2,sat=finite"},
    {"MX", "mxfp8_e4m3", "mxfp8_e4m3,turned", "mxfp8_e4m3"}};

static void round_products(hu_net *net, const t_recipe *recipe) {
  hu_product_rounding rounding = hu_product_rounding_plain();
  assert_int_equal(hu_rounding_parse(&rounding.x, recipe->forward, NULL), HU_OK);
  assert_int_equal(hu_rounding_parse(&rounding.w, recipe->turned, NULL), HU_OK);
  assert_int_equal(hu_rounding_parse(&rounding.dz, recipe->gradients, NULL), HU_OK);
  rounding.w_back = rounding.x;
  rounding.x_back = rounding.w;
  rounding.dz_w = rounding.dz;
  for (int i = 0; i < hu_net_values(net); i++) {
    hu_status status = hu_net_round_product(net, i, &rounding);
    assert_true(status == HU_OK || status == HU_E_SHAPE);
  }
}

/* Feeds the same tokens each time; what comes next is what is asked for. */
static void feed(hu_net *net, const hu_model_ends *ends) {
  float tokens[BATCH * STEPS], others[BATCH * STEPS] = {0};
  uint32_t labels[BATCH * STEPS];
  t_random random = {21};
  for (size_t i = 0; i < BATCH * STEPS; i++) tokens[i] = (float)t_below(&random, WORDS);
  for (size_t i = 0; i < BATCH * STEPS; i++) labels[i] = (uint32_t)tokens[(i + 1) % (BATCH * STEPS)];
  for (int i = 0; i < ends->count; i++)
    assert_int_equal(hu_net_feed(net, ends->inputs[i], i == 0 || (i == 1 && ends->count == 3) ? tokens : others),
                     HU_OK);
  assert_int_equal(hu_net_labels(net, labels), HU_OK);
}

static void run(size_t i, const t_recipe *recipe) {
  const hu_model_sizes sizes = {.steps = STEPS, .vocabulary = WORDS};
  hu_optimizer optimizer = hu_optimizer_adamw(hu_binary32());
  hu_loss_rule rule;
  hu_model_ends ends;
  hu_net *net = net_of(published[i].text, &sizes, BATCH, 1, &ends);
  float first = 0, loss = 0;
  assert_int_equal(hu_loss_rule_parse(&rule, "static(64)", NULL), HU_OK);
  hu_loss_scale scale = hu_loss_scale_start(&rule);
  optimizer.rate = 0.01;
  (void)hu_net_cross_entropy(net, ends.output, 1);
  round_products(net, recipe);
  assert_int_equal(hu_net_initialize(net, 5), HU_OK);
  for (int turn = 0; turn < TURNS; turn++) {
    feed(net, &ends);
    assert_int_equal(hu_net_forward(net, 1, &loss), HU_OK);
    assert_int_equal(hu_net_backward(net, scale.scale), HU_OK);
    assert_int_equal(hu_net_update(net, &optimizer, &rule, &scale, NULL, NULL), HU_OK);
    if (!turn) first = loss;
  }
  print_message("%s, %s: %.4f to %.4f\n", published[i].name, recipe->name, (double)first, (double)loss);
  if (!(loss < 0.5f * first)) fail_msg("%s, %s: the loss has not fallen", published[i].name, recipe->name);
  hu_net_free(net);
}

static void runs(void **state) {
  (void)state;
  for (size_t i = 0; i < TEXTS; i++) {
    for (size_t k = 0; k < sizeof recipes / sizeof *recipes; k++) run(i, &recipes[k]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(counts), cmocka_unit_test(runs)};
  return cmocka_run_group_tests_name("transformers", tests, NULL, NULL);
}
