/* SPDX-License-Identifier: MIT */
/* What halfulp_dpi.c takes of IEEE 1800-2017 Annex I, so that it is tested without a simulator: open arrays are a
 * struct of the test's own. */
#ifndef SVDPI_H
#define SVDPI_H

#include <stdint.h>

typedef uint32_t svBitVecVal;
typedef void *svOpenArrayHandle;

int svLow(const svOpenArrayHandle array, int dimension);
int svSize(const svOpenArrayHandle array, int dimension);
void *svGetArrElemPtr1(const svOpenArrayHandle array, int i);

#endif
