/* SPDX-License-Identifier: MIT */
/* The file of one run: see cli/sweep/pairs.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/io.h"
#include "cli/sweep/sweep.h"
#include "halfulp/version.h"

/* ---- writing ---- */

static const char *const numbers[] = {"accuracy_training", "accuracy_test",   "loss_training", "loss_test",
                                      "low_mean",          "low_end",         "bytes_weights", "bytes_state",
                                      "bytes_values",      "bytes_gradients", "seconds"};
static const char *const counts[] = {"steps", "skipped", "promoted"};
enum { NUMBERS = sizeof numbers / sizeof *numbers, COUNTS = sizeof counts / sizeof *counts };

static void list_numbers(double *z[NUMBERS], sweep_result *r) {
  double *const all[NUMBERS] = {&r->accuracy[0], &r->accuracy[1], &r->loss[0],  &r->loss[1],  &r->low,    &r->low_end,
                                &r->bytes[0],    &r->bytes[1],    &r->bytes[2], &r->bytes[3], &r->seconds};
  memcpy(z, all, sizeof all);
}

static void list_counts(uint64_t *z[COUNTS], sweep_result *r) {
  uint64_t *const all[COUNTS] = {&r->steps, &r->skipped, &r->promoted};
  memcpy(z, all, sizeof all);
}

static void print_text(FILE *out, const char *name, const char *text) {
  fprintf(out, "  \"%s\": ", name);
  if (text) {
    cli_json_string(out, text);
  } else {
    fputs("null", out);
  }
  fputs(",\n", out);
}

static void print_keys(FILE *out, const hu_trainer *t) {
  int first = 1;
  fputs("  \"keys\": {", out);
  for (size_t i = 0; i < hu_trainer_key_count(); i++) {
    hu_trainer_key k = hu_trainer_key_at(i);
    if (!k.weights) continue;
    fprintf(out, "%s\n    \"%s\": ", first ? "" : ",", k.name);
    cli_json_string(out, hu_trainer_get(t, k.name));
    first = 0;
  }
  fputs("\n  }\n", out);
}

typedef struct named {
  const sweep *sweep;
  const sweep_run *run;
} named;

static void print_file(FILE *out, const void *what) {
  const named *n = what;
  sweep_result r = n->run->result;
  double *z[NUMBERS];
  uint64_t *c[COUNTS];
  list_numbers(z, &r);
  list_counts(c, &r);
  fputs("{\n", out);
  print_text(out, "halfulp", HU_VERSION_STRING);
  print_text(out, "key", n->sweep->key);
  print_text(out, "value", n->run->value);
  fprintf(out, "  \"seed\": %llu,\n", (unsigned long long)n->run->seed);
  print_text(out, "measure", r.classes ? "accuracy" : "R^2");
  for (int i = 0; i < COUNTS; i++) fprintf(out, "  \"%s\": %llu,\n", counts[i], (unsigned long long)*c[i]);
  for (int i = 0; i < NUMBERS; i++) {
    fprintf(out, "  \"%s\": ", numbers[i]);
    if (isfinite(*z[i]))
      cli_json_double(out, *z[i]);
    else
      fputs("null", out);
    fputs(",\n", out);
  }
  fprintf(out, "  \"digest\": \"%016llx\",\n", (unsigned long long)r.digest);
  print_keys(out, n->run->trainer);
  fputs("}\n", out);
}

int sweep_file_write(const sweep *s, const sweep_run *r) {
  const named n = {s, r};
  return cli_own_text(r->path, print_file, &n);
}

/* ---- reading ---- */

int sweep_file_result(const cli_pairs *f, sweep_result *z) {
  double *x[NUMBERS];
  uint64_t *c[COUNTS];
  list_numbers(x, z);
  list_counts(c, z);
  const char *measure = cli_pairs_get(f, "measure");
  int good = measure && cli_pairs_whole(f, "digest", 16, &z->digest);
  z->classes = measure && strcmp(measure, "accuracy") == 0;
  for (int i = 0; good && i < COUNTS; i++) good = cli_pairs_whole(f, counts[i], 10, c[i]);
  for (int i = 0; good && i < NUMBERS; i++) good = cli_pairs_number(f, numbers[i], x[i]);
  return good;
}
