/* SPDX-License-Identifier: MIT */
/* Reading a configuration file: see config.h. libinih splits lines and comments; what it would pass over in silence
 * (long lines, control characters, keys given twice) is looked for here. */
#include "cli/base/config.h"

#include <ini.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/io.h"

/* What libinih reads from: a text, and what has been read of it. */
typedef struct reading {
  config *file;
  const char *at, *end;
  unsigned line;
  int indented; /* the current line is */
  int open;     /* there is a key that an indented line continues */
  unsigned wrong_line;
  char *error;
} reading;

__attribute__((format(printf, 2, 3))) static int wrong(reading *input, const char *format, ...) {
  va_list args;
  if (*input->error) return 0; /* the first one counts */
  va_start(args, format);
  vsnprintf(input->error, CONFIG_ERROR_MAX, format, args);
  va_end(args);
  input->wrong_line = input->line;
  return 0;
}

/* Returns the length of the UTF-8 character at `at`; 0 if there is none, or a control character. */
static size_t character(const unsigned char *at, const unsigned char *end) {
  size_t n = *at < 0x80 ? 1 : *at < 0xC2 ? 0 : *at < 0xE0 ? 2 : *at < 0xF0 ? 3 : *at < 0xF5 ? 4 : 0;
  if (!n || n > (size_t)(end - at)) return 0;
  for (size_t i = 1; i < n; i++)
    if ((at[i] & 0xC0) != 0x80) return 0;
  if ((*at == 0xE0 && at[1] < 0xA0) || (*at == 0xED && at[1] >= 0xA0) || (*at == 0xF0 && at[1] < 0x90) ||
      (*at == 0xF4 && at[1] >= 0x90))
    return 0;
  return (*at < 0x20 && *at != '\t') || *at == 0x7F ? 0 : n;
}

int config_is_text(const char *text, size_t size) {
  const unsigned char *at = (const unsigned char *)text, *end = at + size;
  while (at < end) {
    size_t n = character(at, end);
    if (!n) return 0;
    at += n;
  }
  return 1;
}

static int is_blank(char c) { return c == ' ' || c == '\t'; }

/* Reads the next line like fgets, without its end. NULL: there is no more, or none that libinih shall see. */
static char *next_line(char *line, int size, void *context) {
  reading *input = context;
  if (input->at == input->end || *input->error) return NULL;
  const char *stop = memchr(input->at, '\n', (size_t)(input->end - input->at)), *begin = input->at;
  size_t n = stop ? (size_t)(stop - begin) : (size_t)(input->end - begin);
  input->at = stop ? stop + 1 : input->end;
  input->line++;
  if (n && begin[n - 1] == '\r') n--;
  if (!config_is_text(begin, n)) wrong(input, "not UTF-8 text, or a control character");
  if (n > CONFIG_LINE_MAX || (int)n + 2 > size)
    wrong(input, "%zu bytes; a line has at most %d, and an indented line continues a value", n, CONFIG_LINE_MAX);
  if (*input->error) return NULL;
  memcpy(line, begin, n);
  line[n] = 0;
  size_t blanks = strspn(line, " \t");
  input->indented = blanks > 0;
  if (line[blanks] == '[' && !(input->indented && input->open)) input->open = 0;
  return line;
}

/* Appends n bytes of text to *z, which may be NULL. */
static int append(char **z, const char *text, size_t n) {
  size_t have = *z ? strlen(*z) : 0;
  char *more = realloc(*z, have + n + 1);
  if (!more) return 0;
  memcpy(more + have, text, n);
  more[have + n] = 0;
  *z = more;
  return 1;
}

/* Returns the length without a comment: libinih leaves comments in lines that continue a value. */
static size_t without_comment(const char *value) {
  size_t n = 0;
  while (value[n] && !(n && value[n] == ';' && is_blank(value[n - 1]))) n++;
  while (n && is_blank(value[n - 1])) n--;
  return n;
}

static config_entry *find(const config *file, const char *key) {
  for (size_t i = 0; i < file->count; i++)
    if (!strcmp(file->list[i].key, key)) return &file->list[i];
  return NULL;
}

static int add(reading *input, const char *key, const char *value) {
  config *file = input->file;
  const config_entry *before = find(file, key);
  if (before) return wrong(input, "%s: given twice; also in line %u", key, before->line);
  if (file->count == CONFIG_KEYS_MAX) return wrong(input, "more than %d keys", CONFIG_KEYS_MAX);
  if (!file->list) file->list = calloc(CONFIG_KEYS_MAX, sizeof *file->list);
  if (!file->list) return wrong(input, "out of memory");
  config_entry *entry = &file->list[file->count];
  if (!append(&entry->key, key, strlen(key)) || !append(&entry->value, value, strlen(value))) {
    free(entry->key);
    entry->key = NULL;
    return wrong(input, "out of memory");
  }
  entry->line = input->line;
  file->count++;
  return 1;
}

/* Takes an entry from libinih, whose own buffer for either name is 50. */
static int take(void *context, const char *section, const char *name, const char *value) {
  reading *input = context;
  char key[128];
  if (*input->error) return 0;
  if (!*name) return wrong(input, "no key before the =");
  if (!*section) return wrong(input, "%s: stands before any [section]", name);
  snprintf(key, sizeof key, "%s.%s", section, name);
  if (*value == ';') return wrong(input, "%s: a value does not begin with a semicolon", key);
  config_entry *last = input->file->count ? &input->file->list[input->file->count - 1] : NULL;
  if (input->indented && input->open && last && !strcmp(last->key, key))
    return append(&last->value, value, without_comment(value)) ? 1 : wrong(input, "out of memory");
  input->open = 1;
  return add(input, key, value);
}

int config_parse(config *file, const char *text, size_t size, unsigned *line, char error[CONFIG_ERROR_MAX]) {
  *file = (config){NULL, 0};
  *error = 0;
  reading input = {file, text, text + size, 0, 0, 0, 0, error};
  if (size > CONFIG_SIZE_MAX) wrong(&input, "%zu bytes; a configuration file has at most %d", size, CONFIG_SIZE_MAX);
  int at = ini_parse_stream(next_line, &input, take, &input);
  /* libinih continues behind a line that it cannot read, and what follows may be wrong because of it. */
  if (at > 0 && (!*error || (unsigned)at < input.wrong_line)) {
    *error = 0;
    input.line = (unsigned)at;
    wrong(&input, "neither a [section] nor key = value");
  }
  if (!*error && at < 0) wrong(&input, "out of memory");
  *line = input.wrong_line;
  if (!*error) return 1;
  config_free(file);
  return 0;
}

void config_free(config *file) {
  for (size_t i = 0; i < file->count; i++) {
    free(file->list[i].key);
    free(file->list[i].value);
  }
  free(file->list);
  *file = (config){NULL, 0};
}

int config_read(config *file, const char *path) {
  char error[CONFIG_ERROR_MAX];
  unsigned line;
  cli_bytes bytes;
  *file = (config){NULL, 0};
  if (cli_bytes_read(&bytes, path)) return CLI_BAD;
  int good = config_parse(file, (const char *)bytes.data, bytes.size, &line, error);
  cli_bytes_free(&bytes);
  if (good) return CLI_OK;
  return line ? cli_fail(NULL, "%s:%u: %s", path, line, error) : cli_fail(path, "%s", error);
}

const char *config_find(config *file, const char *key) {
  config_entry *entry = find(file, key);
  if (entry) entry->used = 1;
  return entry ? entry->value : NULL;
}
