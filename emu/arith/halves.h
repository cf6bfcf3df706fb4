/* SPDX-License-Identifier: MIT */
/* emu/arith/halves.h - array calls on codes of binary16 by half.h's kernels. */
#ifndef HALFULP_EMU_ARITH_HALVES_H
#define HALFULP_EMU_ARITH_HALVES_H

#include "emu/arith/half.h"
#include "emu/arith/run.h"

/* 1 if the kernels serve the call, spec the spec of its result. */
int hui_halves_serve(const hu_arith_call *call, const hu_spec *spec);
/* Computes elements first ... first + n - 1, within one thread. */
void hui_halves_run(const hu_half_arith *kernels, const hu_arith_call *call, const hu_spec *spec, size_t first,
                    size_t n, hu_events *events);

#endif
