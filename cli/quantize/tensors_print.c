/* SPDX-License-Identifier: MIT */
/* Prints what `quantize` says of a .safetensors file on standard output. */
#include <math.h>
#include <string.h>

#include "cli/base/numbers.h"
#include "cli/quantize/tensors.h"

/* Combines the errors of all tensors: root of the mean over all elements, sum of signals over sum of errors. */
static void add_errors(cli_errors *z, const cli_errors *x, double *noise, double *signal) {
  double part = x->rms * x->rms * (double)x->finite;
  z->count += x->count;
  z->finite += x->finite;
  z->zeros += x->zeros;
  z->nonzero += x->nonzero;
  z->changed += x->changed;
  if (x->max_abs > z->max_abs) z->max_abs = x->max_abs;
  *noise += part;
  *signal += part > 0 ? part * pow(10, x->sqnr / 10) : 0;
}

tensors_result tensors_total(const tensors_results *results) {
  tensors_result z = {0};
  uint64_t before[TENSORS_EXPONENTS] = {0}, after[TENSORS_EXPONENTS] = {0};
  double noise = 0, signal = 0, bits = 0;
  for (size_t i = 0; i < results->count; i++) {
    const tensors_result *x = &results->list[i];
    if (!x->done) continue;
    add_errors(&z.errors, &x->errors, &noise, &signal);
    hu_events_add(&z.events, &x->events);
    z.again += x->again;
    z.blocks.count += x->blocks.count;
    bits += x->bits * (double)x->tensor->count;
    if (x->amax > z.amax) z.amax = x->amax;
    for (int j = 0; j < x->before.count; j++) before[x->before.low + j] += x->before.counts[j];
    for (int j = 0; j < x->after.count; j++) after[x->after.low + j] += x->after.counts[j];
    z.before.zeros += x->before.zeros;
    z.after.zeros += x->after.zeros;
    z.before.others += x->before.others;
    z.after.others += x->after.others;
  }
  if (tensors_pack(&z.before, before) || tensors_pack(&z.after, after)) return z; /* reported */
  z.bits = z.errors.count ? bits / (double)z.errors.count : 0;
  z.errors.rms = z.errors.finite ? sqrt(noise / (double)z.errors.finite) : 0;
  z.errors.sqnr = noise > 0 ? 10 * log10(signal / noise) : HUGE_VAL;
  return z;
}

static void print_row(FILE *out, int width, const char *name, const tensors_result *x) {
  fprintf(out, "  %-*s %12zu %12.6g %12.6g ", width, name, x->errors.count, x->errors.max_abs, x->errors.rms);
  if (isfinite(x->errors.sqnr))
    fprintf(out, "%9.2f", x->errors.sqnr);
  else
    fprintf(out, "%9s", x->errors.changed ? "-" : "exact");
  fprintf(out, " %10llu %10llu", (unsigned long long)x->events.saturated, (unsigned long long)x->events.to_zero);
  if (x->again) fprintf(out, " %10llu", (unsigned long long)x->again);
  if (x->errors.finite < x->errors.count)
    fprintf(out, "  %zu left out: not finite", x->errors.count - x->errors.finite);
  fputc('\n', out);
}

/* Prints the tensors whose rows are shorter than a block. */
static void print_short(FILE *out, const tensors_results *results) {
  enum { SHOWN = 20 };
  char shown[ST_NAME_MAX];
  size_t count = 0;
  for (size_t i = 0; i < results->count; i++) {
    const tensors_result *x = &results->list[i];
    if (!x->shape.block || ++count > SHOWN) continue;
    fprintf(out, "  note: %s: ", st_printable(shown, x->tensor->name));
    cli_print_row_shape(out, &x->shape);
  }
  if (count > SHOWN) fprintf(out, "  note: the same of %zu more tensors (--json has them all)\n", count - SHOWN);
}

