/* SPDX-License-Identifier: MIT */
/* Writes the error line, and notes. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"

static void put_line(const char *file, const char *format, va_list args) {
  char *said = NULL, *line = NULL;
  int n = vasprintf(&said, format, args);
  if (n >= 0) n = asprintf(&line, "%s%s%s", file ? file : "", file ? ": " : "", said);
  if (n >= 0) cli_clean(line);
  fflush(stdout);
  fprintf(stderr, "halfulp: %s\n", n >= 0 ? line : "out of memory");
  if (n >= 0) free(line);
  free(said);
}

int cli_fail(const char *file, const char *format, ...) {
  va_list args;
  va_start(args, format);
  put_line(file, format, args);
  va_end(args);
  return CLI_BAD;
}

void cli_note(const char *format, ...) {
  va_list args;
  if (cli_quiet()) return;
  va_start(args, format);
  put_line(NULL, format, args);
  va_end(args);
}

int cli_fail_status(const char *file, hu_status status) {
  return cli_fail(file, "%s (%s)", hu_status_text(status), hu_status_name(status));
}

FILE *cli_summary_file(const char *path) { return strcmp(path, "-") ? stdout : cli_quiet() ? NULL : stderr; }
