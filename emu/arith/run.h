/* SPDX-License-Identifier: MIT */
/* emu/arith/run.h - runs one array operation on operands of any formats; the calls of arith_n.c and function_n.c share
 * it. */
#ifndef HALFULP_EMU_ARITH_RUN_H
#define HALFULP_EMU_ARITH_RUN_H

#include "emu/core/arith.h"
#include "halfulp/array.h"

/* An array of codes. */
typedef struct hu_codes {
  const void *data;
  size_t size;      /* bytes of an element */
  ptrdiff_t stride; /* elements */
  hu_format format;
} hu_codes;

/* What to do: HU_OP_ of emu/core/arith.h, the arrays it reads (the first `operands` of x) and the one it writes, whose
 * elements are codes of fz or, for HU_OP_CLASS and HU_OP_COMPARE, bytes. Arguments have been checked. */
typedef struct hu_arith_call {
  int32_t op;
  size_t n;
  void *z;
  hu_codes result, x[3];
  int operands;
  hu_mode mode;
} hu_arith_call;

/* An array of codes of format in its storage; a call of `operands` arrays, x to be filled in. */
hu_codes hui_codes_of(const void *data, ptrdiff_t stride, hu_format format);
hu_arith_call hui_arith_call_of(int32_t op, size_t n, void *z, hu_codes result, int operands, hu_mode mode);
/* Checks everything, then runs. */
hu_status hui_arith_operate(const hu_arith_call *call, const hu_exec *exec, hu_events *events);
void hui_arith_run(const hu_arith_call *call, const hu_exec *exec, hu_events *events);

#endif
