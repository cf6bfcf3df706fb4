/* SPDX-License-Identifier: MIT */
/* halfulp collective - what an all-reduce over many participants gives, and how far that is from the exact sum. */
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/numbers.h"
#include "cli/tensors/codes.h"
#include "cli/tensors/differences.h"
#include "halfulp/collective.h"

enum { KEY_REDUCE = CLI_KEY_FREE, KEY_PACKED, MODELS_MAX = 64, FILES_MAX = 4096 };

typedef struct asked {
  cli_numeric numeric;
  const char *output, *texts[MODELS_MAX];
  hu_collective models[MODELS_MAX];
  int count, packed;
} asked;

/* Reads a model; an error line is "--reduce 'ring(bf16)': no format of that name: 'bf16)'". */
static int read_model(hu_collective *z, const char *text) {
  size_t where = 0;
  hu_status status = hu_collective_parse(z, text, &where);
  const char *part = text + where;
  if (status == HU_OK) return CLI_OK;
  if (status == HU_E_NAME)
    return cli_fail(NULL, "--reduce '%s': no %s of that name: '%s'", text,
                    where && text[where - 1] != ',' ? "format or scaled format" : "model or format", part);
  if (status == HU_E_CARRIER)
    return cli_fail(NULL, "--reduce '%s': scales travel with binary32 numbers, which cannot hold the sum's format",
                    text);
  if (status != HU_E_TEXT) return cli_fail(NULL, "--reduce '%s': %s", text, hu_status_text(status));
  if (!*part) return cli_fail(NULL, "--reduce '%s': ends too early; --help has the forms", text);
  return cli_fail(NULL, "--reduce '%s': '%s' cannot stand there; --help has the forms", text, part);
}

static int set(void *context, int key, const char *value) {
  asked *given = context;
  int shared = cli_set_numeric(&given->numeric, key, value);
  if (shared) return shared > 0 ? CLI_OK : CLI_BAD;
  if (key == 'o') {
    given->output = value;
    return CLI_OK;
  }
  if (key == KEY_PACKED) return !(given->packed = 1);
  if (given->count == MODELS_MAX) return cli_fail(NULL, "--reduce: more than %d models", MODELS_MAX);
  given->texts[given->count] = value;
  return read_model(&given->models[given->count++], value);
}

static const cli_option options[] = {
    {KEY_REDUCE | CLI_REPEATS, "reduce", "REDUCE", "the all-reduce model, forms above; default exact"},
    {'o', "output", "OUT", "write the sums under the one model given, an .npy file of the shape of one buffer"},
    {'f', "format", "FORMAT", "format of the buffers and of the sums; default binary32"},
    CLI_OPTION_PACKED(KEY_PACKED),
    CLI_OPTIONS_ROUND,
    CLI_OPTIONS_STREAM,
    CLI_OPTION_THREADS,
    CLI_OPTION_JSON,
    {0}};
static const cli_command command = {
    "collective",
    "X.npy...",
    "Compute what an all-reduce over many machines gives, and its distance from the exact sum",
    "Each file is what one participant holds; of one file the first axis counts the participants. The\n"
    "table shows, for each --reduce, the largest and the rms difference from the exact sums, the largest\n"
    "difference in ulps (steps of FORMAT), how many sums differ, and the events of the roundings.\n"
    "Elements that are no values of FORMAT are first rounded into it, ties to even; a note says how many.\n"
    "int8 to int64, uint64 and bool are values, too; uint8, uint16 and uint32 hold codes.\n"
    "-r and -s are those of the last rounding, into FORMAT.\n\n"
    "  exact                            one rounding in all\n"
    "  ring(F,MODE,sat=POLICY,wire=W)   reduce-scatter, then all-gather; each sum rounded into F; numbers\n"
    "                                   travel in W, a format or a scaled format (mxfp8_e4m3)\n"
    "  tree(F,...)                      a binomial tree\n"
    "  doubling(F,...)                  recursive doubling\n"
    "  pairwise(F,...)                  halves, recursively\n"
    "  direct(F,...)                    all to all: each chunk is added up by its owner, then gathered\n"
    "  switch(F,...)                    what arrives of all is added exactly and rounded into F once\n"
    "  hierarchical(N,REDUCE,REDUCE)    the first in groups of N participants, the second over groups\n\n"
    "MODE, sat= and wire= may be left out. halfulp/collective.h defines each step.",
    "  halfulp collective digits_images.npy --reduce 'ring(bfloat16)' --reduce 'tree(bfloat16)' \\\n"
    "      --reduce 'ring(binary32,wire=float8_e5m2)' --reduce 'hierarchical(8,exact,ring(bfloat16))'\n"
    "  halfulp collective digits_images.npy --reduce 'direct(binary16,wire=mxfp8_e4m3)' --reduce 'switch(bfloat16)'\n"
    "  halfulp collective digits_images.npy --reduce 'ring(bfloat16)' -f bfloat16 -o /tmp/sums.npy --json",
    options,
    1,
    FILES_MAX,
    set};

