/* SPDX-License-Identifier: MIT */
/* cli/quantize/tensors.h - the tensors of a .safetensors or .gguf file that are brought into a target, and what became
 * of them. */
#ifndef HALFULP_CLI_QUANTIZE_TENSORS_H
#define HALFULP_CLI_QUANTIZE_TENSORS_H

#include <string.h>

#include "cli/quantize/quantize.h"
#include "cli/tensors/causes.h"
#include "files/gguf.h"
#include "files/safetensors.h"
#include "halfulp/checkpoint.h"

/* Magnitudes by floor(log2 |x|), from 2^-160 to 2^159; what lies beyond counts at the ends. Most tensors have few. */
enum { TENSORS_EXPONENTS = 320, TENSORS_LOWEST = -160 };
typedef struct tensors_exponents {
  uint64_t *counts; /* own memory: of places low .. low + count - 1; the others are 0 */
  int low, count;
  uint64_t zeros, others; /* others: infinities, NaN */
} tensors_exponents;
static inline uint64_t tensors_count(const tensors_exponents *counts, int i) {
  return i < counts->low || i - counts->low >= counts->count ? 0 : counts->counts[i - counts->low];
}
/* Keeps the counts of all places; what it had is forgotten. Returns 0, or an exit code after an error line. */
int tensors_pack(tensors_exponents *exponents, const uint64_t counts[TENSORS_EXPONENTS]);

typedef struct tensors_result {
  const st_tensor *tensor;
  int done;          /* 1: rounded; 0: copied */
  int left;          /* 1: copied for the end of its name alone, which is one of scales */
  uint64_t first;    /* random word of its element 0, from the stream's counter */
  double amax, bits; /* of the finite elements; bits per element as codes */
  cli_row_shape shape;
  uint64_t again; /* elements whose value the dtype lacks */
  uint64_t twice; /* elements that cli_job.twice counts */
  hu_events events;
  cli_blocks blocks;
  cli_errors errors;
  cli_causes causes;               /* where they are asked for; else of no elements */
  tensors_exponents before, after; /* of all that is copied: nothing */
} tensors_result;
void tensors_result_free(tensors_result *result);

typedef struct tensors_results {
  const char *in, *out;
  const cli_quantize_state *asked;
  tensors_result *list; /* one per tensor, in the order of the file */
  size_t count, done;
} tensors_results;

/* A file, or an .npy array as one tensor of the file's name. A model whose tensors are in layouts of other programs
 * (halfulp/checkpoint.h) is a file of their values, F32, and of the other tensors as they are; so is a folder, and an
 * index of several files. layout: the name of one, or "auto": what the files say; NULL: of a file all tensors are as
 * they are stored. 0, or an exit code after an error line. */
#define TENSORS_AUTO "auto"
typedef struct tensors_input {
  const char *name, *path;
  st_file file;
  const uint8_t *data;
  cli_bytes bytes;
  cli_array array;
  int is_array;
  gguf_file *gguf;       /* what a .gguf file has beside; NULL: none. Its tensors are those of `file` without a model */
  struct json_t *places; /* of its tensors by name, with a model */
  hu_checkpoint *model;  /* whose values the tensors are; NULL: the file's own bytes are */
  char *why;             /* why its layouts are not known, where it has codes and that is so; else NULL */
} tensors_input;
int tensors_open(tensors_input *in, const char *path, const char *layout);
/* Opens a model whatever its tensors are; names, shapes and layouts are those of in->model. */
int tensors_open_for_info(tensors_input *in, const char *path, const char *layout);
void tensors_close(tensors_input *in);

/* Parts of these two (model.c): looks for layouts, which `must` be known. */
int tensors_open_model(tensors_input *in, const char *layout, int must);
void tensors_close_model(tensors_input *in);
/* Checks that OUT replaces no file of a model; in_place: it may replace the only one. */
int tensors_spare_model(const tensors_input *in, const char *out, int in_place);
/* Check that a report replaces nothing that is read: by an operand's path, before it is opened, that it does not lie in
 * that folder, and is not a .json file of it or beside that file; once it is open, that it is not one of its files. The
 * report may be NULL then. 0, or an exit code after an error line. */
#define TENSORS_OTHER_REPORT "give --report another name"
int tensors_spare_operand(const char *report, const char *path);
int tensors_spare_read(const tensors_input *in, const char *report);
/* Returns a tensor's bytes as they are stored; NULL: it has values, of which some are read into z. */
const uint8_t *tensors_bytes(const tensors_input *in, const st_tensor *tensor);
int tensors_read_values(float *z, const tensors_input *in, const st_tensor *tensor, size_t first, size_t n);
/* Returns a tensor of a .gguf file that is read as a model, as it is stored; NULL: there is none of that name. */
const gguf_tensor *tensors_stored(const tensors_input *in, const char *name);
/* Writes a tensor's bytes or values at a place of the output. */
int tensors_copy(cli_output *output, size_t at, const tensors_input *in, const st_tensor *tensor);

