/* SPDX-License-Identifier: MIT */
/* emu/accum/text.h - writes the text of a model that may be invalid. */
#ifndef HALFULP_EMU_ACCUM_TEXT_H
#define HALFULP_EMU_ACCUM_TEXT_H

#include "halfulp/accum.h"

/* hu_accum_text without its check: a field that has no text is written as "?", which no reader accepts. */
size_t hui_accum_write(char *text, size_t size, const hu_accum *accum);

#endif
