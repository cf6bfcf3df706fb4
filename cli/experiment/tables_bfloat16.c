/* SPDX-License-Identifier: MIT */
/* The tables of Zamirai et al., Revisiting BFloat16 Training: see tables.h. */
#include "cli/experiment/tables.h"

#define SOURCE "Zamirai et al., Revisiting BFloat16 Training (2021)"
#define SEEDS "The paper has means and deviations of three seeds; its appendix of settings is not in our copy."
#define ALL16(update)                                                                                         \
  TABLE_PAIRS("precision.system", "bfloat16", "optimizer.state", "bfloat16", "optimizer.weights", "bfloat16", \
              "optimizer.update", update)
#define BIT32 \
  { "32-bit", "fp32", TABLE_PAIRS("precision.system", "binary32") }
#define STANDARD \
  { "Standard 16-bit", "standard", ALL16("rne") }

/* ---- networks and recipes ---- */

#define IMAGES                                                                                               \
  TABLE_PAIRS("run.batch", "128", "run.epochs", "200", "optimizer.rate", "0.1", "optimizer.momentum", "0.9", \
              "optimizer.decay", "5e-4", "optimizer.schedule", "cosine", "run.rest", "keep")
#define RESNET18_CHOSEN                                                                                               \
  "A guess: the paper takes the recipe of a public repository that it does not name. The network, its first weights " \
  "and the recipe are those of kuangliu/pytorch-cifar: 200 epochs, a cosine, decay 5e-4; but that divides channels "  \
  "by smaller deviations than those of the set."

#define CLICKS(batch) \
  TABLE_PAIRS("run.batch", batch, "run.epochs", "1", "optimizer.rate", "0.1", "loss.kind", "logistic")
#define TABLES_DIFFER                                                                                            \
  "Each category has 645277 rows, the most that the loader takes: larger numbers share rows, where the paper's " \
  "tables have one row per category. First embeddings are normal, not uniform."
#define KAGGLE_CHOSEN "Sizes, rate and batch are those of the DLRM authors' script for Kaggle."
#define KAGGLE_DIFFERS \
  "The last tenth of train.txt is for testing, where the script has half of its last day. " TABLES_DIFFER
#define TERABYTE_CHOSEN                                                                                              \
  "Sizes, rate and batch are those of the DLRM authors' script for Terabyte. The loader holds all lines in memory, " \
  "some 700 GB."
#define TERABYTE_DIFFERS "The script leaves out an eighth of the examples without a click. " TABLES_DIFFER

/* 25201 batches are an epoch. */
#define WORDS                                                                                            \
  TABLE_PAIRS("run.batch", "32", "run.epochs", "3", "optimizer.kind", "adamw", "optimizer.rate", "1e-4", \
              "optimizer.beta2", "0.997", "optimizer.decay", "0.01", "optimizer.warmup", "10000")
#define BERT_CHOSEN                                                                                              \
  "Rate, decay, warm-up and windows of 128 tokens are those of Devlin et al. (2019), A.2; batch and epochs are " \
  "chosen. beta2 is 0.997, since 0.999 becomes 1 in bfloat16."
#define BERT_DIFFERS                                                                                                  \
  "The paper has a quarter of the articles, and parts of words as tokens. Its figure requires trained first weights " \
  "(a guess: it says none); ours are random."

/* ---- table 1 ---- */

static const table_column columns1[] = {BIT32,
                                        STANDARD,
                                        {"Standard 16-bit & 32-bit weights", "weights32",
                                         TABLE_PAIRS("precision.system", "bfloat16", "optimizer.state", "bfloat16")}};
static const table_row rows1[] = {{.name = "ResNet-18",
                                   .slug = "resnet18",
                                   .net = "lee_resnet18(width=%s,defaults)",
                                   .width = 1,
                                   .data = &table_cifar10,
                                   .pairs = IMAGES,
                                   .figure = {"95.45 +- 0.07", "94.23 +- 0.12", "95.40 +- 0.05"},
                                   .chosen = RESNET18_CHOSEN},
                                  {.name = "DLRM on Kaggle",
                                   .slug = "dlrm-kaggle",
                                   .net = "dlrm(units=16,bottom=512/256/64,top=512/256)",
                                   .width = 1,
                                   .data = &table_kaggle,
                                   .pairs = CLICKS("128"),
                                   .figure = {"", "", ""},
                                   .chosen = KAGGLE_CHOSEN,
                                   .differs = KAGGLE_DIFFERS}};
