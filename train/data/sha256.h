/* SPDX-License-Identifier: MIT */
/* train/data/sha256.h - SHA-256 of bytes in memory: FIPS 180-4, section 6.2. */
#ifndef HALFULP_TRAIN_DATA_SHA256_H
#define HALFULP_TRAIN_DATA_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { HU_SHA256_BYTES = 32, HU_SHA256_TEXT = 2 * HU_SHA256_BYTES };

/* Writes the digest of n bytes as 64 small hexadecimal digits and a 0; returns text. */
char *hui_sha256_text(char text[HU_SHA256_TEXT + 1], size_t n, const void *x);

#endif
