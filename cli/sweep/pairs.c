/* SPDX-License-Identifier: MIT */
/* Reads JSON of names and values: see pairs.h. */
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

/* Reads a character of a JSON text as cli_json_string writes them; *text moves behind it. -1: no such text. */
static int read_character(const char **text) {
  const char *at = *text;
  int c = (unsigned char)*at++;
  if (!c || c == '\n') return -1;
  if (c == '\\' && (*at == '"' || *at == '\\')) {
    c = *at++;
  } else if (c == '\\') {
    if (strncmp(at, "u00", 3) != 0 || hex_digit(at[3]) < 0 || hex_digit(at[4]) < 0) return -1;
    c = 16 * hex_digit(at[3]) + hex_digit(at[4]);
    at += 5;
  }
  *text = at;
  return c;
}

/* Reads from behind the opening quote to behind the closing one. NULL: no such text. */
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

static int add_pair(cli_pairs *pairs, char *name, char *text) {
  cli_pair *more = name && text ? realloc(pairs->pair, (pairs->count + 1) * sizeof *more) : NULL;
  if (!more) {
    free(name);
    free(text);
    return 0;
  }
  pairs->pair = more;
  pairs->pair[pairs->count++] = (cli_pair){name, text};
  return 1;
}

/* Reads "name": "text" or "name": word; brackets and commas stand between such pairs. 0: something else. */
static int read_pair(cli_pairs *pairs, const char **text) {
  if (**text != '"') return 0;
  ++*text;
  char *name = read_quoted(text);
  if (!name || strncmp(*text, ": ", 2) != 0) {
    free(name);
    return 0;
  }
  *text += 2;
  if (**text == '{') return free(name), 1; /* names of an inner object are names like any other */
  if (**text == '"') return ++*text, add_pair(pairs, name, read_quoted(text));
  size_t n = strcspn(*text, ",}\n");
  const char *word = *text;
  *text += n;
  return add_pair(pairs, name, strndup(word, n));
}

int cli_pairs_read_text(cli_pairs *pairs, const char *text) {
  static const char *const between = " {},\n";
  int good = 1;
  *pairs = (cli_pairs){NULL, 0};
  for (text += strspn(text, between); good && *text; text += strspn(text, between)) good = read_pair(pairs, &text);
  if (!good) cli_pairs_free(pairs);
  return good;
}

int cli_pairs_read(cli_pairs *pairs, const char *path) {
  FILE *in = cli_own_stream(path);
  char *text = NULL;
  size_t room = 0;
  ssize_t n = in ? getdelim(&text, &room, 0, in) : -1;
  int good = in && !ferror(in) && cli_pairs_read_text(pairs, n > 0 ? text : "");
  free(text);
  if (in) fclose(in);
  return good;
}

void cli_pairs_free(cli_pairs *pairs) {
  for (size_t i = 0; i < pairs->count; i++) {
    free(pairs->pair[i].name);
    free(pairs->pair[i].text);
  }
  free(pairs->pair);
  *pairs = (cli_pairs){NULL, 0};
}

const char *cli_pairs_get(const cli_pairs *pairs, const char *name) {
  for (size_t i = 0; i < pairs->count; i++) {
    if (strcmp(pairs->pair[i].name, name) == 0) return pairs->pair[i].text;
  }
  return NULL;
}

int cli_pairs_whole(const cli_pairs *pairs, const char *name, int base, uint64_t *z) {
  const char *text = cli_pairs_get(pairs, name);
  char *end;
  if (!text || !*text) return 0;
  *z = strtoull(text, &end, base);
  return !*end;
}

int cli_pairs_number(const cli_pairs *pairs, const char *name, double *z) {
  const char *text = cli_pairs_get(pairs, name);
  char *end;
  *z = NAN;
  if (!text || !*text) return 0;
  if (strcmp(text, "null") == 0) return 1;
  *z = strtod(text, &end);
  return !*end;
}
