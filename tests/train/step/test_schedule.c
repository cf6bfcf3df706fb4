/* SPDX-License-Identifier: MIT */
/* Rates of schedules against numbers of an evaluator in Python (rate_at of python/tests/test_training_page.py), and
 * what a plateau does with losses. */
#include "tests/support/cmocka.h"
#include "train/step/schedule.h"

static const struct {
  const char *schedule;
  double rate;
  hu_schedule_place place;
  double expected;
} rows[] = {
    {"constant", 0x1.999999999999ap-4, {2, 12, 0, 3, 4}, 0x1.3333333333334p-4},
    {"cosine", 0x1.3333333333333p-2, {37, 44, 9, 11, 0}, 0x1.86229cccccccdp-6},
    {"cosine(floor=0.1)", 0x1.3333333333333p-2, {37, 44, 9, 11, 0}, 0x1.a55222b851eb9p-5},
    {"cosine(each=step)", 0x1.999999999999ap-4, {30, 44, 7, 11, 9}, 0x1.1b06d0ccccccdp-5},
    {"cosine(each=step,floor=0.1,until=600000)",
     0x1.3a92a30553261p-11,
     {300001, 1000000, 3000, 10000, 2000},
     0x1.5b8414877ee4ep-12},
    {"linear", 0x1.4f8b588e368f1p-16, {99, 1000, 0, 10, 100}, 0x1.4f8b588e368f1p-16},
    {"linear", 0x1.4f8b588e368f1p-16, {550, 1000, 5, 10, 100}, 0x1.4f8b588e368f1p-17},
    {"linear(until=50)", 0x1.999999999999ap-4, {50, 100, 5, 10, 0}, 0x0.0p+0},
    {"linear(floor=0.25,each=epoch)", 0x1.6666666666666p-1, {20, 63, 2, 9, 0}, 0x1.2aaaaaaaaaaabp-1},
    {"polynomial(0.5,until=2400000)", 0x1.47ae147ae147bp-7, {1234567, 2500000, 30, 63, 0}, 0x1.c8afb0a3d70a4p-8},
    {"polynomial(2.5,floor=0.01)", 0x1.999999999999ap-4, {77, 100, 7, 10, 5}, 0x1.f95114f1a9fbfp-9},
    {"exponential(0.909)", 0x1.3a92a30553261p-12, {350, 700, 35, 70, 0}, 0x1.64f321933e96bp-17},
    {"exponential(0.94,every=7)", 0x1.70a3d70a3d70ap-5, {195, 200, 19, 20, 0}, 0x1.1567b6ed017a0p-7},
    {"inverse_root(8000,width=128)", 0x1.0000000000000p+1, {1000, 250000, 10, 2500, 0}, 0x1.030dc4ea03a72p-12},
    {"inverse_root(8000,width=128)", 0x1.0000000000000p+1, {8000, 250000, 80, 2500, 0}, 0x1.030dc4ea03a72p-9},
    {"inverse_root(8000,width=128)", 0x1.0000000000000p+1, {249999, 250000, 2499, 2500, 0}, 0x1.72ba74978ad54p-12},
    {"inverse_root(4000,width=512,from=1)", 0x1.0000000000000p+0, {0, 100000, 0, 1000, 0}, 0x1.7726636ae6e78p-23},
    {"steps(39063/58594/78126,0.1)", 0x1.999999999999ap-4, {39062, 97675, 100, 251, 0}, 0x1.999999999999ap-4},
    {"steps(39063/58594/78126,0.1)", 0x1.999999999999ap-4, {39063, 97675, 100, 251, 0}, 0x1.47ae147ae147cp-7},
    {"steps(39063/58594/78126,0.1)", 0x1.999999999999ap-4, {78126, 97675, 200, 251, 0}, 0x1.a36e2eb1c432fp-14},
    {"epochs(30/60/80,0.1)", 0x1.999999999999ap-4, {300, 900, 30, 90, 0}, 0x1.47ae147ae147cp-7},
    {"drop(0.25/0.6,0.3)", 0x1.999999999999ap-4, {45, 63, 6, 9, 0}, 0x1.26e978d4fdf3bp-7},
};

static hu_schedule schedule_of(const char *text) {
  hu_schedule schedule;
  char why[HU_SCHEDULE_WHY_MAX] = "";
  if (hui_schedule_read(&schedule, text, why) != HU_OK) fail_msg("%s %s", text, why);
  return schedule;
}

static void test_rates(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    hu_schedule schedule = schedule_of(rows[i].schedule);
    double z = hui_schedule_rate(&schedule, rows[i].rate, &rows[i].place);
    if (z != rows[i].expected) fail_msg("%s, row %zu: %a, not %a", rows[i].schedule, i, z, rows[i].expected);
  }
}

/* Means of two losses: 4, 3, 3.5 (above 3 alone), 5 (above both), 5 (not above). */
static void test_plateau(void **state) {
  static const double losses[] = {5, 3, 3, 3, 4, 3, 5, 5, 6, 4, 7, 7};
  static const double factors[] = {1, 1, 1, 1, 1, 1, 1, 0.5, 0.5, 0.5, 0.5, 0.25};
  hu_schedule schedule = schedule_of("plateau(0.5,window=2,last=2)");
  hu_stall stall = {.factor = 1};
  (void)state;
  for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
    hui_stall_add(&stall, &schedule, losses[i]);
    assert_true(stall.factor == factors[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rates), cmocka_unit_test(test_plateau)};
  return cmocka_run_group_tests_name("schedules", tests, NULL, NULL);
}
