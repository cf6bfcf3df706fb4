/* SPDX-License-Identifier: MIT */
/* halfulp plot - the value line of formats, and where data lies on it. */
#include "cli/plot/plot.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/quantize/quantize.h"

enum { KEY_ARRAY = CLI_KEY_FREE, KEY_TENSOR };

typedef struct plot_asked {
  plot_state list[PLOT_FORMATS_MAX]; /* what is not a format is in all */
  size_t formats;
  cli_numeric shared;
  const char *output, *data, *tensor;
} plot_asked;

static int add_format(plot_asked *asked, const char *value) {
  if (asked->formats == PLOT_FORMATS_MAX) return cli_fail(NULL, "--format: more than %d of them", PLOT_FORMATS_MAX);
  plot_state *state = &asked->list[asked->formats++];
  asked->shared.format_text = value; /* one is given */
  return plot_read(state, value);
}

static int set(void *context, int key, const char *value) {
  plot_asked *asked = context;
  if (key == 'f') return add_format(asked, value);
  int shared = cli_set_numeric(&asked->shared, key, value);
  if (shared) return shared > 0 ? CLI_OK : CLI_BAD;
  if (key == 'o')
    asked->output = value;
  else if (key == KEY_TENSOR)
    asked->tensor = value;
  else
    asked->data = value;
  return CLI_OK;
}

static const cli_option options[] = {
    {'f' | CLI_REPEATS, "format", "FORMAT", "number format, number system or scaled format (halfulp formats)"},
    {'o', "output", "OUT", "the drawing, an .svg file"},
    {KEY_ARRAY, "array", "IN", "a float array, .npy, .safetensors or .gguf: draw the histogram of its magnitudes"},
    {KEY_TENSOR, "tensor", "NAME", ".safetensors, .gguf: the tensor to draw; default: the only one of floats"},
    CLI_OPTIONS_ROUND,
    CLI_OPTIONS_STREAM,
    CLI_OPTION_JSON,
    {0}};
static const cli_command command = {
    "plot",
    "",
    "Draw the positive values of formats on a logarithmic line, as SVG",
    "With --array: also the data's magnitudes over it, what becomes a normal or a subnormal number, zero,\n"
    "or is beyond the largest number when rounded by MODE. FORMAT may be any number system that `halfulp formats`\n"
    "lists.\n"
    "Of a scaled format (mxfp4, nvfp4) the line has the values of one block: the one that has the array's largest\n"
    "magnitude, without an array a block whose largest magnitude is 1; blocks lie along the last axis. A second\n"
    "histogram shows which magnitudes the elements have as multiples of their scales.\n"
    "Several -f draw several formats below each other on one axis, with a table of what becomes of the data.",
    "  halfulp plot -f float8_e4m3fn -o /tmp/e4m3.svg\n"
    "  halfulp plot -f float8_e5m2 --array digits_weights.npy -o /tmp/weights.svg\n"
    "  halfulp plot -f float8_e4m3fn -f float4_e2m1fn --array digits_weights.npy -o /tmp/two.svg",
    options,
    0,
    0,
    set};

static void json_data(const histogram *data, const plot_state *state) {
  static const char *const names[CLASSES] = {"to_zero", "subnormal", "normal", "beyond_max", "below", "lost"};
  char mode[CLI_NAME_MAX];
  cli_json(stdout, "{'file': ?", JSON(state->data));
  if (state->tensor) cli_json(stdout, ", 'tensor': ?", JSON(state->tensor));
  cli_json(stdout, ", 'mode': ?, 'count': ?, 'zeros': ?, 'infinities': ?, 'nans': ?",
           JSON(cli_mode_name(mode, state->numeric.mode)), JSON(data->count), JSON(data->zeros), JSON(data->infinities),
           JSON(data->nans));
  for (int c = 0; c < CLASSES; c++) cli_json(stdout, ", ?: ?", JSON(names[c]), JSON(data->classes[c]));
  cli_json(stdout, ", 'errors': ?", cli_errors_value(&data->errors));
  if (state->scaled)
    cli_json(stdout, ", 'blocks': ?, 'magnitudes_used': ?, 'magnitudes': ?", cli_blocks_value(&data->blocks),
             JSON(plot_codes_used(data)), JSON(data->code_count));
  fputs("}", stdout);
}

/* Prints the numbers of a format in the drawing's table. */
static void json_format(const plot_state *state, const plot_counts *counts, const histogram *data) {
  char name[CLI_NAME_MAX];
  cli_json(stdout, "'format': ?, 'normal': ?, 'subnormal': ?, ", JSON(plot_name(name, state)), JSON(counts->normal),
           JSON(counts->subnormal));
  if (state->scaled)
    cli_json(stdout, "'scale': ?, 'tensor_scale': ?, ", JSON((double)state->block.scale),
             JSON((double)state->block.tensor));
  fputs("\"data\": ", stdout);
  if (data)
    json_data(data, state);
  else
    fputs("null", stdout);
}

