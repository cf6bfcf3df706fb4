/* SPDX-License-Identifier: MIT */
/* emu/number/call.h - what the calls on number systems share. */
#ifndef HALFULP_EMU_NUMBER_CALL_H
#define HALFULP_EMU_NUMBER_CALL_H

#include "emu/core/number.h"
#include "halfulp/view.h"

/* *spec for a valid number and mode: its table is read here and not needed any more. */
void hui_number_unfold(hu_number_spec *spec, hu_number number, hu_mode mode);

/* HU_OP_CONVERT of hu_apply, whose types have been checked (hui_check_conversion) and name a number system. */
hu_status hui_number_convert(size_t n, const hu_output *z, const hu_view *x, const hu_how *how);

#endif
