/* SPDX-License-Identifier: MIT */
/* What the C library of MinGW lacks of C11, for tests/onefile/digests.c: aligned memory, with a free of its own. */
#ifndef TESTS_PACKAGING_WINDOWS_ALLOC_H
#define TESTS_PACKAGING_WINDOWS_ALLOC_H

#include <malloc.h>
#include <stdlib.h>

#define aligned_alloc(alignment, bytes) _aligned_malloc(bytes, alignment)
#define free(memory) _aligned_free(memory)

#endif