static void json_table(const plot_asked *asked, const plot_counts *counts, const histogram *data) {
  cli_json(stdout, asked->formats > 1 ? "{'out': ?, 'formats': [" : "{'out': ?, ", JSON(asked->output));
  for (size_t i = 0; i < asked->formats; i++) {
    if (asked->formats > 1) fputs(i ? ", {" : "{", stdout);
    json_format(&asked->list[i], &counts[i], data ? &data[i] : NULL);
    if (asked->formats > 1) fputs("}", stdout);
  }
  fputs(asked->formats > 1 ? "]}\n" : "}\n", stdout);
}

/* Draws the formats. data: a histogram for each of them, or NULL. */
static int draw(const plot_asked *asked, const histogram *data) {
  plot_counts counts[PLOT_FORMATS_MAX];
  cli_piece text = {NULL, 0};
  int status = plot_draw(&text, asked->list, asked->formats, data, counts);
  if (status == CLI_OK) status = cli_file_write(asked->output, &text, 1);
  if (status == CLI_OK && asked->shared.json) json_table(asked, counts, data);
  free((void *)text.data);
  return status;
}

static int draw_with(void *context, const cli_source *source, size_t rows, size_t cols) {
  plot_asked *asked = context;
  histogram *data = cli_alloc(asked->formats, sizeof *data);
  int status = data ? CLI_OK : CLI_BAD;
  size_t gathered = 0;
  while (status == CLI_OK && gathered < asked->formats) {
    status = plot_gather(&data[gathered], &asked->list[gathered], source, rows, cols);
    gathered++;
  }
  if (status == CLI_OK) status = draw(asked, data);
  for (size_t i = 0; i < gathered; i++) plot_histogram_free(&data[i]);
  free(data);
  return status;
}

static int draw_without(plot_asked *asked) {
  for (size_t i = 0; i < asked->formats; i++)
    if (asked->list[i].scaled && plot_block_of_one(&asked->list[i])) return CLI_BAD;
  return draw(asked, NULL);
}

/* Returns 1 if the order of the elements decides what they become. */
static int has_blocks(const plot_asked *asked) {
  for (size_t i = 0; i < asked->formats; i++)
    if (asked->list[i].scaled) return 1;
  return 0;
}

static int draw_with_data(plot_asked *asked) {
  cli_array x;
  if (cli_is_model(asked->data) || cli_ends(asked->data, ".gguf"))
    return cli_tensor_use(asked->data, asked->tensor, draw_with, asked);
  if (asked->tensor) return cli_fail(asked->data, "--tensor goes with a .safetensors or a .gguf file");
  if (cli_array_load(&x, asked->data)) return CLI_BAD;
  size_t rows, cols;
  cli_matrix(&rows, &cols, x.info.dims, x.info.shape);
  int status = has_blocks(asked) ? cli_array_in_rows(&x) : CLI_OK;
  cli_source source = cli_values_source(&x);
  if (status == CLI_OK) status = draw_with(asked, &source, rows, cols);
  cli_array_free(&x);
  return status;
}

/* Checks the file's name, by which people and programs judge what it is; a name without a suffix promises nothing. */
static int check_output(const plot_asked *asked, int json) {
  const char *slash = strrchr(asked->output, '/'), *name = slash ? slash + 1 : asked->output, *dot = strrchr(name, '.');
  int stem = dot ? (int)(dot - asked->output) : 0;
  if (asked->data && cli_spare_input(asked->output, asked->data, "give -o another name")) return CLI_BAD;
  if (!strcmp(asked->output, "-") && json) return cli_fail(NULL, "-o - and --json both write to standard output");
  if (!dot || dot == name || !strcasecmp(dot, ".svg")) return CLI_OK;
  return cli_fail(asked->output,
                  "drawings are SVG: give -o '%.*s.svg', and make another format of it, as with `rsvg-convert -o "
                  "'%s' '%.*s.svg'`",
                  stem, asked->output, asked->output, stem, asked->output);
}

/* Gives each format what was asked of all. */
static void share(plot_asked *asked) {
  for (size_t i = 0; i < asked->formats; i++) {
    plot_state *state = &asked->list[i];
    const hu_format format = state->numeric.format;
    const char *text = state->numeric.format_text;
    state->numeric = asked->shared;
    state->numeric.format = format;
    state->numeric.format_text = text;
    state->data = asked->data;
    state->tensor = asked->tensor;
  }
}

int cli_plot(int argc, char **argv) {
  plot_asked asked = {0};
  char **operands;
  int count, status = cli_parse(&command, &asked, argc, argv, &operands, &count);
  if (status >= 0) return status;
  if (cli_need_format(&asked.shared)) return CLI_BAD;
  if (!asked.output) return cli_fail(NULL, "plot: no output given; use -o FILE.svg");
  if (asked.tensor && !asked.data) return cli_fail(NULL, "plot: --tensor goes with --array IN.safetensors");
  if (check_output(&asked, asked.shared.json)) return CLI_BAD;
  share(&asked);
  status = asked.data ? draw_with_data(&asked) : draw_without(&asked);
  for (size_t i = 0; i < asked.formats; i++) plot_state_free(&asked.list[i]);
  return status;
}
