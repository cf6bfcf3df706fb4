/* SPDX-License-Identifier: MIT */
/* checkpoint.safetensors: the tensors of the trainer in binary32, and in the metadata, as JSON objects in strings, its
 * state ("state", the lines key=value of hu_trainer_state) and the command's own sums ("totals"). See train.h. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/io.h"
#include "cli/tensors/array.h"
#include "cli/train/train.h"
#include "files/safetensors.h"

#define FILE_NAME "checkpoint.safetensors"
#define KIND "halfulp training run, 1"

/* ---- texts ---- */

/* Makes a JSON object of the lines key=value; NULL: out of memory, or a key twice. */
static char *json_of_lines(char *lines) {
  json_t *object = json_object();
  int bad = !object;
  char *rest = NULL;
  for (char *line = strtok_r(lines, "\n", &rest); line && !bad; line = strtok_r(NULL, "\n", &rest)) {
    char *value = strchr(line, '=');
    if (value) *value++ = 0;
    bad = !value || json_object_get(object, line) || json_object_set_new(object, line, json_string(value));
  }
  char *text = bad ? NULL : json_dumps(object, JSON_COMPACT);
  json_decref(object);
  return text;
}

static char *state_text(const hu_trainer *trainer) {
  size_t size = hu_trainer_state(trainer, NULL, 0) + 1;
  char *lines = malloc(size), *text = NULL;
  if (lines && hu_trainer_state(trainer, lines, size) < size) text = json_of_lines(lines);
  free(lines);
  return text;
}

/* Makes lines of such an object; NULL if it is another one. */
static char *lines_of_json(const json_t *object) {
  char *text = NULL;
  size_t size;
  const char *key;
  json_t *value;
  FILE *out = open_memstream(&text, &size);
  if (!out) return NULL;
  int bad = !json_is_object(object);
  json_object_foreach((json_t *)(uintptr_t)object, key, value) {
    bad |= !json_is_string(value);
    if (!bad) fprintf(out, "%s=%s\n", key, json_string_value(value));
  }
  if (!fclose(out) && !bad) return text;
  free(text);
  return NULL;
}

static json_t *json_of_counts(const uint64_t counts[HU_EXPONENTS]) {
  json_t *list = json_array();
  for (int i = 0; i < HU_EXPONENTS && list; i++) {
    if (!json_array_append_new(list, json_integer((json_int_t)counts[i]))) continue;
    json_decref(list);
    list = NULL;
  }
  return list;
}

static char *totals_text(const train_run *run) {
  const train_totals *totals = &run->totals;
  char low[64];
  snprintf(low, sizeof low, "%a", totals->low); /* exact; a sum that is continued has the same bits */
  json_t *object =
      json_pack("{s:I,s:I,s:I,s:s,s:I,s:I,s:I,s:I,s:o,s:o}", "steps", (json_int_t)hu_trainer_steps(run->trainer),
                "moved", (json_int_t)totals->updates.moved, "lost", (json_int_t)totals->updates.lost, "low", low,
                "overflow", (json_int_t)totals->overflow, "underflow", (json_int_t)totals->underflow, "samples",
                (json_int_t)totals->samples, "evaluations", (json_int_t)totals->seen, "gradients",
                json_of_counts(totals->gradients), "weight_gradients", json_of_counts(totals->weight_gradients));
  if (object && (totals->end_samples || totals->end_seen)) {
    json_t *end = json_pack("{s:I,s:I,s:o,s:o}", "samples", (json_int_t)totals->end_samples, "evaluations",
                            (json_int_t)totals->end_seen, "gradients", json_of_counts(totals->end_gradients),
                            "weight_gradients", json_of_counts(totals->end_weight_gradients));
    if (json_object_set_new(object, "end", end)) {
      json_decref(object);
      object = NULL;
    }
  }
  char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;
  json_decref(object);
  return text;
}

