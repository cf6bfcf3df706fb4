/* SPDX-License-Identifier: MIT */
/* Texts of models, and what is refused: texts, records, sizes, calls. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/train/model.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"
#include "tests/train/model/models.h"

/* ---- texts ---- */

static void texts(void **state) {
  (void)state;
  /* In, and out: what is as usual is left out, in the order of the table of keys. */
  static const char *const good[][2] = {
      {"linear", "linear"},
      {"linear(nobias)", "linear(nobias)"},
      {"mlp(units=64,layers=2,activation=relu)", "mlp"},
      {"mlp(activation=GELU,layers=2^3)", "mlp(layers=8,activation=gelu)"},
      {"conv(channels=8/16/16)", "conv"},
      {"conv(kernel=5,channels=1/2/3/4/5/6/7/65536)", "conv(channels=1/2/3/4/5/6/7/65536,kernel=5)"},
      {"conv(channels=4)", "conv(channels=4)"},
      {"ResNet20", "resnet"},
      {"resnet18", "resnet4"},
      {"ResNet34", "resnet4(stages=3/4/6/3)"},
      {"resnet50(width=0.25)", "resnet4(stages=3/4/6/3,width=0.25,bottleneck)"},
      {"resnet(projection,width=0.25,blocks=9)", "resnet(blocks=9,width=0.25,projection)"},
      {"squeezenet(bypass,width=0.1)", "squeezenet(width=0.1,bypass)"},
      {"MobileNet2(dropout=0.2,width=1)", "mobilenet2(dropout=0.2)"},
      {"shufflenet2(width=0.5)", "shufflenet2(width=0.5)"},
      {"gru(units=33)", "gru(units=33)"},
      {"lstm(deviation=0.1,layers=3)", "lstm(layers=3)"},
      {"transformer(deviation=0.02,activation=gelu,hidden=64,heads=8,units=64,layers=6)",
       "transformer(layers=6,units=64,heads=8,hidden=64,activation=gelu,deviation=0.02)"},
      {"ncf(deviation=0.1)", "ncf(deviation=0.1)"},
      {"seq2seq(heads=4,activation=relu,layers=2)", "seq2seq(layers=2,heads=4)"},
      {"bert(activation=gelu,deviation=0.02)", "bert"},
      {"bert(activation=relu)", "bert(activation=relu)"},
      {"dlrm(top=64/32,bottom=512/256/64,units=32)", "dlrm(units=32,bottom=512/256/64)"},
      {"dlrm(bottom=1/2/3/4/5/6/7/8)", "dlrm(bottom=1/2/3/4/5/6/7/8)"},
      {"tf_resnet(v1,blocks=5)", "tf_resnet(blocks=5,v1)"},
      {"tf_ncf(top=64/32/16/8)", "tf_ncf"},
      {"tf_imagenet(v1,bottleneck)", "tf_imagenet(bottleneck,v1)"},
      {"t2t_transformer(heads=4,units=64)", "t2t_transformer(units=64)"},
      {"lee_resnet18(defaults)", "lee_resnet18(defaults)"},
      {"lee_squeezenet(width=0.25)", "lee_squeezenet(width=0.25)"}};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    char text[HU_MODEL_TEXT_MAX], part[8];
    hu_model m = model_of(good[i][0]);
    assert_int_equal(hu_model_text(text, sizeof text, &m), strlen(good[i][1]));
    assert_string_equal(text, good[i][1]);
    hu_model again = model_of(text);
    assert_memory_equal(&m, &again, sizeof m);
    assert_int_equal(hu_model_text(part, sizeof part, &m), strlen(good[i][1]));
    assert_int_equal(strncmp(part, text, sizeof part - 1), 0);
    assert_int_equal(hu_model_text(NULL, 0, &m), strlen(good[i][1]));
  }
  for (uint8_t k = 0; k < HU_MODEL_KINDS; k++) { /* the usual ones are texts of one word */
    char text[HU_MODEL_TEXT_MAX];
    hu_model m = hu_model_default(k);
    assert_true(hu_model_text(text, sizeof text, &m) && !strchr(text, '(') && model_of(text).kind == k);
  }
}

