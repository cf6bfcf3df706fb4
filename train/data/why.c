/* SPDX-License-Identifier: MIT */
/* Makes sentences about what is wrong with a file. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "train/data/file.h"

hu_status hui_data_wrong(char *why, hu_status status, const char *name, const char *format, ...) {
  enum { NAME_MAX_SHOWN = 240 };
  size_t n = strlen(name);
  va_list args;
  if (!why) return status;
  const char *end = n > NAME_MAX_SHOWN ? name + (n - NAME_MAX_SHOWN) : name;
  int at = snprintf(why, HU_DATA_WHY_MAX, "%s%s: ", end == name ? "" : "...", end);
  va_start(args, format);
  vsnprintf(why + at, HU_DATA_WHY_MAX - (size_t)at, format, args);
  va_end(args);
  return status;
}
