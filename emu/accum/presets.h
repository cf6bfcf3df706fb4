/* SPDX-License-Identifier: MIT */
/* emu/accum/presets.h - presets as texts, and as the reader of models makes them records. */
#ifndef HALFULP_EMU_ACCUM_PRESETS_H
#define HALFULP_EMU_ACCUM_PRESETS_H

#include "halfulp/accum.h"

/* Returns the text of the model of preset i, or of the preset of that name; NULL if there is none. Sets the fields of
 * *z other than accum, and of z->accum the elements that the model takes; hui_accum_preset_read sets the rest. */
const char *hui_accum_preset_text(hu_accum_preset *z, size_t i);
const char *hui_accum_preset_text_of(hu_accum_preset *z, const char *name);
/* Reads that text into z->accum. HU_OK, or what hu_accum_parse says. */
hu_status hui_accum_preset_read(hu_accum_preset *z, const char *model);

#endif
