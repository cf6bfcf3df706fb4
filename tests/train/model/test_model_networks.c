/* SPDX-License-Identifier: MIT */
/* The built-in networks keep their bits: wiring, names, first weights and gradients of one pass, as digests. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/train/model.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"
#include "tests/train/model/models.h"

static const hu_model_sizes image = {.height = 8, .width = 8, .channels = 3, .outputs = 10};
static const hu_model_sizes odd = {.height = 9, .width = 7, .channels = 2, .outputs = 5};
static const hu_model_sizes words = {.steps = 5, .vocabulary = 7, .source_vocabulary = 6};
static const hu_model_sizes joined = {.steps = 5, .vocabulary = 7, .source_vocabulary = 7};
static const hu_model_sizes pairs = {.users = 4, .items = 6, .outputs = 2};
static const hu_model_sizes clicks = {.dense = 3, .categories = 4, .vocabulary = 9, .outputs = 2};

enum { BATCH = 2 };

static void add(uint64_t *digest, const void *x, size_t n) {
  const unsigned char *byte = x;
  for (size_t i = 0; i < n; i++) *digest = (*digest ^ byte[i]) * 0x100000001B3u;
}

static void add_word(uint64_t *digest, uint64_t x) { add(digest, &x, sizeof x); }

static void add_structure(uint64_t *digest, const hu_net *net, const hu_model_ends *ends) {
  for (int i = 0; i < hu_net_values(net); i++) {
    hu_net_tensor value = hu_net_value(net, i);
    const char *kind = hu_net_value_kind(net, i);
    add(digest, kind, strlen(kind) + 1);
    add_word(digest, value.rows);
    add_word(digest, value.cols);
  }
  for (int i = 0; i < hu_net_parameters(net); i++) {
    const char *name = hu_net_parameter_name(net, i);
    add(digest, name, strlen(name) + 1);
    add_word(digest, hu_net_parameter(net, i).rows);
  }
  for (int i = 0; i < ends->count; i++) add_word(digest, (uint64_t)ends->inputs[i]);
  add_word(digest, (uint64_t)ends->output);
}

/* Whole numbers from 0 to 3, which are pixels and tokens. */
static void feed(hu_net *net, int input) {
  hu_net_tensor value = hu_net_value(net, input);
  for (size_t i = 0; i < value.rows * value.cols; i++) value.numbers[i] = (float)((i * 7 + i / 3) % 4);
  assert_int_equal(hu_net_feed(net, input, value.numbers), HU_OK);
}

static void add_pass(uint64_t *digest, hu_net *net, const hu_model_ends *ends) {
  uint32_t labels[64];
  float loss;
  hu_net_tensor output = hu_net_value(net, ends->output);
  for (uint32_t i = 0; i < 64; i++) labels[i] = i * 3 % (uint32_t)output.cols;
  assert_int_equal(hu_net_initialize(net, 11), HU_OK);
  add_word(digest, hu_net_digest(net));
  for (int i = 0; i < ends->count; i++) feed(net, ends->inputs[i]);
  assert_int_equal(hu_net_labels(net, labels), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, &loss), HU_OK);
  assert_int_equal(hu_net_backward(net, 1), HU_OK);
  add(digest, &loss, sizeof loss);
  for (int i = 0; i < hu_net_parameters(net); i++) {
    hu_net_tensor weights = hu_net_parameter(net, i);
    add(digest, weights.gradients, weights.rows * weights.cols * sizeof *weights.gradients);
  }
}

