/* SPDX-License-Identifier: MIT */
/* The data sets of the papers' tables: see tables.h. */
#include "cli/experiment/tables.h"

static const char *const cifar10_files[] = {"data_batch_1.bin",
                                            "data_batch_2.bin",
                                            "data_batch_3.bin",
                                            "data_batch_4.bin",
                                            "data_batch_5.bin",
                                            "test_batch.bin",
                                            NULL};
static const char *const cifar100_files[] = {"train.bin", "test.bin", NULL};
static const char *const movielens_files[] = {"ratings.dat", NULL};

#define GRATINGS(classes)                                                                                          \
  TABLE_PAIRS("data.set", "gratings", "data.path", "", "data.augment", "no", "data.normalise", "set", "data.size", \
              "16", "data.classes", classes, "data.count", "2000", "data.test", "500")

const table_data table_cifar10 = {
    .name = "CIFAR-10",
    .folder = "cifar-10-batches-bin",
    .files = cifar10_files,
    .from = "https://www.cs.toronto.edu/~kriz/cifar.html (the binary version)",
    .pairs = TABLE_PAIRS("data.set", "cifar10", "data.path", "cifar-10-batches-bin", "data.augment", "yes"),
    .count = 50000,
    .test = 10000,
    .figure = TABLE_ACCURACY,
    .stand_in = GRATINGS("10"),
    .stand_in_is = "2000 generated gratings of 16 x 16 pixels, 10 classes, and 500 for testing"};

const table_data table_cifar100 = {
    .name = "CIFAR-100",
    .folder = "cifar-100-binary",
    .files = cifar100_files,
    .from = "https://www.cs.toronto.edu/~kriz/cifar.html (the binary version)",
    .pairs = TABLE_PAIRS("data.set", "cifar100", "data.path", "cifar-100-binary", "data.augment", "yes"),
    .count = 50000,
    .test = 10000,
    .figure = TABLE_ACCURACY,
    .stand_in = GRATINGS("20"),
    .stand_in_is = "2000 generated gratings of 16 x 16 pixels, 20 classes, and 500 for testing"};

static const char *const imagenet_files[] = {"train-images.npy", "train-labels.npy", "val-images.npy", "val-labels.npy",
                                             NULL};

const table_data table_imagenet = {
    .name = "ImageNet (ILSVRC12), as scripts/data/images.py makes files of its folders",
    .folder = "imagenet",
    .files = imagenet_files,
    .from = "https://image-net.org/",
    .pairs = TABLE_PAIRS("data.set", "images", "data.path", "imagenet", "data.size", "224", "data.classes", "1000",
                         "data.augment", "yes"),
    .count = 1281167,
    .test = 50000,
    .figure = TABLE_ACCURACY,
    .stand_in = GRATINGS("20"),
    .stand_in_is = "2000 generated gratings of 16 x 16 pixels, 20 classes, and 500 for testing"};

/* 1000209 ratings of 6040 users, one of each held out; 4 negatives beside each of the others. */
const table_data table_movielens = {
    .name = "MovieLens 1M",
    .folder = "ml-1m",
    .files = movielens_files,
    .from = "https://grouplens.org/datasets/movielens/1m/",
    .pairs = TABLE_PAIRS("data.set", "movielens", "data.path", "ml-1m/ratings.dat", "data.negatives", "4",
                         "data.candidates", "99"),
    .count = 4970845,
    .test = 604000,
    .figure = TABLE_HIT_RATE,
    .stand_in = TABLE_PAIRS("data.set", "ratings", "data.path", "", "data.implicit", "yes", "data.users", "600",
                            "data.items", "400", "data.count", "50000", "data.test", "5000"),
    .stand_in_is =
        "50000 generated ratings of 600 users and 400 items, and 5000 for testing; they have an AUC and no hit rate"};

/* ---- text ---- */

static const char *const iwslt_files[] = {"train.en", "train.vi", "tst2013.en", "tst2013.vi", NULL};
static const char *const wiki103_files[] = {"wiki.train.tokens", "wiki.valid.tokens", NULL};

