/* SPDX-License-Identifier: MIT */
/* train/trainer/keys.h - the table of a run's keys, and how a value is read. */
#ifndef HALFULP_TRAIN_TRAINER_KEYS_H
#define HALFULP_TRAIN_TRAINER_KEYS_H

#include "train/trainer/trainer.h"

/* What a value is read as, and into what of hu_run_keys. */
typedef enum hu_key_kind {
  HU_KEY_TEXT,       /* as it is: const char * */
  HU_KEY_COUNT,      /* a whole number: uint64_t */
  HU_KEY_NUMBER,     /* double */
  HU_KEY_FACTOR,     /* double, below the range's end */
  HU_KEY_WORD,       /* one of the words: its number, uint64_t */
  HU_KEY_SIZE,       /* one of the words, which are numbers: that number, uint64_t */
  HU_KEY_MODEL,      /* hu_model */
  HU_KEY_RULE,       /* the loss scale: `rule` and `largest` */
  HU_KEY_FORMAT,     /* hu_format within binary32 */
  HU_KEY_UPDATE,     /* the end of the weight update: `update` and `kahan` */
  HU_KEY_MODE,       /* hu_mode: a rounding direction alone */
  HU_KEY_ROUNDING,   /* hu_rounding */
  HU_KEY_ACCUM,      /* hu_accum */
  HU_KEY_OWN_ACCUM,  /* hu_own_accum */
  HU_KEY_RATIO,      /* hu_ratio */
  HU_KEY_COLLECTIVE, /* hu_collective */
  HU_KEY_CHECKSUM,   /* digests of files, as a text: const char * */
  HU_KEY_OFF,        /* precision.off, as a text: const char * */
  HU_KEY_SCHEDULE,   /* hu_schedule */
  HU_KEY_SYSTEM      /* nothing: the keys that it sets are set one by one */
} hu_key_kind;

typedef struct hu_run_key {
  hu_trainer_key shown;
  hu_key_kind kind;
  size_t at; /* in hu_run_keys; SIZE_MAX: nowhere */
} hu_run_key;

/* Returns key i, which is less than hu_trainer_key_count(). */
const hu_run_key *hui_run_key_at(size_t i);

/* "the name 'nvfp' is unknown; perhaps nvfp4 is meant": of the name at the beginning of `rest`, among what is offered,
 * which is what can stand there; where nothing is near, "; " and `otherwise`. Returns text. */
enum {
  HU_HINT_FORMATS = 1,
  HU_HINT_TENSORS = 2, /* roundings of whole tensors, number systems */
  HU_HINT_MODELS = 4,
  HU_HINT_MAX = 380
};
char *hui_name_hint(char text[HU_HINT_MAX], const char *rest, unsigned offered, const char *otherwise);

#endif