static void bad_texts(void **state) {
  (void)state;
  static const struct {
    const char *text;
    hu_status status;
    size_t where;
  } bad[] = {{"", HU_E_NAME, 0},
             {"perceptron", HU_E_NAME, 0},
             {"mlp()", HU_E_TEXT, 4},
             {"mlp(", HU_E_TEXT, 4},
             {"mlp(layers=2", HU_E_TEXT, 12},
             {"mlp(layers=2,)", HU_E_TEXT, 13},
             {"mlp(layers=2,layers=2)", HU_E_TEXT, 13},
             {"mlp(layers=2.5)", HU_E_TEXT, 11},
             {"mlp(layers=-1)", HU_E_TEXT, 11},
             {"mlp(layers=2^32)", HU_E_TEXT, 11},
             {"mlp(layers)", HU_E_TEXT, 4},
             {"mlp(=2)", HU_E_TEXT, 4},
             {"mlp(layer=2)", HU_E_NAME, 4},
             {"mlp(units=8,activation=swish)", HU_E_TEXT, 23},
             {"mlp( layers=2)", HU_E_NAME, 4},
             {"mlp(nobias)", HU_E_NAME, 4},
             {"mlp(layers=0)", HU_E_TRAIN, 0},
             {"mlp(layers=65)", HU_E_TRAIN, 0},
             {"linear(nobias=1)", HU_E_TEXT, 7},
             {"conv(channels=)", HU_E_TEXT, 14},
             {"conv(channels=8//8)", HU_E_TEXT, 14},
             {"conv(channels=0/8)", HU_E_TEXT, 14},
             {"conv(channels=1/2/3/4/5/6/7/8/9)", HU_E_TEXT, 14},
             {"conv(channels=65537)", HU_E_TRAIN, 0},
             {"conv(kernel=4)", HU_E_TRAIN, 0},
             {"conv(width=0)", HU_E_TRAIN, 0},
             {"conv(width=nan)", HU_E_TEXT, 11},
             {"resnet(blocks=101)", HU_E_TRAIN, 0},
             {"resnet4(stages=2/101)", HU_E_TRAIN, 0},
             {"resnet4(stages=2/0/2)", HU_E_TEXT, 15},
             {"resnet50(blocks=3)", HU_E_NAME, 9},
             {"squeezenet(width=17)", HU_E_TRAIN, 0},
             {"mobilenet2(width=0)", HU_E_TRAIN, 0},
             {"mobilenet(width=1)", HU_E_NAME, 0},
             {"shufflenet2(dropout=0.5)", HU_E_NAME, 12},
             {"lstm(deviation=-0.1)", HU_E_TRAIN, 0},
             {"transformer(heads=3)", HU_E_TRAIN, 0},
             {"transformer(activation=tanh)", HU_E_TRAIN, 0},
             {"ncf(layers=17)", HU_E_TRAIN, 0},
             {"seq2seq(units=9)", HU_E_TRAIN, 0},
             {"seq2seq(window=9)", HU_E_NAME, 8},
             {"bert(activation=tanh)", HU_E_TRAIN, 0},
             {"dlrm(bottom=)", HU_E_TEXT, 12},
             {"dlrm(top=65537)", HU_E_TRAIN, 0},
             {"dlrm(layers=2)", HU_E_NAME, 5},
             {"tf_ncf(top=0)", HU_E_TEXT, 11},
             {"tf_ncf(top=65537)", HU_E_TRAIN, 0},
             {"tf_imagenet(stages=2/101)", HU_E_TRAIN, 0},
             {"t2t_transformer(heads=3)", HU_E_TRAIN, 0},
             {"t2t_transformer(activation=relu)", HU_E_NAME, 16},
             {"lee_squeezenet(defaults)", HU_E_NAME, 15}};
  hu_model m = model_of("gru"), before = m;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    size_t where = 99;
    hu_status status = hu_model_parse(&m, bad[i].text, &where);
    if (status != bad[i].status || where != bad[i].where)
      fail_msg("'%s': %s at %zu", bad[i].text, hu_status_name(status), where);
    assert_memory_equal(&m, &before, sizeof m);
  }
  assert_int_equal(hu_model_parse(NULL, "mlp", NULL), HU_E_NULL);
  assert_int_equal(hu_model_parse(&m, NULL, NULL), HU_E_NULL);
}

