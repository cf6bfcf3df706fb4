/* SPDX-License-Identifier: MIT */
/* Which tensors overflow, and those that are followed: see tensors.h. */
#include "cli/train/tensors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/io.h"
#include "halfulp/s2fp8.h"

/* ---- by name ---- */

/* Returns tensor i: values have their numbers, parameters those behind them. */
static hu_net_tensor tensor_at(const hu_net *net, int i) {
  int values = hu_net_values(net);
  return i < values ? hu_net_value(net, i) : hu_net_parameter(net, i - values);
}

static int all_tensors(const hu_net *net) { return hu_net_values(net) + hu_net_parameters(net); }

/* Returns the number of "linear1.weight", "3"; -1: there is none. */
static int number_of(const hu_net *net, const char *name) {
  char *end;
  if (*name >= '0' && *name <= '9') {
    long i = strtol(name, &end, 10);
    return !*end && i < hu_net_values(net) ? (int)i : -1;
  }
  int i = hu_net_parameter_named(net, name);
  return i < 0 ? -1 : hu_net_values(net) + i;
}

static int find_followed(const hu_net *net, followed *tensor) {
  static const char end[] = ".gradient";
  char name[HU_PARAMETER_NAME_MAX + sizeof end];
  size_t length = strlen(tensor->name), cut = sizeof end - 1;
  tensor->gradient = length > cut && strcmp(tensor->name + length - cut, end) == 0;
  snprintf(name, sizeof name, "%.*s", (int)(tensor->gradient ? length - cut : length), tensor->name);
  tensor->tensor = length < sizeof name ? number_of(net, name) : -1;
  if (tensor->tensor >= 0) return CLI_OK;
  return cli_fail("--follow",
                  "the net has no tensor '%s': values are 0 to %d, parameters for example %s; .gradient "
                  "behind either is its gradient",
                  tensor->name, hu_net_values(net) - 1,
                  hu_net_parameters(net) ? hu_net_parameter_name(net, 0) : "(none)");
}

static const char *const follow_columns[FOLLOW_COLUMNS] = {"mu", "m", "alpha", "beta", "zeros", "over"};

/* Names the columns "step", then "linear1.weight mu" and so on; to be freed. */
static int name_columns(train_run *run) {
  size_t n = 1 + FOLLOW_COLUMNS * run->follows;
  run->follow_names = calloc(n, sizeof *run->follow_names);
  if (!run->follow_names) return cli_fail(NULL, "out of memory");
  for (size_t i = 0; i < n; i++) {
    const char *tensor = i ? run->follow[(i - 1) / FOLLOW_COLUMNS].name : "step";
    int made = i ? asprintf(&run->follow_names[i], "%s %s", tensor, follow_columns[(i - 1) % FOLLOW_COLUMNS])
                 : asprintf(&run->follow_names[i], "%s", tensor);
    if (made < 0) {
      run->follow_names[i] = NULL;
      return cli_fail(NULL, "out of memory");
    }
  }
  return CLI_OK;
}

int train_tensors_find(train_run *run) {
  if (run->follow_every && !run->follows) return cli_fail(NULL, "--follow-every requires --follow");
  if (run->follow_every % run->every != 0)
    return cli_fail(NULL, "--follow-every: %llu is no multiple of --every, which is %llu",
                    (unsigned long long)run->follow_every, (unsigned long long)run->every);
  int status = name_columns(run);
  for (size_t i = 0; i < run->follows && status == CLI_OK; i++)
    status = find_followed(hu_trainer_net(run->trainer), &run->follow[i]);
  return status;
}

void train_tensors_free(train_run *run) {
  for (size_t i = 0; run->follow_names && i < 1 + FOLLOW_COLUMNS * run->follows; i++) free(run->follow_names[i]);
  free(run->follow_names);
  free(run->follow);
}

/* Prints the operator that makes a value, and the first number of its products' random words; both empty where there is
 * none. */
static void print_operator(FILE *out, const hu_net *net, int value) {
  int i = hu_net_value_operator(net, value);
  hu_rounding_counts counts[2];
  if (i < 0) {
    fputs(",,\n", out);
  } else if (hu_net_product_counts(net, value, counts)) {
    fprintf(out, ",%d,%d\n", i, 16 * i);
  } else {
    fprintf(out, ",%d,\n", i);
  }
}

