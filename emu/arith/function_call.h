/* SPDX-License-Identifier: MIT */
/* emu/arith/function_call.h - one elementary function of numbers, for the calls of one value and of arrays. */
#ifndef HALFULP_EMU_ARITH_FUNCTION_CALL_H
#define HALFULP_EMU_ARITH_FUNCTION_CALL_H

#include "emu/core/round.h"

/* op: HU_OP_EXP ... HU_OP_POW of halfulp/operation.h; y is looked at by pow alone. The code; sets *events. */
uint32_t hui_function_code(const hu_spec *s, int32_t op, hu_num x, hu_num y, uint32_t random, uint32_t *events);

#endif
