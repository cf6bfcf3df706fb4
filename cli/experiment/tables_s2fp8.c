/* SPDX-License-Identifier: MIT */
/* The tables of Cambier et al., Shifted and Squeezed 8-bit Floating Point: see tables.h. */
#include "cli/experiment/tables.h"

#define SOURCE "Cambier et al., Shifted and Squeezed 8-bit Floating Point (ICLR 2020)"

static const table_column table1_columns[] = {
    {"FP32", "fp32", TABLE_PAIRS("precision.system", "binary32")},
    {"S2FP8", "s2fp8", TABLE_PAIRS("precision.system", "s2fp8")},
    {"FP8", "fp8", TABLE_PAIRS("precision.system", "fp8_e5m2")},
    {"FP8+LS(100)", "fp8-ls100", TABLE_PAIRS("precision.system", "fp8_e5m2", "loss.scale", "static(100,unchecked)")}};
#define RESNET34_CHOSEN \
  "A guess: the repository has no ResNet-34 for these images, since 34 is not 6 n + 2; this is its ResNet-32."
/* TensorFlow's boundaries are the last steps of the old rate. */
#define CUT TABLE_PAIRS("optimizer.schedule", "drop(0.4/0.6/0.8,0.1)")
static const table_row table1_rows[] = {{.name = "ResNet-20",
                                         .slug = "resnet20",
                                         .net = "tf_resnet(blocks=3,width=%s)",
                                         .cut = CUT,
                                         .width = 1,
                                         .data = &table_cifar10,
                                         .figure = {"91.5", "91.1", "17.9", "91.1"}},
                                        {.name = "ResNet-34",
                                         .slug = "resnet34",
                                         .net = "tf_resnet(blocks=5,width=%s)",
                                         .cut = CUT,
                                         .width = 1,
                                         .data = &table_cifar10,
                                         .figure = {"92.5", "92.0", "13.5", "92.0"},
                                         .chosen = RESNET34_CHOSEN},
                                        {.name = "ResNet-50",
                                         .slug = "resnet50",
                                         .net = "tf_resnet(blocks=8,width=%s)",
                                         .cut = CUT,
                                         .width = 1,
                                         .data = &table_cifar10,
                                         .figure = {"93.0", "93.2", "11.5", "92.9"}}};
#define IMAGES                                                                                                     \
  TABLE_PAIRS("run.batch", "128", "run.epochs", "250", "optimizer.rate", "0.1", "optimizer.momentum", "0.9",       \
              "optimizer.decay", "2e-4", "optimizer.schedule", "steps(39063/58594/78126,0.1)", "run.stream", "10", \
              "run.rest", "keep", "data.normalise", "image")
#define IMAGES_CHOSEN                                                                                               \
  "The paper names the repository tensorflow/models; the network, decay and 97675 steps are those of its "          \
  "official/resnet, in the copies that have the paper's 250 epochs and drops. A guess: its version 2, where norms " \
  "are "                                                                                                            \
  "before the convolutions; --set model.net=tf_resnet(blocks=3,v1) is version 1."
const paper_table table_s2fp8_1 = {
    .paper = "s2fp8",
    .name = "1",
    .source = SOURCE,
    .place = "table 1",
    .title = "ResNets on CIFAR-10, trained in FP8 with and without a loss scale, and in S2FP8",
    .chosen = IMAGES_CHOSEN,
    .pairs = IMAGES,
    .column = table1_columns,
    .columns = TABLE_COUNT(table1_columns),
    .row = table1_rows,
    .rows = TABLE_COUNT(table1_rows)};

static const table_column table2_columns[] = {
    {"FP32", "fp32", TABLE_PAIRS("precision.system", "binary32")},
    {"S2FP8", "s2fp8", TABLE_PAIRS("precision.system", "s2fp8")},
    {"FP8", "fp8", TABLE_PAIRS("precision.system", "fp8_e5m2")},
    {"FP8+LS(10k)+Ex", "fp8-ls10k-ex",
     TABLE_PAIRS("precision.system", "fp8_e5m2", "loss.scale", "static(10000,unchecked)", "precision.exempt", "both")}};
#define LARGE_IMAGES                                                                                               \
  TABLE_PAIRS("data.normalise", "means", "data.area", "0.05", "run.batch", "256", "run.epochs", "90",              \
              "optimizer.rate", "0.1", "optimizer.momentum", "0.9", "optimizer.decay", "1e-4", "optimizer.decays", \
              "*.gain:0,*.offset:0", "optimizer.schedule", "epochs(30/60/80,0.1)")
