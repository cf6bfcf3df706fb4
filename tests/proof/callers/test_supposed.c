/* SPDX-License-Identifier: MIT */
/* The questions of supposed.h are alive: each kind of operand that the theorems do not cover stops a program that hands
 * it to hui_round, to hui_pack32, or to arithmetic of the core, which calls them; and what they cover goes through. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supposed.h"

#include "emu/core/arith.h"

static hu_spec spec_of_binary16(void) {
  hu_format format;
  hu_mode mode;
  memset(&format, 0, sizeof format);
  memset(&mode, 0, sizeof mode);
  format.sign = format.negzero = 1;
  format.e = 5;
  format.m = 10;
  format.inf = HU_INF_IEEE;
  format.nan = HU_NAN_IEEE;
  return hui_spec_of(format, mode);
}

/* A call of each kind. */
typedef enum way { ROUND, PACK, ADD, WAYS } way;
static void run(way how, const hu_spec *spec, hu_num x) {
  uint32_t events;
  if (how == ROUND) (void)hui_round(spec, x, 0, &events);
  if (how == PACK) (void)hui_pack32(x);
  if (how == ADD) (void)hui_arith_round(spec, x, 0, 0, 0, &events);
}

/* Does it stop the program, here a child whose messages are left out? */
static int stops(way how, const hu_spec *spec, hu_num x) {
  int status = 0;
  pid_t child = fork();
  if (child < 0) return -1;
  if (child == 0) {
    if (!freopen("/dev/null", "w", stderr)) _exit(2);
    run(how, spec, x);
    _exit(0);
  }
  while (waitpid(child, &status, 0) < 0) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 0;
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT ? 1 : -1;
}

static int failures;
static void expect(int expected, way how, const hu_spec *spec, hu_num x, const char *what) {
  static const char *const names[WAYS] = {"hui_round", "hui_pack32", "arithmetic"};
  int got = stops(how, spec, x);
  if (got == expected) return;
  printf("%s, %s: %s\n", names[how], what, got ? "stopped" : "not stopped");
  failures++;
}

/* x with one field changed. */
static hu_num with(int which, hu_num x) {
  switch (which) {
    case 0: x.sig = 0; break;
    case 1: x.sticky = 1, x.sig >>= 1; break;
    case 2: x.exp = HU_SUPPOSED_EXPONENT + 1; break;
    case 3: x.exp = -HU_SUPPOSED_EXPONENT - 1; break;
    case 4: x.kind = HU_KIND_NAN + 1; break;
    case 5: x.sign = 2; break;
    default: x.sticky = 2; break;
  }
  return x;
}

int main(void) {
  static const char *const numbers[] = {"a finite number that is zero",
                                        "sticky below the top",
                                        "an exponent too large",
                                        "an exponent too small",
                                        "no such kind",
                                        "no such sign",
                                        "no such sticky"};
  const hu_spec spec = spec_of_binary16();
  hu_num x = hui_num_finite(0, (uint64_t)1 << 63, -63);
  for (way how = ROUND; how < WAYS; how++) {
    expect(0, how, &spec, x, "1");
    x.sticky = 1;
    expect(0, how, &spec, x, "1 and more digits");
    expect(0, how, &spec, hui_num_special(HU_KIND_INF, 1), "an infinity");
    for (int k = 0; k < 7; k++) expect(1, how, &spec, with(k, x), numbers[k]);
  }
  hu_spec wrong = spec;
  wrong.round = HU_SRC + 1;
  expect(1, ROUND, &wrong, x, "no mode");
  wrong.round = HU_SRA;
  expect(1, ROUND, &wrong, x, "no random bits");
  wrong = spec;
  wrong.saturate = HU_SAT_DEFAULT;
  expect(1, ROUND, &wrong, x, "no saturation");
  wrong = spec;
  wrong.m = 31;
  expect(1, ROUND, &wrong, x, "31 digits");
  if (!failures) puts("all 7 kinds of numbers and 4 kinds of formats and modes are stopped, in 3 ways of calling");
  return failures != 0;
}