static const struct {
  const char *text;
  const hu_model_sizes *sizes;
  uint64_t digest;
} table[] = {{"linear", &image, 0x0A02A4F5BBC57883},
             {"linear(nobias)", &odd, 0xE0344DF9B0D5B7CA},
             {"mlp", &image, 0x55989B61617BA253},
             {"mlp(layers=3,units=7,activation=gelu,dropout=0.25)", &odd, 0x1941E2309FC693EE},
             {"mlp(layers=1,units=5,activation=tanh)", &odd, 0x051C941F599EA802},
             {"conv", &image, 0x707F12EA7E1E8D4A},
             {"conv(channels=3/5,kernel=5,width=1.5,dropout=0.5)", &odd, 0x8A5743ED9B73D46F},
             {"conv(channels=3/5/1/2/3/4/5/6,kernel=1,width=0.1)", &odd, 0x12D4A65DF8DB2E44},
             {"resnet(width=0.25)", &image, 0xF3E23A16A90E63AE},
             {"resnet(blocks=1,width=0.01)", &odd, 0xB1C585AF063E2755},
             {"resnet(blocks=2,width=0.3,projection)", &odd, 0xC3F049128EAD2910},
             {"resnet18(width=0.1)", &image, 0x917BE9AE51098265},
             {"resnet34(width=0.05)", &odd, 0xAE8E4AB88E4299A5},
             {"resnet50(width=0.05)", &image, 0x78F05EB60F715895},
             {"resnet4(stages=1/2/1,width=0.1,bottleneck)", &odd, 0x969654AB362305E7},
             {"squeezenet(width=0.25)", &image, 0xC02DDAB0123C1651},
             {"squeezenet(width=0.1,bypass,dropout=0.5)", &image, 0x7C6FD25C70C53271},
             {"mobilenet2(width=0.25)", &image, 0x6F1C19B784B830A9},
             {"mobilenet2(width=1.1,dropout=0.2)", &odd, 0x42908E4F0AC0EB3E},
             {"shufflenet2(width=0.5)", &image, 0x4F862F34B941FDDA},
             {"shufflenet2(width=0.1)", &odd, 0x3325C94F843255F4},
             {"shufflenet2", &image, 0x6F3C0CA4A20D6C52},
             {"shufflenet2(width=1.5)", &image, 0xDB5B28FBA1406A9B},
             {"shufflenet2(width=2)", &odd, 0x1F474D22BF0A8D0D},
             {"gru", &image, 0xF952B6DB2E9CF996},
             {"gru(layers=3,units=5,dropout=0.3)", &odd, 0x24992F4A7A4FCB0F},
             {"lstm", &words, 0x3B7974C12D413BE2},
             {"lstm(layers=2,units=9,deviation=0,dropout=0.3)", &words, 0xC381B7F9DE5B72A3},
             {"transformer", &words, 0xCDBFD09F74A47AFF},
             {"transformer(layers=2,units=12,heads=3,hidden=20,activation=gelu,deviation=0.1,dropout=0.2)", &words,
              0xF72EA034DEF1F7D2},
             {"ncf", &pairs, 0x54800A865E141842},
             {"ncf(layers=1,units=5,deviation=0.3)", &pairs, 0x22EDB1F9ECE01B46},
             {"seq2seq", &words, 0x9A1F5DFB67EB2727},
             {"seq2seq(layers=2,units=6,heads=3,hidden=5,activation=gelu,dropout=0.2)", &words, 0x2126E30F3FE86378},
             {"bert", &words, 0xF93F127F6E4CB74D},
             {"bert(layers=2,units=6,heads=1,hidden=5,activation=relu,dropout=0.2)", &words, 0xFE184B3060041B99},
             {"dlrm", &clicks, 0x1ADA0B24CE07729C},
             {"dlrm(units=3,bottom=5/4/3,top=2)", &clicks, 0xCE31677093FC5B1E},
             {"tf_resnet(blocks=1)", &image, 0xA677FD014388F3F0},
             {"tf_resnet(blocks=1,width=0.1)", &image, 0x53A51787D06567EC},
             {"tf_resnet(blocks=2,v1)", &odd, 0x8C92BBAC824CF730},
             {"tf_imagenet(stages=1/1,bottleneck)", &image, 0x094C056A54D78494},
             {"tf_imagenet(stages=2/1,v1)", &odd, 0x0D07F04556F881C5},
             {"t2t_transformer(layers=1,units=8,hidden=6)", &joined, 0x7CD6757485645D55},
             {"tf_ncf", &pairs, 0x661D789F7C1C9303},
             {"tf_ncf(units=3,top=6/5/4)", &pairs, 0xB5C48D5BB2C3DC5F},
             {"lee_squeezenet(width=0.1)", &image, 0x0552003F8E9D4002},
             {"lee_shufflenet2(width=0.1)", &odd, 0xF2878ACB9CE9D9AF},
             {"lee_mobilenet2(width=0.1)", &image, 0xF7DA1750CBEB3B70},
             {"lee_resnet18(width=0.1)", &odd, 0x3F418A6CB3792004},
             {"lee_resnet18(width=0.25,defaults)", &image, 0x441D78BF88EDB19E},
             {"x = image(9, 7, 2)\n"
              "y = conv(x, 6, [2, 3], stride=[2, 1], pad=[1, 0, 0, 2], dilation=[3, 1])\n"
              "y = leaky_relu(batch_norm(y, eps=0.001, momentum=0.003, unbiased=1), 0.2)\n"
              "y = response_norm(y, size=4, alpha=0.5, beta=0.7, k=2)\n"
              "y = max_pool(y, [3, 2], [2, 1], pad=[1, 0], ceil=1)\n"
              "y = conv_transpose(y, 4, 3, stride=2, pad=1, groups=2, bias=1, output_pad=[1, 0])\n"
              "y = scale(l2_norm(y, start=constant(20)), [1, 0.5, -2, 1e-3])\n"
              "y = average_pool(silu(rms_norm(y, 1e-6), beta=1.702), 3, 2, pad=1, zeros=0)\n"
              "z = clip(softplus(linear(global_average(y), 12)), -1, 0.75)\n"
              "r = add_row(gelu_tanh(as_rows(layer_norm(z, 1e-12), 3)), scale(columns(z, 2, 4), 2, backward=0))\n"
              "output multiply(r, stop_gradient(r))\n",
              &image, 0x935A9814972999D3}};

