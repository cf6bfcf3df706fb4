/* SPDX-License-Identifier: MIT */
/* The .npy header: a Python dictionary literal with exactly the keys descr, fortran_order and shape. */
#include "files/npy.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct scanner {
  const char *at, *end;
  char *error;
  int codes; /* 1: npy_parse_codes */
} scanner;

__attribute__((format(printf, 2, 3))) static int wrong(char *error, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(error, NPY_ERROR_MAX, format, args);
  va_end(args);
  return 0;
}

static void skip_blanks(scanner *scan) {
  while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\t' || *scan->at == '\n')) scan->at++;
}

static int take(scanner *scan, char c) {
  skip_blanks(scan);
  if (scan->at >= scan->end || *scan->at != c) return 0;
  scan->at++;
  return 1;
}

/* Reads a string in either kind of quotes, without escapes; text has 32 bytes. */
static int take_string(scanner *scan, char text[32]) {
  skip_blanks(scan);
  if (scan->at >= scan->end || (*scan->at != '\'' && *scan->at != '"'))
    return wrong(scan->error, "header: a quoted string is missing");
  char quote = *scan->at++;
  size_t n = 0;
  while (scan->at < scan->end && *scan->at != quote) {
    unsigned char c = (unsigned char)*scan->at++;
    if (n == 31) return wrong(scan->error, "header: a string is too long");
    if (c < 0x20 || c > 0x7E || c == '\\') return wrong(scan->error, "header: a string holds an unprintable character");
    text[n++] = (char)c;
  }
  text[n] = 0;
  if (scan->at >= scan->end) return wrong(scan->error, "header: a string does not end");
  scan->at++;
  return 1;
}

static int take_word(scanner *scan, const char *word) {
  size_t n = strlen(word);
  if ((size_t)(scan->end - scan->at) < n || memcmp(scan->at, word, n)) return 0;
  scan->at += n;
  return 1;
}

static int read_order(npy_info *info, scanner *scan) {
  skip_blanks(scan);
  if (take_word(scan, "True")) return info->fortran = 1;
  if (take_word(scan, "False")) return 1;
  return wrong(scan->error, "header: fortran_order is neither True nor False");
}

static int read_size(size_t *z, scanner *scan) {
  size_t x = 0;
  skip_blanks(scan);
  if (scan->at >= scan->end || *scan->at < '0' || *scan->at > '9')
    return wrong(scan->error, "header: shape holds something else than sizes");
  while (scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9') {
    size_t digit = (size_t)(*scan->at++ - '0');
    if (x > (SIZE_MAX - digit) / 10) return wrong(scan->error, "shape: a size does not fit the address space");
    x = 10 * x + digit;
  }
  *z = x;
  return 1;
}

static int read_shape(npy_info *info, scanner *scan) {
  if (!take(scan, '(')) return wrong(scan->error, "header: shape is not a tuple");
  while (!take(scan, ')')) {
    if (info->dims == NPY_DIMS_MAX) return wrong(scan->error, "shape: more than %d dimensions", NPY_DIMS_MAX);
    if (!read_size(&info->shape[info->dims++], scan)) return 0;
    if (take(scan, ',')) continue;
    if (info->dims == 1) return wrong(scan->error, "header: shape is not a tuple (a comma is missing)");
    if (!take(scan, ')')) return wrong(scan->error, "header: shape is not closed");
    break;
  }
  return 1;
}

