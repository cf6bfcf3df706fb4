/* SPDX-License-Identifier: MIT */
/* cli/tensors/foreign.h - files of other programs, known by their first bytes and their names, and how to make what is
 * read. */
#ifndef HALFULP_CLI_TENSORS_FOREIGN_H
#define HALFULP_CLI_TENSORS_FOREIGN_H

#include <stddef.h>
#include <stdint.h>

/* Says what the file is and how to make .npy or .safetensors of it, as a part of a sentence; NULL: not known. */
const char *cli_foreign(const char *name, const uint8_t *bytes, size_t size);

#endif
