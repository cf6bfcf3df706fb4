/* SPDX-License-Identifier: MIT */
/* Notes which files are read, and compares their digests with those that are expected. */
#include "train/data/watch.h"

#include <stdlib.h>
#include <string.h>

static const char prefix[] = "sha256:";
enum { PREFIX = sizeof prefix - 1 };

static int is_hexadecimal(const char *text, size_t n) {
  return n == HU_SHA256_TEXT && strspn(text, "0123456789abcdefABCDEF") >= n;
}

/* The digits of one digest of n characters, or "-"; NULL: it is neither. */
static const char *digits_of(const char *text, size_t n) {
  if (n == 1 && *text == '-') return text;
  return n > PREFIX && strncmp(text, prefix, PREFIX) == 0 && is_hexadecimal(text + PREFIX, n - PREFIX) ? text + PREFIX
                                                                                                       : NULL;
}

long hui_checksums_of(const char *text) {
  long count = 0;
  for (; *text; count++) {
    size_t n = strcspn(text, ",");
    if (!digits_of(text, n)) return -1;
    text += n;
    if (*text == ',' && !*++text) return -1; /* nothing behind the last comma */
  }
  return count;
}

/* Digits of digest i of a text that has it. */
static const char *digest_at(const char *text, size_t i) {
  for (; i; i--) text += strcspn(text, ",") + 1;
  return digits_of(text, strcspn(text, ","));
}

static int same_digits(const char *a, const char *b) {
  for (size_t i = 0; i < HU_SHA256_TEXT; i++) {
    char small = a[i] >= 'A' && a[i] <= 'F' ? (char)(a[i] - 'A' + 'a') : a[i];
    if (small != b[i]) return 0;
  }
  return 1;
}

static _Thread_local hu_file_watch *watching;

void hui_watch_files(hu_file_watch *watch) { watching = watch; }

static hu_status note(hu_file_watch *watch, const hu_bytes *file, char *why) {
  size_t n = strlen(file->name) + 1;
  hu_file_seen *more = realloc(watch->file, (watch->count + 1) * sizeof *more);
  if (more) watch->file = more;
  char *path = more ? malloc(n) : NULL;
  if (!path) return hui_data_wrong(why, HU_E_MEMORY, file->name, "out of memory");
  memcpy(path, file->name, n);
  hu_file_seen *seen = &watch->file[watch->count++];
  seen->path = path;
  seen->size = file->size;
  hui_sha256_text(seen->sha256, file->size, file->data);
  return HU_OK;
}

hu_status hui_file_was_read(const hu_bytes *file, char *why) {
  hu_file_watch *watch = watching;
  hu_status status = watch ? note(watch, file, why) : HU_OK;
  if (!watch || status != HU_OK || !*watch->expected) return status;
  size_t i = watch->count - 1, all = (size_t)hui_checksums_of(watch->expected);
  if (i >= all)
    return hui_data_wrong(why, HU_E_DATA, file->name, "data.checksum: %zu digests, and this is file %zu of the run",
                          all, i + 1);
  const char *digits = digest_at(watch->expected, i);
  if (*digits == '-' || same_digits(digits, watch->file[i].sha256)) return HU_OK;
  return hui_data_wrong(why, HU_E_DATA, file->name, "SHA-256 is %s, and data.checksum requires %.*s",
                        watch->file[i].sha256, HU_SHA256_TEXT, digits);
}

void hui_watch_free(hu_file_watch *watch) {
  for (size_t i = 0; i < watch->count; i++) free(watch->file[i].path);
  free(watch->file);
  memset(watch, 0, sizeof *watch);
}
