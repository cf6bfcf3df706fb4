/* SPDX-License-Identifier: MIT */
/* tests/cuda_host/host_order.h - the order in which a host run gives threads and blocks their turn. */
#ifndef HALFULP_TESTS_CUDA_HOST_HOST_ORDER_H
#define HALFULP_TESTS_CUDA_HOST_HOST_ORDER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A permutation drawn from this seed, a new one after each barrier; 0: ascending. */
void hu_host_order(uint64_t seed);

#ifdef __cplusplus
}
#endif
#endif
