/* SPDX-License-Identifier: MIT */
/* Libraries built without CUDA have every function of the device headers, and each says that there is no device. */
#include <stdio.h>
#include <string.h>

#include "halfulp/device.h"
#include "halfulp/device_number.h"
#include "halfulp/device_scaled.h"
#include "halfulp/device_sum.h"
#include "halfulp/train/device.h"

static int calls, wrong;

static void expect(const char *name, long long got, long long expected) {
  calls++;
  wrong += got != expected;
  if (got != expected) printf("FAIL: %s answers %lld, not %lld\n", name, got, expected);
}

/* What an engine is asked for without a place for it. */
static hu_status answer_of(const char *name) { return strcmp(name, "hu_engine_device") == 0 ? HU_E_NULL : HU_E_DEVICE; }

#define CALL_hu_status(name, arguments) expect(#name, name arguments, answer_of(#name));
#define CALL_size_t(name, arguments) expect(#name, (long long)name arguments, 0);
#define CALL_void(name, arguments) \
  name arguments;                  \
  expect(#name, 0, 0);

static void answers(void) {
  const hu_engine *engine = (const hu_engine *)(const void *)&engine;
  char text[8] = "zzzzzzz";
  expect("hu_device_available with a name", hu_device_available(text, sizeof text), HU_E_DEVICE);
  expect("its text", strcmp(text, "built w"), 0);
  hu_device_versions(text, sizeof text);
  expect("hu_device_versions", strcmp(text, ""), 0);
  expect("hu_engine_device", hu_engine_device(&engine), HU_E_DEVICE);
  expect("its engine", engine != NULL, 0);
}

static void all(void) {
#include "none_calls.h"
}

int main(void) {
  all();
  answers();
  printf("%d answers, %d wrong\n", calls, wrong);
  return wrong != 0;
}
