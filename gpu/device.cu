/* SPDX-License-Identifier: MIT */
/* gpu/device.cu - what is there, and the device calls on host arrays. */
#include <stdio.h>
#include <string.h>

#include "emu/base/codes.h"
#include "emu/core/round.h"
#include "emu/gemm/check.h"
#include "gpu/base/check.h"
#include "gpu/base/launch.cuh"
#include "gpu/base/memory.h"
#include "gpu/probe/probe.h"
#include "halfulp/device.h"

static void say(char *name, size_t size, const char *text) {
  if (name && size) snprintf(name, size, "%s", text);
}

/* Why there is none. The runtime's own words for all of it are that the driver is too old. */
static void say_why(char *name, size_t size, cudaError_t e) {
  int driver = 0, runtime = 0;
  (void)cudaDriverGetVersion(&driver);
  (void)cudaRuntimeGetVersion(&runtime);
  if (!name || !size) return;
  if (e == cudaErrorInsufficientDriver && driver == 0) {
    say(name, size, "no CUDA device (driver not found)");
  } else if (e == cudaErrorInsufficientDriver) {
    snprintf(name, size, "no CUDA device (driver for CUDA %d.%d, which is too old for this library's %d.%d)",
             driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
  } else if (e == cudaSuccess || e == cudaErrorNoDevice) {
    say(name, size, "no CUDA device (the driver shows none)");
  } else {
    snprintf(name, size, "no CUDA device (%s)", cudaGetErrorString(e));
  }
}

hu_status hu_device_available(char *name, size_t size) {
  int count = 0, device = 0;
  cudaDeviceProp prop;
  cudaError_t e = cudaGetDeviceCount(&count);
  if (e == cudaSuccess && count > 0) e = cudaGetDevice(&device);
  if (e == cudaSuccess && count > 0) e = cudaGetDeviceProperties(&prop, device);
  if (e != cudaSuccess || count == 0) {
    if (e != cudaSuccess) (void)cudaGetLastError();
    say_why(name, size, e);
    return HU_E_DEVICE;
  }
  say(name, size, prop.name);
  return HU_OK;
}

int hui_device_capability(void) {
  int device = 0;
  cudaDeviceProp prop;
  if (hu_device_available(NULL, 0) != HU_OK || cudaGetDevice(&device) != cudaSuccess) return 0;
  return cudaGetDeviceProperties(&prop, device) == cudaSuccess ? 10 * prop.major + prop.minor : 0;
}

/* One host array's copy on the device. */
typedef struct twin {
  void *device;
  size_t bytes;
} twin;

static hu_status twin_new(twin *t, const void *host, size_t bytes) {
  t->bytes = bytes;
  t->device = hui_memory_new(bytes);
  if (!t->device) return hu_device_available(NULL, 0) == HU_OK ? HU_E_MEMORY : HU_E_DEVICE;
  return host ? hui_memory_put(t->device, host, bytes) : HU_OK;
}

static void twin_free(twin *t) {
  if (t->device) hui_memory_free(t->device);
}

/* Waits, then brings the result and the counts of this call back; either all of it or nothing. */
static hu_status fetch(void *z, const twin *tz, hu_events *events, const twin *te) {
  hu_events counts;
  memset(&counts, 0, sizeof counts);
  hu_status s = hui_memory_wait();
  if (s == HU_OK && events) s = hui_memory_get(&counts, te->device, sizeof counts);
  if (s == HU_OK) s = hui_memory_get(z, tz->device, tz->bytes);
  if (s == HU_OK && events) hu_events_add(events, &counts);
  return s;
}

static hu_status events_new(twin *t, const hu_events *events) {
  hu_events zero;
  memset(&zero, 0, sizeof zero);
  return events ? twin_new(t, &zero, sizeof zero) : HU_OK;
}

static hu_status host_convert(size_t n, void *z, size_t size, const float *x, hu_format f, hu_mode mode,
                              const hu_exec *exec, hu_events *events, int codes) {
  twin tx = {NULL, 0}, tz = {NULL, 0}, te = {NULL, 0};
  hu_status s = hui_check_arrays(n, z, size, 1, x, sizeof *x, 1);
  if (s != HU_OK || n == 0) return s;
  s = twin_new(&tx, x, n * sizeof *x);
  if (s == HU_OK) s = twin_new(&tz, NULL, n * size);
  if (s == HU_OK) s = events_new(&te, events);
  hu_events *ev = (hu_events *)te.device;
  if (s == HU_OK) {
    s = codes ? hu_device_encode_n(n, tz.device, 1, (const float *)tx.device, 1, f, mode, exec, ev, NULL)
              : hu_device_quantize_n(n, (float *)tz.device, 1, (const float *)tx.device, 1, f, mode, exec, ev, NULL);
  }
  if (s == HU_OK) s = fetch(z, &tz, events, &te);
  twin_free(&tx);
  twin_free(&tz);
  twin_free(&te);
  return s;
}

hu_status hu_device_host_quantize_n(size_t n, float *z, const float *x, hu_format f, hu_mode mode, const hu_exec *exec,
                                    hu_events *events) {
  hu_status s = hui_check_rounding(f, mode, 1);
  return s == HU_OK ? host_convert(n, z, sizeof *z, x, f, mode, exec, events, 0) : s;
}

hu_status hu_device_host_encode_n(size_t n, void *z, const float *x, hu_format f, hu_mode mode, const hu_exec *exec,
                                  hu_events *events) {
  hu_status s = hui_check_rounding(f, mode, 0);
  return s == HU_OK ? host_convert(n, z, hui_code_bytes(f), x, f, mode, exec, events, 1) : s;
}

static size_t stored_bytes(size_t rows, size_t cols, size_t ld, hu_format f, uint8_t storage) {
  size_t size = storage == HU_STORAGE_VALUES ? sizeof(float) : hui_code_bytes(f);
  return rows == 0 || cols == 0 ? 0 : ((rows - 1) * ld + cols) * size;
}

/* Of a host operand. */
static hu_status codes_check(const hu_operand *x, size_t rows, size_t cols) {
  if (!x || x->storage != HU_STORAGE_CODES) return HU_OK;
  return hui_code_rows_check(x->transposed ? cols : rows, x->transposed ? rows : cols, x->data, x->ld, x->format, 1);
}

static hu_status operand_new(twin *t, hu_operand *z, const hu_operand *x, size_t rows, size_t cols) {
  *z = *x;
  hu_status s = twin_new(
      t, x->data, stored_bytes(x->transposed ? cols : rows, x->transposed ? rows : cols, x->ld, x->format, x->storage));
  z->data = t->device;
  return s;
}

hu_status hu_device_host_gemm(size_t m, size_t n, size_t k, const hu_result *d, const hu_operand *a,
                              const hu_operand *b, const hu_operand *c, const hu_accum *accum, hu_mode mode,
                              const hu_exec *exec, hu_events *events) {
  twin ta = {NULL, 0}, tb = {NULL, 0}, tc = {NULL, 0}, td = {NULL, 0}, te = {NULL, 0};
  hu_operand da, db, dc;
  hu_status s = hui_gemm_check(m, n, k, d, a, b, c, NULL, NULL, accum, mode);
  if (s == HU_OK) s = codes_check(a, m, k);
  if (s == HU_OK) s = codes_check(b, k, n);
  if (s == HU_OK) s = codes_check(c, m, n);
  if (s != HU_OK || m == 0 || n == 0) return s;
  hu_result dd = *d;
  s = operand_new(&ta, &da, a, m, k);
  if (s == HU_OK) s = operand_new(&tb, &db, b, k, n);
  if (s == HU_OK && c) s = operand_new(&tc, &dc, c, m, n);
  /* D goes there too, so that what lies between its rows comes back as it was. */
  if (s == HU_OK) s = twin_new(&td, d->data, stored_bytes(m, n, d->ld, d->format, d->storage));
  if (s == HU_OK) s = events_new(&te, events);
  dd.data = td.device;
  if (s == HU_OK) {
    s = hu_device_gemm(m, n, k, &dd, &da, &db, c ? &dc : NULL, accum, mode, exec, (hu_events *)te.device, NULL);
  }
  if (s == HU_OK) s = fetch(d->data, &td, events, &te);
  twin_free(&ta);
  twin_free(&tb);
  twin_free(&tc);
  twin_free(&td);
  twin_free(&te);
  return s;
}
