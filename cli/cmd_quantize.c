/* SPDX-License-Identifier: MIT */
/* halfulp quantize - an .npy array onto a format's grid. */
#include <stdlib.h>
#include <string.h>

#include "cli/array.h"
#include "cli/cli.h"
#include "cli/device.h"
#include "halfulp/formats/ieee.h"

enum { KEY_CODES = CLI_KEY_FREE, KEY_DEVICE };

typedef struct quantize_state {
  cli_numeric numeric;
  int codes, device;
} quantize_state;

static int set(void *state, int key, const char *value) {
  quantize_state *s = state;
  int shared = cli_set_numeric(&s->numeric, key, value);
  if (shared) return shared > 0 ? CLI_OK : CLI_BAD;
  if (key == KEY_CODES) s->codes = 1;
  return key == KEY_DEVICE ? cli_device_read(&s->device, value) : CLI_OK;
}

static const cli_option options[] = {
    CLI_OPTIONS_FORMAT,
    CLI_OPTIONS_ROUND,
    CLI_OPTIONS_STREAM,
    {KEY_CODES, "codes", NULL, "write codes (uint8, uint16 or uint32) instead of values"},
    CLI_OPTION_DEVICE(KEY_DEVICE),
    CLI_OPTION_THREADS,
    CLI_OPTION_JSON,
    {0}};
static const cli_command command = {
    "quantize",
    "IN.npy OUT.npy",
    "Round a float16, float32 or float64 array into a format, one rounding an element",
    "OUT.npy has the shape and order of IN.npy, little endian, and its dtype; a float16 array becomes\n"
    "float32, and a float16 or float32 array float64, where the narrower dtype cannot hold the format's\n"
    "values. Element i in the order of the file uses random word C + i. The report (events, errors) goes\n"
    "to standard output, or to standard error where OUT.npy is -. The device takes float32 input.",
    "  halfulp quantize -f float8_e4m3fn digits_weights.npy /tmp/w8.npy\n"
    "  halfulp quantize -f float8_e5m2 -r sra:16 --seed 7 --codes -j 2 --json digits_images.npy /tmp/x8.npy",
    options,
    2,
    2,
    set};

/* 1 if every value of f is one of binary16. */
static int fits_binary16(hu_format f) {
  hu_limits l = hu_format_limits(f);
  return f.m <= 10 && l.emax <= 15 && l.emin - f.m >= -24;
}

static npy_info output_info(const npy_info *in, hu_format f, int codes) {
  npy_info out = *in;
  out.big = 0;
  out.kind = codes ? 'u' : 'f';
  if (codes)
    out.size = (uint8_t)(hu_format_limits(f).storage / 8);
  else if (out.size == 2 && !fits_binary16(f))
    out.size = 4;
  if (!codes && out.size == 4 && !hu_format_fits_binary32(f)) out.size = 8;
  return out;
}

/* Values of codes in the output's own width; exact by the choice of output_info. */
static hu_status decode_into(void *z, const npy_info *out, const void *codes, hu_format f, const hu_exec *exec) {
  if (out->size == 8) return hu_decode64_n(out->count, z, 1, codes, 1, f, exec);
  if (out->size == 4) return hu_decode_n(out->count, z, 1, codes, 1, f, exec);
  return hu_convert_n(out->count, z, 1, hu_binary16(), codes, 1, f, (hu_mode){0}, exec, NULL);
}

static hu_status by_codes(void *z, const npy_info *out, const cli_array *x, const quantize_state *s,
                          const hu_exec *exec, hu_events *events) {
  hu_format f = s->numeric.format;
  void *codes = cli_room(x->info.count, hu_format_limits(f).storage / 8);
  if (!codes) return HU_E_MEMORY;
  hu_status status = cli_encode_array(codes, x, f, s->numeric.mode, exec, events);
  if (status == HU_OK) status = decode_into(z, out, codes, f, exec);
  free(codes);
  return status;
}

static hu_status on_cpu(void *z, const npy_info *out, const cli_array *x, const quantize_state *s, const hu_exec *exec,
                        hu_events *events) {
  hu_format f = s->numeric.format;
  hu_mode mode = s->numeric.mode;
  if (s->codes) return cli_encode_array(z, x, f, mode, exec, events);
  if (x->info.size == 8) return hu_quantize64_n(x->info.count, z, 1, x->data, 1, f, mode, exec, events);
  if (x->info.size == 4 && out->size == 4) return hu_quantize_n(x->info.count, z, 1, x->data, 1, f, mode, exec, events);
  return by_codes(z, out, x, s, exec, events);
}

