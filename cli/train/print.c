/* SPDX-License-Identifier: MIT */
/* What `halfulp train` says on standard output. See train.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/numbers.h"
#include "cli/train/train.h"

/* ---- keys ---- */

static void print_words(FILE *out, const char *const *words) {
  fputs(", \"values\": [", out);
  for (const char *const *word = words; *word; word++) cli_json(out, "??", cli_comma(word == words), JSON(*word));
  fputc(']', out);
}

static void print_keys_json(FILE *out) {
  fputc('[', out);
  for (size_t i = 0; i < hu_trainer_key_count(); i++) {
    hu_trainer_key key = hu_trainer_key_at(i);
    cli_json(out, "?\n  {'id': ?, 'default': ?, 'what': ?, 'weights': ?", cli_plain(i ? "," : ""), JSON(key.name),
             JSON(key.by_default), JSON(key.what), cli_truth(key.weights));
    if (key.words) print_words(out, key.words);
    if (key.low < key.high) cli_json(out, ", 'range': [?, ?]", JSON(key.low), JSON(key.high));
    fputc('}', out);
  }
  fputs("\n]\n", out);
}

void train_print_keys(FILE *out, int json) {
  const char *section = "";
  if (json) {
    print_keys_json(out);
    return;
  }
  for (size_t i = 0; i < hu_trainer_key_count(); i++) {
    hu_trainer_key key = hu_trainer_key_at(i);
    size_t n = strcspn(key.name, ".") + 1;
    if (strncmp(section, key.name, n)) fprintf(out, "%s[%.*s]\n", *section ? "\n" : "", (int)n - 1, key.name);
    section = key.name;
    fprintf(out, "%s =%s%s\n    %s\n", key.name + n, *key.by_default ? " " : "", key.by_default, key.what);
  }
}

/* ---- the end ---- */

uint64_t train_skipped(const train_run *run) {
  if (run->last.step) return run->last.skipped;
  return run->log.rows ? (uint64_t)run->log.cells[(run->log.rows - 1) * LOG_COLUMNS + LOG_SKIPPED] : 0;
}

double train_mean_low(const train_run *run) {
  uint64_t at = hu_trainer_at(run->trainer);
  return at ? run->totals.low / (double)at : 0;
}

/* Returns the column of a figure of the training set or of the test set; 0: it has none. */
static size_t column_of(const train_figure *figure, int test) { return test ? figure->test : figure->training; }

static void print_seen(FILE *out, const train_run *run, const char *what, int test) {
  const train_seen_kind *kind = train_seen_kind_of(run);
  const double *row = train_last_seen(run), *seen = row + (test ? SEEN_TEST_LOSS : SEEN_TRAINING_LOSS);
  fprintf(out, "%-12s loss %s", what, ROUNDED(seen[0], 6));
  if (isfinite(seen[1])) fprintf(out, ", accuracy %.4f", seen[1]);
  if (isfinite(seen[2])) fprintf(out, fabs(seen[2]) < 1e4 ? ", R^2 %.6f" : ", R^2 %.3g", seen[2]);
  for (size_t i = 0; i < kind->count; i++) {
    size_t column = column_of(&kind->figures[i], test);
    if (column && !isnan(row[column])) fprintf(out, ", %s %s", kind->figures[i].said, ROUNDED(row[column], 6));
  }
  fputc('\n', out);
}

/* Prints the second evaluation of the test set, if the run has one. */
static void print_again(FILE *out, const train_run *run) {
  const double *seen = train_seen_again(run, train_last_seen(run));
  if (!seen) return;
  fprintf(out, "%-12s loss %s", "test again", ROUNDED(seen[SEEN_AGAIN_LOSS], 6));
  if (isfinite(seen[SEEN_AGAIN_ACCURACY])) fprintf(out, ", accuracy %.4f", seen[SEEN_AGAIN_ACCURACY]);
  if (isfinite(seen[SEEN_AGAIN_R2])) fprintf(out, ", R^2 %s", ROUNDED(seen[SEEN_AGAIN_R2], 6));
  fprintf(out,
          train_again(run) == HU_SEE_BINARY32 ? ", without roundings\n" : ", of the weights, not their averages\n");
}

const char *train_model_key(const train_run *run) {
  return *hu_trainer_get(run->trainer, "model.file") ? "model.file" : "model.net";
}

