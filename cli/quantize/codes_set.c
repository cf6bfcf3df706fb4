/* SPDX-License-Identifier: MIT */
/* Writes codes as an .npy file, and what they need beside it, as one set: see cli/quantize/quantize.h and docs/files.md
 * section 2. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/quantize/quantize.h"
#include "cli/tensors/codes.h"

enum { FILES = CLI_PARTS_MAX + 1, DIGEST_BYTES = 8 };

/* Returns the name of a companion of OUT.npy: OUT.scales.npy. To be freed; NULL after an error line. */
static char *companion(const char *path, const char *suffix) {
  size_t stem = strlen(path) - (cli_ends(path, ".npy") ? 4 : 0), capacity = strlen(path) + strlen(suffix) + 6;
  char *z = cli_alloc(capacity, 1);
  if (z) snprintf(z, capacity, "%.*s.%s.npy", (int)stem, path, suffix);
  return z;
}

static size_t count_of(const cli_part *part) { return part->dims ? part->rows * part->cols : 1; }

/* ---- the digest ---- */

static uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
  return hash ^ hash >> 32;
}

static uint64_t word_of(const uint8_t bytes[8]) {
  uint64_t word = 0;
  for (int i = 0; i < 8; i++) word |= (uint64_t)bytes[i] << 8 * i;
  return word;
}

/* Digests a part's bytes as they lie in a file, in words of eight, the last one filled up with zeros; before them their
 * number. */
static uint64_t digest_part(uint64_t hash, const uint8_t *data, size_t size) {
  uint8_t last[8] = {0};
  size_t i = 0;
  hash = mix(hash, size);
  for (; size - i >= 8; i += 8) hash = mix(hash, word_of(data + i));
  if (i == size) return hash;
  memcpy(last, data + i, size - i);
  return mix(hash, word_of(last));
}

/* Computes the digest. Returns 0, or an exit code after an error line. */
static int digest(uint8_t z[DIGEST_BYTES], const cli_parts *parts) {
  uint64_t hash = UINT64_C(0xCBF29CE484222325);
  for (int i = 0; i < parts->count; i++) {
    const cli_part *part = &parts->part[i];
    size_t count = count_of(part);
    uint8_t *copy = NULL;
    if (CLI_HOST_BIG && part->size > 1) {
      copy = cli_alloc(count, part->size);
      if (!copy) return CLI_BAD;
      cli_copy_swapped(copy, part->data, count, part->size);
    }
    hash = digest_part(hash, copy ? copy : part->data, count * part->size);
    free(copy);
  }
  for (int i = 0; i < DIGEST_BYTES; i++) z[i] = (uint8_t)(hash >> 8 * i);
  return CLI_OK;
}

static npy_info check_info(void) {
  npy_info info = {0};
  info.kind = 'u';
  info.size = 1;
  info.dims = 1;
  info.shape[0] = info.count = DIGEST_BYTES;
  return info;
}

/* ---- writing ---- */

static npy_info part_info(const cli_part *part) {
  npy_info info = {0};
  info.kind = part->kind;
  info.size = part->size;
  info.dims = part->dims;
  info.shape[0] = part->rows;
  info.shape[1] = part->cols;
  info.count = count_of(part);
  return info;
}

/* Saves the digest before the other companions: if you read it last, you see that one of them is new. */
int cli_parts_save(const char *path, const npy_info *info, const cli_parts *parts) {
  cli_array_file files[FILES];
  char *names[FILES] = {NULL};
  uint8_t check[DIGEST_BYTES];
  int code = CLI_OK;
  if (parts->count == 1) return cli_array_save(path, info, parts->part[0].data);
  if (digest(check, parts)) return CLI_BAD;
  files[0] = (cli_array_file){path, *info, parts->part[0].data};
  for (int i = 1; i <= parts->count && code == CLI_OK; i++) {
    names[i] = companion(path, i == 1 ? "check" : parts->part[i - 1].suffix);
    if (!names[i]) code = CLI_BAD;
    files[i] = i == 1 ? (cli_array_file){names[i], check_info(), check}
                      : (cli_array_file){names[i], part_info(&parts->part[i - 1]), parts->part[i - 1].data};
  }
  if (code == CLI_OK) code = cli_arrays_save(files, (size_t)parts->count + 1);
  for (int i = 1; i < FILES; i++) free(names[i]);
  return code;
}

