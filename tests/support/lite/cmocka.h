/* SPDX-License-Identifier: MIT */
/* tests/support/lite/cmocka.h - as much of cmocka's interface as the tests on a device use, for machines that have a
 * compiler and nothing else (-Dlite_tests=true). A failed assertion ends its test, not the program; the exit status is
 * the number of failed tests. */
#ifndef HALFULP_TESTS_LITE_CMOCKA_H
#define HALFULP_TESTS_LITE_CMOCKA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct CMUnitTest {
  const char *name;
  void (*run)(void **state);
  void *state;
};

#define LITE_FN static inline __attribute__((unused))

LITE_FN jmp_buf *lite_out(void) {
  static jmp_buf out;
  return &out;
}

/* Each file has its own copy of these functions; the one that runs the tests lends its way out to the others. */
#define lite_shared hu_test_lite_way_out
extern jmp_buf *lite_shared __attribute__((weak));
jmp_buf *lite_shared __attribute__((weak)) = NULL;

LITE_FN void print_message(const char *format, ...) {
  va_list list;
  va_start(list, format);
  vprintf(format, list);
  va_end(list);
}

LITE_FN void print_error(const char *format, ...) {
  va_list list;
  fflush(stdout);
  va_start(list, format);
  vfprintf(stderr, format, list);
  va_end(list);
}

LITE_FN __attribute__((noreturn)) void lite_fail(const char *file, int line) {
  print_error("%s:%d: error: failure\n", file, line);
  longjmp(*lite_shared, 1);
}

#define fail() lite_fail(__FILE__, __LINE__)
#define fail_msg(...) (print_error("ERROR: " __VA_ARGS__), print_error("\n"), lite_fail(__FILE__, __LINE__))
#define assert_true(c) ((c) ? (void)0 : (print_error("%s is not true\n", #c), lite_fail(__FILE__, __LINE__)))
#define assert_false(c) assert_true(!(c))
#define assert_non_null(p) assert_true((p) != NULL)
#define assert_null(p) assert_true((p) == NULL)
#define assert_int_equal(a, b) lite_equal((uintmax_t)(a), (uintmax_t)(b), __FILE__, __LINE__)
#define assert_memory_equal(a, b, n) assert_true(memcmp((a), (b), (n)) == 0)
#define assert_string_equal(a, b) assert_true(strcmp((a), (b)) == 0)

LITE_FN void lite_equal(uintmax_t a, uintmax_t b, const char *file, int line) {
  if (a == b) return;
  print_error("0x%jx != 0x%jx\n", a, b);
  lite_fail(file, line);
}

#define cmocka_unit_test(f) \
  { #f, f, NULL }
#define cmocka_unit_test_prestate(f, s) \
  { #f, f, s }
#define cmocka_run_group_tests(tests, setup, teardown) lite_run(tests, sizeof(tests) / sizeof((tests)[0]))
#define cmocka_run_group_tests_name(name, tests, setup, teardown) cmocka_run_group_tests(tests, setup, teardown)

LITE_FN int lite_run(const struct CMUnitTest *tests, size_t n) {
  volatile int failed = 0;
  lite_shared = lite_out();
  for (volatile size_t i = 0; i < n; i++) {
    void *state = tests[i].state;
    printf("[ RUN      ] %s\n", tests[i].name);
    fflush(stdout);
    if (setjmp(*lite_out()) == 0) {
      tests[i].run(&state);
      printf("[       OK ] %s\n", tests[i].name);
    } else {
      printf("[  FAILED  ] %s\n", tests[i].name);
      failed = failed + 1;
    }
    fflush(stdout);
  }
  printf("[  %s  ] %d of %d test(s).\n", failed ? "FAILED" : "PASSED", (int)n - failed, (int)n);
  return failed;
}

#endif