static void print_list(FILE *out, const void *what) {
  const hu_net *net = hu_trainer_net(((const train_run *)what)->trainer);
  int values = hu_net_values(net);
  fputs("number,name,kind,rows,cols,words,operator,products\n", out);
  for (int i = 0; i < all_tensors(net); i++) {
    hu_net_tensor tensor = tensor_at(net, i);
    if (i < values) {
      const char *kind = hu_net_value_kind(net, i);
      fprintf(out, "%d,%d,%s,%zu,%zu,%d", i, i, kind && *kind ? kind : "input", tensor.rows, tensor.cols, i);
      print_operator(out, net, i);
    } else {
      const char *name = hu_net_parameter_name(net, i - values);
      fprintf(out, "%d,%s,parameter,%zu,%zu,%d,,\n", i, name, tensor.rows, tensor.cols, i - values);
    }
  }
}

void train_tensors_print(FILE *out, const train_run *run) { print_list(out, run); }

int train_tensors_list(const train_run *run) {
  char *path = train_path(run, "tensors.csv");
  int status = path ? cli_own_text(path, print_list, run) : CLI_BAD;
  free(path);
  return status;
}

/* ---- the history ---- */

/* Returns "zero", "-149" ... "127", "not_finite". */
static const char *bin_name(char text[16], int bin) {
  if (bin == 0) return "zero";
  if (bin == HU_EXPONENTS - 1) return "not_finite";
  snprintf(text, 16, "%d", bin - 150);
  return text;
}

int train_history_start(train_run *run) {
  static char texts[HU_EXPONENTS][16];
  static const char *names[HISTORY_COLUMNS] = {"step", "tensor"};
  if (!run->follow_every) return CLI_OK;
  for (int i = 0; i < HU_EXPONENTS; i++) names[HISTORY_BINS + i] = bin_name(texts[i], i);
  char *path = train_path(run, "followed-history.csv");
  table_start(&run->history, names, HISTORY_COLUMNS, path, NULL);
  return path ? CLI_OK : CLI_BAD;
}

static int add_history(train_run *run, double step, size_t i) {
  double row[HISTORY_COLUMNS] = {step, (double)(i + 1)};
  if (!run->follow_every || (uint64_t)step % run->follow_every) return CLI_OK;
  for (size_t k = 0; k < HU_EXPONENTS; k++) row[HISTORY_BINS + k] = (double)run->follow[i].exponents[0][k];
  return table_add(&run->history, row);
}

/* ---- a step ---- */

static double share(double part, double of) { return of > 0 ? part / of : 0; }

/* Adds the tensors with the largest shares of overflows in their forward roundings; equal ones in their order. */
static int add_overflows(train_run *run, double step) {
  const hu_net *net = hu_trainer_net(run->trainer);
  double row[OVER_COLUMNS];
  row[OVER_STEP] = step;
  for (int k = 0; k < TRAIN_OVERFLOWS; k++) {
    row[OVER_SHARE + k] = 0;
    row[OVER_TENSOR + k] = (double)NAN;
  }
  for (int i = 0; i < all_tensors(net); i++) {
    hu_net_tensor tensor = tensor_at(net, i);
    double share_of = share((double)tensor.forward.over, (double)tensor.forward.elements);
    int k = TRAIN_OVERFLOWS;
    for (; k > 0 && share_of > row[OVER_SHARE + k - 1]; k--) {
      if (k == TRAIN_OVERFLOWS) continue;
      row[OVER_SHARE + k] = row[OVER_SHARE + k - 1];
      row[OVER_TENSOR + k] = row[OVER_TENSOR + k - 1];
    }
    if (k == TRAIN_OVERFLOWS) continue;
    row[OVER_SHARE + k] = share_of;
    row[OVER_TENSOR + k] = i;
  }
  return table_add(&run->over, row);
}

