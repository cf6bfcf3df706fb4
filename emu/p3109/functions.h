/* SPDX-License-Identifier: MIT */
/* emu/p3109/functions.h - the exact results of the elementary functions that halfulp/arith.h does not have. */
#ifndef HALFULP_EMU_P3109_FUNCTIONS_H
#define HALFULP_EMU_P3109_FUNCTIONS_H

#include "emu/core/round.h"

/* The exact result of HU_P3109_TAN to HU_P3109_ARC_TANH (but those of emu/core/function.h), HU_P3109_SOFTPLUS or
 * HU_P3109_HYPOT for operands of at most 31 digits, as hui_function_of gives it: all of it, or 64 digits and sticky.
 * The call looks at y where the operation has two operands. Zeros are +0. */
hu_num hui_p3109_function(int op, hu_num x, hu_num y);

#endif
