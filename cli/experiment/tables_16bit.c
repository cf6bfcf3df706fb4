/* SPDX-License-Identifier: MIT */
/* The tables of Micikevicius et al. and of OpenSeq2Seq's page: see tables.h. */
#include "cli/experiment/tables.h"

/* ---- Mixed Precision Training ---- */

#define FP16_SOURCE "Micikevicius et al., Mixed Precision Training (ICLR 2018)"

static const table_column fp16_columns[] = {{"Baseline", "fp32", TABLE_PAIRS("precision.system", "binary32")},
                                            {"Mixed Precision", "mixed", TABLE_PAIRS("precision.system", "fp16")}};
static const table_row fp16_rows[] = {{.name = "Resnet50",
                                       .slug = "resnet50",
                                       .net = "tf_imagenet(bottleneck)",
                                       .width = 1,
                                       .data = &table_imagenet,
                                       .figure = {"", ""}}};
static const table_left_out fp16_1_left_out[] = {
    {"AlexNet, VGG-D, GoogLeNet, Inception v2, Inception v3",
     "they are texts in examples/train/papers/networks, which model.file takes, and no networks with a name"}};
const paper_table table_fp16_1 = {
    .paper = "fp16",
    .name = "1",
    .source = FP16_SOURCE,
    .place = "table 1",
    .title = "networks for images, in binary16 with binary32 master weights and no loss scale",
    .chosen =
        "The recipe is that of PyTorch's example for ImageNet: 90 epochs, a tenth of the rate after 30 and 60. The "
        "paper "
        "has a pre-activation ResNet-50 and does not say more; this one is that of tensorflow/models.",
    .differs = TABLE_BOXES,
    .pairs = TABLE_PAIRS("run.batch", "256", "run.epochs", "90", "optimizer.rate", "0.1", "optimizer.momentum", "0.9",
                         "optimizer.decay", "1e-4", "optimizer.schedule", "drop(0.3333/0.6667,0.1)"),
    .column = fp16_columns,
    .columns = TABLE_COUNT(fp16_columns),
    .row = fp16_rows,
    .rows = TABLE_COUNT(fp16_rows),
    .left_out = fp16_1_left_out,
    .left_outs = TABLE_COUNT(fp16_1_left_out)};

static const table_left_out fp16_2_left_out[] = {
    {"Faster R-CNN, Multibox SSD on Pascal VOC", "there are no losses of boxes, and no loader of Pascal VOC"}};
const paper_table table_fp16_2 = {.paper = "fp16",
                                  .name = "2",
                                  .source = FP16_SOURCE,
                                  .place = "table 2",
                                  .title = "detection networks",
                                  .left_out = fp16_2_left_out,
                                  .left_outs = TABLE_COUNT(fp16_2_left_out)};
static const table_left_out fp16_3_left_out[] = {
    {"DeepSpeech 2, English and Mandarin", "there is no CTC loss, and the paper's data are not public"}};
const paper_table table_fp16_3 = {.paper = "fp16",
                                  .name = "3",
                                  .source = FP16_SOURCE,
                                  .place = "table 3",
                                  .title = "speech recognition",
                                  .left_out = fp16_3_left_out,
                                  .left_outs = TABLE_COUNT(fp16_3_left_out)};

/* Sections 4.4 to 4.6 have figures in place of tables. */
static const table_left_out fp16_f4_left_out[] = {
    {"English to French, 3 and 5 layers of 1024 LSTM cells with attention (perplexity drawn)",
     "there is no encoder and decoder of LSTM cells"}};
const paper_table table_fp16_f4 = {.paper = "fp16",
                                   .name = "figure4",
                                   .source = FP16_SOURCE,
                                   .place = "figure 4",
                                   .title = "machine translation",
                                   .left_out = fp16_f4_left_out,
                                   .left_outs = TABLE_COUNT(fp16_f4_left_out)};
static const table_left_out fp16_f5_left_out[] = {
    {"bigLSTM, 2 x 8192 cells on 1 billion words (perplexity drawn)", "the loss has no sampled softmax"}};
