/* SPDX-License-Identifier: MIT */
/* Writes a model as a folder that another program loads: halfulp/checkpoint.h does it; here are progress, interrupts,
 * and what is said of it. See quantize.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/numbers.h"
#include "cli/base/output.h"
#include "cli/base/progress.h"
#include "cli/quantize/tensors.h"

static const char *const what_names[] = {"copied", "values", "moved", "rounded"};

/* ---- while it runs ---- */

typedef struct watch {
  progress bar;
  int stopped; /* 1: an interrupt came; 2: an input has changed, which was said */
} watch;

static int watch_step(void *context, uint64_t done, uint64_t total) {
  watch *state = context;
  progress_at(&state->bar, done);
  if (output_interrupted()) state->stopped = 1;
  if (!state->stopped && done == total && cli_inputs_check()) state->stopped = 2;
  return state->stopped;
}

/* ---- what is said ---- */

static int is_told(const hu_checkpoint_change *change) { return change->what != HU_CHECKPOINT_COPIED; }

static double sqnr_of(const hu_checkpoint_change *change) {
  return change->difference > 0 ? 10 * log10(change->squares / change->difference) : HUGE_VAL;
}

static void add(hu_checkpoint_change *z, const hu_checkpoint_change *x) {
  z->count += x->count;
  z->narrowed += x->narrowed;
  z->changed += x->changed;
  z->zeroed += x->zeroed;
  z->to_infinity += x->to_infinity;
  z->to_nan += x->to_nan;
  z->bytes += x->bytes;
  z->squares += x->squares;
  z->difference += x->difference;
  if (x->largest > z->largest) z->largest = x->largest;
}

/* What few tensors have: behind the columns. */
static void print_notes(const hu_checkpoint_change *change) {
  const struct {
    uint64_t count;
    const char *what;
  } notes[] = {{change->to_infinity, "to infinity"},
               {change->to_nan, "to NaN"},
               {change->narrowed, "rounded into binary32 first"}};
  const char *between = "  ";
  for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++) {
    if (!notes[i].count) continue;
    printf("%s%llu %s", between, (unsigned long long)notes[i].count, notes[i].what);
    between = ", ";
  }
}

static void print_row(int width, const char *name, const char *what, const hu_checkpoint_change *change) {
  printf("  %-*s  %-8s %12llu %12llu %12llu %12.6g ", width, name, what, (unsigned long long)change->count,
         (unsigned long long)change->changed, (unsigned long long)change->zeroed, change->largest);
  if (isfinite(sqnr_of(change)))
    printf("%9.2f", sqnr_of(change));
  else
    printf("%9s", change->changed ? "-" : "exact");
  print_notes(change);
  putchar('\n');
}

static void print_changes(const tensors_input *in, const hu_checkpoint_order *order, const char *out,
                          const hu_checkpoint_change *changes) {
  char shown[ST_NAME_MAX], from[CLI_SHOWN_MAX], to[CLI_SHOWN_MAX];
  size_t n = hu_checkpoint_count(in->model), told = 0;
  int width = 6;
  hu_checkpoint_change total = {0};
  for (size_t i = 0; i < n; i++) {
    int length = (int)strlen(st_printable(shown, hu_checkpoint_at(in->model, i).name));
    if (!is_told(&changes[i])) continue;
    if (length > width) width = length;
    told++;
    add(&total, &changes[i]);
  }
  printf("%s to %s%s%s: %zu of %zu tensors, %llu values, %s bits each; written to %s\n", cli_shown(from, in->name),
         order->target, order->rule ? " by " : "", order->rule ? order->rule : "", told, n,
         (unsigned long long)total.count, ROUNDED(total.count ? 8.0 * (double)total.bytes / (double)total.count : 0, 4),
         cli_shown(to, out));
  printf("  %-*s  %-8s %12s %12s %12s %12s %9s\n", width, "tensor", "", "values", "changed", "to zero", "max change",
         "SQNR dB");
  for (size_t i = 0; i < n; i++)
    if (is_told(&changes[i]))
      print_row(width, st_printable(shown, hu_checkpoint_at(in->model, i).name), what_names[changes[i].what],
                &changes[i]);
  if (told > 1) print_row(width, "all", "", &total);
}

