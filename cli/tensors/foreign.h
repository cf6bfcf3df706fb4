/* SPDX-License-Identifier: MIT */
/* cli/tensors/foreign.h - files of other programs, told by their first bytes and their names, and how to make what is
 * read. */
#ifndef HALFULP_CLI_TENSORS_FOREIGN_H
#define HALFULP_CLI_TENSORS_FOREIGN_H

#include <stddef.h>
#include <stdint.h>

/* What the file is and the way from it to .npy or .safetensors, as a part of a sentence; NULL: it cannot be told. */
const char *cli_foreign(const char *name, const uint8_t *bytes, size_t size);

#endif
