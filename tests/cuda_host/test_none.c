/* SPDX-License-Identifier: MIT */
/* Libraries built without CUDA say that there is no device, and so does every call at the place that they give: it
 * looks at nothing, since every other pointer that it gets leads to memory that may not be read. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "halfulp/device.h"
#include "halfulp/halfulp.h"
#include "halfulp/train.h"
#include "halfulp/train/net.h"

static int calls, wrong;

static void expect(const char *name, long long got, long long expected) {
  calls++;
  wrong += got != expected;
  if (got != expected) printf("FAIL: %s answers %lld, not %lld\n", name, got, expected);
}

#define CALL_hu_status(name, arguments) expect(#name, name arguments, HU_E_DEVICE);
#define CALL_size_t(name, arguments) expect(#name, (long long)name arguments, 0);

/* Every call that takes a place. */
static void at_the_place(hu_where place, void *nowhere) {
  const hu_exec with = {.where = place}, *there = &with;
  const hu_how in = {.exec = &with}, *how = &in;
  const hu_product nothing = {0}, *product = &nothing;
  const hu_output to = {.data = nowhere, .stride = 1, .type = {.kind = HU_TYPE_VALUES32}}, *output = &to;
  const hu_output blocks = {.data = nowhere, .stride = 1, .type = {.kind = HU_TYPE_SCALED_VALUES, .scaling = nowhere}};
  const hu_output *scaled_output = &blocks;
  const hu_view from = {.data = nowhere, .stride = 1, .type = {.kind = HU_TYPE_BINARY32}}, *view = &from;
#include "place_calls.h"
}

static void answers(void) {
  const hu_engine *engine = (const hu_engine *)(const void *)&engine;
  hu_device_mma mma;
  char text[8] = "zzzzzzz";
  expect("hu_device_available with a name", hu_device_available(text, sizeof text), HU_E_DEVICE);
  expect("its text", strcmp(text, "built w"), 0);
  expect("hu_device_available without", hu_device_available(NULL, 0), HU_E_DEVICE);
  hu_device_versions(text, sizeof text);
  expect("hu_device_versions", strcmp(text, ""), 0);
  memset(text, 'z', sizeof text - 1);
  expect("hu_device_last_error", hu_device_last_error(text, sizeof text), 0);
  expect("its text", strcmp(text, ""), 0);
  expect("hu_device_last_error without", hu_device_last_error(NULL, 0), 0);
  expect("hu_device_synchronize", hu_device_synchronize(NULL), HU_E_DEVICE);
  expect("hu_device_mma_at", hu_device_mma_at(&mma, 0), HU_E_DEVICE);
  expect("hu_device_mma_run", hu_device_mma_run(0, 1, text, text, text, text), HU_E_DEVICE);
  expect("hu_engine_device", hu_engine_device(&engine), HU_E_DEVICE);
  expect("its engine", engine != NULL, 0);
  expect("hu_engine_device for nobody", hu_engine_device(NULL), HU_E_NULL);
}

int main(void) {
  void *nowhere = mmap(NULL, 1 << 16, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (nowhere == MAP_FAILED) return 1;
  at_the_place(hu_cuda(NULL), nowhere);
  at_the_place(hu_cuda_host(), nowhere);
  answers();
  printf("%d answers, %d wrong\n", calls, wrong);
  return wrong != 0;
}
