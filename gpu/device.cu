/* SPDX-License-Identifier: MIT */
/* gpu/device.cu - which device there is, and the device calls on host arrays. */
#include <stdio.h>
#include <string.h>

#include "emu/base/codes.h"
#include "emu/base/matrix_view.h"
#include "emu/core/round.h"
#include "emu/gemm/check.h"
#include "gpu/base/calls.h"
#include "gpu/base/check.h"
#include "gpu/base/launch.cuh"
#include "gpu/base/memory.h"
#include "gpu/probe/probe.h"
#include "halfulp/device.h"

static void say(char *name, size_t size, const char *text) {
  if (name && size) snprintf(name, size, "%s", text);
}

/* Says why there is no device. The runtime itself reports each of these cases as a driver that is too old. */
static void say_why(char *name, size_t size, cudaError_t error) {
  int driver = 0, runtime = 0;
  (void)cudaDriverGetVersion(&driver);
  (void)cudaRuntimeGetVersion(&runtime);
  if (!name || !size) return;
  if (error == cudaErrorInsufficientDriver && driver == 0) {
    say(name, size, "no CUDA device (driver not found)");
  } else if (error == cudaErrorInsufficientDriver) {
    snprintf(name, size, "no CUDA device (driver for CUDA %d.%d, which is too old for this library's %d.%d)",
             driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
  } else if (error == cudaSuccess || error == cudaErrorNoDevice) {
    say(name, size, "no CUDA device (the driver shows none)");
  } else {
    snprintf(name, size, "no CUDA device (%s)", cudaGetErrorString(error));
  }
}

hu_status hu_device_available(char *name, size_t size) {
  int count = 0, device = 0;
  cudaDeviceProp prop;
  cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && count > 0) error = cudaGetDevice(&device);
  if (error == cudaSuccess && count > 0) error = cudaGetDeviceProperties(&prop, device);
  if (error != cudaSuccess || count == 0) {
    (void)hui_cuda_said(error);
    say_why(name, size, error);
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
typedef struct device_copy {
  void *device;
  size_t bytes;
} device_copy;

static hu_status copy_new(device_copy *copy, const void *host, size_t bytes) {
  copy->bytes = bytes;
  copy->device = hui_memory_new(bytes);
  if (!copy->device) return hui_cuda_why();
  return host ? hui_memory_put(copy->device, host, bytes) : HU_OK;
}

static void copy_free(device_copy *copy) {
  if (copy->device) hui_memory_free(copy->device);
}

/* Waits, then copies the result and the counts of this call back, either all of it or nothing. */
static hu_status fetch(void *z, const device_copy *tz, hu_events *events, const device_copy *te) {
  hu_events counts;
  memset(&counts, 0, sizeof counts);
  hu_status status = hui_memory_wait();
  if (status == HU_OK && events) status = hui_memory_get(&counts, te->device, sizeof counts);
  if (status == HU_OK) status = hui_memory_get(z, tz->device, tz->bytes);
  if (status == HU_OK && events) hu_events_add(events, &counts);
  return status;
}

static hu_status events_new(device_copy *copy, const hu_events *events) {
  hu_events zero;
  memset(&zero, 0, sizeof zero);
  return events ? copy_new(copy, &zero, sizeof zero) : HU_OK;
}

hu_status hui_cuda_host_apply(int op, size_t n, const hu_output *z, const hu_view *x, const hu_how *how) {
  device_copy tx = {NULL, 0}, tz = {NULL, 0}, te = {NULL, 0};
  if (op != HU_OP_CONVERT) return HU_E_DEVICE;
  if (!z || !x) return HU_E_NULL;
  hu_status status = hui_check_conversion(&z->type, &x->type);
  if (status != HU_OK) return status;
  if (hui_number_of(&z->type) || hui_number_of(&x->type) || z->stride != 1 || x->stride != 1) return HU_E_DEVICE;
  status = hui_check_formats(n, z, x, how);
  if (status == HU_OK && x->type.kind == HU_TYPE_CODES) status = hui_code_array_check(n, x->data, 1, x->type.format, 1);
  if (status != HU_OK || n == 0) return status;
  hu_view from = *x;
  hu_output to = *z;
  hu_how there = *how;
  status = copy_new(&tx, x->data, n * hui_type_bytes(&x->type));
  if (status == HU_OK) status = copy_new(&tz, NULL, n * hui_type_bytes(&z->type));
  if (status == HU_OK) status = events_new(&te, how->events);
  from.data = tx.device;
  to.data = tz.device;
  there.events = (hu_events *)te.device;
  if (status == HU_OK) status = hui_cuda_apply(op, n, &to, &from, &there);
  if (status == HU_OK) status = fetch(z->data, &tz, how->events, &te);
  copy_free(&tx);
  copy_free(&tz);
  copy_free(&te);
  return status;
}

static size_t stored_bytes(const hu_view *x, size_t rows, size_t cols) {
  int transposed = hui_matrix_is_transposed(x);
  size_t down = transposed ? cols : rows, across = transposed ? rows : cols;
  return rows == 0 || cols == 0 ? 0 : ((down - 1) * hui_matrix_ld(x) + across) * hui_matrix_size(x);
}

/* Checks the codes of a host operand, settled. */
static hu_status codes_check(const hu_view *x, size_t rows, size_t cols) {
  if (hui_matrix_is_absent(x) || !hui_matrix_is_codes(x)) return HU_OK;
  int transposed = hui_matrix_is_transposed(x);
  return hui_code_rows_check(transposed ? cols : rows, transposed ? rows : cols, x->data, hui_matrix_ld(x),
                             x->type.format, 1);
}

static hu_status operand_new(device_copy *copy, hu_view *x, size_t rows, size_t cols) {
  hu_status status = copy_new(copy, x->data, stored_bytes(x, rows, cols));
  x->data = copy->device;
  return status;
}

hu_status hui_cuda_host_multiply(const hu_product *product, const hu_how *how) {
  device_copy ta = {NULL, 0}, tb = {NULL, 0}, tc = {NULL, 0}, td = {NULL, 0}, te = {NULL, 0};
  hu_product own = *product;
  hu_gemm_specs specs;
  hu_how there = *how;
  if (own.sum || own.watch || own.a.type.kind == HU_TYPE_S2FP8) return HU_E_DEVICE;
  if (!hui_matrix_is_absent(&own.sa) || !hui_matrix_is_absent(&own.sb)) return HU_E_DEVICE;
  hu_status status = hui_gemm_check(&specs, &own, how->mode);
  if (status == HU_OK) status = codes_check(&own.a, own.m, own.k);
  if (status == HU_OK) status = codes_check(&own.b, own.k, own.n);
  if (status == HU_OK) status = codes_check(&own.c, own.m, own.n);
  if (status != HU_OK || own.m == 0 || own.n == 0) return status;
  hu_view written = hui_matrix_written(&own.d);
  status = operand_new(&ta, &own.a, own.m, own.k);
  if (status == HU_OK) status = operand_new(&tb, &own.b, own.k, own.n);
  if (status == HU_OK && !hui_matrix_is_absent(&own.c)) status = operand_new(&tc, &own.c, own.m, own.n);
  /* D is copied to the device, too, so that what lies between its rows comes back unchanged. */
  if (status == HU_OK) status = copy_new(&td, own.d.data, stored_bytes(&written, own.m, own.n));
  if (status == HU_OK) status = events_new(&te, how->events);
  own.d.data = td.device;
  there.events = (hu_events *)te.device;
  if (status == HU_OK) status = hui_cuda_gemm(&own, &there);
  if (status == HU_OK) status = fetch(product->d.data, &td, how->events, &te);
  copy_free(&ta);
  copy_free(&tb);
  copy_free(&tc);
  copy_free(&td);
  copy_free(&te);
  return status;
}

hu_status hui_cuda_multiply(const hu_product *product, const hu_how *how) {
  if (product->sum) return hui_cuda_scaled_gemm(product, how);
  return product->a.type.kind == HU_TYPE_S2FP8 ? hui_cuda_s2fp8_gemm(product, how) : hui_cuda_gemm(product, how);
}

size_t hui_cuda_multiply_space(const hu_product *product, const hu_exec *exec) {
  if (product->sum) return hui_cuda_scaled_gemm_space(product, exec);
  return product->a.type.kind == HU_TYPE_S2FP8 ? hui_cuda_s2fp8_gemm_space(product, exec) : 0;
}
