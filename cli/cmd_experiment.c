/* SPDX-License-Identifier: MIT */
/* halfulp experiments, halfulp experiment - papers' claims about training, reproduced on a small scale and judged. */
#include <math.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/progress.h"
#include "halfulp/train/data.h"
#include "halfulp/train/experiment.h"

typedef struct experiment_state {
  int json;
  const char *data;
  progress bar;
} experiment_state;

enum { KEY_DATA = CLI_KEY_FREE };

static int set(void *state, int key, const char *value) {
  experiment_state *s = state;
  if (key == CLI_KEY_JSON) s->json = 1;
  if (key == KEY_DATA) s->data = value;
  return CLI_OK;
}

/* ---- the list ---- */

static const cli_option list_options[] = {CLI_OPTION_JSON, {0}};
static const cli_command list_command = {"experiments",
                                         "",
                                         "List the experiments: papers' claims on training in low precision",
                                         "",
                                         "  halfulp experiments",
                                         list_options,
                                         0,
                                         0,
                                         set};

static void print_json_entry(hu_experiment e, int first) {
  const char *const pairs[][2] = {{"name", e.name}, {"source", e.source}, {"shows", e.shows}};
  printf("%s\n  ", first ? "" : ",");
  for (int i = 0; i < 3; i++) {
    printf("%s\"%s\": ", i ? ", " : "{", pairs[i][0]);
    cli_json_string(stdout, pairs[i][1]);
  }
  putchar('}');
}

int cli_experiments(int argc, char **argv) {
  experiment_state state = {0};
  char **operands;
  int count, status = cli_parse(&list_command, &state, argc, argv, &operands, &count);
  if (status >= 0) return status;
  if (state.json) putchar('[');
  for (size_t i = 0; i < hu_experiment_count(); i++) {
    hu_experiment e = hu_experiment_at(i);
    if (state.json) {
      print_json_entry(e, i == 0);
    } else {
      printf("%-22s %s\n%-22s %s\n", e.name, e.shows, "", e.source);
    }
  }
  if (state.json) printf("\n]\n");
  return CLI_OK;
}

/* ---- one of them ---- */

static const cli_option options[] = {
    {KEY_DATA, "data", "FOLDER", "where digits_images.npy and digits_labels.npy are; default data"},
    CLI_OPTION_JSON,
    {0}};
static const cli_command command = {
    "experiment",
    "NAME",
    "Run one experiment and judge it",
    "Prints a line for each training run: mean loss of the training set, accuracy on the test set, steps skipped\n"
    "by the loss scale, share of the weight updates that were lost, and a digest of the weights, which is the same\n"
    "on every machine; then the paper's claims about them. Exits with 1 if one does not hold.",
    "  halfulp experiment bfloat16-updates --data .\n  halfulp experiment s2fp8 --data . --json",
    options,
    1,
    1,
    set};

static int told(void *context, size_t done, size_t of, const hu_experiment_row *row) {
  experiment_state *s = context;
  (void)row;
  if (done == 1) progress_start(&s->bar, "training", of);
  progress_at(&s->bar, done);
  return 1;
}

static void number(const char *name, double x) {
  if (isfinite(x)) {
    printf(", \"%s\": %.9g", name, x);
  } else {
    printf(", \"%s\": null", name);
  }
}

static void print_report_json(const hu_experiment_report *r) {
  printf("{\"runs\": [");
  for (size_t i = 0; i < r->rows; i++) {
    printf("%s\n  {\"name\": ", i ? "," : "");
    cli_json_string(stdout, r->row[i].name);
    number("loss", r->row[i].loss);
    number("accuracy", r->row[i].accuracy);
    number("lost", r->row[i].lost);
    printf(", \"skipped\": %llu, \"digest\": \"%016llx\"}", (unsigned long long)r->row[i].skipped,
           (unsigned long long)r->row[i].digest);
  }
  printf("\n], \"claims\": [");
  for (size_t i = 0; i < r->claims; i++) {
    printf("%s\n  {\"holds\": %s, \"claim\": ", i ? "," : "", r->claim[i].holds ? "true" : "false");
    cli_json_string(stdout, r->claim[i].text);
    putchar('}');
  }
  printf("\n]}\n");
}

static void print_report(const hu_experiment_report *r) {
  printf("%-36s %10s %9s %8s %7s  %s\n", "run", "loss", "accuracy", "skipped", "lost", "weights");
  for (size_t i = 0; i < r->rows; i++) {
    const hu_experiment_row *x = &r->row[i];
    printf("%-36s %10.4f %9.4f %8llu %7.3f  %016llx\n", x->name, x->loss, x->accuracy, (unsigned long long)x->skipped,
           x->lost, (unsigned long long)x->digest);
  }
  for (size_t i = 0; i < r->claims; i++) printf("%s: %s\n", r->claim[i].holds ? "holds" : "FAILS", r->claim[i].text);
}

int cli_experiment(int argc, char **argv) {
  experiment_state state = {0};
  hu_experiment_report report;
  char **operands, why[HU_DATA_WHY_MAX] = "";
  int count, status = cli_parse(&command, &state, argc, argv, &operands, &count);
  if (status >= 0) return status;
  hu_status s = hu_experiment_run(&report, operands[0], state.data ? state.data : "data", told, &state, why);
  if (state.bar.total) progress_end(&state.bar);
  if (s == HU_E_NAME) return cli_fail(NULL, "no experiment '%s'; `halfulp experiments` lists them", operands[0]);
  if (s != HU_OK) return cli_fail(NULL, "%s", *why ? why : hu_status_text(s));
  if (state.json) {
    print_report_json(&report);
  } else {
    print_report(&report);
  }
  return report.held == report.claims ? CLI_OK : CLI_DIFFERENT;
}
