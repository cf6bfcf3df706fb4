/* SPDX-License-Identifier: MIT */
/* How much stack the array calls take: each family in a thread whose stack is painted before, and looked at behind.
 * The page on embedding states the limit. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/halfulp.h"
#include "tests/support/cmocka.h"

enum { N = 4096, SIDE = 64, ROOM = 512 << 10, LIMIT = 80 << 10, PAINT = 0x5C };

static float x[N];
static uint32_t z[N], scales[N];

static hu_status run_encode(hu_mode mode) { return hu_encode_n(N, z, 1, x, 1, hu_float8_e4m3fn(), mode, NULL, NULL); }
static hu_status run_quantize(hu_mode mode) {
  return hu_quantize_n(N, (float *)(void *)z, 1, x, 1, hu_bfloat16(), mode, NULL, NULL);
}
static hu_status run_fma(hu_mode mode) {
  hu_format format = hu_binary16();
  return hu_fma_n(N, z, 1, format, x, 1, format, x, 1, format, x, 1, format, mode, NULL, NULL);
}
static hu_status run_function(int op, hu_format format, hu_mode mode) {
  hu_view view = hu_codes(x, 1, format);
  hu_how how = hu_how_of(mode, NULL, NULL);
  hu_output to = hu_codes_out(z, 1, format);
  return hu_apply(op, N, &to, &view, &how);
}
static hu_status run_exp(hu_mode mode) { return run_function(HU_OP_EXP, hu_binary32(), mode); }
static hu_status run_gelu(hu_mode mode) { return run_function(HU_OP_GELU, hu_binary16(), mode); }
static hu_status run_conversion(hu_mode mode) {
  hu_conversion c;
  (void)mode;
  hu_status status = hu_conversion_find(&c, "numpy.float16");
  return status == HU_OK ? hu_conversion_encode_n(N, z, 1, x, 1, &c, NULL, NULL) : status;
}
static hu_status run_scaled(hu_mode mode) {
  hu_scaling scaling;
  float tensor = 1;
  hu_status status = hu_scaling_parse(&scaling, "nvfp4", NULL);
  if (status != HU_OK) return status;
  hu_scaled out = {z, SIDE, scales, hu_scaled_sizes_of(SIDE, SIDE, &scaling).block_cols,
                   scaling.tensor ? &tensor : NULL};
  return hu_scaled_encode(SIDE, SIDE, &out, x, SIDE, &scaling, mode, NULL, NULL, NULL, NULL);
}

static hu_status run_truncate(hu_mode mode) {
  hu_s2fp8 kind = hu_s2fp8_of(hu_float8_e5m2());
  return hu_s2fp8_truncate_n(N, (float *)(void *)z, 1, x, 1, &kind, mode, NULL, NULL, NULL, NULL);
}
static const float *give(void *context, size_t thread, size_t first, size_t n) {
  (void)context, (void)thread, (void)n;
  return x + first;
}
static void take(void *context, size_t thread, size_t first, size_t n, const float *values) {
  (void)context, (void)thread;
  memcpy(z + first, values, n * sizeof *z);
}
static hu_status run_parts(hu_mode mode) {
  hu_s2fp8 kind = hu_s2fp8_of(hu_float8_e5m2());
  const hu_s2fp8_parts parts = {N / 2, give, take, NULL};
  return hu_s2fp8_truncate_parts(N, &parts, &kind, mode, NULL, NULL, NULL, NULL);
}

static const struct {
  const char *name;
  hu_status (*run)(hu_mode mode);
} families[] = {{"encode", run_encode}, {"quantize", run_quantize}, {"fma", run_fma},
                {"exp", run_exp},       {"gelu", run_gelu},         {"conversion", run_conversion},
                {"scaled", run_scaled}, {"truncate", run_truncate}, {"parts", run_parts}};

typedef struct job {
  hu_status (*run)(hu_mode mode);
  hu_status status;
} job;

static void *in_thread(void *context) {
  job *j = context;
  for (uint8_t round = HU_RNE; round <= HU_SRA; round++) {
    hu_mode mode = {0};
    mode.round = round;
    mode.bits = round == HU_SRA ? 8 : 0;
    hu_status status = j->run(mode);
    if (status != HU_OK) j->status = status;
  }
  return NULL;
}

static void test_families(void **state) {
  (void)state;
  for (int i = 0; i < N; i++) x[i] = (float)(i - N / 2) * 0x1.3p-7f;
  for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
    unsigned char *stack = aligned_alloc(4096, ROOM);
    pthread_attr_t attributes;
    pthread_t thread;
    job j = {families[i].run, HU_OK};
    size_t free_bytes = 0;
    assert_non_null(stack);
    memset(stack, PAINT, ROOM);
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstack(&attributes, stack, ROOM), 0);
    assert_int_equal(pthread_create(&thread, &attributes, in_thread, &j), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    while (free_bytes < ROOM && stack[free_bytes] == PAINT) free_bytes++;
    print_message("%-12s %zu KiB\n", families[i].name, (ROOM - free_bytes + 1023) >> 10);
    assert_int_equal(j.status, HU_OK);
    if (ROOM - free_bytes > LIMIT) fail_msg("%s takes %zu bytes", families[i].name, ROOM - free_bytes);
    free(stack);
    (void)pthread_attr_destroy(&attributes);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_families)};
  return cmocka_run_group_tests_name("stack of the array calls", tests, NULL, NULL);
}
