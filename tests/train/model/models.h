/* SPDX-License-Identifier: MIT */
/* tests/train/model/models.h - models that must parse and build. */
#ifndef HALFULP_TESTS_TRAIN_MODELS_H
#define HALFULP_TESTS_TRAIN_MODELS_H

#include "halfulp/train/model.h"

static inline hu_model model_of(const char *text) {
  hu_model m;
  size_t where = 0;
  hu_status status = hu_model_parse(&m, text, &where);
  if (status != HU_OK) fail_msg("%s: %s at %zu", text, hu_status_name(status), where);
  return m;
}

static inline hu_net *net_of(const char *text, const hu_model_sizes *sizes, size_t batch, uint32_t threads,
                             hu_model_ends *ends) {
  const char *why = "";
  hu_model m = model_of(text);
  hu_net *net = hu_net_new(batch, threads);
  assert_non_null(net);
  hu_status status = hu_model_build(net, &m, sizes, ends, &why);
  if (status != HU_OK) fail_msg("%s: %s: %s", text, hu_status_name(status), why);
  return net;
}

#endif
