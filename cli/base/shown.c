/* SPDX-License-Identifier: MIT */
/* Names of files and other foreign text as a terminal may be given it, and its colours: see cli.h. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/cli.h"

/* Returns the number of bytes, 1 to 4, of the character at text; 0 if the bytes are not UTF-8. */
static size_t character(uint32_t *z, const unsigned char *text) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  size_t n = *text < 0x80 ? 1 : *text < 0xC0 ? 0 : *text < 0xE0 ? 2 : *text < 0xF0 ? 3 : *text < 0xF8 ? 4 : 0;
  *z = n > 1 ? *text & (0x7Fu >> n) : *text;
  for (size_t i = 1; i < n; i++) {
    if ((text[i] & 0xC0) != 0x80) return 0;
    *z = *z << 6 | (text[i] & 0x3Fu);
  }
  return n && *z >= least[n] && *z <= 0x10FFFF && (*z < 0xD800 || *z > 0xDFFF) ? n : 0;
}

/* Returns 1 for C0, DEL, C1: what moves the cursor, colours or asks the terminal something. */
static int is_control(uint32_t c) { return c < 0x20 || (c >= 0x7F && c < 0xA0); }

size_t cli_character(const char *text) {
  uint32_t c;
  return character(&c, (const unsigned char *)text);
}

void cli_clean(char *text) {
  for (unsigned char *at = (unsigned char *)text; *at;) {
    uint32_t c = 0;
    size_t n = character(&c, at);
    if (!n || is_control(c)) memset(at, '?', n ? n : 1);
    at += n ? n : 1;
  }
}

const char *cli_shown(char text[CLI_SHOWN_MAX], const char *name) {
  size_t n = strlen(name), most = CLI_SHOWN_MAX - 1;
  if (n > most) n = cli_whole_text(name, most - 3);
  memcpy(text, name, n);
  strcpy(text + n, name[n] ? "..." : "");
  cli_clean(text);
  return text;
}

size_t cli_whole_text(const char *text, size_t n) {
  size_t begin = n;
  while (begin && ((unsigned char)text[begin - 1] & 0xC0) == 0x80) begin--;
  if (!begin) return n;
  unsigned char lead = (unsigned char)text[--begin];
  size_t length = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  return begin + length > n ? begin : n;
}

const char *cli_ink_on(FILE *out, cli_ink ink) {
  static const char *const sequences[] = {"\033[0m", "\033[31m", "\033[32m", "\033[1m"};
  const char *none = getenv("NO_COLOR"), *term = getenv("TERM");
  if ((none && *none) || !term || !strcmp(term, "dumb") || !isatty(fileno(out))) return "";
  return sequences[ink];
}
