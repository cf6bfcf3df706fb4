/* SPDX-License-Identifier: MIT */
/* tests/cuda_host/device_dot.c - tests/accum's dot products through hu_dot on a device: dots.c, compiled with
 * DOT_CALL=dot_on_device, calls this in place of hu_dot. What stands for the reference here is hu_dot. */
#include "tests/cuda_host/twin.h"

#include "tests/accum/dots.h"
#include "tests/accum/reference.h"

enum { ROOM = 1 << 16 };

static uint8_t staging[ROOM], *buffer;
static uint64_t cpu_answer;

/* The elements of one view at the next place of the staging area, on both sides. */
static void stage(hu_view *view, size_t n, size_t *used) {
  size_t size = hu_type_size(view->type);
  if (!view->data || !n) return;
  ptrdiff_t last = (ptrdiff_t)(n - 1) * view->stride;
  size_t reach = (size_t)(last < 0 ? -last : last) * size, before = last < 0 ? reach : 0;
  *used = (*used + 7) / 8 * 8;
  assert_true(*used + reach + size <= ROOM);
  memcpy(staging + *used, (const uint8_t *)view->data - before, reach + size);
  view->data = buffer + *used + before;
  *used += reach + size;
}

hu_status dot_on_device(const hu_product *x, const hu_how *how) {
  const hu_accum *accum = x->accum;
  hu_product in = *x;
  hu_how there = {how->mode, how->exec, NULL};
  hu_events counts;
  uint8_t result[sizeof counts + 8];
  size_t every = accum->scaled ? accum->promote : accum->block.every, scales = every ? (x->k + every - 1) / every : 0;
  size_t used = sizeof result;
  cpu_answer = 0;
  assert_null(x->watch);
  in.d.data = &cpu_answer;
  hu_status status = hu_dot(&in, &there);
  if (!buffer) buffer = hui_memory_new(ROOM);
  assert_non_null(buffer);
  memset(staging, 0, sizeof result);
  stage(&in.a, x->k, &used);
  stage(&in.b, x->k, &used);
  stage(&in.c, 1, &used);
  stage(&in.sa, scales, &used);
  stage(&in.sb, scales, &used);
  assert_int_equal(hui_memory_put(buffer, staging, used), HU_OK);
  in.d.data = buffer + sizeof counts;
  there.exec = twin_there(how->exec);
  there.events = (hu_events *)(void *)buffer;
  hu_status second = hu_dot(&in, &there);
  assert_int_equal(status, second);
  assert_int_equal(hui_memory_get(result, buffer, sizeof result), HU_OK);
  memcpy(&counts, result, sizeof counts);
  memcpy(x->d.data, result + sizeof counts, hu_type_size(x->d.type));
  hu_events_add(how->events, &counts);
  return second;
}

int dot_no_device(void) { return twin_skip("golden files of matrix units") != 0; }

uint64_t reference_dot(const t_dot *x, uint32_t *events) {
  (void)x;
  *events = 0;
  return cpu_answer;
}
