/* SPDX-License-Identifier: MIT */
/* cli/train/data_folder.h - where a run's data files are looked for if the user does not say so. */
#ifndef HALFULP_CLI_TRAIN_DATA_FOLDER_H
#define HALFULP_CLI_TRAIN_DATA_FOLDER_H

#include "halfulp/train/trainer.h"

/* Finds the data of a run. If its data set comes with halfulp: `folder` if it holds the set's file, else ./data, else
 * the installed folder. Of other runs: `folder`. */
const char *train_data_folder(const hu_trainer *trainer, const char *folder);

#endif