static int read_counts(uint64_t counts[HU_EXPONENTS], const json_t *list) {
  if (json_array_size(list) != HU_EXPONENTS) return 0;
  for (size_t i = 0; i < HU_EXPONENTS; i++) counts[i] = (uint64_t)json_integer_value(json_array_get(list, i));
  return 1;
}

static int read_end(train_totals *totals, json_t *end) {
  json_int_t samples, seen;
  json_t *list, *weights;
  if (!end) return 1;
  if (json_unpack(end, "{s:I,s:I,s:o,s:o}", "samples", &samples, "evaluations", &seen, "gradients", &list,
                  "weight_gradients", &weights))
    return 0;
  if (samples < 0 || samples > 1 || seen < 0 || seen > 1) return 0;
  totals->end_samples = (uint64_t)samples;
  totals->end_seen = (uint64_t)seen;
  return totals->end_samples <= totals->samples && totals->end_seen <= totals->seen &&
         read_counts(totals->end_gradients, list) && read_counts(totals->end_weight_gradients, weights);
}

static int read_totals(train_totals *totals, const char *text) {
  json_int_t moved, lost, overflow, underflow, samples, seen;
  const char *low;
  json_t *exponents, *weights, *object = text ? json_loads(text, 0, NULL) : NULL;
  int good = object && !json_unpack(object, "{s:I,s:I,s:s,s:I,s:I,s:I,s:I,s:o,s:o}", "moved", &moved, "lost", &lost,
                                    "low", &low, "overflow", &overflow, "underflow", &underflow, "samples", &samples,
                                    "evaluations", &seen, "gradients", &exponents, "weight_gradients", &weights);
  if (good) {
    *totals = (train_totals){.updates = {(uint64_t)moved, (uint64_t)lost},
                             .low = strtod(low, NULL),
                             .overflow = (uint64_t)overflow,
                             .underflow = (uint64_t)underflow,
                             .samples = (uint64_t)samples,
                             .seen = (uint64_t)seen};
    good = read_counts(totals->gradients, exponents) && read_counts(totals->weight_gradients, weights) &&
           read_end(totals, json_object_get(object, "end"));
  }
  json_decref(object);
  return good;
}

/* ---- writing ---- */

static int plan(st_file *file, const train_run *run) {
  char *state = state_text(run->trainer), *totals = totals_text(run);
  int good =
      state && totals && st_set(file, "kind", KIND) && st_set(file, "state", state) && st_set(file, "totals", totals);
  for (size_t i = 0; i < hu_trainer_tensor_count(run->trainer) && good; i++) {
    hu_trainer_tensor tensor = hu_trainer_tensor_at(run->trainer, i);
    good = st_add(file, tensor.name, ST_F32, 2, (const size_t[]){tensor.rows, tensor.cols});
  }
  free(state);
  free(totals);
  return good && !st_layout(file);
}

/* Collects the bytes of all tensors, little endian, each where the plan has it; NULL: out of memory. */
static uint8_t *numbers_of(const st_file *file, const hu_trainer *trainer, size_t *size) {
  *size = 0;
  for (size_t i = 0; i < file->count; i++) *size += file->tensors[i].size;
  uint8_t *z = malloc(*size ? *size : 1);
  for (size_t i = 0; i < hu_trainer_tensor_count(trainer) && z; i++) {
    const st_tensor *tensor = st_find(file, hu_trainer_tensor_at(trainer, i).name);
    if (hu_trainer_read(trainer, i, (float *)(void *)(z + tensor->begin)) == HU_OK) continue;
    free(z);
    z = NULL;
  }
  if (z && CLI_HOST_BIG) cli_copy_swapped(z, z, *size / 4, 4);
  return z;
}