/* Reads what NumPy writes for types that it has not itself, one element to a byte or to two. */
static int read_codes(npy_info *info, const char *text) {
  static const char *const names[] = {"float4_e2m1fn", "float6_e2m3fn",   "float6_e3m2fn",      "float8_e3m4",
                                      "float8_e4m3",   "float8_e4m3fn",   "float8_e4m3b11fnuz", "float8_e4m3fnuz",
                                      "float8_e5m2",   "float8_e5m2fnuz", "float8_e8m0fnu",     "bfloat16"};
  enum { NAMES = sizeof names / sizeof names[0] };
  int two = 0, known = 0;
  if (strchr("<|", text[0]) && (!strcmp(text + 1, "V1") || !strcmp(text + 1, "V2") || !strcmp(text + 1, "f1"))) {
    known = 1;
    two = text[2] == '2';
  }
  for (int i = 0; i < NAMES && !known; i++) {
    if (strcmp(text, names[i]) != 0) continue;
    known = 1;
    two = i == NAMES - 1;
    info->named = names[i];
  }
  info->kind = 'u';
  info->size = (uint8_t)(1 + two);
  return known;
}

static int read_descr(npy_info *info, scanner *scan) {
  char text[32];
  skip_blanks(scan);
  if (scan->at < scan->end && *scan->at == '[') return wrong(scan->error, "dtype: structured arrays are not supported");
  if (!take_string(scan, text)) return 0;
  if (strchr(text, 'O'))
    return wrong(scan->error, "dtype '%s': object arrays hold pickled Python objects and are not read", text);
  static const char known[] = "f2f4f8i1i2i4i8u1u2u4u8b1";
  char order = text[0];
  if (scan->codes && read_codes(info, text)) return 1;
  if (strlen(text) != 3 || !strchr("<>|=", order)) return wrong(scan->error, "dtype '%s' is not supported", text);
  for (const char *pair = known; *pair; pair += 2) {
    if (pair[0] != text[1] || pair[1] != text[2]) continue;
    info->kind = text[1];
    info->size = (uint8_t)(text[2] - '0');
    int native_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    info->big = info->size > 1 && (order == '>' || (order == '=' && native_big));
    info->whole = scan->codes && info->kind == 'i' && info->size <= 4;
    if (info->whole) info->kind = 'u';
    if (order == '|' && info->size > 1) return wrong(scan->error, "dtype '%s' has no byte order", text);
    return 1;
  }
  return wrong(scan->error,
               "dtype '%s' is not supported (float16, float32, float64, int8 to int64, uint8 to uint64 and bool are)",
               text);
}

enum { HAS_DESCR = 1, HAS_ORDER = 2, HAS_SHAPE = 4 };

static int read_entry(npy_info *info, scanner *scan, int *seen) {
  char key[32];
  int bit = 0;
  if (!take_string(scan, key)) return 0;
  if (!strcmp(key, "descr")) bit = HAS_DESCR;
  if (!strcmp(key, "fortran_order")) bit = HAS_ORDER;
  if (!strcmp(key, "shape")) bit = HAS_SHAPE;
  if (!bit) return wrong(scan->error, "header: unknown key '%s'", key);
  if (*seen & bit) return wrong(scan->error, "header: key '%s' comes twice", key);
  *seen |= bit;
  if (!take(scan, ':')) return wrong(scan->error, "header: no ':' after key '%s'", key);
  if (bit == HAS_DESCR) return read_descr(info, scan);
  return bit == HAS_ORDER ? read_order(info, scan) : read_shape(info, scan);
}

static int read_dictionary(npy_info *info, scanner *scan) {
  int seen = 0;
  if (!take(scan, '{')) return wrong(scan->error, "header: not a dictionary");
  while (!take(scan, '}')) {
    if (!read_entry(info, scan, &seen)) return 0;
    if (take(scan, ',')) continue;
    if (!take(scan, '}')) return wrong(scan->error, "header: the dictionary is not closed");
    break;
  }
  skip_blanks(scan);
  if (scan->at != scan->end) return wrong(scan->error, "header: something follows the dictionary");
  if (!(seen & HAS_DESCR)) return wrong(scan->error, "header: key 'descr' is missing");
  if (!(seen & HAS_ORDER)) return wrong(scan->error, "header: key 'fortran_order' is missing");
  return (seen & HAS_SHAPE) || wrong(scan->error, "header: key 'shape' is missing");
}

