/* SPDX-License-Identifier: MIT */
/* tests/cuda_host/device_dot.c - tests/accum's dot products through hu_dot_n on a device: dots.c, compiled with
 * DOT_CALL=dot_on_device, calls this in place of hu_dot. What stands for the reference here is hu_dot. */
#include "tests/cuda_host/twin.h"

#include "tests/accum/dots.h"
#include "tests/accum/reference.h"

enum { ROOM = 1 << 16 };

static uint8_t staging[ROOM], *buffer;
static uint64_t cpu_answer;

/* The elements of one vector at the next place of the staging area, on both sides. */
static void stage(hu_vector *vector, size_t n, size_t *used) {
  size_t size = hu_element_size(vector->element);
  if (!vector->data || !n) return;
  ptrdiff_t last = (ptrdiff_t)(n - 1) * vector->stride;
  size_t reach = (size_t)(last < 0 ? -last : last) * size, before = last < 0 ? reach : 0;
  *used = (*used + 7) / 8 * 8;
  assert_true(*used + reach + size <= ROOM);
  memcpy(staging + *used, (const uint8_t *)vector->data - before, reach + size);
  vector->data = buffer + *used + before;
  *used += reach + size;
}

hu_status dot_on_device(size_t n, void *z, hu_element ez, const hu_dot_operands *x, const hu_accum *accum, hu_mode mode,
                        const hu_exec *exec, hu_events *events) {
  hu_dot_operands in = *x;
  hu_events counts;
  uint8_t result[sizeof counts + 8];
  size_t every = accum->scaled ? accum->promote : accum->block.every, scales = every ? (n + every - 1) / every : 0;
  size_t used = sizeof result;
  cpu_answer = 0;
  hu_status status = hu_dot(n, &cpu_answer, ez, x, accum, mode, exec, NULL);
  if (!buffer) buffer = hui_memory_new(ROOM);
  assert_non_null(buffer);
  memset(staging, 0, sizeof result);
  stage(&in.a, n, &used);
  stage(&in.b, n, &used);
  stage(&in.c, 1, &used);
  stage(&in.sa, scales, &used);
  stage(&in.sb, scales, &used);
  assert_int_equal(hui_memory_put(buffer, staging, used), HU_OK);
  hu_status second =
      hu_dot_n(1, n, buffer + sizeof counts, 1, ez, &in, accum, mode, twin_there(exec), (hu_events *)(void *)buffer);
  assert_int_equal(status, second);
  assert_int_equal(hui_memory_get(result, buffer, sizeof result), HU_OK);
  memcpy(&counts, result, sizeof counts);
  memcpy(z, result + sizeof counts, hu_element_size(ez));
  hu_events_add(events, &counts);
  return second;
}

int dot_no_device(void) { return twin_skip("golden files of matrix units") != 0; }

uint64_t reference_dot(const t_dot *x, uint32_t *events) {
  (void)x;
  *events = 0;
  return cpu_answer;
}