void tensors_print_left(FILE *out, const tensors_results *results) {
  enum { SHOWN = 20 };
  char shown[ST_NAME_MAX];
  size_t count = 0;
  for (size_t i = 0; i < results->count; i++)
    if (results->list[i].left && ++count <= SHOWN)
      fprintf(out,
              "  note: %s: not rounded, since its name is one of scales; --include with its whole name rounds it\n",
              st_printable(shown, results->list[i].tensor->name));
  if (count > SHOWN) fprintf(out, "  note: the same of %zu more tensors (--json has them all)\n", count - SHOWN);
}

void tensors_print(FILE *out, const tensors_results *results) {
  char target[CLI_TARGET_MAX], mode[CLI_NAME_MAX], shown[ST_NAME_MAX], in[CLI_SHOWN_MAX], file[CLI_SHOWN_MAX];
  tensors_result total = tensors_total(results);
  int width = 6;
  for (size_t i = 0; i < results->count; i++) {
    int n = (int)strlen(st_printable(shown, results->list[i].tensor->name));
    if (results->list[i].done && n > width) width = n;
  }
  fprintf(out, "%s to %s, %s: %zu of %zu tensors, %zu elements, %s bits per element as codes; %s written to %s\n",
          cli_shown(in, results->in), cli_target_name(target, &results->asked->target),
          cli_mode_name(mode, results->asked->numeric.mode), results->done, results->count, total.errors.count,
          ROUNDED(total.bits, 4), results->asked->codes ? "codes" : "values", cli_shown(file, results->out));
  fprintf(out, "  %-*s %12s %12s %12s %9s %10s %10s%s\n", width, "tensor", "elements", "max error", "rms error",
          "SQNR dB", "saturated", "to zero", total.again ? "  re-rounded" : "");
  for (size_t i = 0; i < results->count; i++)
    if (results->list[i].done)
      print_row(out, width, st_printable(shown, results->list[i].tensor->name), &results->list[i]);
  if (results->done > 1) print_row(out, width, "all", &total);
  print_short(out, results);
  tensors_print_left(out, results);
  tensors_result_free(&total);
}

static void json_row(FILE *out, const tensors_result *x) {
  const st_tensor *tensor = x->tensor;
  fputs("{\"name\": ", out);
  cli_json_string(out, tensor->name);
  fprintf(out, ", \"dtype\": \"%s\", \"shape\": [", st_dtype_name(tensor->dtype));
  for (uint32_t i = 0; i < tensor->dims; i++) fprintf(out, "%s%zu", i ? ", " : "", tensor->shape[i]);
  fprintf(out, "], \"rounded\": %s", x->done ? "true" : "false");
  if (x->done) {
    fputs(", \"amax\": ", out);
    cli_json_double(out, x->amax);
    fputs(", \"bits_per_element\": ", out);
    cli_json_double(out, x->bits);
    fprintf(out, ", \"rounded_again\": %llu, \"events\": ", (unsigned long long)x->again);
    cli_json_events(out, &x->events);
    fputs(", \"errors\": ", out);
    cli_json_errors(out, &x->errors);
    fputs(", \"blocks\": ", out);
    cli_json_blocks(out, &x->blocks);
    cli_json_row_shape(out, &x->shape);
  }
  fputc('}', out);
}

void tensors_json(FILE *out, const tensors_results *results) {
  char target[CLI_TARGET_MAX], mode[CLI_NAME_MAX];
  fputs("{\"file\": ", out);
  cli_json_string(out, results->in);
  fputs(", \"out\": ", out);
  cli_json_string(out, results->out);
  fprintf(out, ", \"format\": \"%s\", \"mode\": \"%s\", \"codes\": %s, \"tensors\": [",
          cli_target_name(target, &results->asked->target), cli_mode_name(mode, results->asked->numeric.mode),
          results->asked->codes ? "true" : "false");
  for (size_t i = 0; i < results->count; i++) {
    if (i) fputs(", ", out);
    json_row(out, &results->list[i]);
  }
  fputs("]}\n", out);
}