static hu_status on_device(void *z, const cli_array *x, const quantize_state *s, const hu_exec *exec,
                           hu_events *events) {
  hu_format f = s->numeric.format;
  if (s->codes) return hu_device_host_encode_n(x->info.count, z, x->data, f, s->numeric.mode, exec, events);
  return hu_device_host_quantize_n(x->info.count, z, x->data, f, s->numeric.mode, exec, events);
}

static void report(FILE *out, const quantize_state *s, const cli_array *x, const npy_info *z, const hu_events *events,
                   const cli_errors *errors, const char *device) {
  char name[CLI_NAME_MAX], mode[CLI_NAME_MAX], shape[NPY_SHAPE_MAX];
  npy_shape(shape, &x->info);
  cli_shown_name(name, s->numeric.format, s->numeric.format_text);
  cli_mode_name(mode, s->numeric.mode);
  if (s->numeric.json) {
    fprintf(out, "{\"file\": ");
    cli_json_string(out, x->name);
    fprintf(out, ", \"format\": \"%s\", \"mode\": \"%s\", \"device\": ", name, mode);
    cli_json_string(out, device);
    fprintf(out, ", \"dtype_in\": \"%s\", \"dtype_out\": \"%s\", \"events\": ", npy_dtype(&x->info), npy_dtype(z));
    cli_json_events(out, events);
    fputs(", \"errors\": ", out);
    cli_json_errors(out, errors);
    fputs("}\n", out);
    return;
  }
  fprintf(out, "%s: %s %s to %s, %s, on %s; written as %s\n", x->name, npy_dtype(&x->info), shape, name, mode, device,
          npy_dtype(z));
  fprintf(out, "  events\n");
  cli_print_events(out, "    ", events);
  fprintf(out, "  errors\n");
  cli_print_errors(out, "    ", errors);
}

static int quantize_array(const quantize_state *s, const cli_array *x, const char *path, const char *device) {
  npy_info out = output_info(&x->info, s->numeric.format, s->codes);
  hu_exec exec = {s->numeric.threads, 0, s->numeric.stream};
  hu_events events = {0};
  cli_errors errors;
  if (s->device && x->info.size != 4)
    return cli_fail(x->name, "the device quantizes float32, this is %s", npy_dtype(&x->info));
  void *z = cli_room(out.count, out.size);
  if (!z) return CLI_BAD;
  hu_status status = s->device ? on_device(z, x, s, &exec, &events) : on_cpu(z, &out, x, s, &exec, &events);
  int code = status == HU_OK ? CLI_OK : cli_fail_status(x->name, status);
  if (code == CLI_OK) {
    cli_source from = cli_array_source(x, s->numeric.format);
    cli_source to = s->codes        ? cli_codes_source(z, s->numeric.format)
                    : out.size == 2 ? cli_codes_source(z, hu_binary16())
                                    : cli_floats_source(z, out.size);
    cli_measure(&errors, &from, &to, out.count);
    code = cli_array_save(path, &out, z);
  }
  if (code == CLI_OK) report(strcmp(path, "-") ? stdout : stderr, s, x, &out, &events, &errors, device);
  free(z);
  return code;
}

int cli_quantize(int argc, char **argv) {
  quantize_state state = {0};
  cli_array x;
  char device[CLI_DEVICE_MAX] = "CPU";
  char **operands;
  int count, status = cli_parse(&command, &state, argc, argv, &operands, &count);
  if (status >= 0) return status;
  if (cli_want_format(&state.numeric)) return CLI_BAD;
  if (state.device && cli_device_find(device)) return CLI_BAD;
  if (cli_array_load(&x, operands[0])) return CLI_BAD;
  if (x.info.kind != 'f')
    status = cli_fail(x.name, "quantize wants float16, float32 or float64, this is %s", npy_dtype(&x.info));
  else
    status = quantize_array(&state, &x, operands[1], device);
  cli_array_free(&x);
  return status;
}