/* ---- buffers ---- */

/* What all participants hold, as codes one after another. */
typedef struct buffers {
  size_t ranks, n, off_grid;
  npy_info shape; /* of one buffer */
  uint8_t *codes;
  const void **rows;
} buffers;

static int take_shape(buffers *held, const cli_array *x, int files) {
  char shape[NPY_SHAPE_MAX];
  held->shape = x->info;
  held->ranks = (size_t)files;
  if (files == 1) {
    if (x->info.dims == 0) return cli_fail(x->name, "a single number has no participants");
    held->ranks = x->info.shape[0];
    held->shape.dims--;
    memmove(held->shape.shape, held->shape.shape + 1, held->shape.dims * sizeof held->shape.shape[0]);
    held->shape.count = held->ranks ? x->info.count / held->ranks : 0;
  }
  if (held->ranks == 0) return cli_fail(x->name, "shape %s: no participants", npy_shape(shape, &x->info));
  held->n = held->shape.count;
  return CLI_OK;
}

static int same_shape(const buffers *held, const cli_array *x, const char *first) {
  char shape[NPY_SHAPE_MAX], other[NPY_SHAPE_MAX];
  int same = x->info.dims == held->shape.dims &&
             memcmp(x->info.shape, held->shape.shape, held->shape.dims * sizeof held->shape.shape[0]) == 0;
  if (same) return CLI_OK;
  return cli_fail(x->name, "shape %s, but %s has %s", npy_shape(shape, &x->info), first,
                  npy_shape(other, &held->shape));
}

static int allocate(buffers *held, hu_format format) {
  size_t size = hu_limits_of(format).storage / 8;
  if (held->n && held->ranks > SIZE_MAX / size / held->n)
    return cli_fail(NULL, "the buffers do not fit the address space");
  held->codes = cli_alloc(held->ranks * held->n, size);
  held->rows = cli_alloc(held->ranks, sizeof *held->rows);
  if (!held->codes || !held->rows) return CLI_BAD;
  for (size_t i = 0; i < held->ranks; i++) held->rows[i] = held->codes + i * held->n * size;
  return CLI_OK;
}

static int load_all(buffers *held, int files, char **names, const asked *given) {
  char name[CLI_NAME_MAX];
  hu_format format = given->numeric.format;
  int status = CLI_OK;
  for (int i = 0; i < files && status == CLI_OK; i++) {
    cli_array x;
    if (cli_array_load(&x, names[i])) return CLI_BAD;
    if (given->packed) status = cli_array_unpack(&x, cli_code_rule_of(format, cli_format_name(name, format)));
    if (status != CLI_OK) {
      cli_array_free(&x);
      return status;
    }
    status = i == 0 ? take_shape(held, &x, files) : same_shape(held, &x, names[0]);
    if (status == CLI_OK && i == 0) status = allocate(held, format);
    if (status == CLI_OK) status = cli_array_to_codes((uint8_t *)(uintptr_t)held->rows[i], &x, format, &held->off_grid);
    cli_array_free(&x);
  }
  return status;
}

/* ---- results ---- */

/* One model's line. */
typedef struct judged {
  differences error;
  hu_events events;
} judged;

static int reduce(void *z, const asked *given, const buffers *held, const hu_collective *model, hu_events *events) {
  hu_exec exec = {given->numeric.threads, 0, given->numeric.stream, {0}};
  hu_status status = hu_collective_reduce(held->ranks, held->n, z, given->numeric.format, held->rows, model,
                                          &(hu_how){given->numeric.mode, &exec, events});
  if (status == HU_E_CARRIER)
    return cli_fail(NULL, "collective: scales travel with binary32 numbers, which cannot hold the buffers' format");
  return status == HU_OK ? CLI_OK : cli_fail_status("collective", status);
}

