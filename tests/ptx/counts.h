/* SPDX-License-Identifier: MIT */
/* tests/ptx/counts.h - what the calls of counts.c and of counts_other.c are made of. Each exits with 2 on failure. */
#ifndef HALFULP_TESTS_PTX_COUNTS_H
#define HALFULP_TESTS_PTX_COUNTS_H

#include <stddef.h>

#include "halfulp/device.h"
#include "halfulp/halfulp.h"

hu_mode plain_mode(void);
/* n binary32 numbers in device memory, like a layer's weights: sums of four uniform numbers, times the factor. */
void *values(size_t n, float factor);
/* Device memory; counts of events in it, all zero. */
void *room(size_t bytes);
hu_events *new_events(void);
/* The device as the place of the next call, with the memory that it works in or NULL. */
const hu_exec *counts_there(void *work);

/* The calls beside rounding, scaled tensors and products. HU_E_NAME: none has this name. *count: its elements. */
hu_status run_other(const char *name, size_t *count);

#endif
