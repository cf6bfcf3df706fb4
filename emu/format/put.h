/* SPDX-License-Identifier: MIT */
/* emu/format/put.h - writes a format among other text. */
#ifndef HALFULP_EMU_FORMAT_PUT_H
#define HALFULP_EMU_FORMAT_PUT_H

#include "emu/base/text.h"
#include "halfulp/format.h"

/* Puts the format's first name, or its own text. */
static inline void hui_put_format(hu_writer *writer, hu_format format) {
  char text[HU_FORMAT_TEXT_MAX];
  const char *id = hu_format_id(format);
  if (!id) (void)hu_format_text(text, sizeof text, format);
  hui_put(writer, id ? id : text);
}

#endif