void train_print(FILE *out, const train_run *run, double seconds) {
  const double *seen = train_last_seen(run);
  const train_totals *totals = &run->totals;
  char folder[CLI_SHOWN_MAX];
  const char *const shown[] = {train_model_key(run), "data.set", "precision.system", "assignment.kind"};
  fprintf(out, "%-12s %s", "run", hu_trainer_get(run->trainer, "run.name"));
  for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
    if (i < 3 || strcmp(hu_trainer_get(run->trainer, shown[i]), "none") != 0)
      fprintf(out, "%s%s", i ? ", " : ": ", hu_trainer_get(run->trainer, shown[i]));
  fprintf(out, "\n%-12s %llu, %llu skipped\n", "steps", (unsigned long long)hu_trainer_at(run->trainer),
          (unsigned long long)train_skipped(run));
  if (seen) print_seen(out, run, "training", 0);
  if (seen) print_seen(out, run, "test", 1);
  if (seen) print_again(out, run);
  fprintf(out, "%-12s %llu not zero, %llu of them (%.2f %%) did not change the weight\n", "updates",
          (unsigned long long)totals->updates.moved, (unsigned long long)totals->updates.lost,
          totals->updates.moved ? 100.0 * (double)totals->updates.lost / (double)totals->updates.moved : 0);
  fprintf(out, "%-12s %llu overflows, %llu underflows\n", "events", (unsigned long long)totals->overflow,
          (unsigned long long)totals->underflow);
  if (strcmp(hu_trainer_get(run->trainer, "assignment.kind"), "none") != 0)
    fprintf(out, "%-12s %.4f of the elements, mean of the steps\n", "low", train_mean_low(run));
  if (hu_trainer_left_out(run->trainer))
    fprintf(out, "%-12s %zu examples for training that data.window has no space for\n", "left out",
            hu_trainer_left_out(run->trainer));
  for (size_t i = 0; i < hu_trainer_file_count(run->trainer); i++) {
    hu_trainer_file file = hu_trainer_file_at(run->trainer, i);
    fprintf(out, "%-12s sha256:%s %s\n", i ? "" : "data", file.sha256, cli_shown(folder, file.path));
  }
  fprintf(out, "%-12s %016llx\n", "digest", (unsigned long long)hu_trainer_digest(run->trainer));
  fprintf(out, "%-12s %.1f s\n%-12s %s\n", "time", seconds, "files", cli_shown(folder, run->out));
}

static void json_seen(FILE *out, const train_run *run, const char *name, int test) {
  const train_seen_kind *kind = train_seen_kind_of(run);
  const double *row = train_last_seen(run), *seen = row + (test ? SEEN_TEST_LOSS : SEEN_TRAINING_LOSS);
  cli_json(out, "  ?: {'loss': ?, 'accuracy': ?, 'r2': ?",
           JSON(name), /* a loss of a run that came to nothing is "nan" */
           JSON(seen[0]), cli_known(seen[1]), cli_known(seen[2]));
  for (size_t i = 0; i < kind->count; i++) {
    size_t column = column_of(&kind->figures[i], test);
    if (column) cli_json(out, ", ?: ?", JSON(kind->figures[i].name), cli_known(row[column]));
  }
  fputs("},\n", out);
}

static void json_memory(FILE *out, const char *name, hu_trainer_memory memory) {
  cli_json(out, "  ?: {'weights': ?, 'state': ?, 'values': ?, 'gradients': ?},\n", JSON(name),
           cli_known(memory.weights), cli_known(memory.state), cli_known(memory.values), cli_known(memory.gradients));
}

static void json_files(FILE *out, const train_run *run) {
  fputs("  \"data\": [", out);
  for (size_t i = 0; i < hu_trainer_file_count(run->trainer); i++) {
    hu_trainer_file file = hu_trainer_file_at(run->trainer, i);
    cli_json(out, "?\n    {'path': ?, 'bytes': ?, 'sha256': ?}", cli_plain(i ? "," : ""), JSON(file.path),
             JSON(file.bytes), JSON(file.sha256));
  }
  cli_json(out, "],\n  'left_out': ?,\n", JSON(hu_trainer_left_out(run->trainer)));
}