/* The digest of a model in a net of its own. */
static uint64_t digest_of(const hu_model *m, const hu_model_sizes *sizes, const char *name) {
  uint64_t digest = 0xCBF29CE484222325u;
  const char *why = "";
  hu_model_ends ends;
  hu_net *net = hu_net_new(BATCH, 1);
  if (hu_model_build(net, m, sizes, &ends, &why) != HU_OK) fail_msg("%s: %s", name, why);
  add_structure(&digest, net, &ends);
  hu_net_cross_entropy(net, ends.output, 1);
  add_pass(&digest, net, &ends);
  hu_net_free(net);
  return digest;
}

static void digests(void **state) {
  (void)state;
  int wrong = 0;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    hu_model m = model_of(table[i].text);
    uint64_t digest = digest_of(&m, table[i].sizes, table[i].text);
    if (digest != table[i].digest) print_message("%s: 0x%016llX\n", table[i].text, (unsigned long long)digest);
    wrong += digest != table[i].digest;
  }
  assert_int_equal(wrong, 0);
}

static char *described(const hu_model *m, const hu_model_sizes *sizes) {
  size_t n = hu_model_describe(NULL, 0, m, sizes);
  char *text = malloc(n + 1);
  assert_true(n && text);
  memset(text, 'x', n + 1);
  assert_int_equal(hu_model_describe(text, n / 2, m, sizes), n);
  assert_true(strlen(text) == n / 2 - 1);
  assert_int_equal(hu_model_describe(text, n + 1, m, sizes), n);
  assert_int_equal(strlen(text), n);
  return text;
}

/* What a model is described as builds the same net, and describes itself. */
static void descriptions(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    hu_model m = model_of(table[i].text);
    char *text = described(&m, table[i].sizes);
    hu_model again = model_of(text);
    assert_int_equal(again.kind, HU_MODEL_NETWORK);
    assert_int_equal(strstr(text, "masked=1") != NULL, strncmp(table[i].text, "bert", 4) == 0);
    char *same = described(&again, table[i].sizes);
    assert_string_equal(text, same);
    assert_true(digest_of(&again, table[i].sizes, table[i].text) == table[i].digest);
    free(text);
    free(same);
  }
}

static void description(void **state) {
  (void)state;
  hu_model m = model_of("resnet(blocks=1,width=0.0625)");
  const hu_model_sizes tiny = {.height = 3, .width = 4, .channels = 2, .outputs = 10};
  char *text = described(&m, &tiny);
  static const char *const lines[] = {
      "v0 = image(3, 4, 2)  # 3 x 4 x 2\n", "v1 = conv(v0, 1, 3, pad=1, start=fan_in(2))  # 3 x 4 x 1; 18 parameters\n",
      "scope stage2.block1\n  v11 = conv(v10, 2, 3, stride=2, pad=1, start=fan_in(2))  # 2 x 2 x 2; 18 parameters\n",
      "  v16 = average_pool(v10, 1, 2)  # 2 x 2 x 1\n  v17 = zeros(2, 2, 1)  # 2 x 2 x 1\n"
      "  v18 = concat(v16, v17)  # 2 x 2 x 2\n",
      "end\nv31 = global_average(v30)  # 1 x 1 x 4\nv32 = linear(v31, 10)  # 1 x 1 x 10; 50 parameters\n"
      "output v32  # 1 x 1 x 10; 386 parameters in all\n"};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    if (!strstr(text, lines[i])) fail_msg("no '%s' in\n%s", lines[i], text);
  }
  free(text);
}

/* ---- the language ---- */

/* Lists of two equal numbers, the longest scope and shared parameters are described as a text that is read again. */
static void described_again(void **state) {
  (void)state;
  static const char text[] =
      "x = image(8, 8, 3)\nscope abcdefghijklmnopqrstuvwxyz_0123456789\n  scope b{1 + 1}efghijklmnopqrstuvwxyz3\n"
      "    x = conv(x, 4, [3, 3], stride=[1, 1], pad=[1, 1])\n  end\nend\nx = linear(x, 4, 0)\n"
      "output max_pool(linear(x, 4, bias=0, share=x), [2, 2], 2, pad=[0, 0])\n";
  hu_model m = model_of(text);
  char *first = described(&m, &image);
  if (!strstr(first, "scope abcdefghijklmnopqrstuvwxyz_0123456789.b2efghijklmnopqrstuvwxyz3\n") ||
      !strstr(first, "  v1 = conv(v0, 4, 3, pad=1)  #") ||
      !strstr(first, "\nv3 = linear(v2, 4, bias=0, share=v2)  # 8 x 8 x 4\n"))
    fail_msg("%s", first);
  hu_model again = model_of(first);
  char *second = described(&again, &image);
  assert_string_equal(first, second);
  free(first);
  free(second);
}

