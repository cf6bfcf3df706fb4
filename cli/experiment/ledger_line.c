/* SPDX-License-Identifier: MIT */
/* The digests of a line of the ledger: taken, compared, written. See ledger.h. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/numbers.h"
#include "cli/base/progress.h"
#include "cli/experiment/ledger.h"
#include "cli/sweep/pairs.h"

enum { SHA_MAX = 65, WHOLE = 16, OF_TENSOR = 4, NAMED_MAX = 8 };

const char *ledger_item(char text[LEDGER_NAME_MAX + 24], const ledger_cell *cell, uint64_t step) {
  snprintf(text, LEDGER_NAME_MAX + 24, "%s@%" PRIu64, cell->how->cell, step);
  return text;
}

uint64_t ledger_line_of(const ledger_cell *cell, uint64_t step) {
  uint64_t all = hu_trainer_steps(cell->run.trainer), line = (step + LEDGER_LINE - 1) / LEDGER_LINE * LEDGER_LINE;
  return line < all ? line : all;
}

int ledger_is_marked(const ledger_cell *cell, uint64_t step) {
  return step % LEDGER_MARK == 0 || step == hu_trainer_steps(cell->run.trainer);
}

/* Returns the place of a step's digest in its line. */
static size_t place_of(const ledger_cell *cell, uint64_t step) {
  uint64_t line = ledger_line_of(cell, step);
  return line ? (size_t)((step - 1) % LEDGER_LINE / LEDGER_MARK) : 0;
}

/* ---- digests ---- */

/* Writes the first digits of the digest of all weights, then those of each parameter; to be freed. NULL after an error
 * line. whole: all 64 digits. */
static char *digest(const ledger_cell *cell, char whole[SHA_MAX]) {
  const hu_trainer *trainer = cell->run.trainer;
  int count = hu_net_parameters(hu_trainer_net(trainer));
  char text[SHA_MAX], *z = malloc(WHOLE + OF_TENSOR * (size_t)count + 1);
  hu_status status = z ? hu_trainer_sha256(trainer, -1, whole) : HU_E_MEMORY;
  if (status == HU_OK) memcpy(z, whole, WHOLE);
  for (int i = 0; i < count && status == HU_OK; i++) {
    status = hu_trainer_sha256(trainer, i, text);
    if (status == HU_OK) memcpy(z + WHOLE + OF_TENSOR * i, text, OF_TENSOR);
  }
  if (status == HU_OK) {
    z[WHOLE + OF_TENSOR * count] = 0;
    return z;
  }
  free(z);
  cli_fail_status(cell->how->cell, status);
  return NULL;
}

/* Finds the digest at a place in a list with blanks between them; NULL: it has fewer. */
static const char *at_place(const char *list, size_t place) {
  for (; list && place; place--) {
    list = strchr(list, ' ');
    if (list) list++;
  }
  return list;
}

/* ---- comparing ---- */

/* Says which parameters have other digits. */
static void name_tensors(char *text, size_t size, const ledger_cell *cell, const char *own, const char *theirs) {
  const hu_net *net = hu_trainer_net(cell->run.trainer);
  size_t n = 0;
  int named = 0, others = 0;
  *text = 0;
  for (int i = 0; i < hu_net_parameters(net); i++) {
    size_t at = WHOLE + OF_TENSOR * (size_t)i;
    if (strncmp(own + at, theirs + at, OF_TENSOR) == 0) continue;
    if (named++ >= NAMED_MAX) {
      others++;
      continue;
    }
    n += (size_t)snprintf(text + n, size - n, "%s %s", n ? "," : "", hu_net_parameter_name(net, i));
  }
  if (others) snprintf(text + n, size - n, " and %d more", others);
}