void train_json(FILE *out, const train_run *run, double seconds) {
  const double *seen = train_last_seen(run);
  const train_totals *totals = &run->totals;
  cli_json(out, "{\n  'name': ?,\n  'folder': ?,\n  'steps': ?, 'skipped': ?,\n",
           JSON(hu_trainer_get(run->trainer, "run.name")), JSON(run->out), JSON(hu_trainer_at(run->trainer)),
           JSON(train_skipped(run)));
  if (seen) json_seen(out, run, "training", 0);
  if (seen) json_seen(out, run, "test", 1);
  const double *again = seen ? train_seen_again(run, seen) : NULL;
  if (again)
    cli_json(out, "  'again': {'loss': ?, 'accuracy': ?, 'r2': ?},\n", JSON(again[SEEN_AGAIN_LOSS]),
             cli_known(again[SEEN_AGAIN_ACCURACY]), cli_known(again[SEEN_AGAIN_R2]));
  cli_json(out, "  'updates': {'moved': ?, 'lost': ?},\n", JSON(totals->updates.moved), JSON(totals->updates.lost));
  cli_json(out, "  'events': {'overflow': ?, 'underflow': ?},\n  'low': ?,\n", JSON(totals->overflow),
           JSON(totals->underflow), cli_known(train_mean_low(run)));
  json_memory(out, "memory", hu_trainer_memory_of(run->trainer));
  json_memory(out, "stored", hu_trainer_stored_of(run->trainer));
  json_files(out, run);
  cli_json(out, "  'seconds': ?,\n", cli_known(seconds));
  fprintf(out, "  \"digest\": \"%016llx\"\n}\n", (unsigned long long)hu_trainer_digest(run->trainer));
}

/* ---- continuing later ---- */

static int is_control(char c) { return (unsigned char)c < 0x20 || c == 0x7F; }

/* With control characters, which no terminal may be given: between $' and ', as most shells read it. */
static void print_escaped(FILE *out, const char *word) {
  fputs("$'", out);
  for (; *word; word++) {
    if (is_control(*word))
      fprintf(out, "\\%03o", (unsigned char)*word);
    else if (*word == '\'' || *word == '\\')
      fprintf(out, "\\%c", *word);
    else
      fputc(*word, out);
  }
  fputc('\'', out);
}

static int has_control(const char *word) {
  while (*word && !is_control(*word)) word++;
  return *word != 0;
}

/* A word of a shell's command: as it is, or between single quotes. */
static void print_word(FILE *out, const char *word) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=:,+@%^-";
  fputc(' ', out);
  if (*word && strspn(word, plain) == strlen(word)) {
    fputs(word, out);
    return;
  }
  if (has_control(word)) {
    print_escaped(out, word);
    return;
  }
  fputc('\'', out);
  for (; *word; word++) {
    if (*word == '\'') fputs("'\\'", out); /* ends the quotes; the next one begins them again */
    fputc(*word, out);
  }
  fputc('\'', out);
}

static void print_option(FILE *out, const char *option, const char *value) {
  fprintf(out, " %s", option);
  print_word(out, value);
}

static void print_count(FILE *out, const char *option, uint64_t value) {
  fprintf(out, " %s %llu", option, (unsigned long long)value);
}

/* The configuration of standard input is gone: the folder has all keys, but not where data files were looked for. */
static void print_source(FILE *out, const train_run *run) {
  int piped = !strcmp(run->config, "-");
  char *copy = piped ? train_path(run, "config.ini") : NULL;
  const char *config = copy ? copy : run->config;
  char *there = NULL;
  if (*config == '-' && asprintf(&there, "./%s", config) < 0) there = NULL; /* else it would be read as an option */
  print_word(out, there ? there : config);
  free(there);
  free(copy);
  if (run->out_asked || piped) print_option(out, "--output", run->out);
  if (run->data || piped) print_option(out, "--data", run->data ? run->data : ".");
  for (size_t i = 0; i < run->set_count && !piped; i++) print_option(out, "--set", run->sets[i]);
  if (run->threads && !piped) print_option(out, "-j", run->threads);
}

void train_print_stopped(FILE *out, const train_run *run, const char *by) {
  fprintf(out, "halfulp: stopped by %s after step %llu of %llu; to continue: halfulp train", by,
          (unsigned long long)hu_trainer_at(run->trainer), (unsigned long long)hu_trainer_steps(run->trainer));
  print_source(out, run);
  if (run->every != TRAIN_EVERY) print_count(out, "--every", run->every);
  if (run->checkpoint_asked) print_count(out, "--checkpoint", run->checkpoint);
  if (run->evaluate != TRAIN_EVALUATE) print_count(out, "--evaluate", run->evaluate);
  if (run->json) fputs(" --json", out);
  fputs(" --resume\n", out);
}