/* The sentence of a text that is refused, as it is read or as it is built. */
static hu_status refusal(const char *text, const char *settings, char *why, size_t size) {
  hu_model m;
  hu_model_ends ends = {.inputs = {9, 9, 9, 9}, .count = 9, .output = 9};
  const char *said = "";
  hu_net *net = hu_net_new(1, 1);
  hu_status status = hu_model_parse(&m, text, NULL);
  if (status == HU_OK) {
    m.settings = settings;
    status = hu_model_build(net, &m, &image, &ends, &said);
    if (status != HU_OK) assert_int_equal(ends.output, 9);
  }
  snprintf(why, size, "%s", said);
  hu_net_free(net);
  return status;
}

#define HEAD "x = image(8, 8, 3)\n"
static void refused(void **state) {
  (void)state;
  static const struct {
    const char *text;
    hu_status status;
    const char *says;
  } bad[] = {
      {HEAD "y = conv(x, 4, 3)\noutput add(x, y)\n", HU_E_SHAPE,
       "line 3: add of 8 x 8 x 3 and 6 x 6 x 4: operands of different shapes"},
      {HEAD "\n# a comment\noutput conv(x, 4, 9)\n", HU_E_SHAPE, "line 4: conv of 8 x 8 x 3: the kernel is larger"},
      {HEAD "output conv(x, 4, 3, groups=2)\n", HU_E_SHAPE, "line 2: conv of 8 x 8 x 3: groups: no divisor"},
      {HEAD "block b(y)\n  return relu(conv(y, 0, 1))\nend\noutput b(x)\n", HU_E_SHAPE, "line 3: conv of 8 x 8 x 3"},
      {HEAD "output group_norm(x)\n", HU_E_NAME, "line 2: there is no layer, block or function 'group_norm'"},
      {HEAD "output rellu(x)\n", HU_E_NAME, "perhaps relu is meant"},
      {HEAD "output conv(x, 4, [])\n", HU_E_TEXT, "kernel: neither a whole number nor two, down and across"},
      {HEAD "output conv(x, 4, [3, 2.5])\n", HU_E_TEXT, "kernel: neither a whole number nor two"},
      {HEAD "output conv(x, 4, 3, stride=[1, 2, 3])\n", HU_E_TEXT, "stride: neither a whole number nor two"},
      {HEAD "output conv(x, [4, 4], 3)\n", HU_E_TEXT, "outputs: not a whole number"},
      {HEAD "output conv(x, 4, 3, pad=[-1, -1])\n", HU_E_TEXT, "pad: neither a whole number nor two or four"},
      {HEAD "output conv(x, 4, 3, pad=[1, 1, 1])\n", HU_E_TEXT, "pad: neither a whole number nor two or four"},
      {HEAD "output conv(x, 4, [3, 2], pad=[1, 2])\n", HU_E_SHAPE,
       "conv of 8 x 8 x 3: kernel, stride, dilation or pad"},
      {HEAD "output conv(x, 4, 3, dilation=[1, 4])\n", HU_E_SHAPE, "the kernel is larger than the image"},
      {HEAD "output conv(x, 4, 3, dilation=0)\n", HU_E_SHAPE, "kernel, stride, dilation or pad"},
      {HEAD "output conv_transpose(x, 4, 3, stride=[1, 2], output_pad=1)\n", HU_E_SHAPE,
       "output_pad: not below the stride"},
      {HEAD "output conv_transpose(x, 4, 3, groups=2)\n", HU_E_SHAPE, "groups: no divisor of the"},
      {"x = image(1, 1, 3)\noutput conv_transpose(x, 4, 3, pad=2)\n", HU_E_SHAPE, "of 1 x 1 x 3: no pixel is left"},
      {HEAD "output max_pool(x, [9, 2], 2)\n", HU_E_SHAPE,
       "max_pool of 8 x 8 x 3: pool: the kernel is larger than the image"},
      {HEAD "output max_pool(x, 2, 2, ceil=2)\n", HU_E_TEXT, "max_pool: ceil: neither 0 nor 1"},
      {HEAD "output batch_norm(x, eps=-1)\n", HU_E_TRAIN, "batch_norm of 8 x 8 x 3: eps: not a number from 0 on"},
      {HEAD "output batch_norm(x, momentum=1.5)\n", HU_E_TRAIN, "momentum: not from 0 to 1"},
      {HEAD "output response_norm(x, 0)\n", HU_E_TRAIN, "response_norm of 8 x 8 x 3: size, alpha, beta or k"},
      {HEAD "output clip(x, 2, 1)\n", HU_E_TRAIN, "clip of 8 x 8 x 3: the lower bound is above the other"},
      {HEAD "output leaky_relu(x, 1e39)\n", HU_E_TRAIN, "leaky_relu of 8 x 8 x 3: a number that is not finite"},
      {HEAD "output scale(x, relu)\n", HU_E_TEXT, "scale: forward: neither a number nor a list"},
      {HEAD "output scale(x, [1, 2])\n", HU_E_SHAPE, "line 2: scale: forward: not as many factors as columns"},
      {HEAD "output scale(x, [1, 2, 3], 1)\n", HU_E_TEXT, "line 2: scale: backward: there is a list of factors"},
      {HEAD "output add_row(x, x)\n", HU_E_SHAPE, "add_row of 8 x 8 x 3 and 8 x 8 x 3: not one row"},
      {HEAD "output as_rows(x, 7)\n", HU_E_SHAPE, "as_rows of 8 x 8 x 3: reshape: no divisor of a sample's numbers"},
      {HEAD "output conv(x, 4, 3, bool=1)\n", HU_E_NAME, "conv has no 'bool'"},
      {HEAD "output conv(x, 4, 3, share=1)\n", HU_E_TEXT, "conv: share: not a value that a layer with parameters"},
      {HEAD "output conv(x, 4, 3, share=x)\n", HU_E_TEXT, "conv: share: not a value that a layer with parameters"},
      {HEAD "y = linear(x, 3)\noutput relu(x, share=y)\n", HU_E_TEXT,
       "line 3: relu: share: the layer has no parameters"},
      {HEAD "y = linear(x, 3)\noutput linear(x, 4, share=y)\n", HU_E_SHAPE, "share: the layer has parameters of other"},
      {HEAD "y = linear(x, 3, 0)\noutput linear(x, 3, share=y)\n", HU_E_SHAPE, "share: the layer has fewer parameters"},
      {HEAD "y = linear(x, 3)\noutput linear(x, 3, start=normal(1), share=y)\n", HU_E_TEXT,
       "start: the parameters are those"},
      {HEAD "output conv(x, 4)\n", HU_E_TEXT, "conv: kernel is missing"},
      {HEAD "output conv(x, 4, 3, kernel=3)\n", HU_E_TEXT, "conv: kernel: given twice"},
      {HEAD "output linear(x, 4, 1, normal(1), normal(1), 1, 1, 1, 5)\n", HU_E_TEXT, "linear: too many arguments"},
      {HEAD "output linear(x, 1.5)\n", HU_E_TEXT, "linear: outputs: not a whole number"},
      {HEAD "output linear(3, 4)\n", HU_E_TEXT, "linear: x: not a value"},
      {HEAD "output linear(x, 4, start=3)\n", HU_E_TEXT, "start: not a start: normal"},
      {HEAD "output conv(x, 4, 3, bias_start=normal(1))\n", HU_E_TEXT, "line 2: bias_start: there is no bias"},
      {HEAD "output linear(x, 4, start=normal(-1))\n", HU_E_TRAIN, "line 2: start: the number"},
      {HEAD "output linear(x, 4, bias=2)\n", HU_E_TEXT, "bias: neither 0 nor 1"},
      {HEAD "output dropout(x, 1)\n", HU_E_TRAIN, "line 2: dropout of 8 x 8 x 3: p is not"},
      {HEAD "output y\n", HU_E_NAME, "line 2: there is no 'y'"},
      {HEAD "output linear(x, data.steps)\n", HU_E_SHAPE, "line 2: data.steps: the data have no such size"},
      {HEAD "y = relu(x)\n", HU_E_TEXT, "there is no output"},
      {"output zeros(1, 1, 1)\n", HU_E_TEXT, "there is no input"},
      {HEAD "output x\noutput x\n", HU_E_TEXT, "line 3: output: the second one"},
      {HEAD "output 3\n", HU_E_TEXT, "output: not a value"},
      {HEAD "return x\n", HU_E_TEXT, "return: not in a block"},
      {HEAD "output [1, 2][3]\n", HU_E_TRAIN, "the list has 2 numbers, from 1 on"},
      {HEAD "output 1 / 0\n", HU_E_TRAIN, "not a finite number"},
      {HEAD "output x + 1\n", HU_E_TEXT, "+: not between two numbers"},
      {HEAD "block relu(x)\nend\noutput x\n", HU_E_NAME, "block: 'relu' is a layer"},
      {HEAD "block floor(x)\nend\noutput x\n", HU_E_NAME, "line 2: block: 'floor' is a function"},
      {HEAD "block b(y)\nend\nblock b(y)\nend\noutput x\n", HU_E_NAME, "line 4: block: 'b' is there already"},
      {HEAD "block b(y, y)\n  return y\nend\noutput b(x, 1)\n", HU_E_NAME, "line 2: block: 'y' is there already"},
      {HEAD "key n = 1\nkey n = 2\noutput x\n", HU_E_NAME, "line 3: key: 'n' is there already"},
      {HEAD "gelu = relu\noutput gelu(x)\n", HU_E_NAME, "line 2: name of a layer: 'gelu' is a layer"},
      {HEAD "block b(y)\n  return b(y)\nend\noutput b(x)\n", HU_E_TEXT, "deep"},
      {HEAD "block b(y)\n  return y\nend\noutput b(x, x)\n", HU_E_TEXT, "other arguments"},
      {HEAD "block a(n)\n  return m\nend\nblock b(m)\n  return a(m)\nend\noutput b(x)\n", HU_E_NAME,
       "line 3: there is no 'm'"},
      {HEAD "for i in 1 to 1e300\nend\noutput x\n", HU_E_TEXT, "statements are run"},
      {HEAD "scope A\n  x = linear(x, 2)\nend\noutput x\n", HU_E_NAME, "scope 'A': not words of a to z"},
      {HEAD "for i in x\nend\noutput x\n", HU_E_TEXT, "for: neither a list nor two numbers"},
      {HEAD HEAD HEAD HEAD HEAD "output x\n", HU_E_SHAPE, "line 5: more than 4 inputs"}};
  char why[512];
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    hu_status status = refusal(bad[i].text, NULL, why, sizeof why);
    if (status != bad[i].status || !strstr(why, bad[i].says))
      fail_msg("%s%s: %s", bad[i].text, hu_status_name(status), why);
  }
}

