/* SPDX-License-Identifier: MIT */
/* Writes the error line. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/base/cli.h"

int cli_fail(const char *file, const char *format, ...) {
  va_list args;
  char *said = NULL, *line = NULL;
  va_start(args, format);
  int n = vasprintf(&said, format, args);
  va_end(args);
  if (n >= 0) n = asprintf(&line, "%s%s%s", file ? file : "", file ? ": " : "", said);
  if (n >= 0) cli_clean(line);
  fflush(stdout);
  fprintf(stderr, "halfulp: %s\n", n >= 0 ? line : "out of memory");
  if (n >= 0) free(line);
  free(said);
  return CLI_BAD;
}

int cli_fail_status(const char *file, hu_status status) {
  return cli_fail(file, "%s (%s)", hu_status_text(status), hu_status_name(status));
}