const paper_table table_fp16_f5 = {.paper = "fp16",
                                   .name = "figure5",
                                   .source = FP16_SOURCE,
                                   .place = "figure 5",
                                   .title = "language modelling",
                                   .left_out = fp16_f5_left_out,
                                   .left_outs = TABLE_COUNT(fp16_f5_left_out)};
static const table_left_out fp16_f6_left_out[] = {
    {"DCGAN on CelebFaces (images shown)", "two networks do not train in turn"}};
const paper_table table_fp16_f6 = {.paper = "fp16",
                                   .name = "figure6",
                                   .source = FP16_SOURCE,
                                   .place = "figure 6",
                                   .title = "generated faces",
                                   .left_out = fp16_f6_left_out,
                                   .left_outs = TABLE_COUNT(fp16_f6_left_out)};

/* ---- OpenSeq2Seq ---- */

#define MIXED "precision.system", "fp16", "precision.norms", "binary32", "loss.scale"
static const table_column seq_columns[] = {
    {"float32", "fp32", TABLE_PAIRS("precision.system", "binary32")},
    {"mixed, loss_scale 10", "static", TABLE_PAIRS(MIXED, "static(10,unchecked)")},
    {"mixed, Backoff", "backoff", TABLE_PAIRS(MIXED, "backoff")},
    {"mixed, LogMax", "logmax", TABLE_PAIRS(MIXED, "logmax")}};
#define SEQ_IMAGES                                                                                           \
  TABLE_PAIRS("run.batch", "128", "run.epochs", "164", "optimizer.rate", "0.1", "optimizer.momentum", "0.9", \
              "gradient.penalty", "l2", "gradient.lambda", "1e-4", "optimizer.schedule", "drop(0.5/0.75,0.1)")
#define SEQ_TRANSLATION                                                                                  \
  TABLE_PAIRS("run.batch", "128", "run.epochs", "240", "optimizer.kind", "adamw", "optimizer.rate", "2", \
              "optimizer.beta2", "0.997", "optimizer.eps", "1e-9", "optimizer.schedule",                 \
              "inverse_root(8000,width=128)", "loss.smoothing", "0.1")
static const table_row seq_rows[] = {
    {.name = "ResNet-20",
     .slug = "resnet20",
     .net = "resnet(blocks=3,width=%s)",
     .width = 1,
     .data = &table_cifar10,
     .pairs = SEQ_IMAGES,
     .figure = {"", "", "", ""},
     .chosen = "The page names methods and no network: ResNet-20 and its recipe stand for one. The l2 penalty is on "
               "the master "
               "weights."},
    {.name = "Transformer tiny, En-Vi",
     .slug = "transformer",
     .net = "seq2seq(layers=2,units=128,heads=4,hidden=512,deviation=0.1,dropout=0.1)",
     .width = 1,
     .data = &table_iwslt,
     .pairs = SEQ_TRANSLATION,
     .figure = {"", "", "", ""},
     .chosen =
         "The page names methods and no network: for the toolkit's translation models stands the tiny Transformer of "
         "Cambier et al. (2020) with its recipe."}};
static const table_left_out seq_left_out[] = {
    {"the toolkit's speech models", "there is no CTC loss"},
    {"the toolkit's translation models of LSTM cells", "there is no encoder and decoder of LSTM cells"}};
const paper_table table_openseq2seq = {.paper = "openseq2seq",
                                       .name = "page",
                                       .source = "OpenSeq2Seq, Mixed precision training (the toolkit's documentation)",
                                       .place = "page",
                                       .title = "the optimizer wrapper and the two automatic loss scales of the page",
                                       .column = seq_columns,
                                       .columns = TABLE_COUNT(seq_columns),
                                       .row = seq_rows,
                                       .rows = TABLE_COUNT(seq_rows),
                                       .left_out = seq_left_out,
                                       .left_outs = TABLE_COUNT(seq_left_out)};
