/* SPDX-License-Identifier: MIT */
/* A call whose exec names a place that does not run it says so, and looks at nothing: every pointer it is given leads
 * to memory that may not be read. */
#include <stdio.h>
#include <sys/mman.h>

#include "emu/base/device_calls.h"
#include "halfulp/halfulp.h"
#include "halfulp/train.h"

static int calls, wrong;

static void expect(const char *name, long long got, long long expected) {
  calls++;
  wrong += got != expected;
  if (got != expected) printf("FAIL: %s returns %lld, not %lld\n", name, got, expected);
}

#define CALL_hu_status(name, arguments) expect(#name, name arguments, HU_E_DEVICE);
#define CALL_size_t(name, arguments) expect(#name, (long long)name arguments, 0);

static void all(const hu_exec *there, const hu_how *how, void *nowhere) {
#include "place_calls.h"
}

int main(void) {
  static const hu_device_calls none;
  const hu_exec there = {.where = {.device = &none}};
  const hu_how how = {.exec = &there};
  void *nowhere = mmap(NULL, 1 << 16, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (nowhere == MAP_FAILED) return 1;
  all(&there, &how, nowhere);
  printf("%d calls, %d wrong\n", calls, wrong);
  return wrong != 0;
}
