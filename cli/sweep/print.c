/* SPDX-License-Identifier: MIT */
/* The summary of a sweep as a table, as CSV and as JSON: see sweep.h. */
#include <math.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/numbers.h"
#include "cli/sweep/sweep.h"

static const char *shown(const sweep_row *row) { return row->value ? sweep_shown(row->value) : "(binary32)"; }

/* ---- table ---- */

static void cell(FILE *out, int width, int places, double x) {
  if (isfinite(x) && places > 1 && fabs(x) >= 1e4) {
    fprintf(out, " %*.3g", width, x); /* R^2 may be any number */
  } else if (isfinite(x)) {
    fprintf(out, " %*.*f", width, places, x);
  } else {
    fprintf(out, " %*s", width, "-");
  }
}

void sweep_print_table(FILE *out, const sweep_summary *z) {
  size_t width = strlen(z->sweep->key);
  for (size_t i = 0; i < z->rows; i++) {
    if (strlen(shown(&z->row[i])) > width) width = strlen(shown(&z->row[i]));
  }
  if (width > 60) width = 60;
  fprintf(out, "%-*s %5s %9s %8s %8s %7s %7s %8s %9s\n", (int)width, z->sweep->key, "seeds", z->measure, "lowest",
          "highest", "low", "stored", "skipped", "promoted");
  for (size_t i = 0; i < z->rows; i++) {
    const sweep_row *row = &z->row[i];
    fprintf(out, "%-*s %5zu", (int)width, shown(row), row->done);
    cell(out, 9, 4, row->mean);
    cell(out, 8, 4, row->lowest);
    cell(out, 8, 4, row->highest);
    cell(out, 7, 4, row->low);
    cell(out, 7, 4, row->stored);
    cell(out, 8, 1, row->skipped);
    cell(out, 9, 1, row->promoted);
    fputs(row == z->best ? "  *\n" : "\n", out);
  }
  fprintf(out, "%s\n", z->text);
}

/* ---- CSV ---- */

static void csv_text(FILE *out, const char *text) {
  if (!strpbrk(text, ",\"\n")) {
    fputs(text, out);
    return;
  }
  fputc('"', out);
  for (; *text; text++) fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
  fputc('"', out);
}

static void csv_number(FILE *out, double x) {
  if (isfinite(x)) {
    fprintf(out, ",%s", ROUNDED(x, 9));
  } else {
    fputc(',', out);
  }
}

void sweep_print_csv(FILE *out, const void *summary) {
  const sweep_summary *z = summary;
  fputs(
      "key,value,seeds,measure,mean,lowest,highest,training_mean,loss_training,loss_test,low_mean,low_end,stored,"
      "skipped,promoted,recommended\n",
      out);
  for (size_t i = 0; i < z->rows; i++) {
    const sweep_row *row = &z->row[i];
    const double numbers[] = {row->mean, row->lowest,  row->highest, row->training, row->loss[0], row->loss[1],
                              row->low,  row->low_end, row->stored,  row->skipped,  row->promoted};
    csv_text(out, row->value ? z->sweep->key : "");
    fputc(',', out);
    csv_text(out, row->value ? row->value : "baseline");
    fprintf(out, ",%zu,%s", row->done, z->measure);
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) csv_number(out, numbers[k]);
    fprintf(out, ",%s\n", row == z->best ? "yes" : "no");
  }
}

/* ---- JSON ---- */

void sweep_json_text(FILE *out, const char *name, const char *text) {
  fprintf(out, "\"%s\": ", name);
  if (text) {
    cli_json_string(out, text);
  } else {
    fputs("null", out);
  }
  fputs(", ", out);
}

static void json_number(FILE *out, const char *name, double x) {
  fprintf(out, "\"%s\": ", name);
  cli_json_known(out, x);
}

static void json_run(FILE *out, const sweep_run *run, int measure) {
  static const char *const bytes[] = {"bytes_weights", "bytes_state", "bytes_values", "bytes_gradients"};
  const sweep_result *x = &run->result;
  fprintf(out, "\n      {\"seed\": %llu, ", (unsigned long long)run->seed);
  if (run->state != SWEEP_DONE) {
    sweep_json_text(out, "digest", NULL);
    fputs("\"failed\": ", out);
    cli_json_string(out, run->why ? run->why : "");
    fputc('}', out);
    return;
  }
  fprintf(out, "\"digest\": \"%016llx\", ", (unsigned long long)x->digest);
  fprintf(out, "\"steps\": %llu, \"skipped\": %llu, \"promoted\": %llu, ", (unsigned long long)x->steps,
          (unsigned long long)x->skipped, (unsigned long long)x->promoted);
  const struct {
    const char *name;
    double x;
  } list[] = {{"training", x->figure[measure][0]},
              {"test", x->figure[measure][1]},
              {"loss_training", x->figure[SWEEP_LOSS][0]},
              {"loss_test", x->figure[SWEEP_LOSS][1]},
              {"low_mean", x->low},
              {"low_end", x->low_end}};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    json_number(out, list[i].name, list[i].x);
    fputs(", ", out);
  }
  for (int i = 0; i < 4; i++) {
    json_number(out, bytes[i], x->bytes[i]);
    fputs(i < 3 ? ", " : "}", out);
  }
}

static void json_row(FILE *out, const sweep_summary *z, const sweep_row *row) {
  const struct {
    const char *name;
    double x;
  } list[] = {{"mean", row->mean},
              {"lowest", row->lowest},
              {"highest", row->highest},
              {"training_mean", row->training},
              {"loss_training", row->loss[0]},
              {"loss_test", row->loss[1]},
              {"low_mean", row->low},
              {"low_end", row->low_end},
              {"stored", row->stored},
              {"skipped", row->skipped},
              {"promoted", row->promoted}};
  fputs("\n    {", out);
  sweep_json_text(out, "value", row->value);
  fprintf(out, "\"seeds\": %zu, ", row->done);
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    json_number(out, list[i].name, list[i].x);
    fputs(", ", out);
  }
  fputs("\"runs\": [", out);
  for (size_t i = 0; i < z->sweep->seeds; i++) {
    if (i) fputc(',', out);
    json_run(out, &row->run[i], z->sweep->measure);
  }
  fputs("]}", out);
}

void sweep_print_json(FILE *out, const void *summary) {
  const sweep_summary *z = summary;
  fputs("{\n  ", out);
  sweep_json_text(out, "key", z->sweep->key);
  sweep_json_text(out, "measure", z->measure);
  json_number(out, "accepted_points", z->sweep->loss);
  fputs(",\n  ", out);
  sweep_json_text(out, "recommended", z->best ? z->best->value : NULL);
  fputs("\"text\": ", out);
  cli_json_string(out, z->text);
  fputs(",\n  \"rows\": [", out);
  for (size_t i = 0; i < z->rows; i++) {
    if (i) fputc(',', out);
    json_row(out, z, &z->row[i]);
  }
  fputs("\n  ]\n}\n", out);
}
