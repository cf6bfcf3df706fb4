/* SPDX-License-Identifier: MIT */
/* Counts of a block of threads that no array of a test reaches: more than 16 digits a thread, and sums of more than 32
 * (gpu/base/events.cuh). Without a device: the kernel runs on the CPU. */
extern "C" {
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
}
#include "gpu/base/events.cuh"
#include "gpu/base/memory.cu"

enum { EVENTS = HU_EVENT_KINDS, BLOCKS = 3 };

/* Thread t has start + t of event i, shifted, and one more in the counts of single elements where bit i of 0x155 is. */
static uint32_t count_of(uint32_t start, uint32_t t, int i) { return (start + t) << i; }

HU_KERNEL count_kernel(uint32_t start, hu_events *events) {
  __shared__ unsigned long long sums[EVENTS];
  hu_counts c;
  hui_counts_clear(&c);
  for (int i = 0; i < EVENTS; i++) c.total[i] = count_of(start, threadIdx.x, i);
  hui_counts_add(&c, 0x155);
  hui_counts_flush(&c, events, sums);
}

static void counts(uint32_t start) {
  static uint64_t z[EVENTS];
  static_assert(sizeof z == sizeof(hu_events), "ten counts");
  for (int i = 0; i < EVENTS; i++) z[i] = 7; /* counts are added */
  HU_LAUNCH(count_kernel, BLOCKS, 0, NULL, start, (hu_events *)(void *)z);
  assert_int_equal(hui_launched(), HU_OK);
  for (int i = 0; i < EVENTS; i++) {
    uint64_t sum = 0;
    for (uint32_t t = 0; t < HU_THREADS; t++) sum += count_of(start, t, i) + (0x155u >> i & 1);
    assert_true(z[i] == 7 + BLOCKS * sum);
  }
}

static void few(void **) { counts(0); }
static void many(void **) { counts(0xFF00); }         /* of event 0 more than 2^16 in some threads */
static void most(void **) { counts(0x7FFF00 - 256); } /* of event 9 nearly 2^32 in each, 2^40 in a block */

int main() {
  const struct CMUnitTest tests[] = {cmocka_unit_test(few), cmocka_unit_test(many), cmocka_unit_test(most)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
