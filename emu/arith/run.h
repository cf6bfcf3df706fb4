/* SPDX-License-Identifier: MIT */
/* emu/arith/run.h - runs one array operation on operands of any formats; the calls of arith_n.c and function_n.c share
 * it. */
#ifndef HALFULP_EMU_ARITH_RUN_H
#define HALFULP_EMU_ARITH_RUN_H

#include "emu/core/arith.h"
#include "emu/format/view.h"
#include "halfulp/array.h"

/* What to do: HU_OP_ of emu/core/arith.h, the arrays it reads (the first `operands` of x) and the one it writes, whose
 * elements are codes of its format or, for HU_OP_CLASS and HU_OP_COMPARE, bytes. */
typedef struct hu_arith_call {
  int32_t op;
  size_t n;
  void *z;
  hu_array_view result, x[3];
  int operands;
  hu_mode mode;
} hu_arith_call;

/* A call of `operands` arrays, x to be filled in. */
hu_arith_call hui_arith_call_of(int32_t op, size_t n, void *z, hu_array_view result, int operands, hu_mode mode);
/* Checks everything and unfolds the views, then runs. */
hu_status hui_arith_operate(hu_arith_call *call, const hu_exec *exec, hu_events *events);
void hui_arith_run(const hu_arith_call *call, const hu_exec *exec, hu_events *events);

#endif