/* Returns 1 for F64, F32, F16, BF16; BOOL and the integers. */
int tensors_is_float(int dtype);
int tensors_is_integer(int dtype);
/* Returns 1 for one of these, and of GGUF no block; and the name of its type there. */
int tensors_has_numbers(const tensors_input *in, const st_tensor *tensor);
const char *tensors_type_name(const tensors_input *in, const st_tensor *tensor);
/* Returns CLI_OK, or an error line: a tensor of BOOL has a byte that is neither 0 nor 1. */
int tensors_check_bool(const tensors_input *in, const st_tensor *tensor);
/* Returns the dtype of a tensor's values: its own, that of an array of integers F32, or F64 where F32 lacks them. */
int tensors_value_dtype(const cli_target *target, int dtype);
/* Returns the numbers of a tensor of one of these dtypes. */
cli_source tensors_source(int dtype, const void *data);
/* Returns the tensor's bytes where floats can be read, in this machine's order: its own, or a copy in *owned. NULL
 * after an error line. */
const void *tensors_aligned(void **owned, const tensors_input *in, const st_tensor *tensor);
/* Returns a native dtype for codes of a plain format: F8_E4M3 for float8_e4m3fn; -1: none. */
int tensors_native(const cli_target *target);
/* Returns "NAME.codes"; "halfulp.NAME", the key of the metadata that say how to decode. To be freed; NULL: reported. */
char *tensors_name(const char *name, const char *suffix);
char *tensors_key(const char *name);
/* Does what st_layout does. Returns 0, or an exit code after an error line. */
int tensors_layout(st_file *plan, const char *out);

/* What the metadata say of a tensor in codes: "F32 [64, 10] scaled(...)" under halfulp.NAME, or with --rows out, where
 * that matters, "F32 [64, 3, 3, 3] rows=out scaled(...)" (tensors_notes.c). */
#define TENSORS_ROWS_OUT "rows=out "
typedef struct tensors_kind {
  cli_target target;
  cli_parts parts; /* their suffixes; sizes are those of an empty tensor */
  int native;      /* tensors_native */
} tensors_kind;
typedef struct tensors_note {
  const char *name; /* of the tensor */
  int dtype;
  int rows_out; /* 1: --rows out */
  uint32_t dims;
  size_t shape[ST_DIMS_MAX];
  const tensors_kind *kind; /* one for all notes with its text */
} tensors_note;
typedef struct tensors_notes {
  tensors_note *list;
  size_t count;
  tensors_kind **kinds;
  size_t kind_count;
  struct json_t *texts, *names; /* st_place: of the kinds, of the notes */
} tensors_notes;
/* Reads a file's notes, maybe none; to be freed, also after an error line. Returns 0, or an exit code after one. */
int tensors_notes_read(tensors_notes *notes, const tensors_input *in);
void tensors_notes_free(tensors_notes *notes);
/* Returns 1 if the entry is one, right or wrong. */
static inline int tensors_is_note(const st_entry *entry) { return !strncmp(entry->key, "halfulp.", 8); }
/* Returns 1 if the tensor holds codes or scales of a note. */
int tensors_is_part(const st_tensor *tensor, const tensors_notes *notes);

/* One tensor from in to its place in the output (one_tensor.c): 0, or an exit code after an error line. */
typedef struct tensors_work {
  const cli_quantize_state *state;
  const tensors_input *in;
  const st_file *plan;
  cli_output *output;    /* NULL: nothing is written */
  unsigned threads;      /* within a tensor */
  const gguf_file *made; /* a .gguf file that is written, its tensors in the order of the plan; NULL: another */
} tensors_work;
int tensors_one(const tensors_work *work, tensors_result *result);
/* Adds the errors of values by their causes (causes_of.c). Returns 0, or an exit code after an error line. */
int tensors_causes(tensors_result *result, const cli_source *values, const cli_target *target, const cli_job *job);

/* Returns 1 if an --include has the tensor's whole name, and no pattern. */
int tensors_is_named(const cli_quantize_state *state, const st_tensor *tensor);
/* Spares a model that is quantized already (tensors_spare.c): codes and what scales them are not rounded. Returns 0, or
 * an exit code after an error line: something in codes is there, and no tensors are named. */
int tensors_spare(tensors_results *results, const tensors_input *in);

/* Choose the tensors of a file that are rounded, into a new results->list (tensors.c); and make of them what the target
 * does, as values that are written nowhere. doing: what the progress line says. 0, or an exit code after an error
 * line. */
int tensors_choose(tensors_results *results, const tensors_input *in);
int tensors_measure(tensors_results *results, const tensors_input *in, const char *doing);
void tensors_results_free(tensors_results *results);

/* Writes the values of a model that is open: OUT.safetensors, or OUT.npy of one tensor (model_decode.c). */
int cli_decode_model(const cli_quantize_state *state, const tensors_input *in, const char *out);

/* Prints what standard output gets, and the report. */
void tensors_print(FILE *out, const tensors_results *results);
/* Prints notes of those that are left for their names. */
void tensors_print_left(FILE *out, const tensors_results *results);
void tensors_json(FILE *out, const tensors_results *results);
int tensors_report(const char *path, const tensors_results *results);
/* Returns sums over all that was rounded; to be freed. */
tensors_result tensors_total(const tensors_results *results);

#endif