#define LARGE_CUT TABLE_PAIRS("optimizer.schedule", "drop(0.3333/0.6667/0.8889,0.1)")
#define LARGE_CHOSEN                                                                                                \
  "The network, decay of all but norms, means and areas are those of tensorflow/models, official/resnet. A guess: " \
  "its "                                                                                                            \
  "version 2, where norms are before the convolutions."
#define LARGE_DIFFERS                                                                                \
  "There, a box has a height drawn from a range and a ratio drawn uniformly, and there is a 1001st " \
  "class. " TABLE_BOXES
static const table_row table2_rows[] = {{.name = "ResNet-18",
                                         .slug = "resnet18",
                                         .net = "tf_imagenet(stages=2/2/2/2)",
                                         .cut = LARGE_CUT,
                                         .width = 1,
                                         .data = &table_imagenet,
                                         .figure = {"", "", "", ""}},
                                        {.name = "ResNet-50",
                                         .slug = "resnet50",
                                         .net = "tf_imagenet(bottleneck)",
                                         .cut = LARGE_CUT,
                                         .width = 1,
                                         .data = &table_imagenet,
                                         .figure = {"", "", "", ""}}};
static const table_left_out table2_left_out[] = {
    {"column FP8+LS(100k)+Ex+SR", "the paper does not say which roundings are stochastic"}};
const paper_table table_s2fp8_2 = {.paper = "s2fp8",
                                   .name = "2",
                                   .source = SOURCE,
                                   .place = "table 2",
                                   .title = "ResNets on ImageNet1k",
                                   .chosen = LARGE_CHOSEN,
                                   .differs = LARGE_DIFFERS,
                                   .pairs = LARGE_IMAGES,
                                   .column = table2_columns,
                                   .columns = TABLE_COUNT(table2_columns),
                                   .row = table2_rows,
                                   .rows = TABLE_COUNT(table2_rows),
                                   .left_out = table2_left_out,
                                   .left_outs = TABLE_COUNT(table2_left_out)};

static const table_column table3_columns[] = {
    {"FP32", "fp32", TABLE_PAIRS("precision.system", "binary32")},
    {"S2FP8", "s2fp8", TABLE_PAIRS("precision.system", "s2fp8")},
    {"FP8", "fp8", TABLE_PAIRS("precision.system", "fp8_e5m2")},
    {"FP8+LS(exp)", "fp8-lsexp",
     TABLE_PAIRS("precision.system", "fp8_e5m2", "loss.scale",
                 "exponential(start=1,factor=2,every=1000,scale_max=16384)")}};
static const table_row table3_rows[] = {{.name = "Transformer tiny, En-Vi",
                                         .slug = "transformer",
                                         .net = "t2t_transformer",
                                         .width = 1,
                                         .data = &table_iwslt,
                                         .figure = {"", "", "", ""}}};
/* 240 epochs of 1041 steps. */
#define TRANSLATION                                                                                              \
  TABLE_PAIRS("data.subwords", "32000", "data.vocabulary", "0", "data.window", "256", "run.batch", "128",        \
              "run.epochs", "240", "optimizer.kind", "adamw", "optimizer.rate", "2", "optimizer.beta2", "0.997", \
              "optimizer.eps", "1e-9", "optimizer.correction", "outside", "optimizer.schedule",                  \
              "inverse_root(8000,width=128)", "loss.smoothing", "0.1", "loss.smoothing_over", "others",          \
              "loss.less_minimum", "yes")
#define TRANSLATION_CHOSEN                                                                                            \
  "Section 4.3 has two layers of 128 with a filter of 512, and Adam. The rest is not specified: the network, Adam's " \
  "numbers, its rate, label smoothing, sentences of up to 256 tokens and 250000 steps are those of "                  \
  "Tensor2Tensor's transformer_tiny. The schedules of FP8+LS(exp) are not named; this one is the default."
#define TRANSLATION_DIFFERS                                                                                            \
  "Tensor2Tensor's parts of words are its own, about 32768 of both languages; here they are those of 32000 merges of " \
  "byte-pair encoding, of both languages, too. Its batches are 4096 tokens of sentences of like length, here 128 "     \
  "sentences. It adds a row of its target space to the source, and begins a target with zeros; it decodes with a "     \
  "beam, here greedily."
const paper_table table_s2fp8_3 = {.paper = "s2fp8",
                                   .name = "3",
                                   .source = SOURCE,
                                   .place = "table 3",
                                   .title = "a small Transformer that translates",
                                   .chosen = TRANSLATION_CHOSEN,
                                   .differs = TRANSLATION_DIFFERS,
                                   .pairs = TRANSLATION,
                                   .column = table3_columns,
                                   .columns = TABLE_COUNT(table3_columns),
                                   .row = table3_rows,
                                   .rows = TABLE_COUNT(table3_rows)};