/* Texts with more operators than a network may have end at the line that goes too far: within a layer, and in lines
 * that are repeated. */
static void too_many_operators(void **state) {
  (void)state;
  static const struct {
    const char *text, *says;
  } bad[] = {
      {"x = input(10000000, 1)\noutput gru(x, 1, last=1)\n",
       "line 2: gru of 10000000 x 1: 10000000 steps are more than 131072 operators"},
      {"x = input(30000, 1)\ny = relu(x)\noutput lstm(x, 1, both=1)\n",
       "line 3: lstm of 30000 x 1: more than 131072 op"},
      {"x = input(1, 1)\nfor i in 1 to 1000000000\n  for j in 1 to 1000000000\n    x = relu(x)\n  end\nend\noutput x\n",
       "line 4: relu of 1: more than 131072 operators"}};
  char why[512];
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    hu_status status = refusal(bad[i].text, NULL, why, sizeof why);
    if (status != HU_E_SHAPE || !strstr(why, bad[i].says))
      fail_msg("%s%s: %s", bad[i].text, hu_status_name(status), why);
  }
}

/* A list that is too long is refused, also where its next number is none. */
static void long_lists(void **state) {
  (void)state;
  char text[2048], why[512];
  for (int last = 0; last < 2; last++) {
    size_t n = (size_t)snprintf(text, sizeof text, HEAD "l = [1");
    for (int i = 1; i < 256; i++) n += (size_t)snprintf(text + n, sizeof text - n, ",\n1");
    snprintf(text + n, sizeof text - n, ", %s]\noutput x\n", last ? "unknown" : "1");
    assert_int_equal(refusal(text, NULL, why, sizeof why), last ? HU_E_NAME : HU_E_TEXT);
    assert_non_null(
        strstr(why, last ? "line 257: there is no 'unknown'" : "line 257: a list is of numbers, up to 256"));
  }
}

