/* SPDX-License-Identifier: MIT */
/* layouts/archive.h - a .zip archive whose members are stored as they are, as torch.save writes it.
 *
 * Sizes are those of the central directory, since local headers may lack them; ZIP64 is read. Refused, with a sentence
 * that names the member: a member that is compressed or encrypted, or lies outside the file. */
#ifndef HALFULP_LAYOUTS_ARCHIVE_H
#define HALFULP_LAYOUTS_ARCHIVE_H

#include <stddef.h>
#include <stdint.h>

typedef struct hui_member {
  const char *name; /* in the file, without a 0 at its end */
  size_t length;
  size_t begin, size; /* of its bytes in the file */
} hui_member;

typedef struct hui_archive {
  hui_member *list; /* sorted by name */
  size_t count;
} hui_archive;

enum { HUI_ARCHIVE_ERROR = 400 };
/* Reads the directory: 1 and *z (to be freed), or 0 and a sentence. */
int hui_archive_open(hui_archive *z, const uint8_t *bytes, size_t size, char error[HUI_ARCHIVE_ERROR]);
void hui_archive_free(hui_archive *z);
/* Returns a member by its name of so many bytes; NULL where the archive lacks it. */
const hui_member *hui_archive_find(const hui_archive *x, const char *name, size_t length);

#endif
