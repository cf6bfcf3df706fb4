/* SPDX-License-Identifier: MIT */
/* train/model/kinds.h - the table of kinds of models. */
#ifndef HALFULP_TRAIN_MODEL_KINDS_H
#define HALFULP_TRAIN_MODEL_KINDS_H

#include "halfulp/train/model.h"
#include "train/text/keys.h"

/* Which of the sizes a kind needs. */
enum { HU_NEEDS_IMAGE = 1, HU_NEEDS_TOKENS = 2, HU_NEEDS_PAIRS = 4, HU_NEEDS_SOURCE = 8, HU_NEEDS_FEATURES = 16 };

typedef struct hu_model_kind {
  const char *name, *alias; /* NULL: none */
  hu_text_keys keys;
  unsigned needs;
  const char *text; /* of its network, train/model/networks */
} hu_model_kind;
/* Returns the record of a kind below HU_MODEL_KINDS. */
const hu_model_kind *hui_model_kind_of(uint8_t kind);
/* hu_model_parse, and on an error a sentence that says what is wrong and what may stand there. */
enum { HU_TEXT_WHY_MAX = 448 };
hu_status hui_model_read(hu_model *model, const char *text, size_t *where, char why[HU_TEXT_WHY_MAX]);

#endif
