/* SPDX-License-Identifier: MIT */
/* halfulp quantize - arrays and models onto a format's grid. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/base/numbers.h"
#include "cli/quantize/quantize.h"

static int read_amax(cli_quantize_state *state, const char *value) {
  number z;
  if (!number_parse(&z, value) || !(z.value >= 0) || isinf(z.value) || !z.exact || (double)(float)z.value != z.value)
    return cli_fail(NULL, "--amax: '%s' is not a binary32 number from 0 on (hexadecimal ones are exact: 0x1.8p+1)",
                    value);
  state->amax = (float)z.value;
  state->has_amax = 1;
  return CLI_OK;
}

static int add_glob(const char **list, int *count, const char *option, const char *value) {
  if (*count == CLI_GLOBS_MAX) return cli_fail(NULL, "%s: more than %d of them", option, CLI_GLOBS_MAX);
  list[(*count)++] = value;
  return CLI_OK;
}

static int read_rows(cli_quantize_state *state, const char *value) {
  state->rows_out = !strcmp(value, "out");
  if (state->rows_out || !strcmp(value, "last")) return CLI_OK;
  return cli_fail(NULL, "--rows: '%s' is neither last nor out", value);
}

static int read_file_bytes(cli_quantize_state *state, const char *value) {
  number z;
  if (!number_parse(&z, value) || !(z.value >= 1) || !(z.value <= 0x1p62) || z.value != floor(z.value))
    return cli_fail(NULL, "--file-bytes: '%s' is not a number of bytes from 1 on", value);
  state->file_bytes = (uint64_t)z.value;
  return CLI_OK;
}

static int set_target(cli_quantize_state *state, const char *value) {
  if (cli_target_read(&state->target, value)) return CLI_BAD;
  state->numeric.format_text = value;
  state->numeric.format = state->target.format;
  return CLI_OK;
}

int cli_quantize_set(cli_quantize_state *state, int key, const char *value) {
  if (key == 'f') return set_target(state, value);
  int shared = cli_set_numeric(&state->numeric, key, value);
  if (shared) return shared > 0 ? CLI_OK : CLI_BAD;
  switch (key) {
    case 'o': state->output = value; return CLI_OK;
    case CLI_KEY_CODES: state->codes = 1; return CLI_OK;
    case CLI_KEY_WIDEN: state->widen = 1; return CLI_OK;
    case CLI_KEY_IN_PLACE: state->in_place = 1; return CLI_OK;
    case CLI_KEY_ANY_RANK: state->any_rank = 1; return CLI_OK;
    case CLI_KEY_PACKED: state->packed = 1; return CLI_OK;
    case CLI_KEY_LAYOUT: state->layout = value; return CLI_OK;
    case CLI_KEY_FROM: state->from = value; return CLI_OK;
    case CLI_KEY_DTYPE: state->dtype = value; return CLI_OK;
    case CLI_KEY_ACTIVATIONS: state->activations = value; return CLI_OK;
    case CLI_KEY_FILE_BYTES: return read_file_bytes(state, value);
    case CLI_KEY_ROWS: return read_rows(state, value);
    case CLI_KEY_REPORT: state->report = value; return CLI_OK;
    case CLI_KEY_IMPORTANCE: state->importance = value; return CLI_OK;
    case CLI_KEY_AMAX: return read_amax(state, value);
    case CLI_KEY_DEVICE: return cli_device_read(&state->device, value);
    case CLI_KEY_INCLUDE: return add_glob(state->include, &state->includes, "--include", value);
    case CLI_KEY_EXCLUDE: return add_glob(state->exclude, &state->excludes, "--exclude", value);
    default: return CLI_OK;
  }
}

const char *cli_quantize_out(const cli_quantize_state *state, char **operands, int count) {
  if (count == 2) return operands[1];
  return count == 1 && state->in_place && strcmp(operands[0], "-") != 0 ? operands[0] : NULL;
}

static int set(void *context, int key, const char *value) { return cli_quantize_set(context, key, value); }

static const cli_option options[] = {
    CLI_OPTION_TARGET,
    {'o', "output", "OUT", "the same as the second operand"},
    CLI_OPTIONS_ROUND,
    CLI_OPTIONS_STREAM,
    {CLI_KEY_CODES, "codes", NULL, "write codes (and scales) instead of values"},
    {CLI_KEY_WIDEN, "widen", NULL, ".safetensors: values of F16 and BF16 tensors become F32, not rounded again"},
    CLI_OPTIONS_FILES,
    {CLI_KEY_LAYOUT, "layout", "NAME",
     "OUT.safetensors: the layout that IN has, auto: what the file says; "
     "a folder as OUT: the layout that OUT gets"},
    {CLI_KEY_FROM, "from", "NAME", "a folder as OUT: the layout that IN has, where the file leaves it open"},
    CLI_OPTION_DTYPE(CLI_KEY_DTYPE),
    {CLI_KEY_ACTIVATIONS, "activation-scales", "MODEL",
     "a folder as OUT: scales of activations that are written, too: NAME.input_scale of each layer"},
    {CLI_KEY_FILE_BYTES, "file-bytes", "N", "a folder as OUT: the most bytes of tensors in a file (5e9)"},
    CLI_OPTION_ROWS,
    CLI_OPTION_IN_PLACE,
    CLI_OPTION_DEVICE(CLI_KEY_DEVICE),
    CLI_OPTION_THREADS,
    CLI_OPTION_JSON,
    {0}};
static const cli_command command = {
    "quantize",
    "IN OUT",
    "Round an array (.npy) or the tensors of a model (.safetensors, .gguf) into a format",
    "FORMAT: a number format, a scaled one (mxfp8_e4m3, nvfp4, bfp(3,8,16), scaled(...)), s2fp8, hifloat4, or\n"
    "another number system (posit8, nf4, q(3.4), ...); or a preset, another program's conversion (halfulp presets),\n"
    "which says how to round, too. Scaled formats see an array as a matrix: the last axis is the\n"
    "row, all others count the rows. With --rows out the first axis counts them, and the weights of a\n"
    "convolution have the blocks of halfulp.torch's Conv2d.\n"
    "\n"
    "OUT may not be IN unless --in-place is given.\n"
    "\n"
    ".npy: OUT.npy has the shape and order of IN.npy, little endian, and its dtype; a float16 array\n"
    "becomes float32, and a float16 or float32 array float64, where the narrower dtype cannot hold the\n"
    "format's values. Integers (int8 to int64, uint8 to uint64) and bool are values, too, rounded once, and\n"
    "become float32 or float64. Of scaled formats OUT.npy is in C order. Element i, counted row by row (C order)\n"
    "also in a file in Fortran order, uses random word C + i. With --codes, OUT.npy holds uint8, uint16 or\n"
    "uint32; of scaled formats, OUT.scales.npy and OUT.tensor.npy the scales, and OUT.check.npy a digest of all:\n"
    "the files are replaced together, or none is. The report (events, blocks, errors) goes to standard output,\n"
    "or to standard error where OUT.npy is -. The device takes float32 input and plain formats.\n"
    "\n"
    ".safetensors: tensors of dtype F64, F32, F16 and BF16 with two axes or more are rounded, all others\n"
    "copied; --include and --exclude choose by name, --any-rank adds those with fewer axes. Integers and\n"
    "BOOL are rounded where --include has the whole name. A model that is quantized already (F8, F6 or F4\n"
    "tensors, integers with scales, a quantization_config in its metadata or in config.json beside it) is\n"
    "refused unless --include names tensors; codes and scales are never rounded. Values keep\n"
    "their dtype (one more rounding, ties to even, where that is F16 or BF16 and lacks them; the report\n"
    "counts it). With --codes, NAME becomes NAME.codes, NAME.scales and NAME.tensor, which `halfulp decode`\n"
    "reads (docs/files.md).\n"
    "\n"
    "A folder: --layout NAME writes the model as another program loads it, with config.json, files of at most\n"
    "--file-bytes and an index; without -f as that program quantizes, with -f by a scaled format of the same blocks.\n"
    "Matrices NAME.weight are chosen, but lm_head, embeddings, norms and routers, or what --include names. Codes and\n"
    "scales are moved where the layout of IN has the same; else values are rounded, and what changed is counted.\n"
    "NAME: ct-fp8-tensor ct-fp8-channel ct-fp8-block ct-nvfp4 ct-mxfp4 ct-mxfp8 ct-int4 ct-int4-32\n"
    "(compressed-tensors), modelopt-fp8 modelopt-nvfp4, hf-fp8, gpt-oss-mxfp4, mlx-affine mlx-mxfp4 mlx-mxfp8\n"
    "mlx-nvfp4, f8-e4m3 f8-e5m2, bf16 f16 f32 (docs/checkpoints.md, section 5).\n"
    "\n"
    ".gguf: the same tensors and the values of blocks, into OUT.safetensors, or into OUT.gguf with the order, types\n"
    "and metadata of IN.gguf, where blocks that are not chosen stay. With --codes they become MXFP4 (-f ggml.mxfp4), "
    "NVFP4 (-f ggml.nvfp4), Q4_0, Q4_1, Q5_0, Q5_1,\n"
    "Q8_0 (-f ggml.q4_0 and so on), Q2_K to Q6_K (-f ggml.q2_k ...), IQ4_NL, IQ4_XS (-f ggml.iq4_nl ...), F16\n"
    "or BF16, laid out as ggml does; `halfulp decode` makes F32 of these (docs/files.md, section 7).\n"
    "--importance FILE weighs errors by column where scales are searched for: llama.cpp's imatrix (GGUF, or the\n"
    "earlier .dat), .safetensors with NAME, or .npy for one tensor.",
    "  halfulp quantize -f float8_e4m3fn digits_weights.npy /tmp/w8.npy\n"
    "  halfulp quantize -f float8_e5m2 -r sra:16 --seed 7 --codes -j 2 --json digits_images.npy /tmp/x8.npy\n"
    "  halfulp quantize -f nvfp4 --codes digits_weights.npy /tmp/w4.safetensors\n"
    "  halfulp quantize -f mxfp8_e4m3 --report /tmp/w.html digits_weights.npy -o /tmp/w.safetensors\n"
    "  halfulp quantize -f torch.float8_e4m3fn digits_weights.npy /tmp/wt.npy\n"
    "  halfulp quantize --layout ct-nvfp4 model-fp8/ model-nvfp4/",
    options,
    1,
    2,
    set};

static int from_array(const cli_quantize_state *state, const char *in, const char *out) {
  cli_array x;
  char device[CLI_DEVICE_MAX] = "CPU";
  const char *tensors_alone = state->report     ? "report"
                              : state->widen    ? "widen"
                              : state->includes ? "include"
                              : state->excludes ? "exclude"
                              : state->any_rank ? "any-rank"
                                                : NULL;
  if (tensors_alone) return cli_fail(NULL, "--%s goes with a .safetensors or a .gguf file as OUT", tensors_alone);
  if (state->device && cli_device_find(device)) return CLI_BAD;
  if (cli_array_load(&x, in)) return CLI_BAD;
  int status = cli_quantize_array(state, &x, in, out, device);
  cli_array_free(&x);
  return status;
}

static int quantize_files(cli_quantize_state *state, const char *in, const char *out) {
  if (cli_ends(out, ".safetensors") || cli_ends(out, ".gguf")) return cli_quantize_tensors(state, in, out);
  if (cli_is_model(in)) return cli_fail(out, "a model (.safetensors, its index, a folder) becomes a .safetensors file");
  if (cli_ends(in, ".gguf")) return cli_fail(out, "a .gguf file becomes a .gguf or a .safetensors file");
  return from_array(state, in, out);
}

int cli_quantize_files(cli_quantize_state *state, const char *in, const char *out) {
  if (state->layout && cli_is_folder_name(out)) {
    if (state->importance) return cli_fail(NULL, "--importance goes with -f and a file as OUT");
    return cli_write_model(state, state->layout, in, out);
  }
  if (state->from || state->dtype || state->file_bytes || state->activations)
    return cli_fail(NULL,
                    "--from, --dtype, --file-bytes and --activation-scales go with --layout NAME and a folder as OUT");
  if (!state->target.kind) return cli_fail(NULL, "no format given; use -f FORMAT");
  if (cli_preset_mode(&state->numeric, &state->target)) return CLI_BAD;
  int code = cli_read_importance(state, out);
  if (code == CLI_OK) code = quantize_files(state, in, out);
  cli_importances_free(&state->weights);
  return code;
}

/* Returns 1 if OUT is to be a folder: it is one, ends in a slash, or the dtype of its tensors is given. */
static int is_folder(const cli_quantize_state *state, const char *in, const char *out) {
  struct stat info;
  int there = stat(out, &info) == 0 && S_ISDIR(info.st_mode);
  return cli_is_model(in) && cli_is_folder_name(out) && (state->dtype || there || out[strlen(out) - 1] == '/');
}

