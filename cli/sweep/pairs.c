/* SPDX-License-Identifier: MIT */
/* Reads JSON of names and values, a pair on every line: see pairs.h. */
#include "cli/sweep/pairs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/io.h"

static int hex_digit(char c) {
  const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;
  return at ? (int)(at - digits) : -1;
}

/* A character of a JSON text as cli_json_string writes them; *text moves behind it. -1: no such text. */
static int read_character(const char **text) {
  const char *p = *text;
  int c = (unsigned char)*p++;
  if (!c || c == '\n') return -1;
  if (c == '\\' && (*p == '"' || *p == '\\')) {
    c = *p++;
  } else if (c == '\\') {
    if (strncmp(p, "u00", 3) != 0 || hex_digit(p[3]) < 0 || hex_digit(p[4]) < 0) return -1;
    c = 16 * hex_digit(p[3]) + hex_digit(p[4]);
    p += 5;
  }
  *text = p;
  return c;
}

/* From behind the opening quote to behind the closing one. NULL: no such text. */
static char *read_quoted(const char **text) {
  char *z = malloc(strcspn(*text, "\n") + 1);
  size_t n = 0;
  if (!z) return NULL;
  while (**text != '"') {
    int c = read_character(text);
    if (c <= 0) {
      free(z);
      return NULL;
    }
    z[n++] = (char)c;
  }
  ++*text;
  z[n] = 0;
  return z;
}

static int add_pair(cli_pairs *f, char *name, char *text) {
  cli_pair *more = name && text ? realloc(f->pair, (f->count + 1) * sizeof *more) : NULL;
  if (!more) {
    free(name);
    free(text);
    return 0;
  }
  f->pair = more;
  f->pair[f->count++] = (cli_pair){name, text};
  return 1;
}

/* One line: "name": "text" or "name": word, a comma behind it or not. Lines of brackets alone say nothing. */
static int read_pair(cli_pairs *f, const char *line) {
  line += strspn(line, " ");
  if (*line == '{' || *line == '}') return 1;
  if (*line++ != '"') return 0;
  char *name = read_quoted(&line);
  if (!name || strncmp(line, ": ", 2) != 0) {
    free(name);
    return 0;
  }
  line += 2;
  if (*line != '"') return add_pair(f, name, strndup(line, strcspn(line, ",\n")));
  line++;
  return add_pair(f, name, read_quoted(&line));
}

int cli_pairs_read(cli_pairs *f, const char *path) {
  *f = (cli_pairs){NULL, 0};
  FILE *in = cli_own_stream(path);
  char *line = NULL;
  size_t room = 0;
  int good = in != NULL;
  while (good && getline(&line, &room, in) > 0) good = read_pair(f, line);
  free(line);
  if (in) fclose(in);
  if (good) return 1;
  cli_pairs_free(f);
  return 0;
}

void cli_pairs_free(cli_pairs *f) {
  for (size_t i = 0; i < f->count; i++) {
    free(f->pair[i].name);
    free(f->pair[i].text);
  }
  free(f->pair);
  *f = (cli_pairs){NULL, 0};
}

const char *cli_pairs_get(const cli_pairs *f, const char *name) {
  for (size_t i = 0; i < f->count; i++) {
    if (strcmp(f->pair[i].name, name) == 0) return f->pair[i].text;
  }
  return NULL;
}

int cli_pairs_whole(const cli_pairs *f, const char *name, int base, uint64_t *z) {
  const char *text = cli_pairs_get(f, name);
  char *end;
  if (!text || !*text) return 0;
  *z = strtoull(text, &end, base);
  return !*end;
}

int cli_pairs_number(const cli_pairs *f, const char *name, double *z) {
  const char *text = cli_pairs_get(f, name);
  char *end;
  *z = NAN;
  if (!text || !*text) return 0;
  if (strcmp(text, "null") == 0) return 1;
  *z = strtod(text, &end);
  return !*end;
}
