/* SPDX-License-Identifier: MIT */
/* The tables of Micikevicius et al., of OpenSeq2Seq's page and of Zamirai et al.: see tables.h. */
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
                                       {"75.92", "76.04"}}};
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

/* ---- OpenSeq2Seq ---- */

#define MIXED "precision.system", "fp16", "precision.norms", "binary32", "loss.scale"
static const table_column seq_columns[] = {
    {"float32", "fp32", TABLE_PAIRS("precision.system", "binary32")},
    {"mixed, loss_scale 10", "static", TABLE_PAIRS(MIXED, "static(10,unchecked)")},
    {"mixed, Backoff", "backoff", TABLE_PAIRS(MIXED, "backoff")},
    {"mixed, LogMax", "logmax", TABLE_PAIRS(MIXED, "logmax")}};
static const table_row seq_rows[] = {
    {"ResNet-20", "resnet20", "resnet(blocks=3,width=%s)", 1, &table_cifar10, NULL, NULL, {"", "", "", ""}}};
static const table_left_out seq_left_out[] = {
    {"the toolkit's speech and translation models", "there are no such networks"}};
const paper_table table_openseq2seq = {
    "openseq2seq",
    "page",
    "OpenSeq2Seq, Mixed precision training (the toolkit's documentation)",
    "page",
    "the optimizer wrapper and the two automatic loss scales of the page",
    "The page names methods and no network: ResNet-20 and its recipe stand for one. The l2 penalty is on the master "
    "weights.",
    NULL,
    TABLE_PAIRS("run.batch", "128", "run.epochs", "164", "optimizer.rate", "0.1", "optimizer.momentum", "0.9",
                "gradient.penalty", "l2", "gradient.lambda", "1e-4", "optimizer.schedule", "drop(0.5/0.75,0.1)"),
    seq_columns,
    TABLE_COUNT(seq_columns),
    seq_rows,
    TABLE_COUNT(seq_rows),
    seq_left_out,
    TABLE_COUNT(seq_left_out)};

/* ---- Revisiting BFloat16 Training ---- */

#define BF16_SOURCE "Zamirai et al., Revisiting BFloat16 Training (2021)"
#define ALL16(update)                                                                                         \
  TABLE_PAIRS("precision.system", "bfloat16", "optimizer.state", "bfloat16", "optimizer.weights", "bfloat16", \
              "optimizer.update", update)
#define BIT32 \
  { "32-bit", "fp32", TABLE_PAIRS("precision.system", "binary32") }
#define STANDARD \
  { "Standard 16-bit", "standard", ALL16("rne") }
#define RESNET18 "ResNet-18", "resnet18", "resnet4(stages=2/2/2/2,width=%s)", 1, &table_cifar10, NULL, NULL
#define RECIPE                                                                                               \
  TABLE_PAIRS("run.batch", "128", "run.epochs", "200", "optimizer.rate", "0.1", "optimizer.momentum", "0.9", \
              "optimizer.decay", "5e-4", "optimizer.schedule", "cosine")
#define RECIPE_CHOSEN                                                                                     \
  "The paper takes the recipe of a public repository; this is the common one for CIFAR-10: 200 epochs, a " \
  "cosine, decay 5e-4. The paper has means and deviations of three seeds."

static const table_column bf16_1_columns[] = {
    BIT32,
    STANDARD,
    {"Standard 16-bit & 32-bit weights", "weights32",
     TABLE_PAIRS("precision.system", "bfloat16", "optimizer.state", "bfloat16")}};
static const table_row bf16_1_rows[] = {{RESNET18, {"95.45 +- 0.07", "94.23 +- 0.12", "95.40 +- 0.05"}}};
static const table_left_out bf16_1_left_out[] = {{"DLRM on Kaggle", "the table has no row for it yet"},
                                                 {"BERT-Base on MNLI", "there is no loader of MNLI"}};
const paper_table table_bfloat16_1 = {"bfloat16",
                                      "1",
                                      BF16_SOURCE,
                                      "table 1",
                                      "rounding the weight update to nearest is what costs accuracy",
                                      RECIPE_CHOSEN,
                                      NULL,
                                      RECIPE,
                                      bf16_1_columns,
                                      TABLE_COUNT(bf16_1_columns),
                                      bf16_1_rows,
                                      TABLE_COUNT(bf16_1_rows),
                                      bf16_1_left_out,
                                      TABLE_COUNT(bf16_1_left_out)};

static const table_column bf16_2_columns[] = {
    BIT32, {"16-bit Stochastic", "stochastic", ALL16("sra:16")}, {"16-bit Kahan", "kahan", ALL16("kahan")}, STANDARD};
static const table_row bf16_2_rows[] = {
    {RESNET18, {"95.45 +- 0.07", "95.33 +- 0.08", "95.36 +- 0.07", "94.23 +- 0.12"}}};
static const table_left_out bf16_2_left_out[] = {{"ResNet-50 on ImageNet", "there is no loader of ILSVRC12"},
                                                 {"DLRM on Kaggle and Terabyte", "the table has no row for it yet"},
                                                 {"BERT on MNLI and Wiki103", "there is no loader of MNLI, no row yet"},
                                                 {"DeepSpeech2 on LibriSpeech", "there is no CTC loss"}};
const paper_table table_bfloat16_2 = {"bfloat16",
                                      "2",
                                      BF16_SOURCE,
                                      "table 2",
                                      "16 bits alone, with stochastic rounding or Kahan summation in the weight update",
                                      RECIPE_CHOSEN,
                                      NULL,
                                      RECIPE,
                                      bf16_2_columns,
                                      TABLE_COUNT(bf16_2_columns),
                                      bf16_2_rows,
                                      TABLE_COUNT(bf16_2_rows),
                                      bf16_2_left_out,
                                      TABLE_COUNT(bf16_2_left_out)};
