/* SPDX-License-Identifier: MIT */
/* tests/train/step/rounding_of.h - a rounding from text that is right; after cmocka.h. */
#ifndef HALFULP_TESTS_TRAIN_ROUNDING_OF_H
#define HALFULP_TESTS_TRAIN_ROUNDING_OF_H

#include "halfulp/train/rounding.h"

static hu_rounding rounding_of(const char *text) {
  hu_rounding rounding;
  size_t where = 0;
  hu_status status = hu_rounding_parse(&rounding, text, &where);
  if (status != HU_OK) fail_msg("%s: %s at %zu", text, hu_status_name(status), where);
  return rounding;
}

#endif