static int judge_all(judged *line, const asked *given, const buffers *held, void *codes) {
  static const hu_collective exact; /* all zero */
  void *reference = cli_alloc(held->n, hu_limits_of(given->numeric.format).storage / 8);
  int status = reference ? reduce(reference, given, held, &exact, NULL) : CLI_BAD;
  for (int i = 0; i < given->count && status == CLI_OK; i++) {
    status = reduce(codes, given, held, &given->models[i], &line[i].events);
    if (status == CLI_OK) line[i].error = differences_of(held->n, codes, reference, given->numeric.format);
  }
  free(reference);
  return status;
}

static int save(const asked *given, const buffers *held, const void *codes) {
  npy_info info = held->shape;
  info.fortran = 0;
  return cli_array_save_values(given->output, info, codes, given->numeric.format);
}

static void json_report(FILE *out, const asked *given, const buffers *held, const judged *line) {
  char name[CLI_NAME_MAX], mode[CLI_NAME_MAX], model[HU_COLLECTIVE_TEXT_MAX];
  cli_json(out, "{'participants': ?, 'elements': ?, 'format': ?, 'mode': ?, 'off_grid': ?, 'models': [",
           JSON(held->ranks), JSON(held->n),
           JSON(cli_shown_name(name, given->numeric.format, given->numeric.format_text)),
           JSON(cli_mode_name(mode, given->numeric.mode)), JSON(held->off_grid));
  for (int i = 0; i < given->count; i++) {
    const differences *error = &line[i].error;
    (void)hu_collective_text(model, sizeof model, &given->models[i]);
    cli_json(out, "?{'model': ?, 'max_abs': ?, 'rms': ?, 'ulps': ?, ", cli_comma(i == 0), JSON(model), JSON(error->max),
             JSON(error->rms), JSON(error->steps));
    cli_json(out, "'different': ?, 'not_finite': ?, 'events': ?}", JSON(error->different), JSON(error->not_finite),
             JSON(&line[i].events));
  }
  fputs("]}\n", out);
}

static void print_report(FILE *out, const asked *given, const buffers *held, const judged *line) {
  char name[CLI_NAME_MAX];
  fprintf(out, "%zu participants, %zu elements of %s, against exact sums\n", held->ranks, held->n,
          cli_shown_name(name, given->numeric.format, given->numeric.format_text));
  if (held->off_grid)
    fprintf(out, "  note: %zu elements were not values of the format and were rounded first\n", held->off_grid);
  fprintf(out, "%-48s %12s %12s %10s %9s\n", "model", "max", "rms", "ulps", "different");
  for (int i = 0; i < given->count; i++) {
    fprintf(out, "%-48s %12s %12s %10s %9zu", given->texts[i], ROUNDED(line[i].error.max, 5),
            ROUNDED(line[i].error.rms, 5), ROUNDED(line[i].error.steps, 6), line[i].error.different);
    if (line[i].error.not_finite) fprintf(out, "  %zu not finite", line[i].error.not_finite);
    if (line[i].events.overflow) fprintf(out, "  %llu overflows", (unsigned long long)line[i].events.overflow);
    fputc('\n', out);
  }
}

static int run(asked *given, int files, char **names) {
  judged line[MODELS_MAX] = {0};
  buffers held = {0};
  int status = load_all(&held, files, names, given);
  void *codes = status == CLI_OK ? cli_alloc(held.n, hu_limits_of(given->numeric.format).storage / 8) : NULL;
  status = codes ? judge_all(line, given, &held, codes) : CLI_BAD;
  if (status == CLI_OK && given->output) status = save(given, &held, codes);
  FILE *out = given->output ? cli_report_file(given->output, given->numeric.json) : stdout;
  if (status == CLI_OK && out && given->numeric.json) json_report(out, given, &held, line);
  if (status == CLI_OK && out && !given->numeric.json) print_report(out, given, &held, line);
  free(codes);
  free(held.codes);
  free(held.rows);
  return status;
}

int cli_collective(int argc, char **argv) {
  asked given = {0};
  char **operands;
  int count, status = cli_parse(&command, &given, argc, argv, &operands, &count);
  if (status >= 0) return status;
  if (!given.numeric.format_text) given.numeric.format = hu_format_ieee(8, 23, 0);
  if (!given.count) given.texts[given.count++] = "exact"; /* the record of all zeros */
  if (given.output && given.count > 1)
    return cli_fail(NULL, "collective: -o writes the sums of one model; give one --reduce");
  for (int i = 0; given.output && i < count; i++)
    if (cli_spare_input(given.output, operands[i], "give -o another name")) return CLI_BAD;
  return run(&given, count, operands);
}
