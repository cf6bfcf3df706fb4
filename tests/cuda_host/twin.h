/* SPDX-License-Identifier: MIT */
/* tests/cuda_host/twin.h - a host buffer and its copy in device memory, for tests that are built twice: with the
 * kernels compiled for the CPU, and with libhalfulp-cuda, where they need a device (t_device_main returns 77 without
 * one). */
#ifndef HALFULP_TESTS_CUDA_HOST_TWIN_H
#define HALFULP_TESTS_CUDA_HOST_TWIN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/base/memory.h"
#include "halfulp/device.h"
#include "halfulp/halfulp.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

/* The stream for a call, and that calls without one go to the default stream. On the CPU each is another stream, and
 * a kernel that is launched on any but the last stops the test (gpu/host/order.h); on a device it is one that is not
 * the default stream, but waits for it. */
#if defined(HU_TWIN_ON_DEVICE)
#include "tests/cuda_host/device_stream.h"
static inline void *twin_stream(void) { return t_device_stream(); }
static inline void twin_default_stream(void) {}
#else
#include "gpu/host/order.h"
static inline void *twin_stream(void) { return hui_host_stream(); }
static inline void twin_default_stream(void) { hui_host_expect(NULL); }
#endif

/* Returns an exec as `exec`, NULL for one that is all zero, at the device in this stream; of the next call only. */
static inline const hu_exec *twin_at(const hu_exec *exec, void *work, void *stream) {
  static const hu_exec plain;
  static hu_exec there;
  there = exec ? *exec : plain;
  there.where = hu_cuda(stream);
  there.where.work = work;
  return &there;
}
static inline const hu_exec *twin_there_with(const hu_exec *exec, void *work) {
  return twin_at(exec, work, twin_stream());
}
static inline const hu_exec *twin_there(const hu_exec *exec) { return twin_there_with(exec, NULL); }

typedef struct t_twin {
  size_t bytes;
  uint8_t *host; /* what the device ought to hold at the end */
  uint8_t *back; /* what it holds */
  uint8_t *device;
} t_twin;

static inline t_twin twin_new(size_t bytes) {
  t_twin twin = {bytes, malloc(bytes), malloc(bytes), hui_memory_new(bytes)};
  assert_non_null(twin.host);
  assert_non_null(twin.back);
  assert_non_null(twin.device);
  t_fill_pattern(twin.host, bytes);
  return twin;
}

/* Makes codes of `width` bits of all elements of `size` bytes: their lowest bits. */
static inline void twin_keep(const t_twin *twin, size_t size, unsigned width) {
  for (size_t i = 0; i < twin->bytes / size; i++) {
    t_put(twin->host, size, (ptrdiff_t)i,
          t_get(twin->host, size, (ptrdiff_t)i) & (uint32_t)(((uint64_t)1 << width) - 1));
  }
}

static inline void twin_free(t_twin *twin) {
  free(twin->host);
  free(twin->back);
  hui_memory_free(twin->device);
}

static inline void twin_put(const t_twin *twin) {
  assert_int_equal(hui_memory_put(twin->device, twin->host, twin->bytes), HU_OK);
}
static inline void twin_get(const t_twin *twin) {
  assert_int_equal(hui_memory_wait(), HU_OK);
  assert_int_equal(hui_memory_get(twin->back, twin->device, twin->bytes), HU_OK);
}

/* Index of the first byte that differs, `bytes` if none does. */
static inline size_t twin_differs(const t_twin *twin) {
  size_t i = 0;
  twin_get(twin);
  while (i < twin->bytes && twin->host[i] == twin->back[i]) i++;
  return i;
}

/* Says what the tests run on; 77 if there is nothing. */
static inline int twin_skip(const char *test) {
  char name[128];
  if (hu_device_available(name, sizeof name) != HU_OK) {
    printf("%s: skipped: %s\n", test, name);
    return 77;
  }
  printf("%s: on %s\n", test, name);
  fflush(stdout);
  return 0;
}

#endif
