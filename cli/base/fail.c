/* SPDX-License-Identifier: MIT */
/* Writes the error line, and notes; remembers --quiet, of the command that this process is. A library has neither
 * standard error nor a command: it takes the lines (cli_take_lines). */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"

/* ---- what vfprintf makes of a format, except that a long text which it repeats is cut ---- */

/* Writes the begin and the end of a long text: of a file's path that is its name. */
static void put_cut(FILE *out, const char *text, size_t n) {
  size_t half = CLI_REPEATED_MAX / 2, end = n - half;
  while (end < n && ((unsigned char)text[end] & 0xC0) == 0x80) end++; /* not within a character */
  fprintf(out, "%.*s...%.*s", (int)cli_whole_text(text, half), text, (int)(n - end), text + end);
}

static void put_text(FILE *out, char *spec, size_t length, long most, const char *text) {
  size_t n = most < 0 ? strlen(text) : strnlen(text, (size_t)most);
  strcpy(spec + length, "s");
  if (n > CLI_REPEATED_MAX)
    put_cut(out, text, n);
  else
    fprintf(out, spec, text);
}

/* Writes a conversion from its % on, with widths and precisions that are arguments put into its text. Returns what
 * stands behind it. A whole number is taken at its own size (none, l, ll, z or j) and printed at the largest. */
static const char *put_conversion(FILE *out, const char *at, va_list *args) {
  char spec[64], size = 0;
  size_t length = 0;
  long most = -1;
  for (spec[length++] = *at++; *at && strchr("-+ #.*0123456789", *at) && length < 40; at++) {
    if (*at == '.') most = strtol(at + 1, NULL, 10);
    if (*at != '*') {
      spec[length++] = *at;
      continue;
    }
    int given = va_arg(*args, int);
    if (at[-1] == '.') most = given;
    length += (size_t)sprintf(spec + length, "%d", given);
  }
  for (; *at && strchr("lzj", *at); at++) size = size == 'l' ? 'j' : *at; /* ll is intmax_t's size */
  char kind = *at ? *at++ : '%';
  spec[length] = 0;
  if (kind == 's') {
    put_text(out, spec, length, most, va_arg(*args, const char *));
  } else if (strchr("aefgAEFG", kind)) {
    sprintf(spec + length, "%c", kind);
    fprintf(out, spec, va_arg(*args, double));
  } else if (kind == 'c') {
    fprintf(out, "%c", va_arg(*args, int));
  } else if (strchr("di", kind)) {
    intmax_t x = size == 'j' ? va_arg(*args, intmax_t) : size ? va_arg(*args, long) : va_arg(*args, int);
    sprintf(spec + length, "j%c", kind);
    fprintf(out, spec, x);
  } else if (strchr("uxX", kind)) {
    uintmax_t x = size == 'j' ? va_arg(*args, uintmax_t) : size ? va_arg(*args, size_t) : va_arg(*args, unsigned);
    sprintf(spec + length, "j%c", kind);
    fprintf(out, spec, x);
  } else {
    fputc(kind, out); /* %% */
  }
  return at;
}

_Static_assert(sizeof(long) == sizeof(size_t) && sizeof(long long) == sizeof(intmax_t), "sizes of whole numbers");

static void put_format(FILE *out, const char *format, va_list *args) {
  while (*format) {
    size_t n = strcspn(format, "%");
    fwrite(format, 1, n, out);
    format += n;
    if (*format) format = put_conversion(out, format, args);
  }
}

/* ---- lines ---- */

static int quiet;
static _Thread_local FILE *taker; /* NULL: stderr */

void cli_be_quiet(void) { quiet = 1; }

int cli_quiet(void) { return quiet || taker; }

void cli_take_lines(FILE *out) { taker = out; }

/* Returns the line, to be freed; NULL if there is no memory. */
static char *line_of(const char *file, const char *format, va_list *args) {
  char *line = NULL;
  size_t size;
  FILE *out = open_memstream(&line, &size);
  if (!out) return NULL;
  size_t n = file ? strlen(file) : 0;
  if (n > CLI_SHOWN_MAX)
    put_cut(out, file, n);
  else if (file)
    fputs(file, out);
  if (file) fputs(": ", out);
  put_format(out, format, args);
  if (!fclose(out)) return line;
  free(line);
  return NULL;
}

static void put_line(const char *file, const char *format, va_list *args) {
  char *line = line_of(file, format, args);
  if (line) cli_clean(line);
  if (taker) {
    fputs(line ? line : "out of memory", taker);
  } else {
    fflush(stdout);
    fprintf(stderr, "halfulp: %s\n", line ? line : "out of memory");
  }
  free(line);
}

int cli_fail(const char *file, const char *format, ...) {
  va_list args;
  va_start(args, format);
  put_line(file, format, &args);
  va_end(args);
  return CLI_BAD;
}

void cli_note(const char *format, ...) {
  va_list args;
  if (cli_quiet()) return;
  va_start(args, format);
  put_line(NULL, format, &args);
  va_end(args);
}

int cli_fail_status(const char *file, hu_status status) {
  return cli_fail(file, "%s (%s)", hu_status_text(status), hu_status_name(status));
}

FILE *cli_report_file(const char *path, int json) {
  int taken = !strcmp(path, "-");
  if (cli_quiet() && (taken || !json)) return NULL;
  return taken ? stderr : stdout;
}