int train_checkpoint(const train_run *run) {
  st_file file = {0};
  size_t length = 0, size = 0;
  char *path = train_path(run, FILE_NAME), *header = path && plan(&file, run) ? st_header(&file, &length) : NULL;
  uint8_t *numbers = header ? numbers_of(&file, run->trainer, &size) : NULL;
  const cli_piece pieces[] = {{header, length}, {numbers, size}};
  int status = numbers ? train_log_sync(run) : cli_fail(path ? path : run->out, "out of memory");
  if (status == CLI_OK) status = cli_own_write(path, pieces, 2);
  if (status == CLI_OK) cli_folder_sync(path);
  st_free(&file);
  free(numbers);
  free(header);
  free(path);
  return status;
}

/* ---- continuing ---- */

typedef struct opened {
  char *path;
  cli_bytes bytes;
  st_file file;
  json_t *state;
} opened;

static void close_it(opened *file) {
  json_decref(file->state);
  st_free(&file->file);
  cli_bytes_free(&file->bytes);
  free(file->path);
}

static int open_it(opened *file, const train_run *run) {
  char error[ST_ERROR_MAX];
  memset(file, 0, sizeof *file);
  file->path = train_path(run, FILE_NAME);
  if (!file->path || cli_own_read(&file->bytes, file->path)) {
    free(file->path);
    return CLI_BAD;
  }
  int status = CLI_OK;
  if (!st_parse(&file->file, file->bytes.data, file->bytes.size, error)) status = cli_fail(file->path, "%s", error);
  const char *kind = st_value(&file->file, "kind"), *state = st_value(&file->file, "state");
  if (status == CLI_OK && (!kind || strcmp(kind, KIND) != 0 || !state))
    status = cli_fail(file->path, "not a checkpoint of `halfulp train`");
  if (status == CLI_OK) file->state = json_loads(state, JSON_REJECT_DUPLICATES, NULL);
  if (status == CLI_OK && !json_is_object(file->state)) status = cli_fail(file->path, "its state is not a JSON object");
  if (status != CLI_OK) close_it(file);
  return status;
}

/* Checks keys before tensors are compared: the error line for another model names its key, and not a tensor that is
 * missing. The trainer looks at lengths, which may differ. */
static int check_keys(const opened *file, const train_run *run) {
  for (size_t i = 0; i < hu_trainer_key_count(); i++) {
    hu_trainer_key key = hu_trainer_key_at(i);
    const char *here = hu_trainer_get(run->trainer, key.name);
    const char *there = json_string_value(json_object_get(file->state, key.name));
    if (!key.weights || !strcmp(here, there ? there : "")) continue;
    /* The trainer knows which keys checkpoints of earlier versions have not: their runs were as the defaults say. */
    if (!there && !strcmp(here, key.by_default)) continue;
    if (!there) return cli_fail(file->path, "a checkpoint of another configuration: it has no %s", key.name);
    if (!strcmp(key.name, "run.epochs") || !strcmp(key.name, "run.steps")) continue;
    return cli_fail(
        file->path,
        "a checkpoint of another configuration: %s is '%s' there, '%s' here; config.ini beside it has its keys",
        key.name, there, here);
  }
  return CLI_OK;
}

static int read_tensor(const opened *file, const train_run *run, size_t i) {
  hu_trainer_tensor expected = hu_trainer_tensor_at(run->trainer, i);
  const st_tensor *tensor = st_find(&file->file, expected.name);
  if (!tensor) return cli_fail(file->path, "tensor '%s' is missing", expected.name);
  if (tensor->dtype != ST_F32 || tensor->dims != 2 || tensor->shape[0] != expected.rows ||
      tensor->shape[1] != expected.cols)
    return cli_fail(file->path, "tensor '%s' is not F32 [%zu, %zu]", expected.name, expected.rows, expected.cols);
  uint8_t *numbers = malloc(tensor->size ? tensor->size : 1);
  if (!numbers) return cli_fail(file->path, "out of memory");
  if (CLI_HOST_BIG)
    cli_copy_swapped(numbers, file->bytes.data + file->file.data + tensor->begin, tensor->count, 4);
  else
    memcpy(numbers, file->bytes.data + file->file.data + tensor->begin, tensor->size);
  hu_status status = hu_trainer_write(run->trainer, i, (const float *)(void *)numbers);
  free(numbers);
  return status == HU_OK ? CLI_OK : cli_fail_status(file->path, status);
}

