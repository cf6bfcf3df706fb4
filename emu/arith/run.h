/* SPDX-License-Identifier: MIT */
/* emu/arith/run.h - runs one array operation on operands of any formats, for hu_apply. */
#ifndef HALFULP_EMU_ARITH_RUN_H
#define HALFULP_EMU_ARITH_RUN_H

#include "emu/core/arith.h"
#include "emu/format/view.h"
#include "halfulp/array.h"

/* What to do: HU_OP_ of halfulp/operation.h, the arrays it reads (the first `operands` of x) and the one it writes,
 * whose elements are codes of its format or, for HU_OP_CLASS and HU_OP_COMPARE, bytes. Arguments have been checked, and
 * the views are unfolded. */
typedef struct hu_arith_call {
  int32_t op;
  size_t n;
  void *z;
  hu_array_view result, x[3];
  int operands;
  hu_mode mode;
} hu_arith_call;

void hui_arith_run(const hu_arith_call *call, const hu_exec *exec, hu_events *events);

#endif