static int decode_folder(cli_quantize_state *state, const char *in, const char *out) {
  static const char *const names[][2] = {{"F32", "f32"}, {"BF16", "bf16"}, {"F16", "f16"}};
  state->from = state->layout;
  for (size_t i = 0; i < 3; i++)
    if (!strcmp(state->dtype ? state->dtype : "F32", names[i][0])) return cli_write_model(state, names[i][1], in, out);
  return cli_fail(NULL, "--dtype: '%s' is not one of F32, BF16 and F16", state->dtype);
}

int cli_decode_files(cli_quantize_state *state, const char *in, const char *out) {
  if (is_folder(state, in, out)) return decode_folder(state, in, out);
  if (state->dtype) return cli_fail(NULL, "--dtype goes with a model and a folder as OUT");
  if (cli_ends(in, ".gguf")) return cli_decode_gguf(state, in, out);
  return cli_is_model(in) ? cli_decode_tensors(state, in, out) : cli_decode_array(state, in, out);
}

int cli_quantize(int argc, char **argv) {
  cli_quantize_state state = {0};
  char **operands;
  int count, status = cli_parse(&command, &state, argc, argv, &operands, &count);
  if (status >= 0) return status;
  if (count == 2 && state.output)
    return cli_fail(NULL, "quantize: '%s' and -o '%s' are two outputs; give one", operands[1], state.output);
  const char *out = state.output ? state.output : cli_quantize_out(&state, operands, count);
  if (!out)
    return cli_fail(NULL,
                    "quantize: requires IN.npy OUT.npy, or IN.safetensors and -o OUT.safetensors, or --in-place; see "
                    "`halfulp quantize --help`");
  return cli_quantize_files(&state, operands[0], out);
}