static int differ(const ledger_cell *cell, uint64_t step, const char *own, const char *theirs) {
  char tensors[NAMED_MAX * (HU_PARAMETER_NAME_MAX + 2) + 24] = " none";
  size_t n = strlen(own);
  if (strcspn(theirs, " ") == n) name_tensors(tensors, sizeof tensors, cell, own, theirs);
  (void)cli_fail(NULL,
                 "%s: step %" PRIu64
                 " is the first whose weights differ: %.16s here, %.16s in %s; replayed from step %" PRIu64
                 "; parameters with other bits:%s",
                 cell->how->cell, step, own, theirs, cell->how->path, cell->start, *tensors ? tensors : " none");
  return CLI_DIFFERENT;
}

static int wrong_line(const ledger_cell *cell, const char *item) {
  return cli_fail(cell->how->path, "%s: its result is not that of a cell: digests of every %d steps", item,
                  LEDGER_MARK);
}

/* Compares the digest of a step with the ledger's, if it has one. */
static int compare(ledger_cell *cell, uint64_t step, const char *own) {
  char item[LEDGER_NAME_MAX + 24];
  const job_entry *entry = job_ledger_find(&cell->ledger, ledger_item(item, cell, ledger_line_of(cell, step)));
  cli_pairs pairs;
  int status = CLI_OK;
  if (!entry) return CLI_OK;
  if (!cli_pairs_read_text(&pairs, entry->field[JOB_MORE])) return wrong_line(cell, item);
  const char *theirs = at_place(cli_pairs_get(&pairs, "marks"), place_of(cell, step));
  if (!theirs)
    status = wrong_line(cell, item);
  else if (strcspn(theirs, " ") == strlen(own) && strncmp(own, theirs, strlen(own)) == 0)
    cell->same++;
  else
    status = differ(cell, step, own, theirs);
  cli_pairs_free(&pairs);
  return status;
}

/* ---- figures ---- */

typedef struct figure {
  const char *name;
  double x;
} figure;
enum { FIGURES = 8 };

static hu_status evaluate(const ledger_cell *cell, figure z[FIGURES]) {
  hu_trainer_seen seen;
  hu_status status = hu_trainer_evaluate(cell->run.trainer, HU_ON_TEST, &seen);
  const figure all[FIGURES] = {{"test_loss", seen.loss},        {"accuracy", seen.accuracy}, {"r2", seen.r2},
                               {"perplexity", seen.perplexity}, {"auc", seen.auc},           {"hit_rate_10", seen.hit},
                               {"ndcg_10", seen.ndcg},          {"bleu", seen.bleu}};
  if (status == HU_OK) memcpy(z, all, sizeof all);
  return status;
}

static void print_figures(FILE *out, const figure of[FIGURES]) {
  for (int i = 0; i < FIGURES; i++) {
    if (!isnan(of[i].x)) fprintf(out, ", \"%s\": %s", of[i].name, DECIMAL(of[i].x));
  }
}

/* Compares the figures with those of the ledger's last line. */
static int compare_figures(ledger_cell *cell, const job_entry *entry, const figure own[FIGURES]) {
  cli_pairs pairs;
  int status = CLI_OK;
  if (!cli_pairs_read_text(&pairs, entry->field[JOB_MORE])) return wrong_line(cell, entry->field[JOB_ITEM]);
  for (int i = 0; i < FIGURES && status == CLI_OK; i++) {
    const char *theirs = cli_pairs_get(&pairs, own[i].name);
    if (isnan(own[i].x) ? !theirs : theirs && strcmp(theirs, DECIMAL(own[i].x)) == 0) continue;
    (void)cli_fail(NULL, "%s: %s of the test set is %s here, %s in %s", cell->how->cell, own[i].name, DECIMAL(own[i].x),
                   theirs ? theirs : "missing", cell->how->path);
    status = CLI_DIFFERENT;
  }
  cli_pairs_free(&pairs);
  return status;
}

/* ---- a line ---- */

/* Prints the keys that differ from their defaults, as members of an object. */
static void print_keys(FILE *out, const hu_trainer *trainer) {
  for (size_t i = 0; i < hu_trainer_key_count(); i++) {
    hu_trainer_key key = hu_trainer_key_at(i);
    const char *value = hu_trainer_get(trainer, key.name);
    if (!key.weights || strcmp(key.name, "precision.system") == 0 || strcmp(value, key.by_default) == 0) continue;
    fputs(", ", out);
    cli_json_string(out, key.name);
    fputs(": ", out);
    cli_json_string(out, value);
  }
}

