/* SPDX-License-Identifier: MIT */
/* emu/accum/operands.h - decides which operands a model takes. */
#ifndef HALFULP_EMU_ACCUM_OPERANDS_H
#define HALFULP_EMU_ACCUM_OPERANDS_H

#include "halfulp/accum.h"

/* HU_OK, or HU_E_ACCUM: valid types that the model does not take; HU_E_CARRIER: fp32, and one does not fit. c: NULL,
 * absent. The model and the formats are valid. Scales are not looked at. */
hu_status hui_accum_usable(const hu_accum *accum, const hu_type *a, const hu_type *b, const hu_type *c);
/* The same without HU_E_CARRIER, for calls that have asked for it. */
hu_status hui_accum_takes(const hu_accum *accum, const hu_type *a, const hu_type *b, const hu_type *c);

#endif
