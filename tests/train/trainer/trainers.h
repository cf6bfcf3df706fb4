/* SPDX-License-Identifier: MIT */
/* tests/train/trainer/trainers.h - trainers by keys, whose data files are in `folder`; what fails is told. Include
 * cmocka.h before it.
 */
#ifndef HALFULP_TESTS_TRAIN_TRAINERS_H
#define HALFULP_TESTS_TRAIN_TRAINERS_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/train/trainer.h"

static char why[HU_DATA_WHY_MAX];
static const char *folder;

static inline void set(hu_trainer *trainer, const char *key, const char *value) {
  *why = 0;
  if (hu_trainer_set(trainer, key, value, why) != HU_OK) fail_msg("%s", why);
}

/* A trainer with pairs of keys and values up to a NULL. */
static inline hu_trainer *with(const char *const *pairs) {
  hu_trainer *trainer = hu_trainer_new();
  assert_non_null(trainer);
  for (; *pairs; pairs += 2) set(trainer, pairs[0], pairs[1]);
  return trainer;
}

#define PAIRS(...) \
  (const char *const[]) { __VA_ARGS__, NULL }

static inline void begin(hu_trainer *trainer) {
  *why = 0;
  if (hu_trainer_begin(trainer, folder, why) != HU_OK) fail_msg("%s", why);
}

static inline void steps(hu_trainer *trainer, size_t n) {
  for (size_t i = 0; i < n; i++) assert_int_equal(hu_trainer_step(trainer, NULL), HU_OK);
}

/* The digest of the weights after so many steps of a new trainer. */
static inline uint64_t digest_after(size_t n, const char *const *pairs) {
  hu_trainer *trainer = with(pairs);
  begin(trainer);
  steps(trainer, n);
  uint64_t z = hu_trainer_digest(trainer);
  hu_trainer_free(trainer);
  return z;
}

/* All tensors of a trainer, written into another one of the same keys. */
static inline void carry_tensors(hu_trainer *to, const hu_trainer *from) {
  for (size_t i = 0; i < hu_trainer_tensor_count(from); i++) {
    hu_trainer_tensor x = hu_trainer_tensor_at(from, i);
    float *numbers = malloc(x.rows * x.cols * sizeof *numbers);
    assert_non_null(numbers);
    assert_int_equal(hu_trainer_read(from, i, numbers), HU_OK);
    assert_int_equal(hu_trainer_write(to, i, numbers), HU_OK);
    free(numbers);
  }
}

/* The gradients of all parameters, one after another; how many they are. */
static inline size_t gradients_of(const hu_trainer *trainer, float *z) {
  hu_net *net = hu_trainer_net(trainer);
  size_t n = 0;
  for (int i = 0; i < hu_net_parameters(net); i++) {
    hu_net_tensor x = hu_net_parameter(net, i);
    memcpy(z + n, x.gradients, x.rows * x.cols * sizeof *z);
    n += x.rows * x.cols;
  }
  return n;
}

#endif
