/* SPDX-License-Identifier: MIT */
/* cli/train/weights.h - weights of files, and what a run leaves for other programs. */
#ifndef HALFULP_CLI_TRAIN_WEIGHTS_H
#define HALFULP_CLI_TRAIN_WEIGHTS_H

#include "halfulp/train/trainer.h"

/* Lets the key model.weights read files and folders that hu_checkpoint_open takes. HU_E_SHAPE: the run has begun. */
hu_status train_read_weights(hu_trainer *trainer);
/* Writes all parameters and running statistics by their names, F32, as a .safetensors file. Returns 0, or an exit code
 * after an error line, as the next one. */
int train_write_weights(const hu_trainer *trainer, const char *path);
/* Writes what the run answers to the test set: lines of translations, or a table. */
int train_write_predictions(hu_trainer *trainer, const char *path);

#endif
