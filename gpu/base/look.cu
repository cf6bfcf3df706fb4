/* SPDX-License-Identifier: MIT */
/* gpu/base/look.cu - see look.h. A thread has 16 codes of a row in flight. Bound: a code of a byte is a load of 32
 * bytes a warp, of which a multiprocessor starts one in a clock, 32 codes; memory moves 16 bytes in that clock. */
#include "gpu/base/look.h"

#include "gpu/base/launch.cuh"
#include "gpu/base/memory.h"
#include "halfulp/device.h"

enum { HU_LOOK_EACH = 16, HU_LOOK_PIECE = HU_LOOK_EACH * HU_THREADS };

/* 1: a kernel has seen such a code since hu_device_synchronize last asked. */
static __device__ unsigned hu_wide_code_seen;

/* Was anything ever enqueued? Graphs run without the host's knowledge, so this never goes back. */
static int hu_has_looked;

HU_DEVICE uint32_t hu_look_code(const uint8_t *p, uint32_t size) {
  if (size == 1) return *p;
  if (size == 2) return *(const uint16_t *)(const void *)p;
  return *(const uint32_t *)(const void *)p;
}

HU_KERNEL __launch_bounds__(HU_THREADS) hu_look_kernel(const __grid_constant__ hu_code_area x, size_t across) {
  const uint8_t *data = (const uint8_t *)x.data;
  size_t pieces = across * x.rows;
  uint32_t wrong = 0, size = (uint32_t)x.size;
  for (size_t p = blockIdx.x; p < pieces; p += gridDim.x) {
    size_t row = x.rows > 1 ? p / across : 0, first = (p - row * across) * HU_LOOK_PIECE + threadIdx.x;
    const uint8_t *at = data + (ptrdiff_t)row * x.pitch * (ptrdiff_t)size;
#pragma unroll
    for (int k = 0; k < HU_LOOK_EACH; k++) {
      size_t i = first + (size_t)k * HU_THREADS;
      if (i >= x.cols) break;
      wrong |= (uint32_t)!hu_code_fits(&x, hu_look_code(at + (ptrdiff_t)i * x.step * (ptrdiff_t)size, size));
    }
  }
  if (wrong) atomicOr(&hu_wide_code_seen, 1u);
}

HU_KERNEL __launch_bounds__(HU_THREADS) hu_look_answer_kernel(unsigned *answer) {
  if (threadIdx.x == 0) *answer = atomicExch(&hu_wide_code_seen, 0u);
}

void hu_look_at(hu_code_area x, void *stream) {
  if (!hu_codes_have_room(&x)) return;
  x = hu_code_area_in_order(x);
  size_t across = (x.cols - 1) / HU_LOOK_PIECE + 1;
  __atomic_store_n(&hu_has_looked, 1, __ATOMIC_RELEASE);
  HU_LAUNCH(hu_look_kernel, hu_grid_size((uint64_t)across * x.rows, 8), 0, stream, x, across);
}

static hu_status hu_look_answer(void *stream) {
  unsigned seen = 0, *answer = (unsigned *)hu_memory_new(sizeof *answer);
  if (!answer) return HU_E_MEMORY;
  HU_LAUNCH(hu_look_answer_kernel, 1, 0, stream, answer);
  hu_status s = hu_launched();
  if (s == HU_OK && cudaStreamSynchronize((cudaStream_t)stream) != cudaSuccess) s = HU_E_CUDA;
  if (s == HU_OK) s = hu_memory_get(&seen, answer, sizeof seen);
  hu_memory_free(answer);
  return s == HU_OK && seen ? HU_E_CODE : s;
}

hu_status hu_device_synchronize(void *stream) {
  cudaError_t e = cudaStreamSynchronize((cudaStream_t)stream);
  if (e == cudaErrorNoDevice || e == cudaErrorInsufficientDriver) return HU_E_DEVICE;
  if (e != cudaSuccess) return HU_E_CUDA;
  return __atomic_load_n(&hu_has_looked, __ATOMIC_ACQUIRE) ? hu_look_answer(stream) : HU_OK;
}