#define PAIRS_NCF                                                                                             \
  TABLE_PAIRS("run.batch", "1024", "run.epochs", "20", "optimizer.kind", "adamw", "optimizer.rate", "0.0005", \
              "loss.kind", "logistic", "optimizer.correction", "outside", "data.candidates", "100")
#define NCF_CHOSEN                                                                                                     \
  "The network, its first weights and 4 negatives are those of tensorflow/models, official/recommendation; 1024 is "   \
  "taken for the batch of all four GPUs. A guess: 100 candidates beside the held-out item, as in its first versions; " \
  "later ones have 999 (--set data.candidates=999)."
static const table_row table4_rows[] = {{.name = "NCF",
                                         .slug = "ncf",
                                         .net = "tf_ncf",
                                         .width = 1,
                                         .data = &table_movielens,
                                         .figure = {"0.666", "0.663", "0.633"}}};
const paper_table table_s2fp8_4 = {.paper = "s2fp8",
                                   .name = "4",
                                   .source = SOURCE,
                                   .place = "table 4",
                                   .title = "neural collaborative filtering on MovieLens 1M",
                                   .chosen = NCF_CHOSEN,
                                   .pairs = PAIRS_NCF,
                                   .column = table1_columns,
                                   .columns = 3,
                                   .row = table4_rows,
                                   .rows = TABLE_COUNT(table4_rows)};

/* Operands and results of products in bfloat16, as FP8 and S2FP8 are placed. */
static const table_column tableA2_columns[] = {
    {"BF16", "bf16",
     TABLE_PAIRS("precision.system", "binary32", "precision.x", "bfloat16", "precision.w", "bfloat16", "precision.dz",
                 "bfloat16", "precision.w_back", "bfloat16", "precision.x_back", "bfloat16", "precision.dz_w",
                 "bfloat16", "precision.z_out", "bfloat16", "precision.dx_out", "bfloat16", "precision.dw_out",
                 "bfloat16")}};
#define A2_CHOSEN " Of the figure our copy of the paper has 9T7."
static const table_row tableA2_rows[] = {{.name = "ResNet-20",
                                          .slug = "resnet20",
                                          .net = "tf_resnet(blocks=3,width=%s)",
                                          .cut = CUT,
                                          .width = 1,
                                          .data = &table_cifar10,
                                          .pairs = IMAGES,
                                          .figure = {"91.7"},
                                          .chosen = IMAGES_CHOSEN A2_CHOSEN},
                                         {
                                             .name = "ResNet-50",
                                             .slug = "resnet50",
                                             .net = "tf_resnet(blocks=8,width=%s)",
                                             .cut = CUT,
                                             .width = 1,
                                             .data = &table_cifar10,
                                             .pairs = IMAGES,
                                             .figure = {"93.2"},
                                             .chosen = IMAGES_CHOSEN,
                                         },
                                         {.name = "NCF",
                                          .slug = "ncf",
                                          .net = "tf_ncf",
                                          .width = 1,
                                          .data = &table_movielens,
                                          .pairs = PAIRS_NCF,
                                          .figure = {"0.653"},
                                          .chosen = NCF_CHOSEN},
                                         {.name = "Transformer tiny, En-Vi",
                                          .slug = "transformer",
                                          .net = "t2t_transformer",
                                          .width = 1,
                                          .data = &table_iwslt,
                                          .pairs = TRANSLATION,
                                          .figure = {""},
                                          .chosen = TRANSLATION_CHOSEN,
                                          .differs = TRANSLATION_DIFFERS}};
static const table_left_out tableA2_left_out[] = {
    {"columns FP32, FP8, FP8 with tuning, S2FP8", "they are those of tables 1 to 4"},
    {"ResNet-50 on ImageNet", "its file is that of table 2 with this column's keys"}};
const paper_table table_s2fp8_a2 = {
    .paper = "s2fp8",
    .name = "A2",
    .source = SOURCE,
    .place = "table A2",
    .title =
        "the same networks with products in bfloat16; accuracy, of NCF the hit rate, of "
        "Transformer tiny BLEU",
    .column = tableA2_columns,
    .columns = TABLE_COUNT(tableA2_columns),
    .row = tableA2_rows,
    .rows = TABLE_COUNT(tableA2_rows),
    .left_out = tableA2_left_out,
    .left_outs = TABLE_COUNT(tableA2_left_out)};
