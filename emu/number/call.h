/* SPDX-License-Identifier: MIT */
/* emu/number/call.h - what the calls on number systems share. */
#ifndef HALFULP_EMU_NUMBER_CALL_H
#define HALFULP_EMU_NUMBER_CALL_H

#include "emu/core/number.h"

/* *spec for a valid number and mode: its table is read here and not needed any more. */
void hui_number_unfold(hu_number_spec *spec, hu_number number, hu_mode mode);

#endif
