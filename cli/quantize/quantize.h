/* SPDX-License-Identifier: MIT */
/* cli/quantize/quantize.h - what `quantize`, `encode IN OUT` and `decode IN OUT` are asked, and who does it. */
#ifndef HALFULP_CLI_QUANTIZE_QUANTIZE_H
#define HALFULP_CLI_QUANTIZE_QUANTIZE_H

#include "cli/base/device.h"
#include "cli/target/target.h"
#include "cli/tensors/codes.h"
#include "cli/tensors/importance.h"

enum { CLI_GLOBS_MAX = 64 };

typedef struct cli_quantize_state {
  cli_numeric numeric;
  cli_target target; /* kind NULL: none given */
  int codes, device, widen, has_amax, in_place, rows_out, any_rank, packed;
  float amax;
  const char *output, *report, *layout, *importance;
  cli_importances weights;                /* what the file of --importance says */
  const char *from, *dtype, *activations; /* of folders for other programs */
  uint64_t file_bytes;
  const char *include[CLI_GLOBS_MAX], *exclude[CLI_GLOBS_MAX];
  int includes, excludes;
} cli_quantize_state;

/* Options of all three; 0 or an exit code. */
enum {
  CLI_KEY_CODES = CLI_KEY_FREE,
  CLI_KEY_DEVICE,
  CLI_KEY_AMAX,
  CLI_KEY_IMPORTANCE,
  CLI_KEY_WIDEN,
  CLI_KEY_REPORT,
  CLI_KEY_INCLUDE,
  CLI_KEY_EXCLUDE,
  CLI_KEY_IN_PLACE,
  CLI_KEY_ROWS,
  CLI_KEY_ANY_RANK,
  CLI_KEY_PACKED,
  CLI_KEY_LAYOUT,
  CLI_KEY_FROM,
  CLI_KEY_DTYPE,
  CLI_KEY_FILE_BYTES,
  CLI_KEY_ACTIVATIONS,
  CLI_KEY_OWN
};
#define CLI_OPTION_TARGET \
  { 'f', "format", "FORMAT", "a number format (halfulp formats; fp(e,m,b):suffixes), preset; for arrays also scaled" }
#define CLI_OPTIONS_FILES                                                                                       \
  {CLI_KEY_AMAX, "amax", "A", "scales from this amax of the tensor instead of its own (delayed scaling)"},      \
      {CLI_KEY_IMPORTANCE, "importance", "FILE",                                                                \
       "search for scales by how much columns count: an imatrix of llama.cpp, .npy, .safetensors"},             \
      {CLI_KEY_INCLUDE | CLI_REPEATS, "include", "GLOB", ".safetensors: of the tensors, those of these names"}, \
      {CLI_KEY_EXCLUDE | CLI_REPEATS, "exclude", "GLOB", ".safetensors: not the tensors of these names"},       \
      {CLI_KEY_ANY_RANK, "any-rank", NULL, ".safetensors: also tensors with fewer than two axes"}, {            \
    CLI_KEY_REPORT, "report", "FILE.html", "tables and drawings of the errors, a file that stands alone"        \
  }
#define CLI_OPTION_LAYOUT(key)                                                                       \
  {                                                                                                  \
    key, "layout", "NAME",                                                                           \
        ".safetensors: the layout of another program in which tensors are; auto: what the file says" \
  }
#define CLI_OPTION_DTYPE(key) \
  { key, "dtype", "NAME", "a folder as OUT: BF16, F16 or F32, the dtype of tensors that leave their layout" }
#define CLI_OPTION_ROWS                                                                      \
  {                                                                                          \
    CLI_KEY_ROWS, "rows", "WHICH",                                                           \
        "blocks lie along the last axis (default), or out: all but the first (convolutions)" \
  }
#define CLI_OPTION_IN_PLACE \
  { CLI_KEY_IN_PLACE, "in-place", NULL, "OUT may be IN, which is replaced; without OUT it is" }
int cli_quantize_set(cli_quantize_state *state, int key, const char *value);
/* Returns OUT: the second operand, or with --in-place the first one; NULL if there is neither. */
const char *cli_quantize_out(const cli_quantize_state *state, char **operands, int count);
/* Brings IN into OUT by the ends of their names. Returns 0 or an exit code. */
int cli_quantize_files(cli_quantize_state *state, const char *in, const char *out);
int cli_decode_files(cli_quantize_state *state, const char *in, const char *out);

/* Writes a model as a folder in the layout `target` of another program (write_model.c). */
int cli_write_model(const cli_quantize_state *state, const char *target, const char *in, const char *out);
/* Returns 1 for a name that ends as no file of tensors does. */
int cli_is_folder_name(const char *path);

/* Checks that the format takes an importance, and reads the file of --importance, where it is given, into the state; to
 * be freed. Returns 0, or an exit code after an error line. */
int cli_read_importance(cli_quantize_state *state, const char *out);
/* Sets what --importance says of the columns of a tensor of this name and shape, once the job has its matrix. Returns
 * 0, or an exit code after an error line: other numbers than columns. */
int cli_set_importance(cli_job *job, const cli_quantize_state *state, const char *tensor, uint32_t dims,
                       const size_t *shape);
/* Returns the layout that rounding commands open a model with: the one asked for; without one, and where --include
 * names tensors, NULL, so that codes and what scales them stay as they are. */
const char *cli_layout(const cli_quantize_state *state);
/* Returns the name of the one tensor that an array is: the file's without folder and .npy. To be freed; NULL: out of
 * memory. */
char *cli_array_tensor(const char *path);
/* Returns 1 for a name that ends in .safetensors or .safetensors.index.json, and for a folder. */
int cli_is_model(const char *path);
/* Calls `use` with the numbers of one tensor of a .safetensors file, as a matrix (target.h): the one of this name;
 * NULL: the only one of floats. The exit code of `use`, or one after an error line. */
typedef int cli_floats_use(void *context, const cli_source *source, size_t rows, size_t cols);
int cli_tensor_use(const char *path, const char *name, cli_floats_use *use, void *context);

/* Save and read codes in OUT.npy, of `info`, and their companions beside it: OUT.scales.npy, ..., and OUT.check.npy, a
 * digest of them all (codes_set.c). They are written whole or not at all; what is read goes into the parts' buffers,
 * where the codes are already. 0 or an exit code after an error line. */
int cli_parts_save(const char *path, const npy_info *info, const cli_parts *parts);
int cli_parts_load(cli_parts *parts, const char *path);
/* Returns what a part's codes may be. */
cli_code_rule cli_code_rule_part(const cli_part *part);
/* Checks that neither OUT nor a companion of it is IN or a companion of IN. The parts are those of OUT and of IN, NULL:
 * one file. in_place: OUT itself may be IN. */
int cli_parts_spare(const char *out, const cli_parts *of_out, const char *in, const cli_parts *of_in, int in_place);

/* Brings .npy to .npy (npy.c). */
int cli_quantize_array(const cli_quantize_state *state, cli_array *x, const char *in, const char *path,
                       const char *device);
int cli_decode_array(const cli_quantize_state *state, const char *in, const char *out);
/* Bring .safetensors, .gguf or one array to .safetensors, .gguf to .gguf (tensors.c); .safetensors back
 * (tensors_decode.c). */
int cli_quantize_tensors(const cli_quantize_state *state, const char *in, const char *out);
int cli_decode_tensors(const cli_quantize_state *state, const char *in, const char *out);
/* Brings .gguf to .gguf or .safetensors, its blocks to F32 (gguf_decode.c). */
int cli_decode_gguf(const cli_quantize_state *state, const char *in, const char *out);

#endif
