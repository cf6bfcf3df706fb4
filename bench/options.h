/* SPDX-License-Identifier: MIT */
/* bench/options.h - the command line of benchmarks. */
#ifndef HALFULP_BENCH_OPTIONS_H
#define HALFULP_BENCH_OPTIONS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct bench_options {
  int rounds, log2, size, csv, presets, bad;
  int least, most; /* of log2; both 0: any */
  const char *level, *only, *order;
} bench_options;

/* Sets the option of this name, and returns how many words it takes; 0 where there is no such option, or no value. */
static inline int bench_option_set(bench_options *options, const char *name, const char *value) {
  const struct {
    const char *name;
    int *number;
    const char **text;
  } all[] = {{"--rounds", &options->rounds, NULL}, {"--log2", &options->log2, NULL},
             {"--size", &options->size, NULL},     {"--level", NULL, &options->level},
             {"--only", NULL, &options->only},     {"--order", NULL, &options->order}};
  if (!strcmp(name, "--csv")) return options->csv = 1;
  if (!strcmp(name, "--presets")) return options->presets = 1;
  for (size_t i = 0; value && i < sizeof all / sizeof *all; i++) {
    if (strcmp(name, all[i].name) != 0) continue;
    if (all[i].number) *all[i].number = atoi(value);
    if (all[i].text) *all[i].text = value;
    return 2;
  }
  return 0;
}

/* Returns the defaults, changed by the options of the command line that are in the usage, "bench_x [--csv] ...". bad: 1
 * if it has anything else, no rounds, or a log2 beyond its bounds; the usage has been printed. */
static inline bench_options bench_options_of(int argc, char **argv, bench_options defaults, const char *usage) {
  bench_options options = defaults;
  for (int i = 1, taken; i < argc && !options.bad; i += taken) {
    taken = strstr(usage, argv[i]) ? bench_option_set(&options, argv[i], argv[i + 1]) : 0;
    options.bad = !taken;
  }
  options.bad = options.bad || options.rounds < 1 ||
                (options.most && (options.log2 < options.least || options.log2 > options.most));
  if (options.bad) fprintf(stderr, "usage: %s\n", usage);
  return options;
}

#endif