static int count_elements(npy_info *info, char *error) {
  size_t count = 1;
  for (uint32_t i = 0; i < info->dims; i++)
    if (info->shape[i] == 0) return !(info->count = 0);
  for (uint32_t i = 0; i < info->dims; i++) {
    if (count > SIZE_MAX / 2 / info->shape[i] / info->size)
      return wrong(error, "shape: the array does not fit the address space");
    count *= info->shape[i];
  }
  info->count = count;
  return 1;
}

static int parse(npy_info *info, const uint8_t *bytes, size_t size, char *error, int codes) {
  memset(info, 0, sizeof *info);
  if (size < 6 || memcmp(bytes, "\x93NUMPY", 6)) return wrong(error, "not an .npy file (wrong magic)");
  if (size < 10) return wrong(error, "truncated in the header");
  unsigned version = bytes[6];
  if (version < 1 || version > 3 || bytes[7] != 0)
    return wrong(error, ".npy version %u.%u is not supported", version, bytes[7]);
  size_t start = version == 1 ? 10 : 12;
  if (size < start) return wrong(error, "truncated in the header");
  size_t length = bytes[8] | (size_t)bytes[9] << 8;
  if (version > 1) length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
  if (length > NPY_HEADER_MAX)
    return wrong(error, "header of %zu bytes: more than %d are not read", length, NPY_HEADER_MAX);
  if (size - start < length) return wrong(error, "truncated in the header");
  scanner scan = {(const char *)bytes + start, (const char *)bytes + start + length, error, codes};
  if (!read_dictionary(info, &scan) || !count_elements(info, error)) return 0;
  info->offset = start + length;
  size_t want = info->count * info->size, have = size - info->offset;
  if (have < want) return wrong(error, "truncated: %zu bytes of data, the shape needs %zu", have, want);
  if (have > want) return wrong(error, "%zu trailing bytes after the data", have - want);
  return 1;
}

int npy_parse(npy_info *info, const uint8_t *bytes, size_t size, char error[NPY_ERROR_MAX]) {
  return parse(info, bytes, size, error, 0);
}

int npy_parse_codes(npy_info *info, const uint8_t *bytes, size_t size, char error[NPY_ERROR_MAX]) {
  return parse(info, bytes, size, error, 1);
}

const char *npy_dtype(const npy_info *info) {
  static const char *const floats[] = {"", "float16", "float32", "float64"};
  static const char *const wholes[] = {"int8", "int16", "int32", "int64"};
  static const char *const unsigneds[] = {"uint8", "uint16", "uint32", "uint64"};
  int place = info->size == 1 ? 0 : info->size == 2 ? 1 : info->size == 4 ? 2 : 3;
  if (info->kind == 'b') return "bool";
  return (info->kind == 'f' ? floats : info->kind == 'i' ? wholes : unsigneds)[place];
}

const char *npy_shape(char text[NPY_SHAPE_MAX], const npy_info *info) {
  size_t n = (size_t)snprintf(text, NPY_SHAPE_MAX, "(");
  for (uint32_t i = 0; i < info->dims; i++)
    n += (size_t)snprintf(text + n, NPY_SHAPE_MAX - n, "%s%zu", i ? ", " : "", info->shape[i]);
  snprintf(text + n, NPY_SHAPE_MAX - n, info->dims == 1 ? ",)" : ")");
  return text;
}

size_t npy_header(char *header, const npy_info *info) {
  char shape[NPY_SHAPE_MAX];
  size_t n = 10;
  n += (size_t)snprintf(header + n, NPY_HEADER_ROOM - n, "{'descr': '%c%c%u', 'fortran_order': %s, 'shape': %s, }",
                        info->size == 1 ? '|' : '<', info->kind, info->size, info->fortran ? "True" : "False",
                        npy_shape(shape, info));
  while ((n + 1) % 64) header[n++] = ' ';
  header[n++] = '\n';
  memcpy(header, "\x93NUMPY\x01\x00", 8);
  header[8] = (char)((n - 10) & 0xFF);
  header[9] = (char)((n - 10) >> 8);
  return n;
}