/* What is no text of the grammar is refused before anything is built, with its place. */
static void bad_grammar(void **state) {
  (void)state;
  static const struct {
    const char *text;
    size_t where;
  } bad[] = {{"x = \n", 4},
             {"x = (1\n", 7},
             {"x = 1 2\n", 6},
             {"x 1\n", 2},
             {"if 1\n", 5},
             {"end\n", 3},
             {"for i 3\nend\n", 6},
             {"scope \nend\n", 6},
             {"x = f(1 2)\n", 8},
             {"x = [1, 2\n", 10},
             {"block b\nend\n", 7},
             {"= 3\n", 0},
             {"if 0\n  x = )\nend\n", 11},
             {"x = --1\n", 6},
             {"scope a{1\nend\n", 9},
             {"X = 1\n", 0}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    size_t where = 99;
    hu_model m;
    hu_status status = hu_model_parse(&m, bad[i].text, &where);
    if (status != HU_E_TEXT || where != bad[i].where)
      fail_msg("'%s': %s at %zu", bad[i].text, hu_status_name(status), where);
  }
}

/* Nothing that is cut off or written over does more than be refused. */
static void broken(void **state) {
  (void)state;
  hu_model m = model_of("transformer(layers=2)"), cut;
  char *text = described(&m, &words);
  size_t n = strlen(text);
  static const char signs[] = "(){}[]=,#\n+-*/^<>.0 az";
  uint64_t seed = 5;
  for (size_t i = 0; i < n / 2; i++) {
    char *copy = malloc(n + 1), why[64];
    memcpy(copy, text, n + 1);
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    copy[(seed >> 33) % n] = i % 4 == 0 ? 0 : signs[(seed >> 20) % (sizeof signs - 1)];
    if (strchr(copy, '\n') && hu_model_parse(&cut, copy, NULL) == HU_OK) (void)refusal(copy, NULL, why, sizeof why);
    free(copy);
  }
  free(text);
}

