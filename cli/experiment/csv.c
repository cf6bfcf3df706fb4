/* SPDX-License-Identifier: MIT */
/* See csv.h. */
#include "cli/experiment/csv.h"

#include <math.h>

#include "cli/base/numbers.h"

void csv_text(FILE *out, const char *text) {
  fputc('"', out);
  for (; *text; text++) {
    if (*text == '"') fputc('"', out);
    fputc(*text, out);
  }
  fputc('"', out);
}

void csv_number(FILE *out, double x) {
  fputc(',', out);
  if (!isnan(x)) fputs(DECIMAL(x), out);
}