/* 133317 pairs for training; 1268 are tst2013. 17191 is the vocabulary of the prepared English side. */
const table_data table_iwslt = {
    .name = "IWSLT'15, English and Vietnamese, as Luong and Manning prepared it",
    .folder = "iwslt15",
    .files = iwslt_files,
    .from = "https://nlp.stanford.edu/projects/nmt/",
    .pairs = TABLE_PAIRS("data.set", "parallel", "data.path", "iwslt15/train.en", "data.target", "iwslt15/train.vi",
                         "data.test_file", "iwslt15/tst2013.en", "data.test_target", "iwslt15/tst2013.vi",
                         "data.window", "128", "data.vocabulary", "17191"),
    .count = 133317,
    .test = 1268,
    .figure = TABLE_BLEU,
    .stand_in = TABLE_PAIRS("data.path", "xz_file_format.txt", "data.target", "xz_file_format.txt", "data.test_file",
                            "", "data.test_target", "", "data.window", "32", "data.subwords", "0"),
    .stand_in_is =
        "the lines of xz_file_format.txt as sentences and as their translations; the last tenth for testing"};

/* 103227021 tokens and 217646 for validation, in windows of 128. */
const table_data table_wiki103 = {
    .name = "WikiText-103 (its form of words)",
    .folder = "wikitext-103",
    .files = wiki103_files,
    .from = "Merity et al., Pointer Sentinel Mixture Models (2016)",
    .pairs = TABLE_PAIRS("data.set", "words", "data.path", "wikitext-103/wiki.train.tokens", "data.valid_file",
                         "wikitext-103/wiki.valid.tokens", "data.evaluate", "valid", "data.window", "128",
                         "data.vocabulary", "30000"),
    .count = 103227021 / 128,
    .test = 217646 / 128,
    .figure = TABLE_PERPLEXITY,
    .stand_in = TABLE_PAIRS("data.path", "xz_file_format.txt", "data.valid_file", "", "data.evaluate", "test",
                            "data.window", "32"),
    .stand_in_is = "the words of xz_file_format.txt, the last tenth for testing"};

/* ---- clicks ---- */

static const char *const kaggle_files[] = {"train.txt", NULL};
static const char *const terabyte_files[] = {"train.txt", "test.txt", NULL};

#define CLICKS                                                                                                       \
  TABLE_PAIRS("data.set", "clicks", "data.path", "", "data.test_file", "", "data.features", "13", "data.categories", \
              "26", "data.vocabulary", "100", "data.count", "20000", "data.test", "2000")
#define CLICKS_ARE \
  "20000 generated clicks of 13 numbers and 26 categories of 100 rows, and 2000 for testing; its tables are smaller"

/* 45840617 lines, of which the last tenth is for testing. */
const table_data table_kaggle = {
    .name = "Criteo's Kaggle data (Display Advertising Challenge)",
    .folder = "criteo-kaggle",
    .files = kaggle_files,
    .from = "https://ailab.criteo.com/",
    .pairs = TABLE_PAIRS("data.set", "criteo", "data.path", "criteo-kaggle/train.txt", "data.vocabulary", "645277"),
    .count = 41256555,
    .test = 4584062,
    .figure = TABLE_AUC,
    .stand_in = CLICKS,
    .stand_in_is = CLICKS_ARE};

/* Days 0 to 22, one file; day 23. */
const table_data table_terabyte = {
    .name = "Criteo's Terabyte data (days 0 to 22 in one file train.txt, day 23 as test.txt)",
    .folder = "criteo-terabyte",
    .files = terabyte_files,
    .from = "https://ailab.criteo.com/",
    .pairs = TABLE_PAIRS("data.set", "criteo", "data.path", "criteo-terabyte/train.txt", "data.test_file",
                         "criteo-terabyte/test.txt", "data.vocabulary", "645277"),
    .count = 4195197692,
    .test = 178274637,
    .figure = TABLE_AUC,
    .stand_in = CLICKS,
    .stand_in_is = CLICKS_ARE};