/* Numbers by the page alone: precedence, powers, comparisons, lists, blocks with names of their own. */
static void numbers(void **state) {
  (void)state;
  static const struct {
    const char *expression;
    size_t value;
  } table_of[] = {{"1 + 2 * 3", 7},
                  {"(1 + 2) * 3", 9},
                  {"2 ^ 3 ^ 2", 64},
                  {"2 * 3 ^ 2", 18},
                  {"10 - 2 - 3", 5},
                  {"-3 + 5", 2},
                  {"7 - -1", 8},
                  {"1 + (2 < 3) + (2 <= 2) + (3 > 2) + (2 >= 3) + (1 == 1) + (1 != 1)", 5},
                  {"1 + (0 or 2) + (1 and 0) + (1 or 0 and 0)", 3},
                  {"1 + (relu == relu) + (relu == gelu) + (relu != gelu)", 3},
                  {"max(3, 9, 4) + min(3, 2)", 11},
                  {"floor(2.9) + ceil(2.1) + sqrt(16)", 9},
                  {"count([4, 5, 6]) + [4, 5, 6][2]", 8},
                  {"channels_of(x) * 100 + height_of(x) * 10 + width_of(x) + rows_of(x)", 452},
                  {"twice(4)", 8},
                  {"first([7, 8])", 7},
                  {"data.outputs", 10},
                  {"wide + deep", 8},
                  {"10  # not 11", 10}};
  for (size_t i = 0; i < sizeof table_of / sizeof *table_of; i++) {
    char text[512];
    hu_model_ends ends;
    snprintf(text, sizeof text,
             "key wide = 3\nkey deep = [1, 5]\nblock twice(n)\n  wide = 2\n  return wide * n\nend\n"
             "block first(l)\n  for n in l\n    return n\n  end\nend\ndeep = deep[2]\nx = image(8, 4, 3)\n"
             "output linear(x, %s)\n",
             table_of[i].expression);
    char *comment = strstr(text, "  # not 11)");
    if (comment) memmove(comment, ")\n", 3);
    hu_net *net = net_of(text, &image, 1, 1, &ends);
    size_t cols = hu_net_value(net, ends.output).cols, expected = table_of[i].value;
    if (strstr(table_of[i].expression, "_of(")) expected = 3 * 100 + 8 * 10 + 4 + 32;
    if (cols != expected) fail_msg("%s: %zu", table_of[i].expression, cols);
    hu_net_free(net);
  }
}

/* First weights and keys as a text and its settings say. */
static void settings(void **state) {
  (void)state;
  static const char text[] =
      "key wide = 3\nkey last = relu\nkey more = [1, 2]\nkey odd = 0\nx = image(8, 8, 3)\nfor n in more\n"
      "  x = last(conv(x, n * wide, 3, start=fan_out(0.5)))\nend\noutput linear(x, 10 + odd)\n";
  static const struct {
    const char *settings;
    hu_status status;
    const char *says;
  } table_of[] = {{"wide=2,last=gelu,more=4/5/6,odd", HU_OK, ""},
                  {"odd", HU_OK, ""},
                  {"high=2", HU_E_NAME, "no key 'high'"},
                  {"wide=2,wide=2", HU_E_NAME, "set twice"},
                  {"wide=a", HU_E_TEXT, "'wide=a' is not"},
                  {"more=1//2", HU_E_TEXT, "'more=1//2' is not"},
                  {"wide=", HU_E_TEXT, "'wide=' is not"},
                  {"odd=", HU_E_TEXT, "'odd=' is not"},
                  {"more=1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1", HU_E_SHAPE, "line 7: conv of 2 x 2 x 3"},
                  {"last=3", HU_E_TEXT, "'last=3' is not"}};
  char why[512];
  for (size_t i = 0; i < sizeof table_of / sizeof *table_of; i++) {
    hu_status status = refusal(text, table_of[i].settings, why, sizeof why);
    if (status != table_of[i].status || !strstr(why, table_of[i].says)) fail_msg("%s: %s", table_of[i].settings, why);
  }
  hu_model m = model_of(text);
  hu_model_ends ends;
  hu_net *net = hu_net_new(1, 1);
  m.settings = table_of[0].settings;
  assert_int_equal(hu_model_build(net, &m, &image, &ends, NULL), HU_OK);
  assert_int_equal(hu_net_parameters(net), 3 + 2);
  assert_int_equal(hu_net_parameter(net, 2).cols, 12);
  assert_int_equal(hu_net_value(net, ends.output).cols, 11);
  assert_string_equal(hu_net_value_kind(net, ends.output - 1), "gelu");
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  double sum = 0;
  hu_net_tensor w = hu_net_parameter(net, 2); /* N(0, 0.5 / (9 12)) */
  for (size_t i = 0; i < w.rows * w.cols; i++) sum += (double)w.numbers[i] * (double)w.numbers[i];
  double ratio = sum / (double)(w.rows * w.cols) * 9 * 12 / 0.5;
  assert_true(w.rows * w.cols == 9 * 10 * 12 && ratio > 0.8 && ratio < 1.2);
  hu_net_free(net);
}