static int read_all(const opened *file, train_run *run) {
  char why[HU_DATA_WHY_MAX] = "", *lines = lines_of_json(file->state);
  int status = lines ? check_keys(file, run) : cli_fail(file->path, "its state is not key and value");
  for (size_t i = 0; i < hu_trainer_tensor_count(run->trainer) && status == CLI_OK; i++)
    status = read_tensor(file, run, i);
  if (status == CLI_OK && !read_totals(&run->totals, st_value(&file->file, "totals")))
    status = cli_fail(file->path, "its totals are not whole");
  hu_status error = status == CLI_OK ? hu_trainer_resume(run->trainer, lines, why) : HU_OK;
  free(lines);
  return error == HU_OK ? status : cli_fail(file->path, "%s", *why ? why : hu_status_text(error));
}

int train_resume(train_run *run) {
  opened file;
  if (open_it(&file, run)) return CLI_BAD;
  int status = read_all(&file, run);
  close_it(&file);
  return status;
}

/* Reads its step and the length of its run; 0: it does not say. */
static int read_length(const char *path, uint64_t *step, uint64_t *steps) {
  char error[ST_ERROR_MAX];
  cli_bytes bytes = {0};
  st_file file = {0};
  json_t *a = NULL, *b = NULL;
  if (cli_own_read(&bytes, path)) return 0;
  if (st_parse(&file, bytes.data, bytes.size, error)) {
    const char *state = st_value(&file, "state"), *totals = st_value(&file, "totals");
    a = state ? json_loads(state, 0, NULL) : NULL;
    b = totals ? json_loads(totals, 0, NULL) : NULL;
  }
  const char *at = json_string_value(json_object_get(a, "step"));
  const json_t *of = json_object_get(b, "steps");
  int good = at && json_is_integer(of);
  *step = good ? strtoull(at, NULL, 10) : 0;
  *steps = good ? (uint64_t)json_integer_value(of) : 0;
  json_decref(a);
  json_decref(b);
  st_free(&file);
  cli_bytes_free(&bytes);
  return good;
}

/* Returns 1 if something of this name is in the folder; -1: out of memory. */
static int is_there(const train_run *run, const char *name, int *is_file) {
  struct stat info;
  char *path = train_path(run, name);
  int there = path ? !lstat(path, &info) : -1;
  *is_file = there == 1 && !stat(path, &info) && S_ISREG(info.st_mode) && !access(path, R_OK);
  free(path);
  return there;
}

/* Returns 1 for a table with a row below its head: a run that was killed before its first checkpoint leaves that. */
static int has_rows(const train_run *run, const char *name) {
  char *path = train_path(run, name);
  FILE *file = path ? cli_own_stream(path) : NULL;
  int lines = 0;
  for (int c; file && lines < 2 && (c = getc(file)) != EOF;) lines += c == '\n';
  if (file) (void)fclose(file);
  free(path);
  return lines >= 2;
}

int train_found(const train_run *run, uint64_t *step, uint64_t *steps) {
  int is_file, ignored, checkpoint = is_there(run, FILE_NAME, &is_file),
                        report = is_there(run, "report.html", &ignored);
  *step = *steps = 0;
  if (!checkpoint && !report)
    return has_rows(run, "log.csv") || has_rows(run, "evaluations.csv") ? TRAIN_FOUND_FILES : TRAIN_FOUND_NOTHING;
  char *path = is_file ? train_path(run, FILE_NAME) : NULL;
  int known = path && read_length(path, step, steps);
  free(path);
  if (!known) return TRAIN_FOUND_FILES;
  return *step < *steps ? TRAIN_FOUND_STOPPED : TRAIN_FOUND_ENDED;
}
