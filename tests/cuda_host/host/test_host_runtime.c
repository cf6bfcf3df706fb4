/* SPDX-License-Identifier: MIT */
/* The device calls and the CUDA runtime, on the CPU: whose errors a call reports, why there is no device, and what is
 * done when something waits for it. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cuda_host/twin.h"

#include "gpu/host/order.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/formats/ocp.h"

/* The numbers that cuda_runtime.h gives them. */
enum { INVALID_VALUE = 1, NO_MEMORY = 2, NO_DEVICE = 100, NOT_READY = 600, UNKNOWN = 999 };

static hu_status quantize(float *z) {
  static const float x[3] = {1, 0.3f, -7};
  return hu_quantize_n(3, z, 1, x, 1, hu_binary16(), t_mode(0), twin_at(NULL, NULL, NULL), NULL);
}

/* One of two kernels; hui_launched is asked after both. */
static hu_status truncate_n(float *z) {
  static uint8_t work[HU_DEVICE_S2FP8_WORK];
  const float x[3] = {1, 0.3f, -7};
  hu_s2fp8 kind;
  hu_s2fp8_sums sums;
  hu_s2fp8_scale scale;
  memset(&sums, 0, sizeof sums);
  assert_int_equal(hu_s2fp8_parse(&kind, "s2fp8", NULL), HU_OK);
  return hu_s2fp8_truncate_n(3, z, 1, x, 1, &kind, t_mode(0), &sums, &scale, twin_at(NULL, work, NULL), NULL);
}

static void errors_of_others(void **state) {
  (void)state;
  float z[3] = {0, 0, 0};
  hui_host_stale(NOT_READY);
  assert_int_equal(quantize(z), HU_OK);
  assert_true(z[0] == 1);
  hui_host_stale(INVALID_VALUE);
  assert_int_equal(truncate_n(z), HU_OK);
  hui_host_stale(0);
}

/* A refusal is said once, by the call that was refused. */
static void errors_of_ours(void **state) {
  (void)state;
  float z[3] = {0, 0, 0};
  hui_host_refuse(INVALID_VALUE);
  assert_int_equal(quantize(z), HU_E_CUDA);
  assert_int_equal(truncate_n(z), HU_E_CUDA);
  hui_host_refuse(NO_DEVICE);
  assert_int_equal(quantize(z), HU_E_DEVICE);
  assert_true(z[0] == 0);
  hui_host_refuse(0);
  assert_int_equal(quantize(z), HU_OK);
  assert_true(z[0] == 1);
}

/* Checks what the library says of the runtime's last error, and that the runtime has none left. */
static void expect_error(int code) {
  char text[64] = "before", two[2] = "z";
  assert_int_equal(hu_device_last_error(text, sizeof text), code);
  assert_string_equal(text, "host-run error");
  assert_int_equal(hu_device_last_error(two, sizeof two), code);
  assert_string_equal(two, "h");
  assert_int_equal(hu_device_last_error(NULL, 0), code);
  assert_int_equal(hui_host_left(), 0);
}

/* What the runtime refuses to a launch, a copy, an allocation and a wait comes with its own error, and stays nowhere
 * else. A call that succeeds leaves it. */
static void errors_are_told(void **state) {
  (void)state;
  static const float x[3] = {1, 0.3f, -7};
  float z[3] = {5, 5, 5};
  const hu_exec with = {.where = hu_cuda_host()};
  hui_host_refuse(NO_MEMORY);
  assert_int_equal(quantize(z), HU_E_MEMORY);
  expect_error(NO_MEMORY);
  hui_host_refuse(INVALID_VALUE);
  assert_int_equal(truncate_n(z), HU_E_CUDA);
  expect_error(INVALID_VALUE);
  hui_host_refuse(0);
  hui_host_refuse_copies(UNKNOWN); /* a context that is dead is no lack of memory */
  assert_int_equal(hu_quantize_n(3, z, 1, x, 1, hu_binary16(), t_mode(0), &with, NULL), HU_E_CUDA);
  expect_error(UNKNOWN);
  hui_host_refuse_copies(NO_MEMORY);
  assert_int_equal(hu_quantize_n(3, z, 1, x, 1, hu_binary16(), t_mode(0), &with, NULL), HU_E_MEMORY);
  expect_error(NO_MEMORY);
  assert_null(hui_memory_new(1));
  assert_null(hui_memory_locked(1));
  assert_int_equal(hui_memory_put(z, x, sizeof z), HU_E_MEMORY);
  assert_int_equal(hui_host_left(), 0);
  assert_int_equal(hui_memory_get(z, x, sizeof z), HU_E_MEMORY);
  assert_int_equal(hui_memory_send(z, x, sizeof z), HU_E_MEMORY);
  expect_error(NO_MEMORY);
  hui_host_refuse_copies(0);
  assert_true(z[0] == 5 && z[2] == 5);
  hui_host_refuse_waits(UNKNOWN);
  assert_int_equal(hui_memory_wait(), HU_E_CUDA);
  assert_int_equal(hui_host_left(), 0);
  assert_int_equal(hu_device_synchronize(NULL), HU_E_CUDA);
  expect_error(UNKNOWN);
  hui_host_refuse_waits(0);
  assert_int_equal(quantize(z), HU_OK);
  expect_error(UNKNOWN);
}

