/* SPDX-License-Identifier: MIT */
/* train/step/loss_rule.h - texts of loss scale rules, and what is wrong with one. */
#ifndef HALFULP_TRAIN_STEP_LOSS_RULE_H
#define HALFULP_TRAIN_STEP_LOSS_RULE_H

#include "halfulp/train/gradient.h"
#include "train/text/keys.h"

/* hu_loss_rule_parse, and on an error a sentence that says what is wrong and what may stand there. */
enum { HU_RULE_WHY_MAX = 320 };
hu_status hui_loss_rule_read(hu_loss_rule *rule, const char *text, size_t *where, char why[HU_RULE_WHY_MAX]);

#endif
