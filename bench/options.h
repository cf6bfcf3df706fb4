/* SPDX-License-Identifier: MIT */
/* bench/options.h - what the benchmarks of array calls take on the command line. */
#ifndef HALFULP_BENCH_OPTIONS_H
#define HALFULP_BENCH_OPTIONS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct bench_options {
  int csv, rounds, log2, bad;
  const char *level; /* NULL: all */
  const char *order; /* "linear" where none is asked for */
} bench_options;

/* bad: something else stood there; the usage has been printed. */
static inline bench_options bench_options_with(int argc, char **argv, const char *name, int orders) {
  bench_options options = {0, 5, 26, 0, NULL, "linear"};
  for (int i = 1; i < argc && !options.bad; i++) {
    int more = i + 1 < argc;
    if (!strcmp(argv[i], "--csv")) {
      options.csv = 1;
    } else if (more && !strcmp(argv[i], "--rounds")) {
      options.rounds = atoi(argv[++i]);
    } else if (more && !strcmp(argv[i], "--log2")) {
      options.log2 = atoi(argv[++i]);
    } else if (more && !strcmp(argv[i], "--level")) {
      options.level = argv[++i];
    } else if (more && orders && !strcmp(argv[i], "--order")) {
      options.order = argv[++i];
    } else {
      options.bad = 1;
      fprintf(stderr, "usage: %s [--log2 26] [--rounds 5] [--csv] [--level avx512|avx2|vector]%s\n", name,
              orders ? " [--order linear|streams]" : "");
    }
  }
  return options;
}

static inline bench_options bench_options_of(int argc, char **argv, const char *name) {
  return bench_options_with(argc, argv, name, 0);
}

#endif