/* Counts exponents of Y = 2^beta |X|^alpha. */
static void count_shifted(uint64_t z[HU_EXPONENTS], size_t n, const float *x, const hu_s2fp8_scale *scale) {
  for (size_t i = 0; i < n; i++) {
    if (x[i] == 0) {
      z[0]++;
    } else if (!isfinite(x[i])) {
      z[HU_EXPONENTS - 1]++;
    } else {
      double exponent =
          floor((double)scale->alpha * ((double)hu_s2fp8_log2(x[i]) * HU_S2FP8_UNIT) + (double)scale->beta);
      z[150 + (int)fmin(fmax(exponent, -149), 127)]++;
    }
  }
}

static int look_at(const hu_net *net, followed *tensor, double cells[FOLLOW_COLUMNS]) {
  const hu_net_tensor values = tensor_at(net, tensor->tensor);
  const float *numbers = tensor->gradient ? values.gradients : values.numbers;
  const hu_rounding_counts *counts = tensor->gradient ? &values.backward : &values.forward;
  size_t n = values.rows * values.cols;
  hu_s2fp8 kind;
  hu_s2fp8_sums sums;
  hu_s2fp8_scale scale;
  for (int i = 0; i < FOLLOW_COLUMNS; i++) cells[i] = (double)NAN;
  memset(tensor->exponents, 0, sizeof tensor->exponents);
  if (!numbers) return CLI_OK; /* what has no gradient */
  memset(&sums, 0, sizeof sums);
  hu_status status = hu_s2fp8_parse(&kind, "s2fp8", NULL);
  if (status == HU_OK) status = hu_s2fp8_sum_n(n, numbers, 1, &sums, NULL);
  if (status == HU_OK) status = hu_s2fp8_scale_of(&scale, &sums, &kind, NULL);
  if (status != HU_OK) return cli_fail_status("--follow", status);
  hu_exponents_of(n, numbers, tensor->exponents[0]);
  count_shifted(tensor->exponents[1], n, numbers, &scale);
  tensor->seen = 1;
  cells[FOLLOW_MU] = (double)scale.mu * HU_S2FP8_UNIT;
  cells[FOLLOW_M] = (double)scale.m * HU_S2FP8_UNIT;
  cells[FOLLOW_ALPHA] = (double)scale.alpha;
  cells[FOLLOW_BETA] = (double)scale.beta;
  cells[FOLLOW_ZEROS] = share((double)tensor->exponents[0][0], (double)n);
  if (counts->elements) cells[FOLLOW_OVER] = share((double)counts->over, (double)counts->elements);
  return CLI_OK;
}

int train_tensors_step(train_run *run, double step) {
  int status = add_overflows(run, step);
  if (!run->follows || status != CLI_OK) return status;
  double *row = calloc(1 + FOLLOW_COLUMNS * run->follows, sizeof *row);
  if (!row) return cli_fail(NULL, "out of memory");
  row[0] = step;
  for (size_t i = 0; i < run->follows && status == CLI_OK; i++) {
    status = look_at(hu_trainer_net(run->trainer), &run->follow[i], row + 1 + FOLLOW_COLUMNS * i);
    if (status == CLI_OK) status = add_history(run, step, i);
  }
  if (status == CLI_OK) status = table_add(&run->followed, row);
  free(row);
  return status;
}

/* ---- exponents ---- */

static void print_exponents(FILE *out, const void *what) {
  const train_run *run = what;
  fputs("exponent", out);
  for (size_t i = 0; i < run->follows; i++) fprintf(out, ",%s,%s shifted", run->follow[i].name, run->follow[i].name);
  fputc('\n', out);
  for (int exponent = 0; exponent < HU_EXPONENTS; exponent++) {
    char text[16];
    fputs(bin_name(text, exponent), out);
    for (size_t i = 0; i < run->follows; i++)
      fprintf(out, ",%llu,%llu", (unsigned long long)run->follow[i].exponents[0][exponent],
              (unsigned long long)run->follow[i].exponents[1][exponent]);
    fputc('\n', out);
  }
}

int train_tensors_exponents(const train_run *run) {
  int seen = 0;
  for (size_t i = 0; i < run->follows; i++) seen |= run->follow[i].seen;
  if (!seen) return CLI_OK;
  char *path = train_path(run, "followed-exponents.csv");
  int status = path ? cli_own_text(path, print_exponents, run) : CLI_BAD;
  free(path);
  return status;
}