#define NO_MNLI "there is no loader of MNLI, and no classifier of pairs of sentences"
static const table_left_out left1[] = {{"BERT-Base on MNLI", NO_MNLI}};
const paper_table table_bfloat16_1 = {.paper = "bfloat16",
                                      .name = "1",
                                      .source = SOURCE,
                                      .place = "table 1",
                                      .title = "rounding the weight update to nearest is what costs accuracy",
                                      .chosen = SEEDS,
                                      .column = columns1,
                                      .columns = TABLE_COUNT(columns1),
                                      .row = rows1,
                                      .rows = TABLE_COUNT(rows1),
                                      .left_out = left1,
                                      .left_outs = TABLE_COUNT(left1)};

/* ---- table 2 ---- */

static const table_column columns2[] = {
    BIT32, {"16-bit Stochastic", "stochastic", ALL16("sra:16")}, {"16-bit Kahan", "kahan", ALL16("kahan")}, STANDARD};
static const table_row rows2[] = {{.name = "ResNet-18",
                                   .slug = "resnet18",
                                   .net = "lee_resnet18(width=%s,defaults)",
                                   .width = 1,
                                   .data = &table_cifar10,
                                   .pairs = IMAGES,
                                   .figure = {"95.45 +- 0.07", "95.33 +- 0.08", "95.36 +- 0.07", "94.23 +- 0.12"},
                                   .chosen = RESNET18_CHOSEN},
                                  {.name = "DLRM on Kaggle",
                                   .slug = "dlrm-kaggle",
                                   .net = "dlrm(units=16,bottom=512/256/64,top=512/256)",
                                   .width = 1,
                                   .data = &table_kaggle,
                                   .pairs = CLICKS("128"),
                                   .figure = {"", "", "", ""},
                                   .chosen = KAGGLE_CHOSEN,
                                   .differs = KAGGLE_DIFFERS},
                                  {.name = "DLRM on Terabyte",
                                   .slug = "dlrm-terabyte",
                                   .net = "dlrm(units=64,bottom=512/256,top=512/512/256)",
                                   .width = 1,
                                   .data = &table_terabyte,
                                   .pairs = CLICKS("2048"),
                                   .figure = {"", "", "", ""},
                                   .chosen = TERABYTE_CHOSEN,
                                   .differs = TERABYTE_DIFFERS},
                                  {.name = "BERT-Base on Wiki103",
                                   .slug = "bert-wiki103",
                                   .net = "bert(layers=12,units=768,heads=12,hidden=3072,dropout=0.1)",
                                   .width = 1,
                                   .data = &table_wiki103,
                                   .pairs = WORDS,
                                   .figure = {"", "", "", ""},
                                   .chosen = BERT_CHOSEN,
                                   .differs = BERT_DIFFERS}};
static const table_left_out left2[] = {
    {"ResNet-50 on ImageNet",
     "torchvision's network has no name here; tf_imagenet(bottleneck,v1) has its "
     "layers except for the zeros of the pool, and data.set = images reads the data"},
    {"BERT on MNLI", NO_MNLI},
    {"DeepSpeech2 on LibriSpeech", "there is no CTC loss"}};
const paper_table table_bfloat16_2 = {
    .paper = "bfloat16",
    .name = "2",
    .source = SOURCE,
    .place = "table 2",
    .title = "16 bits alone, with stochastic rounding or Kahan summation in the weight update",
    .chosen = SEEDS,
    .column = columns2,
    .columns = TABLE_COUNT(columns2),
    .row = rows2,
    .rows = TABLE_COUNT(rows2),
    .left_out = left2,
    .left_outs = TABLE_COUNT(left2)};
