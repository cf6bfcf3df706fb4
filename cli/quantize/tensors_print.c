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
  tensors_result total = {0};
  uint64_t before[TENSORS_EXPONENTS] = {0}, after[TENSORS_EXPONENTS] = {0};
  double noise = 0, signal = 0, bits = 0;
  for (size_t i = 0; i < results->count; i++) {
    const tensors_result *result = &results->list[i];
    if (!result->done) continue;
    add_errors(&total.errors, &result->errors, &noise, &signal);
    cli_causes_add(&total.causes, &result->causes);
    hu_events_add(&total.events, &result->events);
    total.again += result->again;
    total.twice += result->twice;
    total.blocks.count += result->blocks.count;
    bits += result->bits * (double)result->tensor->count;
    if (result->amax > total.amax) total.amax = result->amax;
    for (int j = 0; j < result->before.count; j++) before[result->before.low + j] += result->before.counts[j];
    for (int j = 0; j < result->after.count; j++) after[result->after.low + j] += result->after.counts[j];
    total.before.zeros += result->before.zeros;
    total.after.zeros += result->after.zeros;
    total.before.others += result->before.others;
    total.after.others += result->after.others;
  }
  if (tensors_pack(&total.before, before) || tensors_pack(&total.after, after)) return total; /* reported */
  total.bits = total.errors.count ? bits / (double)total.errors.count : 0;
  total.errors.rms = total.errors.finite ? sqrt(noise / (double)total.errors.finite) : 0;
  total.errors.sqnr = noise > 0 ? 10 * log10(signal / noise) : HUGE_VAL;
  return total;
}

static void print_row(FILE *out, int width, const char *name, const tensors_result *result) {
  fprintf(out, "  %-*s %12zu %12.6g %12.6g ", width, name, result->errors.count, result->errors.max_abs,
          result->errors.rms);
  if (isfinite(result->errors.sqnr))
    fprintf(out, "%9.2f", result->errors.sqnr);
  else
    fprintf(out, "%9s", result->errors.changed ? "-" : "exact");
  fprintf(out, " %10llu %10llu", (unsigned long long)result->events.saturated,
          (unsigned long long)result->events.to_zero);
  if (result->again) fprintf(out, " %10llu", (unsigned long long)result->again);
  if (result->errors.finite < result->errors.count)
    fprintf(out, "  %zu left out: not finite", result->errors.count - result->errors.finite);
  fputc('\n', out);
}

/* Prints the tensors whose rows are shorter than a block. */
static void print_short(FILE *out, const tensors_results *results) {
  enum { SHOWN = 20 };
  char shown[ST_NAME_MAX];
  size_t count = 0;
  for (size_t i = 0; i < results->count; i++) {
    const tensors_result *result = &results->list[i];
    if (!result->shape.block || ++count > SHOWN) continue;
    fprintf(out, "  note: %s: ", st_printable(shown, result->tensor->name));
    cli_print_row_shape(out, &result->shape);
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
  if (results->asked->target.rounds_before)
    fprintf(out, "  not as rounded once: %llu elements\n", (unsigned long long)total.twice);
  print_short(out, results);
  tensors_print_left(out, results);
  tensors_result_free(&total);
}

static void json_row(FILE *out, const tensors_result *result, const cli_target *target) {
  const st_tensor *tensor = result->tensor;
  cli_json(out, "{'name': ?, 'dtype': ?, 'shape': [", JSON(tensor->name), JSON(st_dtype_name(tensor->dtype)));
  for (uint32_t i = 0; i < tensor->dims; i++) cli_json(out, "??", cli_comma(i == 0), JSON(tensor->shape[i]));
  cli_json(out, "], 'rounded': ?", cli_truth(result->done));
  if (result->done) {
    cli_json(out, ", 'amax': ?, 'bits_per_element': ?, 'rounded_again': ?, 'events': ?, ", JSON(result->amax),
             JSON(result->bits), JSON(result->again), JSON(&result->events));
    cli_json(out, "'errors': ?, 'causes': ?, 'blocks': ?, ?", cli_errors_value(&result->errors),
             cli_causes_value(&result->causes), cli_blocks_value(&result->blocks), cli_row_shape_value(&result->shape));
    if (target->rounds_before) cli_json(out, ", 'rounded_twice': ?", JSON(result->twice));
  }
  fputc('}', out);
}

void tensors_json(FILE *out, const tensors_results *results) {
  char target[CLI_TARGET_MAX], mode[CLI_NAME_MAX];
  cli_json(out, "{'file': ?, 'out': ?, 'format': ?, 'mode': ?, 'codes': ?, 'tensors': [", JSON(results->in),
           JSON(results->out), JSON(cli_target_name(target, &results->asked->target)),
           JSON(cli_mode_name(mode, results->asked->numeric.mode)), cli_truth(results->asked->codes));
  for (size_t i = 0; i < results->count; i++) {
    if (i) fputs(", ", out);
    json_row(out, &results->list[i], &results->asked->target);
  }
  fputs("]}\n", out);
}
