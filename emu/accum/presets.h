/* SPDX-License-Identifier: MIT */
/* emu/accum/presets.h - presets as texts, and as the reader of models makes them records. */
#ifndef HALFULP_EMU_ACCUM_PRESETS_H
#define HALFULP_EMU_ACCUM_PRESETS_H

#include "halfulp/accum.h"

/* The text of the model of preset i, or of that name; NULL: there is none. *z is all of the preset but what the text
 * says: of z->accum the operands that the model takes. */
const char *hu_preset_text(hu_accum_preset *z, size_t i);
const char *hu_preset_text_of(hu_accum_preset *z, const char *name);
/* Reads that text into z->accum. HU_OK, or what hu_accum_parse says. */
hu_status hu_preset_read(hu_accum_preset *z, const char *model);

#endif
