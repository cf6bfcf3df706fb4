/* SPDX-License-Identifier: MIT */
/* cli/quantize.h - what `quantize`, `encode IN OUT` and `decode IN OUT` are asked, and who does it. */
#ifndef HALFULP_CLI_QUANTIZE_H
#define HALFULP_CLI_QUANTIZE_H

#include "cli/device.h"
#include "cli/target.h"

enum { CLI_GLOBS_MAX = 64 };

typedef struct cli_quantize_state {
  cli_numeric numeric;
  cli_target target; /* kind NULL: none given */
  int codes, device, widen, has_amax;
  float amax;
  const char *output, *report;
  const char *include[CLI_GLOBS_MAX], *exclude[CLI_GLOBS_MAX];
  int includes, excludes;
} cli_quantize_state;

/* Options of all three; 0 or an exit code. */
enum {
  CLI_KEY_CODES = CLI_KEY_FREE,
  CLI_KEY_DEVICE,
  CLI_KEY_AMAX,
  CLI_KEY_WIDEN,
  CLI_KEY_REPORT,
  CLI_KEY_INCLUDE,
  CLI_KEY_EXCLUDE,
  CLI_KEY_JOBS,
  CLI_KEY_OWN
};
#define CLI_OPTION_TARGET \
  { 'f', "format", "FORMAT", "a number format (halfulp formats; fp(e,m,b):suffixes), preset; for arrays also scaled" }
#define CLI_OPTIONS_FILES                                                                                       \
  {CLI_KEY_AMAX, "amax", "A", "scales from this amax of the tensor instead of its own (delayed scaling)"},      \
      {CLI_KEY_INCLUDE, "include", "GLOB", ".safetensors: tensors of these names only, whatever their rank"},   \
      {CLI_KEY_EXCLUDE, "exclude", "GLOB", ".safetensors: not the tensors of these names"},                     \
      {CLI_KEY_REPORT, "report", "FILE.html", "tables and drawings of the errors, a file that stands alone"}, { \
    CLI_KEY_JOBS, "jobs", "N", "the same as --threads"                                                          \
  }
int cli_quantize_set(cli_quantize_state *state, int key, const char *value);
/* IN into OUT by the ends of their names. 0 or an exit code. */
int cli_quantize_files(cli_quantize_state *state, const char *in, const char *out);
int cli_decode_files(cli_quantize_state *state, const char *in, const char *out);

/* 1: the name ends so. */
int cli_ends(const char *name, const char *end);
/* OUT.npy and its companions: OUT.scales.npy. To be freed; NULL after an error line. */
char *cli_companion(const char *path, const char *suffix);

/* .npy to .npy (quantize_npy.c). */
int cli_quantize_array(const cli_quantize_state *s, cli_array *x, const char *path, const char *device);
int cli_decode_array(const cli_quantize_state *s, const char *in, const char *out);
/* .safetensors, or one array, to .safetensors, and back (model.c, model_decode.c). */
int cli_quantize_model(const cli_quantize_state *s, const char *in, const char *out);
int cli_decode_model(const cli_quantize_state *s, const char *in, const char *out);

#endif
