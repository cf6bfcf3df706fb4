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
  bench_options o = {0, 5, 26, 0, NULL, "linear"};
  for (int i = 1; i < argc && !o.bad; i++) {
    int more = i + 1 < argc;
    if (!strcmp(argv[i], "--csv")) {
      o.csv = 1;
    } else if (more && !strcmp(argv[i], "--rounds")) {
      o.rounds = atoi(argv[++i]);
    } else if (more && !strcmp(argv[i], "--log2")) {
      o.log2 = atoi(argv[++i]);
    } else if (more && !strcmp(argv[i], "--level")) {
      o.level = argv[++i];
    } else if (more && orders && !strcmp(argv[i], "--order")) {
      o.order = argv[++i];
    } else {
      o.bad = 1;
      fprintf(stderr, "usage: %s [--log2 26] [--rounds 5] [--csv] [--level avx512|avx2|vector]%s\n", name,
              orders ? " [--order linear|streams]" : "");
    }
  }
  return o;
}

static inline bench_options bench_options_of(int argc, char **argv, const char *name) {
  return bench_options_with(argc, argv, name, 0);
}

#endif
