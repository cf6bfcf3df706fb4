/* SPDX-License-Identifier: MIT */
/* A build that reads no checkpoints: the trainer says so where model.weights is set. See weights.h. */
#include "cli/train/weights.h"

hu_status train_read_weights(hu_trainer *trainer) { return trainer ? HU_OK : HU_E_NULL; }
