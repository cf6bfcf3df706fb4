/* SPDX-License-Identifier: MIT */
/* Prints lines of test vectors, and reads them, saying what is wrong. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/numbers.h"
#include "cli/vectors/vectors.h"

int vectors_given(const vectors *test) { return test->op.operands + test->words; }

void vectors_print_operands(const vectors *test, const vectors_case *instance) {
  const char *blank = test->joined ? "" : " ";
  for (int k = 0; k < test->op.operands; k++)
    printf("%s%0*llX", k ? blank : "", (int)vectors_digits(&test->x[k]), (unsigned long long)instance->x[k]);
  if (test->words) printf("%s%08X", blank, instance->word);
}

void vectors_print_result(const vectors *test, const char *word, uint64_t z, uint32_t flags) {
  const char *blank = test->joined ? "" : " ";
  printf("%s%s%0*llX%s%02X", word, blank, (int)vectors_digits(&test->z), (unsigned long long)z, blank, flags);
}

void vectors_print(const vectors *test, const vectors_case *instance) {
  vectors_print_operands(test, instance);
  vectors_print_result(test, "", instance->z, instance->flags);
  putchar('\n');
}

const char *vectors_flag_words(char text[VECTORS_FLAGS_MAX], uint32_t flags) {
  static const char *const names[] = {"inexact", "underflow", "overflow", "infinite", "invalid"};
  size_t at = 0;
  snprintf(text, VECTORS_FLAGS_MAX, "no flags");
  for (int i = 0; i < 5; i++)
    if (flags >> i & 1) at += (size_t)snprintf(text + at, VECTORS_FLAGS_MAX - at, "%s%s", at ? ", " : "", names[i]);
  return text;
}

/* ---- reading ---- */

char *vectors_spread(const char *line, const size_t *digits, int fields) {
  size_t length = 0;
  for (int i = 0; i < fields; i++) length += digits[i];
  if (strlen(line) != length) return NULL;
  char *z = malloc(length + (size_t)fields + 1), *at = z;
  if (!z) return NULL;
  for (int i = 0; i < fields; line += digits[i++]) {
    memcpy(at, line, digits[i]);
    at += digits[i];
    *at++ = ' ';
  }
  at[-1] = 0;
  return z;
}

int vectors_has_unknown(const char *text) {
  if (text[strspn(text, "0123456789abcdefABCDEFxXzZ")] != 0) return 0;
  int prefixed = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') && text[2] != 0;
  return strpbrk(text + 2 * prefixed, "xXzZ") != NULL;
}

static const char *name_of(char text[16], const vectors *test, int field) {
  if (field < test->op.operands)
    snprintf(text, 16, test->op.operands > 1 ? "operand %c" : "the operand", 'A' + field);
  else if (field < vectors_given(test))
    snprintf(text, 16, "the random word");
  else
    snprintf(text, 16, field == vectors_given(test) ? "the result" : "the flags");
  return text;
}

static unsigned digits_of(const vectors *test, int field) {
  if (field < test->op.operands) return vectors_digits(&test->x[field]);
  if (field < vectors_given(test)) return 8;
  return field == vectors_given(test) ? vectors_digits(&test->z) : 2;
}

/* Returns the largest number that a field may hold. */
static uint64_t last_of(const vectors *test, int field) {
  if (field < test->op.operands) return vectors_last(&test->x[field]);
  if (field < vectors_given(test)) return UINT32_MAX;
  return field == vectors_given(test) ? vectors_last(&test->z) : 0x1F;
}

static void put(const vectors *test, int field, vectors_case *instance, uint64_t bits) {
  if (field < test->op.operands)
    instance->x[field] = bits;
  else if (field < vectors_given(test))
    instance->word = (uint32_t)bits;
  else if (field == vectors_given(test))
    instance->z = bits;
  else
    instance->flags = (uint32_t)bits;
}

/* Says what is wrong with a field's text. */
static int misfit(const vectors *test, int field, const char *text, vectors_line *read) {
  char name[16];
  uint64_t bits;
  name_of(name, test, field);
  if (!hex_parse_any(&bits, text, UINT64_MAX))
    snprintf(read->wrong, sizeof read->wrong, "%s: '%.40s' is not a hexadecimal number of %u digits", name, text,
             digits_of(test, field));
  else
    snprintf(read->wrong, sizeof read->wrong, "%s: '%.40s' is above %llX, the largest there", name, text,
             (unsigned long long)last_of(test, field));
  return 0;
}

static int read_field(const vectors *test, int field, const char *text, vectors_line *read) {
  uint64_t bits = 0;
  if (field > vectors_given(test) + 1) {
    snprintf(read->wrong, sizeof read->wrong, "more than %d fields; there are operands, %sa result and flags",
             vectors_given(test) + 2, test->words ? "a random word, " : "");
    return 0;
  }
  int answers = field >= vectors_given(test), unknown = answers && vectors_has_unknown(text);
  if (answers) {
    size_t at = strlen(read->result);
    snprintf(read->result + at, sizeof read->result - at, "%s%.18s", at ? " " : "", text);
  }
  if (unknown)
    read->unknown = 1;
  else if (!hex_parse_any(&bits, text, last_of(test, field)))
    return misfit(test, field, text, read);
  put(test, field, &read->c, bits);
  return 1;
}

static int read_fields(const vectors *test, char *line, vectors_line *read) {
  int n = 0;
  for (char *at = line + strspn(line, " \t"); *at; n++) {
    size_t length = strcspn(at, " \t");
    char *next = at + length + strspn(at + length, " \t");
    at[length] = 0;
    if (!read_field(test, n, at, read)) return 0;
    at = next;
  }
  read->fields = n;
  return 1;
}

int vectors_read(const vectors *test, char *line, vectors_line *read) {
  memset(read, 0, sizeof *read);
  if (!test->joined) return read_fields(test, line, read);
  size_t digits[VECTORS_OPERANDS + 3], sum = 0;
  int fields = vectors_given(test) + 2;
  for (int i = 0; i < fields; i++) sum += digits[i] = digits_of(test, i);
  char *spread = vectors_spread(line, digits, fields);
  if (!spread) {
    snprintf(read->wrong, sizeof read->wrong, "%zu digits; operands, %sresult and flags have %zu", strlen(line),
             test->words ? "random word, " : "", sum);
    return 0;
  }
  int status = read_fields(test, spread, read);
  free(spread);
  return status;
}