static void no_device(void **state) {
  (void)state;
  static const char *const says[][2] = {
      {"driver", "no CUDA device (driver not found)"},
      {"old", "no CUDA device (driver for CUDA 11.4, which is too old for this library's 13.0)"},
      {"none", "no CUDA device (the driver shows none)"},
      {"broken", "no CUDA device (host-run error)"}};
  char name[128];
  for (size_t i = 0; i < sizeof says / sizeof says[0]; i++) {
    setenv("HU_HOST_DEVICE", says[i][0], 1);
    assert_int_equal(hu_device_available(name, sizeof name), HU_E_DEVICE);
    assert_string_equal(name, says[i][1]);
    assert_int_equal(hu_device_available(NULL, 0), HU_E_DEVICE);
  }
  unsetenv("HU_HOST_DEVICE");
  assert_int_equal(hu_device_available(name, sizeof name), HU_OK);
}

/* A kernel on another stream than the call's ends the program: that is what all tests of device calls rely on. */
static void streams(void **state) {
  (void)state;
  const float x[3] = {1, 2, 3};
  float z[3];
  int status = 0;
  uint64_t before = hui_host_launches();
  assert_int_equal(hu_quantize_n(3, z, 1, x, 1, hu_binary16(), t_mode(0), twin_at(NULL, NULL, hui_host_stream()), NULL),
                   HU_OK);
  assert_true(hui_host_launches() > before);
  pid_t child = fork();
  if (child == 0) {
    (void)hui_host_stream();
    (void)!freopen("/dev/null", "w", stderr);
    _exit(quantize(z) == HU_OK ? 0 : 2);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 2);
  hui_host_expect(NULL);
  assert_int_equal(quantize(z), HU_OK);
}

/* Queued work is done by a wait, no sooner: what is read before is what was there, and a copy takes what its source has
 * become by then. */
static void queued(void **state) {
  (void)state;
  float z[3] = {0, 0, 0}, *locked = hui_memory_locked(sizeof *locked);
  assert_non_null(locked);
  hui_host_queue(1);
  (void)hui_host_counted();
  assert_int_equal(quantize(z), HU_OK);
  assert_true(z[0] == 0);
  assert_int_equal(hui_memory_wait(), HU_OK);
  assert_true(z[0] == 1);
  *locked = 5;
  assert_int_equal(hui_memory_send(z, locked, sizeof *locked), HU_OK);
  assert_true(z[0] == 1);
  *locked = 6;
  float back = 0;
  assert_int_equal(hui_memory_get(&back, z, sizeof back), HU_OK);
  assert_true(z[0] == 6 && back == 6);
  hu_host_calls c = hui_host_counted();
  assert_true(c.launches == 1 && c.waits == 2 && c.allocations == 0);
  assert_true(c.copies_in == 1 && c.copies_out == 1 && c.bytes_in == sizeof back && c.largest_out == sizeof back);
  assert_int_equal(quantize(z), HU_OK);
  hui_host_queue(0);
  assert_true(z[0] == 1);
  hui_memory_unlock(locked);
  assert_int_equal(hui_host_counted().waits, 1);
}

/* Asking for wide codes is a copy of one word in the call's own stream: it allocates nothing, starts no kernel, and
 * where it fails what was seen is told later. */
static void wide_codes(void **state) {
  (void)state;
  static const uint8_t x[3] = {1, 0x12, 1};
  float z[3];
  void *stream = hui_host_stream();
  hui_host_queue(1);
  assert_int_equal(hu_decode_n(3, z, 1, x, 1, hu_float4_e2m1fn(), twin_at(NULL, NULL, stream)), HU_OK);
  (void)hui_host_counted();
  hui_host_refuse_copies(INVALID_VALUE);
  assert_int_equal(hu_device_synchronize(stream), HU_E_CUDA);
  hui_host_refuse_copies(0);
  assert_int_equal(hu_device_synchronize(stream), HU_E_CODE);
  assert_int_equal(hu_device_synchronize(stream), HU_OK);
  hu_host_calls c = hui_host_counted();
  assert_true(c.launches == 0 && c.allocations == 0);
  assert_true(c.copies_in == 0 && c.copies_out == 3 && c.largest_out == sizeof(unsigned));
  hui_host_queue(0);
  hui_host_stale(0);
  hui_host_expect(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(errors_of_others), cmocka_unit_test(errors_of_ours),
                                     cmocka_unit_test(errors_are_told),  cmocka_unit_test(no_device),
                                     cmocka_unit_test(streams),          cmocka_unit_test(queued),
                                     cmocka_unit_test(wide_codes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