/* ---- misuse ---- */

static void refused_records(void **state) {
  (void)state;
  const char *why = NULL;
  hu_model m = hu_model_default(HU_MODEL_MLP);
  m.activation = 3;
  assert_int_equal(hu_model_check(&m, NULL, &why), HU_E_TRAIN);
  assert_non_null(strstr(why, "activation"));
  assert_int_equal(hu_model_text(NULL, 0, &m), 0);
  m = hu_model_default(HU_MODEL_KINDS);
  assert_int_equal(m.kind, HU_MODEL_LINEAR);
  m.kind = HU_MODEL_KINDS;
  assert_int_equal(hu_model_check(&m, NULL, &why), HU_E_TRAIN);
  assert_non_null(strstr(why, "kind"));
  m = hu_model_default(HU_MODEL_CONV);
  m.channels[4] = 8; /* behind the end */
  assert_int_equal(hu_model_check(&m, NULL, &why), HU_E_TRAIN);
  assert_non_null(strstr(why, "channels"));
  m = hu_model_default(HU_MODEL_RESNET);
  m.projection = 2;
  assert_int_equal(hu_model_check(&m, NULL, &why), HU_E_TRAIN);
  m = hu_model_default(HU_MODEL_SQUEEZENET);
  m.width = NAN;
  assert_int_equal(hu_model_check(&m, NULL, &why), HU_E_TRAIN);
  assert_non_null(strstr(why, "width"));
  assert_int_equal(hu_model_check(NULL, NULL, NULL), HU_E_NULL);
}

static void refused_sizes(void **state) {
  (void)state;
  static const struct {
    const char *text, *names;
    hu_model_sizes sizes;
  } bad[] = {{"linear", "height", {.width = 8, .channels = 1, .outputs = 10}},
             {"mlp", "width", {.height = 8, .channels = 1, .outputs = 10}},
             {"conv", "channels", {.height = 8, .width = 8, .outputs = 10}},
             {"gru", "height", {.height = 65537, .width = 8, .channels = 1, .outputs = 10}},
             {"linear", "2^24", {.height = 65536, .width = 65536, .channels = 65536, .outputs = 10}},
             {"linear", "outputs", {.height = 8, .width = 8, .channels = 1}},
             {"linear", "outputs", {.height = 8, .width = 8, .channels = 1, .outputs = 65537}},
             {"squeezenet", "below 8", {.height = 7, .width = 8, .channels = 1, .outputs = 10}},
             {"lee_squeezenet", "below 8", {.height = 8, .width = 7, .channels = 1, .outputs = 10}},
             {"lstm", "steps", {.vocabulary = 76}},
             {"transformer", "vocabulary", {.steps = 8}},
             {"lstm", "vocabulary", {.steps = 8, .vocabulary = (1 << 24) + 1}},
             {"transformer", "outputs", {.steps = 8, .vocabulary = 76, .outputs = 75}},
             {"ncf", "users", {.items = 3, .outputs = 1}},
             {"ncf", "items", {.users = 3, .items = (1 << 24) + 1, .outputs = 1}},
             {"ncf", "outputs", {.users = 3, .items = 3}},
             {"seq2seq", "source_vocabulary", {.steps = 4, .vocabulary = 9}},
             {"t2t_transformer", "share a table", {.steps = 4, .source_vocabulary = 9, .vocabulary = 8}},
             {"seq2seq", "vocabulary", {.steps = 4, .source_vocabulary = 9}},
             {"bert", "mask", {.steps = 4, .vocabulary = 1 << 24}},
             {"dlrm", "dense", {.categories = 4, .vocabulary = 9, .outputs = 2}},
             {"dlrm", "categories", {.dense = 4, .categories = 4096, .vocabulary = 9, .outputs = 2}},
             {"dlrm", "vocabulary", {.dense = 4, .categories = 3, .outputs = 2}},
             {"dlrm", "outputs", {.dense = 4, .categories = 3, .vocabulary = 9}}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const char *why = "";
    hu_model m = model_of(bad[i].text);
    hu_model_ends ends = {.inputs = {5, 6}, .count = 7, .output = 8};
    hu_net *net = hu_net_new(1, 1);
    assert_int_equal(hu_model_check(&m, &bad[i].sizes, &why), HU_E_SHAPE);
    if (!strstr(why, bad[i].names)) fail_msg("%s: %s", bad[i].text, why);
    why = "";
    assert_int_equal(hu_model_build(net, &m, &bad[i].sizes, &ends, &why), HU_E_SHAPE);
    assert_true(strstr(why, bad[i].names) && ends.inputs[0] == 5 && ends.output == 8);
    assert_int_equal(hu_net_values(net), 0);
    hu_net_free(net);
  }
}

