/* SPDX-License-Identifier: MIT */
/* Experiments: claims hold, and weights are those of the golden file, bit for bit, whatever the number of threads.
 *
 *   test_experiment quick DATA GOLDEN     those that are quick;  all: every one
 *   test_experiment write DATA > GOLDEN   writes the golden file
 *
 * The golden file is of one thread; of the quick ones the second is run with three, of all every second one. The
 * quick ones run with one seed, with which all of their claims hold, too, though they are about means; but for the
 * first, of which means of several seeds are judged. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/train/data.h"
#include "halfulp/train/experiment.h"

enum { LINES_MAX = 300, LINE_MAX = 200 };
static char lines[LINES_MAX][LINE_MAX];
static size_t count;

static int read_lines(const char *path) {
  FILE *file = fopen(path, "r");
  if (!file) return 0;
  while (count < LINES_MAX && fgets(lines[count], LINE_MAX, file)) {
    lines[count][strcspn(lines[count], "\n")] = 0;
    if (lines[count][0] != '#') count++;
  }
  fclose(file);
  return count > 0;
}

/* ---- one experiment against the golden lines that begin with its name ---- */

static int is_of(const char *line, const char *name) {
  size_t n = strlen(name);
  return strncmp(line, name, n) == 0 && line[n] == ' ';
}

static int compare(const char *name, const hu_experiment_report *report) {
  size_t i = 0, k = 0;
  int good = 1;
  for (; i < count; i++) {
    char line[LINE_MAX];
    if (!is_of(lines[i], name)) continue;
    if (k >= report->rows) break;
    snprintf(line, sizeof line, "%s %016llx %s", name, (unsigned long long)report->row[k].digest, report->row[k].name);
    k++;
    if (strcmp(lines[i], line) == 0) continue;
    printf("FAIL: got\n  %s\ninstead of\n  %s\n", line, lines[i]);
    good = 0;
  }
  if (i < count || k < report->rows) {
    printf("FAIL: %s: %zu runs, and not as many lines\n", name, report->rows);
    good = 0;
  }
  return good;
}

/* Every run of a trainer has steps and a digest, every figure points, every name is a word. */
static int whole(hu_experiment experiment, const hu_experiment_report *report) {
  int good = report->rows == experiment.runs && report->claims > 0;
  for (size_t i = 0; i < report->rows; i++)
    good &= !report->row[i].keys || (report->row[i].digest && report->row[i].steps);
  for (size_t i = 0; i < report->figures; i++) {
    const hu_experiment_figure *figure = &report->figure[i];
    good &= figure->count > 0 && strspn(figure->name, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(figure->name);
    for (size_t k = 0; k < figure->count; k++) good &= figure->series[k].count > 0 && *figure->series[k].name != 0;
  }
  if (!good) printf("FAIL: %s: something is missing\n", experiment.name);
  return good;
}

/* Digests are those of the first seed, claims those of the means over several. */
static int run(hu_experiment experiment, const char *data, const char *threads, size_t seeds, int write) {
  const char *const pairs[] = {"run.threads", threads, NULL};
  const hu_experiment_options how = {data, pairs, NULL, NULL, NULL, seeds, NULL};
  hu_experiment_report report;
  char why[HU_DATA_WHY_MAX] = "";
  hu_status status = hu_experiment_run(&report, experiment.name, &how, why);
  if (status != HU_OK) {
    printf("FAIL: %s: %s %s\n", experiment.name, hu_status_name(status), why);
    return 0;
  }
  int good = whole(experiment, &report);
  if (write) {
    for (size_t k = 0; k < report.rows; k++)
      printf("%s %016llx %s\n", experiment.name, (unsigned long long)report.row[k].digest, report.row[k].name);
  } else {
    good &= compare(experiment.name, &report);
    for (size_t k = 0; k < report.claims; k++) {
      printf("%s: %s: %s\n", report.claim[k].holds ? "holds" : "FAIL", experiment.name, report.claim[k].text);
      good &= report.claim[k].holds;
    }
  }
  fflush(stdout);
  hu_experiment_report_free(&report);
  return good;
}

/* ---- what is refused, and what ends a run ---- */

static int stop(void *context, size_t done, size_t of, const hu_experiment_row *row) {
  *(size_t *)context = done;
  return !(done == 1 && of > 1 && row->name[0]);
}

static int refusals(const char *data) {
  static const char *const wrong[] = {"run.sed", "1", NULL}, *const brief[] = {"run.steps", "2", NULL};
  hu_experiment_options how = {"/nonexistent", NULL, NULL, NULL, NULL, 0, NULL};
  hu_experiment_report report;
  size_t done = 0;
  char why[HU_DATA_WHY_MAX] = "";
  int good = hu_experiment_run(&report, "nothing", NULL, why) == HU_E_NAME;
  good &= hu_experiment_run(&report, "s2fp8", &how, why) == HU_E_FILE && strstr(why, "digits_images");
  good &= hu_experiment_run(NULL, "s2fp8", &how, why) == HU_E_NULL;
  good &= hu_experiment_at(hu_experiment_count()).name == NULL;
  how.data = data;
  how.pairs = wrong;
  good &= hu_experiment_run(&report, "s2fp8", &how, why) == HU_E_NAME && strstr(why, "run.sed");
  how.pairs = brief;
  how.progress = stop;
  how.context = &done;
  good &=
      hu_experiment_run(&report, "s2fp8", &how, why) == HU_E_TRAIN && strstr(why, "stopped after 1 of") && done == 1;
  hu_experiment_report_free(NULL);
  if (!good) printf("FAIL: refusals: %s\n", why);
  return good;
}

/* Keys of the caller are set last; claims are judged all the same, and may fail. */
static int brief_run(const char *data) {
  static const char *const pairs[] = {"run.steps", "3", NULL};
  const hu_experiment_options how = {data, pairs, NULL, NULL, NULL, 0, NULL};
  hu_experiment_report report;
  char why[HU_DATA_WHY_MAX] = "";
  if (hu_experiment_run(&report, "fp16-master-weights", &how, why) != HU_OK) {
    printf("FAIL: a brief run: %s\n", why);
    return 0;
  }
  int good = report.rows == 3 && report.row[0].steps == 3 && report.held < report.claims &&
             strstr(report.row[1].keys, "run.steps = 3\n") && strstr(report.row[2].keys, "loss.scale = static(1024)\n");
  hu_experiment_report_free(&report);
  good &= report.rows == 0 && report.row == NULL;
  if (!good) printf("FAIL: a brief run\n");
  return good;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  int write = strcmp(argv[1], "write") == 0, all = strcmp(argv[1], "quick") != 0;
  if (!write && (argc < 4 || !read_lines(argv[3]))) {
    printf("FAIL: no golden file, or an empty one\n");
    return 1;
  }
  if (write) printf("# Digests of the weights that each training run ends with: experiment, digest, run.\n");
  int good = write || (refusals(argv[2]) & brief_run(argv[2]));
  for (size_t i = 0; i < hu_experiment_count(); i++) {
    hu_experiment experiment = hu_experiment_at(i);
    if (!all && !experiment.quick) continue;
    int three = all ? i % 2 == 1 : i == 1;
    size_t seeds = write || (!all && i > 0) ? 1 : 3;
    good &= run(experiment, argv[2], three && !write ? "3" : "1", seeds, write);
  }
  return good ? 0 : 1;
}
