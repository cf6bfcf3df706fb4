/* SPDX-License-Identifier: MIT */
/* Archives of stored members: see archive.h. The format: PKWARE's APPNOTE 6.3.10, sections 4.3 to 4.5. */
#include "layouts/archive.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { END = 22, LOCATOR = 20, END64 = 56, ENTRY = 46, LOCAL = 30, COMMENT_MAX = 65535, EXTRA64 = 1 };

typedef struct input {
  const uint8_t *bytes;
  size_t size;
  char *error;
} input;

__attribute__((format(printf, 2, 3))) static int wrong(const input *x, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(x->error, HUI_ARCHIVE_ERROR, format, args);
  va_end(args);
  return 0;
}

static uint64_t number(const uint8_t *at, size_t bytes) {
  uint64_t z = 0;
  for (size_t i = 0; i < bytes; i++) z |= (uint64_t)at[i] << 8 * i;
  return z;
}

static int begins(const input *x, size_t at, const char *signature) {
  return at + 4 <= x->size && !memcmp(x->bytes + at, signature, 4);
}

/* Where the directory lies, and how many members it has. */
typedef struct directory {
  uint64_t begin, size, count;
} directory;

static int find_directory(directory *z, const input *x) {
  size_t at = x->size, least = x->size > END + COMMENT_MAX ? x->size - END - COMMENT_MAX : 0;
  if (x->size < END) return wrong(x, "not a .zip archive, as torch.save writes it");
  for (at = x->size - END; !begins(x, at, "PK\5\6"); at--)
    if (at == least) return wrong(x, "not a .zip archive, as torch.save writes it");
  *z = (directory){number(x->bytes + at + 16, 4), number(x->bytes + at + 12, 4), number(x->bytes + at + 10, 2)};
  if (at >= LOCATOR && begins(x, at - LOCATOR, "PK\6\7")) {
    uint64_t wide = number(x->bytes + at - LOCATOR + 8, 8);
    if (wide > x->size || x->size - wide < END64 || !begins(x, (size_t)wide, "PK\6\6"))
      return wrong(x, "its ZIP64 directory lies outside the file");
    const uint8_t *from = x->bytes + wide;
    *z = (directory){number(from + 48, 8), number(from + 40, 8), number(from + 32, 8)};
  }
  if (z->begin > x->size || z->size > x->size - z->begin || z->count > z->size / ENTRY)
    return wrong(x, "its directory lies outside the file");
  return 1;
}

/* Takes a number of 8 bytes from the extra field of ZIP64, where 4 bytes are all ones. */
static int widen(uint64_t *z, const uint8_t **extra, size_t *left) {
  if (*z != UINT32_MAX) return 1;
  if (*left < 8) return 0;
  *z = number(*extra, 8);
  *extra += 8;
  *left -= 8;
  return 1;
}

/* Finds the extra field of ZIP64. */
static void find_extra(const uint8_t **z, size_t *length, const uint8_t *extra, size_t size) {
  *z = extra;
  *length = 0;
  for (size_t at = 0; at + 4 <= size;) {
    size_t n = (size_t)number(extra + at + 2, 2);
    if (n > size - at - 4) return;
    if (number(extra + at, 2) == EXTRA64) {
      *z = extra + at + 4;
      *length = n;
      return;
    }
    at += 4 + n;
  }
}

static int read_entry(hui_member *z, const input *x, const uint8_t *at, size_t name, size_t extra) {
  uint64_t packed = number(at + 20, 4), size = number(at + 24, 4), begin = number(at + 42, 4);
  const uint8_t *more;
  size_t left;
  int shown = name > 99 ? 99 : (int)name;
  z->name = (const char *)at + ENTRY;
  z->length = name;
  find_extra(&more, &left, at + ENTRY + name, extra);
  if (!widen(&size, &more, &left) || !widen(&packed, &more, &left) || !widen(&begin, &more, &left))
    return wrong(x, "member '%.*s': its sizes are not there", shown, z->name);
  if (number(at + 8, 2) & 1) return wrong(x, "member '%.*s': is encrypted", shown, z->name);
  if (number(at + 10, 2) || packed != size)
    return wrong(x, "member '%.*s': is compressed, which is not read", shown, z->name);
  if (begin > x->size || x->size - begin < LOCAL || !begins(x, (size_t)begin, "PK\3\4"))
    return wrong(x, "member '%.*s': lies outside the file", shown, z->name);
  uint64_t head = LOCAL + number(x->bytes + begin + 26, 2) + number(x->bytes + begin + 28, 2);
  if (head > x->size - begin || size > x->size - begin - head)
    return wrong(x, "member '%.*s': lies outside the file", shown, z->name);
  z->begin = (size_t)(begin + head);
  z->size = (size_t)size;
  return 1;
}

static int compare(const char *a, size_t n, const char *b, size_t m) {
  int z = memcmp(a, b, n < m ? n : m);
  return z ? z : (n > m) - (n < m);
}

static int by_name(const void *x, const void *y) {
  const hui_member *a = x, *b = y;
  return compare(a->name, a->length, b->name, b->length);
}

static int read_all(hui_archive *z, const input *x, const directory *where) {
  const uint8_t *at = x->bytes + where->begin;
  size_t left = (size_t)where->size;
  for (; z->count < where->count; z->count++) {
    if (left < ENTRY || memcmp(at, "PK\1\2", 4) != 0) return wrong(x, "its directory is cut off");
    size_t name = (size_t)number(at + 28, 2), extra = (size_t)number(at + 30, 2), comment = (size_t)number(at + 32, 2);
    if (name + extra + comment > left - ENTRY) return wrong(x, "its directory is cut off");
    if (!read_entry(&z->list[z->count], x, at, name, extra)) return 0;
    left -= ENTRY + name + extra + comment;
    at += ENTRY + name + extra + comment;
  }
  qsort(z->list, z->count, sizeof *z->list, by_name);
  for (size_t i = 1; i < z->count; i++)
    if (!by_name(&z->list[i - 1], &z->list[i])) return wrong(x, "two members have the same name");
  return 1;
}

int hui_archive_open(hui_archive *z, const uint8_t *bytes, size_t size, char error[HUI_ARCHIVE_ERROR]) {
  input x = {bytes, size, error};
  directory where = {0, 0, 0};
  *z = (hui_archive){NULL, 0};
  if (!find_directory(&where, &x)) return 0;
  z->list = calloc((size_t)where.count + 1, sizeof *z->list);
  int good = z->list ? read_all(z, &x, &where) : wrong(&x, "out of memory");
  if (!good) hui_archive_free(z);
  return good;
}

void hui_archive_free(hui_archive *z) {
  free(z->list);
  *z = (hui_archive){NULL, 0};
}

const hui_member *hui_archive_find(const hui_archive *x, const char *name, size_t length) {
  size_t low = 0, high = x->count;
  while (low < high) {
    size_t i = low + (high - low) / 2;
    int order = compare(name, length, x->list[i].name, x->list[i].length);
    if (!order) return &x->list[i];
    if (order < 0)
      high = i;
    else
      low = i + 1;
  }
  return NULL;
}
