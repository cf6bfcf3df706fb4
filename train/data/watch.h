/* SPDX-License-Identifier: MIT */
/* train/data/watch.h - which files a thread reads, and whether they are the ones that it expects. */
#ifndef HALFULP_TRAIN_DATA_WATCH_H
#define HALFULP_TRAIN_DATA_WATCH_H

#include "train/data/file.h"
#include "train/data/sha256.h"

typedef struct hu_file_seen {
  char *path;
  size_t size;
  char sha256[HU_SHA256_TEXT + 1];
} hu_file_seen;

/* expected: digests of the files in the order in which they are read, as hu_checksums_check accepts them; "": any. */
typedef struct hu_file_watch {
  const char *expected;
  hu_file_seen *file;
  size_t count;
} hu_file_watch;

/* How many digests a text has: "sha256:" and 64 hexadecimal digits, or "-", which any file has, with a comma between
 * two; -1: it is no such text. */
long hui_checksums_of(const char *text);
/* From here on the files that hui_bytes_read reads in this thread are noted; NULL: no longer. */
void hui_watch_files(hu_file_watch *watch);
/* Notes that a file was read. HU_OK where files are not noted. HU_E_DATA: its digest is not the expected one, or
 * none is given for it though there are some for others. */
hu_status hui_file_was_read(const hu_bytes *file, char *why);
void hui_watch_free(hu_file_watch *watch);

#endif
