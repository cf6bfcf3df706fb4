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

#define GRATINGS(classes)                                                                                       \
  TABLE_PAIRS("data.set", "gratings", "data.path", "", "data.augment", "no", "data.size", "16", "data.classes", \
              classes, "data.count", "2000", "data.test", "500")

const table_data table_cifar10 = {
    "CIFAR-10",
    "cifar-10-batches-bin",
    cifar10_files,
    "https://www.cs.toronto.edu/~kriz/cifar.html (the binary version)",
    TABLE_PAIRS("data.set", "cifar10", "data.path", "cifar-10-batches-bin", "data.augment", "yes"),
    50000,
    10000,
    TABLE_ACCURACY,
    GRATINGS("10"),
    "2000 generated gratings of 16 x 16 pixels, 10 classes, and 500 for testing"};

const table_data table_cifar100 = {
    "CIFAR-100",
    "cifar-100-binary",
    cifar100_files,
    "https://www.cs.toronto.edu/~kriz/cifar.html (the binary version)",
    TABLE_PAIRS("data.set", "cifar100", "data.path", "cifar-100-binary", "data.augment", "yes"),
    50000,
    10000,
    TABLE_ACCURACY,
    GRATINGS("20"),
    "2000 generated gratings of 16 x 16 pixels, 20 classes, and 500 for testing"};

/* 1000209 ratings of 6040 users, one of each held out; 4 negatives beside each of the others. */
const table_data table_movielens = {
    "MovieLens 1M",
    "ml-1m",
    movielens_files,
    "https://grouplens.org/datasets/movielens/1m/",
    TABLE_PAIRS("data.set", "movielens", "data.path", "ml-1m/ratings.dat", "data.negatives", "4", "data.candidates",
                "99"),
    4970845,
    604000,
    TABLE_HIT_RATE,
    TABLE_PAIRS("data.set", "ratings", "data.path", "", "data.implicit", "yes", "data.users", "600", "data.items",
                "400", "data.count", "50000", "data.test", "5000"),
    "50000 generated ratings of 600 users and 400 items, and 5000 for testing; they have an AUC and no hit rate"};