/* Normal numbers beyond 2 are drawn again, from that far behind in the stream that all are behind them. */
static void cut_again(void **state) {
  (void)state;
  enum { IN = 3, NUMBERS = 64 * IN, MORE = 8 };
  static float normal[NUMBERS * MORE];
  hu_model_ends ends;
  hu_net *net = net_of(HEAD "output linear(x, 64, bias=0, start=fan_in_cut(2))\n", &image, 1, 1, &ends);
  assert_int_equal(hu_net_initialize(net, 3), HU_OK);
  const hu_net_tensor w = hu_net_parameter(net, 0);
  assert_int_equal(w.rows * w.cols, NUMBERS);
  hu_normal_n((size_t)NUMBERS * MORE, normal, 1, hu_stream_child(hu_stream_of_use(3, HU_USE_WEIGHTS), 0));
  int again = 0;
  for (size_t i = 0; i < NUMBERS; i++) {
    size_t k = i;
    for (; normal[k] > 2 || normal[k] < -2; again++) k += NUMBERS;
    assert_true(w.numbers[i] == sqrtf(2.0f / IN) / 0.87962566103423978f * normal[k]);
  }
  assert_true(again > 3);
  hu_net_free(net);
}

/* The bounds and deviations of starts, by the largest number of many, or of a constant that number. */
static void starts(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double most;
    int parameter, constant;
  } table_of[] = {{"conv(x, 50, 3, start=uniform(0.25))", 0.25, 0, 0},
                  {"conv(x, 50, 3, start=inverse_root(16))", 0.25, 0, 0},
                  {"conv(x, 50, 3, start=fan_sum(6))", 0.11215, 0, 0},       /* sqrt(6 / (27 + 9 50)) */
                  {"conv(x, 50, 3, start=fan_in_cut(0.75))", 0.37894, 0, 0}, /* 2 sqrt(0.75 / 27) / 0.87962566 */
                  {"conv(x, 50, 3, start=constant(0.5))", 0.5, 0, 1},
                  {"conv(x, 90, 3, bias=1, bias_start=uniform(0.5))", 0.5, 1, 0},
                  {"linear(x, 90, bias_start=constant(0.2))", 0.2, 1, 1}};
  for (size_t i = 0; i < sizeof table_of / sizeof *table_of; i++) {
    char text[256];
    hu_model_ends ends;
    snprintf(text, sizeof text, HEAD "output %s\n", table_of[i].text);
    hu_net *net = net_of(text, &image, 1, 1, &ends);
    assert_int_equal(hu_net_initialize(net, 3), HU_OK);
    hu_net_tensor w = hu_net_parameter(net, table_of[i].parameter);
    double most = 0, least = 1;
    for (size_t k = 0; k < w.rows * w.cols; k++) {
      double size = w.numbers[k] < 0 ? -(double)w.numbers[k] : (double)w.numbers[k];
      most = size > most ? size : most;
      least = size < least ? size : least;
    }
    double ratio = most / table_of[i].most;
    if (!(ratio > 0.93 && ratio < 1.00001 && (table_of[i].constant ? least == most : least < 0.1 * most)))
      fail_msg("%s: %g", table_of[i].text, most);
    hu_net_free(net);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(digests),   cmocka_unit_test(descriptions),    cmocka_unit_test(description),
      cmocka_unit_test(refused),   cmocka_unit_test(bad_grammar),     cmocka_unit_test(broken),
      cmocka_unit_test(numbers),   cmocka_unit_test(settings),        cmocka_unit_test(cut_again),
      cmocka_unit_test(starts),    cmocka_unit_test(described_again), cmocka_unit_test(too_many_operators),
      cmocka_unit_test(long_lists)};
  return cmocka_run_group_tests_name("model networks", tests, NULL, NULL);
}
