/* SPDX-License-Identifier: MIT */
/* train/data/speech.h - utterances: rows of features, and a transcript. docs/training/data.md defines both sets. */
#ifndef HALFULP_TRAIN_DATA_SPEECH_H
#define HALFULP_TRAIN_DATA_SPEECH_H

#include "train/data/file.h"

/* Utterances as examples of steps x features + 1 features: the rows, zeros behind them, and how many steps the output
 * has for them. Targets are the labels, from 1 on, then -1; label 0 is the blank. */
typedef struct hu_speech {
  hu_data training, test;
  size_t steps, features; /* rows of an example, numbers of a row */
  size_t places;          /* steps of the output for so many rows */
  uint32_t kinds;         /* labels, the blank among them */
  size_t left_out;        /* utterances for training that do not fit */
} hu_speech;

/* Frees the arrays and sets *z to all zero. */
void hui_speech_free(hu_speech *z);
/* Reads matrices of rows (.npy) and lists of lines "rows TAB transcript", of training and, if files is 2, of testing.
 * steps: the most rows of an utterance; stride: rows for a step of the output. HU_E_DATA: file, line and what is wrong;
 * HU_E_MEMORY. */
hu_status hui_speech_load(hu_speech *z, const char *const *rows, const char *const *lists, size_t files, size_t steps,
                          size_t stride, char *why);

/* Tones: a made set. */
typedef struct hu_tones {
  size_t count, test; /* utterances */
  size_t steps, stride, features;
  uint32_t kinds; /* labels, without the blank */
  float noise;    /* its standard deviation */
} hu_tones;
/* Makes tones. HU_E_SHAPE: fewer features than labels, or steps that do not hold a label; HU_E_MEMORY. */
hu_status hui_speech_tones(hu_speech *z, const hu_tones *what, uint64_t seed, char *why);

#endif
