/* SPDX-License-Identifier: MIT */
/* The tables of Micikevicius et al. and of OpenSeq2Seq's page: see tables.h. */
#include "cli/experiment/tables.h"

/* ---- Mixed Precision Training ---- */

#define FP16_SOURCE "Micikevicius et al., Mixed Precision Training (ICLR 2018)"

static const table_column fp16_columns[] = {{"Baseline", "fp32", TABLE_PAIRS("precision.system", "binary32")},
                                            {"Mixed Precision", "mixed", TABLE_PAIRS("precision.system", "fp16")}};
static const table_row fp16_rows[] = {{"Resnet50",
                                       "resnet50",
                                       "resnet4(stages=3/4/6/3,bottleneck,width=%s)",
                                       1,
                                       &table_cifar10,
                                       NULL,
                                       NULL,
                                       {"75.92", "76.04"},
                                       NULL}};
static const table_left_out fp16_1_left_out[] = {
    {"AlexNet, VGG-D, GoogLeNet, Inception v2, Inception v3", "there are no such networks"},
    {"ILSVRC12", "there is no loader of it"}};
const paper_table table_fp16_1 = {
    "fp16",
    "1",
    FP16_SOURCE,
    "table 1",
    "networks for images, in binary16 with binary32 master weights and no loss scale",
    "The recipe is that of PyTorch's example for ImageNet: 90 epochs, a tenth of the rate after 30 and 60.",
    "CIFAR-10 stands for ILSVRC12, with another first layer: the paper's figure is not one to compare with",
    TABLE_PAIRS("run.batch", "256", "run.epochs", "90", "optimizer.rate", "0.1", "optimizer.momentum", "0.9",
                "optimizer.decay", "1e-4", "optimizer.schedule", "drop(0.3333/0.6667,0.1)"),
    fp16_columns,
    TABLE_COUNT(fp16_columns),
    fp16_rows,
    TABLE_COUNT(fp16_rows),
    fp16_1_left_out,
    TABLE_COUNT(fp16_1_left_out)};

static const table_left_out fp16_2_left_out[] = {
    {"Faster R-CNN, Multibox SSD on Pascal VOC", "there are no detection networks"}};
const paper_table table_fp16_2 = {
    "fp16", "2",  FP16_SOURCE, "table 2",       "detection networks",        NULL, NULL, NULL, NULL,
    0,      NULL, 0,           fp16_2_left_out, TABLE_COUNT(fp16_2_left_out)};
static const table_left_out fp16_3_left_out[] = {
    {"DeepSpeech 2, English and Mandarin", "there is no CTC loss, and the paper's data are not public"}};
const paper_table table_fp16_3 = {
    "fp16", "3",  FP16_SOURCE, "table 3",       "speech recognition",        NULL, NULL, NULL, NULL,
    0,      NULL, 0,           fp16_3_left_out, TABLE_COUNT(fp16_3_left_out)};

/* Sections 4.4 to 4.6 have figures in place of tables. */
static const table_left_out fp16_f4_left_out[] = {
    {"English to French, 3 and 5 layers of 1024 LSTM cells with attention (perplexity drawn)",
     "there is no encoder and decoder of LSTM cells"}};
const paper_table table_fp16_f4 = {
    "fp16", "figure4", FP16_SOURCE, "figure 4",       "machine translation",        NULL, NULL, NULL, NULL,
    0,      NULL,      0,           fp16_f4_left_out, TABLE_COUNT(fp16_f4_left_out)};
static const table_left_out fp16_f5_left_out[] = {
    {"bigLSTM, 2 x 8192 cells on 1 billion words (perplexity drawn)",
     "LSTM cells have no projection to 1024, and the loss has no sampled softmax"}};
const paper_table table_fp16_f5 = {
    "fp16", "figure5", FP16_SOURCE, "figure 5",       "language modelling",         NULL, NULL, NULL, NULL,
    0,      NULL,      0,           fp16_f5_left_out, TABLE_COUNT(fp16_f5_left_out)};
static const table_left_out fp16_f6_left_out[] = {
    {"DCGAN on CelebFaces (images shown)",
     "there are no transposed convolutions, and two networks do not train in turn"}};
const paper_table table_fp16_f6 = {"fp16",
                                   "figure6",
                                   FP16_SOURCE,
                                   "figure 6",
                                   "generated faces",
                                   NULL,
                                   NULL,
                                   NULL,
                                   NULL,
                                   0,
                                   NULL,
                                   0,
                                   fp16_f6_left_out,
                                   TABLE_COUNT(fp16_f6_left_out)};

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
#define SEQ_TRANSLATION                                                                                              \
  TABLE_PAIRS("run.batch", "128", "run.epochs", "240", "optimizer.kind", "adamw", "optimizer.rate", "1e-3",          \
              "optimizer.beta2", "0.997", "optimizer.eps", "1e-9", "optimizer.warmup", "8000", "optimizer.schedule", \
              "cosine")
static const table_row seq_rows[] = {
    {"ResNet-20",
     "resnet20",
     "resnet(blocks=3,width=%s)",
     1,
     &table_cifar10,
     SEQ_IMAGES,
     NULL,
     {"", "", "", ""},
     "The page names methods and no network: ResNet-20 and its recipe stand for one. The l2 penalty is on the master "
     "weights."},
    {"Transformer tiny, En-Vi",
     "transformer",
     "seq2seq(layers=2,units=128,heads=4,hidden=512,deviation=0.1,dropout=0.1)",
     1,
     &table_iwslt,
     SEQ_TRANSLATION,
     NULL,
     {"", "", "", ""},
     "The page names methods and no network: for the toolkit's translation models stands the tiny Transformer of "
     "Cambier et al. (2020) with its recipe."}};
static const table_left_out seq_left_out[] = {
    {"the toolkit's speech models", "there is no CTC loss"},
    {"the toolkit's translation models of LSTM cells", "there is no encoder and decoder of LSTM cells"}};
const paper_table table_openseq2seq = {"openseq2seq",
                                       "page",
                                       "OpenSeq2Seq, Mixed precision training (the toolkit's documentation)",
                                       "page",
                                       "the optimizer wrapper and the two automatic loss scales of the page",
                                       NULL,
                                       NULL,
                                       NULL,
                                       seq_columns,
                                       TABLE_COUNT(seq_columns),
                                       seq_rows,
                                       TABLE_COUNT(seq_rows),
                                       seq_left_out,
                                       TABLE_COUNT(seq_left_out)};