static void print_files(FILE *out, const hu_trainer *trainer) {
  const char *before = "";
  fputs(", \"files\": {", out);
  for (size_t i = 0; i < hu_trainer_file_count(trainer); i++) {
    hu_trainer_file file = hu_trainer_file_at(trainer, i);
    const char *name = strrchr(file.path, '/');
    fputs(before, out);
    cli_json_string(out, name ? name + 1 : file.path);
    fprintf(out, ": \"%s\"", file.sha256);
    before = ", ";
  }
  fputs("}", out);
}

/* Makes the last column of a line. figures: NULL before the end. */
static char *result_text(const ledger_cell *cell, uint64_t step, const char *whole, const figure *figures) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out) return NULL;
  fprintf(out, "{\"sha256\": \"%s\", \"marks\": \"", whole);
  for (size_t i = 0, last = place_of(cell, step); i <= last; i++)
    fprintf(out, "%s%s", i ? " " : "", cell->mark[i] ? cell->mark[i] : "");
  fputs("\"", out);
  if (step == 0) {
    fputs(", \"commit\": ", out);
    cli_json_string(out, cell->how->commit ? cell->how->commit : "");
    print_files(out, cell->run.trainer);
    print_keys(out, cell->run.trainer);
  }
  if (figures) {
    fprintf(out, ", \"skipped\": %llu", (unsigned long long)cell->run.last.skipped);
    print_figures(out, figures);
  }
  fputs("}", out);
  if (fclose(out) == 0) return text;
  free(text);
  return NULL;
}

static int add_line(ledger_cell *cell, uint64_t step, const char *whole, const figure *figures) {
  char item[LEDGER_NAME_MAX + 24], line[JOB_LINE_MAX], digits[WHOLE + 1];
  snprintf(digits, sizeof digits, "%s", whole);
  job_result result = {
      .cases = step, .digest = strtoull(digits, NULL, 16), .more = result_text(cell, step, whole, figures)};
  if (!result.more) return cli_fail(NULL, "out of memory");
  int fits =
      job_entry_write(line, ledger_item(item, cell, step), cell->sources, &result, progress_seconds() - cell->seconds);
  free(result.more);
  cell->added++;
  return fits ? job_ledger_append(&cell->ledger, line) : cli_fail(cell->how->path, "%s: too long a line", item);
}

/* Ends a line: what the ledger has of it was compared, or it is added. */
static int end_line(ledger_cell *cell, uint64_t step, const char *whole) {
  char item[LEDGER_NAME_MAX + 24];
  int is_end = step > 0 && step == hu_trainer_steps(cell->run.trainer);
  const job_entry *entry = job_ledger_find(&cell->ledger, ledger_item(item, cell, step));
  figure figures[FIGURES];
  hu_status error = is_end ? evaluate(cell, figures) : HU_OK;
  if (error != HU_OK) return cli_fail_status(cell->how->cell, error);
  int status = CLI_OK;
  if (entry && is_end)
    status = compare_figures(cell, entry, figures);
  else if (!entry && !cell->how->verify)
    status = add_line(cell, step, whole, is_end ? figures : NULL);
  for (size_t i = 0; i < LEDGER_MARKS; i++) {
    free(cell->mark[i]);
    cell->mark[i] = NULL;
  }
  cell->seconds = progress_seconds();
  return status;
}

int ledger_take(ledger_cell *cell) {
  uint64_t step = hu_trainer_at(cell->run.trainer);
  char whole[SHA_MAX];
  if (!ledger_is_marked(cell, step)) return CLI_OK;
  char **mark = &cell->mark[place_of(cell, step)];
  free(*mark);
  *mark = digest(cell, whole);
  if (!*mark) return CLI_BAD;
  int status = compare(cell, step, *mark);
  return status == CLI_OK && step == ledger_line_of(cell, step) ? end_line(cell, step, whole) : status;
}
