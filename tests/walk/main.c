/* SPDX-License-Identifier: MIT */
/* The walker (walk.h).
 *
 *   walk [--only NAME,NAME] [--count N] [--case N | --directed N] [--all] [--bench [--log2 20] [--csv]]
 *
 *   --only      calls by name: add, exp, quantize, number_encode, ...
 *   --count     as many percent of the cases that are drawn (100); HU_TEST_COUNT takes a part of them, HU_TEST_SEED
 *               another seed
 *   --case      one case alone, by its number in a message; --directed: one of those that enumerate
 *   --all       all cases that enumerate, else what a quick run takes of them
 *   --bench     times the calls in place of comparing them: ns for an element and the ratio to memcpy of the same bytes
 *
 * Ends with 1 at the first difference, with the case in words; else prints what was covered. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/walk/bench.h"
#include "tests/walk/walk.h"

typedef struct options {
  const char *only;
  unsigned count;
  long one, directed; /* -1: all */
  int all, bench, csv, log2;
} options;

static int is_asked(const char *only, const char *name) {
  size_t length = strlen(name);
  for (const char *at = only; at && *at; at += strcspn(at, ","), at += *at == ',')
    if (strcspn(at, ",") == length && strncmp(at, name, length) == 0) return 1;
  return only == NULL;
}

/* Says in which case the program was when it crashed. */
static const walk_case *now;
static void crashed(int number) {
  static const char before[] = "walk: a signal in ";
  const char *text = now ? walk_text(now) : "no case";
  if (write(2, before, sizeof before - 1) < 0 || write(2, text, strlen(text)) < 0 || write(2, "\n", 1) < 0) _exit(3);
  signal(number, SIG_DFL);
  raise(number);
}

static void run(const walk_case *c, uint64_t seed) {
  now = c;
  walk_run(c, seed);
  now = NULL;
}

/* Cases of a call that make a quick run: those whose core is fast get more. */
static unsigned cases_of(const walk_call *call) {
  if (call->op == HU_OP_CONVERT) return call->systems ? 400 : 1100;
  return walk_is_function(call) ? 330 : 440;
}

static size_t walk_one_call(const walk_call *call, const options *asked, uint64_t seed) {
  static walk_case c;
  uint64_t cases = (uint64_t)t_runs(cases_of(call)) * asked->count / 100;
  if (walk_device) cases = cases / 4 + 1;
  for (uint64_t k = 0; k < cases || (long)k == asked->one; k++) {
    if (asked->directed >= 0 || (asked->one >= 0 && (long)k != asked->one)) continue;
    walk_draw(&c, call, seed, k);
    run(&c, seed);
  }
  for (uint64_t k = 0; asked->one < 0; k++) {
    int there = walk_directed(&c, call, seed, k, asked->all);
    if (there == 0) break;
    if (asked->directed < 0 ? k * 37 % 100 >= t_part(100) : (long)k != asked->directed) continue;
    if (there > 0) run(&c, seed);
  }
  return asked->one < 0 && asked->directed < 0 ? walk_misuse(call) : 0;
}

static int usage(void) {
  fputs("usage: walk [--only NAME,NAME] [--count N] [--case N | --directed N] [--all] [--bench [--log2 20] [--csv]]\n",
        stderr);
  return 2;
}

static int read_options(options *asked, int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    const char *word = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
    if (!strcmp(word, "--all") || !strcmp(word, "--bench") || !strcmp(word, "--csv")) {
      asked->all |= word[2] == 'a';
      asked->bench |= word[2] == 'b';
      asked->csv |= word[2] == 'c';
      continue;
    }
    char *rest = NULL;
    long number = value ? strtol(value, &rest, 10) : 0;
    int digits = value && *value && !*rest && number >= 0;
    if (!strcmp(word, "--only") && value) {
      asked->only = value;
    } else if (!strcmp(word, "--count") && digits && number > 0) {
      asked->count = (unsigned)number;
    } else if (!strcmp(word, "--case") && digits) {
      asked->one = number;
    } else if (!strcmp(word, "--directed") && digits) {
      asked->directed = number;
    } else if (!strcmp(word, "--log2") && digits && number >= 6 && number <= 28) {
      asked->log2 = (int)number;
    } else {
      return 0;
    }
    i++;
  }
  return 1;
}

int main(int argc, char **argv) {
  options asked = {NULL, 100, -1, -1, 0, 0, 0, 20};
  size_t calls = 0, mistakes = 0;
  if (!read_options(&asked, argc, argv)) return usage();
  int nowhere = walk_nowhere();
  if (nowhere) return nowhere;
  if (asked.bench && !walk_device) {
    walk_bench_begin(asked.csv);
  } else {
    signal(SIGSEGV, crashed);
    signal(SIGFPE, crashed);
    signal(SIGILL, crashed);
  }
  uint64_t seed = asked.bench ? 0 : t_seed("walk", 1);
  for (size_t i = 0; i < walk_calls(); i++) {
    walk_call call = walk_call_at(i);
    if (!is_asked(asked.only, call.name)) continue;
    calls++;
    if (asked.bench) {
      walk_bench(&call, asked.log2, asked.csv);
    } else {
      mistakes += walk_one_call(&call, &asked, seed);
    }
  }
  if (!calls) {
    fprintf(stderr, "walk: no call has the name %s\n", asked.only);
    return 2;
  }
  if (asked.bench) return 0;
  int complete = asked.one < 0 && asked.directed < 0 && asked.count >= 100 && t_runs(100) == 100 && !walk_device;
  int bad = walk_report(complete);
  printf("%zu mistakes refused\n", mistakes);
  return bad;
}