static void json_changes(const tensors_input *in, const hu_checkpoint_order *order, const char *out,
                         const hu_checkpoint_change *changes) {
  cli_json(stdout, "{'in': ?, 'out': ?, 'layout': ?, 'rule': ?, 'tensors': [", JSON(in->name), JSON(out),
           JSON(order->target), JSON(order->rule));
  for (size_t i = 0; i < hu_checkpoint_count(in->model); i++) {
    const hu_checkpoint_change *change = &changes[i];
    cli_json(stdout,
             "?\n  {'name': ?, 'what': ?, 'values': ?, 'bytes': ?, 'changed': ?, 'zeroed': ?, 'to_infinity': ?, "
             "'to_nan': ?, 'narrowed': ?, 'max_change': ?, 'sqnr_db': ?}",
             cli_comma(i == 0), JSON(hu_checkpoint_at(in->model, i).name), JSON(what_names[change->what]),
             JSON(change->count), JSON(change->bytes), JSON(change->changed), JSON(change->zeroed),
             JSON(change->to_infinity), JSON(change->to_nan), JSON(change->narrowed), JSON(change->largest),
             cli_known(sqnr_of(change)));
  }
  printf("\n]}\n");
}

/* ---- the command ---- */

static int check_options(const cli_quantize_state *state) {
  const char *wrong = state->report     ? "report"
                      : state->codes    ? "codes"
                      : state->widen    ? "widen"
                      : state->has_amax ? "amax"
                      : state->in_place ? "in-place"
                      : state->rows_out ? "rows"
                      : state->any_rank ? "any-rank"
                      : state->device   ? "device"
                                        : NULL;
  if (wrong) return cli_fail(NULL, "--%s does not go with a folder that is written for another program", wrong);
  if (state->numeric.mode.round != HU_RNE)
    return cli_fail(NULL, "-r: a model for another program is rounded as that program, or its rule (-f), does it");
  return CLI_OK;
}

/* Writes with the signals held, so that an interrupt leaves nothing. */
static int write_held(const tensors_input *in, hu_checkpoint_order *order, const char *out,
                      hu_checkpoint_change *changes, const char *doing) {
  char line[HU_CHECKPOINT_LINE];
  uint64_t total = 0;
  watch state = {0};
  sigset_t before;
  for (size_t i = 0; i < hu_checkpoint_count(in->model); i++) total += hu_checkpoint_at(in->model, i).count;
  order->progress = watch_step;
  order->context = &state;
  output_hold(&before);
  progress_start(&state.bar, doing, total);
  hu_status status = hu_checkpoint_write(in->model, out, order, changes, line);
  progress_end(&state.bar);
  output_release(&before); /* a pending signal ends the command here */
  if (status == HU_OK) return CLI_OK;
  if (state.stopped == 2 || !line[0]) return state.stopped ? CLI_BAD : cli_fail_status(out, status);
  return cli_fail(NULL, "%s", line);
}

int cli_write_model(const cli_quantize_state *state, const char *target, const char *in_path, const char *out) {
  const char *include[CLI_GLOBS_MAX + 1] = {NULL}, *exclude[CLI_GLOBS_MAX + 1] = {NULL};
  hu_checkpoint_order order = {.target = target, .values = state->dtype, .file_bytes = state->file_bytes};
  tensors_input in, activations;
  if (check_options(state)) return CLI_BAD;
  if (strcmp(in_path, "-") != 0 && access(in_path, F_OK)) return cli_fail(in_path, "%s", strerror(errno));
  if (!cli_is_model(in_path))
    return cli_fail(in_path, "a model (.safetensors, its index, a folder) is written as a folder for another program");
  memcpy(include, state->include, (size_t)state->includes * sizeof *include);
  memcpy(exclude, state->exclude, (size_t)state->excludes * sizeof *exclude);
  if (state->includes) order.include = include;
  if (state->excludes) order.exclude = exclude;
  order.rule = state->numeric.format_text;
  order.threads = state->numeric.threads;
  if (tensors_open_for_info(&in, in_path, state->from ? state->from : TENSORS_AUTO)) return CLI_BAD;
  if (!hu_checkpoint_count(in.model)) {
    tensors_close(&in);
    return cli_fail(in_path, "holds no tensor that could be written");
  }
  hu_checkpoint_change *changes = cli_alloc(hu_checkpoint_count(in.model), sizeof *changes);
  if (!state->activations && !strcmp(target, "modelopt-fp8"))
    cli_note(
        "modelopt-fp8 without --activation-scales: a program that loads it expects NAME.input_scale of each layer");
  int code = changes ? CLI_OK : CLI_BAD, given = code == CLI_OK && state->activations != NULL;
  if (given) code = tensors_open_for_info(&activations, state->activations, TENSORS_AUTO);
  given = given && code == CLI_OK;
  if (given) order.activations = activations.model;
  if (code == CLI_OK) code = write_held(&in, &order, out, changes, "write");
  if (given) tensors_close(&activations);
  if (code == CLI_OK && state->numeric.json) json_changes(&in, &order, out, changes);
  if (code == CLI_OK && !state->numeric.json && !cli_quiet()) print_changes(&in, &order, out, changes);
  if (code == CLI_OK && (fflush(stdout) || ferror(stdout)))
    code = cli_fail(out, "was written whole; what it changed could not be printed");
  free(changes);
  tensors_close(&in);
  return code;
}