/* Returns the files of a set but the first, from 0 on: NULL after the last one. To be freed. */
static char *beside(const char *path, const cli_parts *parts, int i) {
  if (!parts || parts->count == 1 || i >= parts->count) return NULL;
  return companion(path, i ? parts->part[i].suffix : "check");
}

int cli_parts_spare(const char *out, const cli_parts *of_out, const char *in, const cli_parts *of_in, int in_place) {
  static const char remedy[] = "give OUT another name";
  int code = in_place ? CLI_OK : cli_spare_input(out, in, "give OUT another name, or --in-place");
  char *name;
  for (int i = 0; code == CLI_OK && (name = beside(out, of_out, i)) != NULL; i++) {
    code = cli_spare_input(name, in, remedy);
    free(name);
  }
  for (int i = 0; code == CLI_OK && (name = beside(in, of_in, i)) != NULL; i++) {
    code = cli_spare_input(out, name, remedy);
    free(name);
  }
  return code;
}

/* ---- reading ---- */

cli_code_rule cli_code_rule_part(const cli_part *part) { return (cli_code_rule){part->width, part->twos, 0, NULL}; }

/* Loads a companion of the codes: its array, of the part's kind and shape, into the part's buffer. */
static int load_part(cli_part *part, const char *name) {
  cli_array x;
  if (cli_array_load_own(&x, name)) return CLI_BAD;
  int code = CLI_OK;
  size_t rows, cols, count = count_of(part);
  cli_matrix(&rows, &cols, x.info.dims, x.info.shape);
  if (x.info.kind != part->kind || x.info.size != part->size)
    code = cli_fail(name, "dtype %s is not what the format's %s have", npy_dtype(&x.info), part->suffix);
  else if (x.info.count != count || (part->dims && (rows != part->rows || cols != part->cols)))
    code =
        cli_fail(name, "%zu x %zu, the codes require %zu x %zu by -f and --rows", rows, cols, part->rows, part->cols);
  else if (part->kind == 'u' && cli_codes_check(name, &x.info, x.data, cli_code_rule_part(part)))
    code = CLI_BAD;
  else if (cli_array_in_rows(&x))
    code = CLI_BAD;
  else
    memcpy(part->data, x.data, count * part->size);
  cli_array_free(&x);
  return code;
}

/* Checks the digest; sets from elsewhere have none. */
static int check_digest(const cli_parts *parts, const char *path, const char *name) {
  uint8_t expected[DIGEST_BYTES], have[DIGEST_BYTES];
  cli_part file = {"check", 'u', 1, 2, 1, DIGEST_BYTES, expected, 0, 0};
  if (access(name, F_OK) && errno == ENOENT) return CLI_OK;
  if (load_part(&file, name) || digest(have, parts)) return CLI_BAD;
  if (!memcmp(expected, have, sizeof expected)) return CLI_OK;
  return cli_fail(path,
                  "does not belong together with the files beside it, by their digest in %s: they are of different "
                  "sets, or were changed; if that is meant, remove the digest",
                  name);
}

int cli_parts_load(cli_parts *parts, const char *path) {
  int code = CLI_OK;
  for (int i = 1; i <= parts->count && parts->count > 1 && code == CLI_OK; i++) {
    char *name = companion(path, i < parts->count ? parts->part[i].suffix : "check");
    if (!name) return CLI_BAD;
    code = i < parts->count ? load_part(&parts->part[i], name) : check_digest(parts, path, name);
    free(name);
  }
  return code;
}
