/* SPDX-License-Identifier: MIT */
/* halfulp compare - several formats on the same numbers. */
#include "cli/quantize/compare.h"

#include "cli/base/numbers.h"

static int set(void *state, int key, const char *value) {
  compare_asked *s = state;
  if (key != 'f') return cli_quantize_set(&s->common, key, value);
  if (s->count == COMPARE_FORMATS_MAX) return cli_fail(NULL, "--format: more than %d of them", COMPARE_FORMATS_MAX);
  s->formats[s->count++] = value;
  return CLI_OK;
}

static const cli_option options[] = {
    {'f' | CLI_REPEATS, "format", "FORMAT", "a format, as quantize takes them; give at least two"},
    CLI_OPTIONS_ROUND,
    CLI_OPTIONS_STREAM,
    {CLI_KEY_INCLUDE | CLI_REPEATS, "include", "GLOB", ".safetensors: of the tensors, those of these names"},
    {CLI_KEY_EXCLUDE | CLI_REPEATS, "exclude", "GLOB", ".safetensors: not the tensors of these names"},
    {CLI_KEY_ANY_RANK, "any-rank", NULL, ".safetensors: also tensors with fewer than two axes"},
    CLI_OPTION_ROWS,
    {CLI_KEY_REPORT, "report", "FILE.html", "the table and a drawing, a file that stands alone"},
    CLI_OPTION_THREADS,
    CLI_OPTION_JSON,
    {0}};
static const cli_command command = {
    "compare",
    "IN",
    "Round an array (.npy) or the tensors of a model (.safetensors, .gguf) into several formats, and compare",
    "Prints, for each tensor and format, the signal-to-quantization-noise ratio in dB, and for each format\n"
    "the bits per element (scales included), the largest error, the zeros and the overflows of all tensors.\n"
    "The tensors, the rounding and the errors are those of `halfulp quantize` with the same options; nothing\n"
    "is written but the report. A model that is quantized already is refused unless --include names tensors.",
    "  halfulp compare -f float8_e4m3fn -f mxfp8_e4m3 -f nvfp4 -f posit8 digits_weights.npy\n"
    "  halfulp compare -f mxfp4 -f nvfp4 -f s2fp8 --report /tmp/compare.html digits_weights.npy",
    options,
    1,
    1,
    set};

int cli_compare(int argc, char **argv) {
  compare_asked state = {0};
  char **operands;
  int count, status = cli_parse(&command, &state, argc, argv, &operands, &count);
  if (status >= 0) return status;
  if (state.count < 2) return cli_fail(NULL, "compare: requires two formats or more: -f FORMAT -f FORMAT");
  return cli_compare_file(&state, operands[0]);
}
