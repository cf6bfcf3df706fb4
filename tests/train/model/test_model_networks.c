/* SPDX-License-Identifier: MIT */
/* The built-in networks keep their bits: wiring, names, first weights and gradients of one pass, as digests. */
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
             {"transformer(layers=2,units=12,heads=3,hidden=20,activation=gelu,deviation=0.1,dropout=0.2)", &words, 0xF72EA034DEF1F7D2},
             {"ncf", &pairs, 0x54800A865E141842},
             {"ncf(layers=1,units=5,deviation=0.3)", &pairs, 0x22EDB1F9ECE01B46},
             {"seq2seq", &words, 0x9A1F5DFB67EB2727},
             {"seq2seq(layers=2,units=6,heads=3,hidden=5,activation=gelu,dropout=0.2)", &words, 0x2126E30F3FE86378},
             {"bert", &words, 0xF93F127F6E4CB74D},
             {"bert(layers=2,units=6,heads=1,hidden=5,activation=relu,dropout=0.2)", &words, 0xFE184B3060041B99},
             {"dlrm", &clicks, 0x1ADA0B24CE07729C},
             {"dlrm(units=3,bottom=5/4/3,top=2)", &clicks, 0xCE31677093FC5B1E}};

static void digests(void **state) {
  (void)state;
  int wrong = 0;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    uint64_t digest = 0xCBF29CE484222325u;
    hu_model_ends ends;
    hu_net *net = net_of(table[i].text, table[i].sizes, BATCH, 1, &ends);
    add_structure(&digest, net, &ends);
    hu_net_cross_entropy(net, ends.output, 1);
    add_pass(&digest, net, &ends);
    if (digest != table[i].digest) print_message("%s: 0x%016llX\n", table[i].text, (unsigned long long)digest);
    wrong += digest != table[i].digest;
    hu_net_free(net);
  }
  assert_int_equal(wrong, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(digests)};
  return cmocka_run_group_tests_name("model networks", tests, NULL, NULL);
}