/* What the net itself refuses, and NULL. */
static void refused_by_the_net(void **state) {
  (void)state;
  const char *why = "";
  hu_model m = model_of("lstm(units=2)");
  hu_model_sizes sizes = {.steps = 3, .vocabulary = 3};
  hu_model_ends ends = {.inputs = {5, 6}, .count = 7, .output = 8};
  hu_net *net = hu_net_new((size_t)1 << 45, 1);
  assert_int_equal(hu_model_build(net, &m, &sizes, &ends, &why), HU_E_SHAPE);
  assert_non_null(strstr(why, "too large"));
  assert_int_equal(ends.output, 8);
  sizes.steps = 2;
  assert_int_equal(hu_model_build(net, &m, &sizes, &ends, &why), HU_E_SHAPE); /* the net keeps its error */
  hu_net_free(net);
  net = hu_net_new(1, 1);
  assert_int_equal(hu_model_build(NULL, &m, &sizes, &ends, &why), HU_E_NULL);
  assert_int_equal(hu_model_build(net, NULL, &sizes, &ends, &why), HU_E_NULL);
  assert_int_equal(hu_model_build(net, &m, NULL, &ends, &why), HU_E_NULL);
  assert_int_equal(hu_model_build(net, &m, &sizes, NULL, &why), HU_E_NULL);
  assert_int_equal(hu_model_build(net, &m, &sizes, &ends, NULL), HU_OK);
  float x[4] = {0};
  hu_model_ends odd = {.inputs = {ends.inputs[0], ends.output}, .count = 2};
  assert_int_equal(hu_model_feed(net, &ends, x), HU_OK);
  assert_int_equal(hu_model_feed(net, &odd, x), HU_E_SHAPE);
  odd.count = 3;
  assert_int_equal(hu_model_feed(net, &odd, x), HU_E_SHAPE);
  assert_int_equal(hu_model_feed(NULL, &ends, x), HU_E_NULL);
  assert_int_equal(hu_model_feed(net, NULL, x), HU_E_NULL);
  assert_int_equal(hu_model_feed(net, &ends, NULL), HU_E_NULL);
  hu_net_free(net);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(texts), cmocka_unit_test(bad_texts),
                                     cmocka_unit_test(refused_records), cmocka_unit_test(refused_sizes),
                                     cmocka_unit_test(refused_by_the_net)};
  return cmocka_run_group_tests_name("model texts", tests, NULL, NULL);
}
