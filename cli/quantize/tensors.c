/* SPDX-License-Identifier: MIT */
/* Brings the tensors of a .safetensors or .gguf file into a target: chooses tensors, names their results, and
 * distributes them over threads. */
#include "cli/quantize/gguf.h"

#include <fnmatch.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/progress.h"

static int matches(const char *const *globs, int count, const char *name) {
  for (int i = 0; i < count; i++)
    if (!fnmatch(globs[i], name, 0)) return 1;
  return 0;
}

/* Returns 1 if it has axes enough: biases and gains are few numbers, and blocks make nothing of them. */
static int has_rank(const cli_quantize_state *state, const tensors_input *in, const st_tensor *tensor) {
  return in->is_array || state->any_rank || tensor->dims >= 2;
}

/* Returns 1 if it has numbers: integers of a model are places and counts most of the time. */
static int has_numbers(const cli_quantize_state *state, const tensors_input *in, const st_tensor *tensor) {
  return tensors_is_float(tensor->dtype) ||
         (tensors_has_numbers(in, tensor) && (in->is_array || tensors_is_named(state, tensor)));
}

static int chosen(const cli_quantize_state *state, const tensors_input *in, const st_tensor *tensor) {
  if (!has_numbers(state, in, tensor) || matches(state->exclude, state->excludes, tensor->name)) return 0;
  return has_rank(state, in, tensor) && (!state->includes || matches(state->include, state->includes, tensor->name));
}

/* Refuses a pattern that no tensor has: it is a slip of the pen. */
static int check_globs(const char *option, const char *const *globs, int count, const tensors_input *in) {
  for (int i = 0; i < count; i++) {
    int found = 0;
    for (size_t j = 0; j < in->file.count && !found; j++) found = matches(&globs[i], 1, in->file.tensors[j].name);
    if (!found) return cli_fail(in->name, "%s '%s': no tensor has such a name", option, globs[i]);
  }
  return CLI_OK;
}

/* Refuses one that chooses tensors of one axis alone, where those are not rounded. */
static int check_ranks(const cli_quantize_state *state, const tensors_input *in) {
  for (int i = 0; i < state->includes; i++) {
    size_t low = 0, others = 0;
    for (size_t j = 0; j < in->file.count; j++) {
      const st_tensor *tensor = &in->file.tensors[j];
      if (!matches(&state->include[i], 1, tensor->name)) continue;
      low += has_numbers(state, in, tensor) && !has_rank(state, in, tensor);
      others += !has_numbers(state, in, tensor) || has_rank(state, in, tensor);
    }
    if (low && !others)
      return cli_fail(in->name, "--include '%s': tensors with fewer than two axes are rounded only with --any-rank",
                      state->include[i]);
  }
  return CLI_OK;
}

int tensors_choose(tensors_results *results, const tensors_input *in) {
  const cli_quantize_state *state = results->asked;
  uint64_t first = 0;
  char shown[ST_NAME_MAX];
  if (check_globs("--include", state->include, state->includes, in) ||
      check_globs("--exclude", state->exclude, state->excludes, in) || check_ranks(state, in))
    return CLI_BAD;
  results->count = in->file.count;
  results->list = calloc(results->count + 1, sizeof *results->list);
  if (!results->list) return cli_fail(in->name, "out of memory");
  for (size_t i = 0; i < results->count; i++) {
    results->list[i].tensor = &in->file.tensors[i];
    results->list[i].done = chosen(state, in, results->list[i].tensor);
  }
  if (tensors_spare(results, in)) return CLI_BAD;
  for (size_t i = 0; i < results->count; i++) {
    results->list[i].first = first;
    if (!results->list[i].done) continue;
    first += results->list[i].tensor->count;
    results->done++;
  }
  if (results->done) return CLI_OK;
  for (size_t i = 0; i < results->count; i++)
    if (results->list[i].left)
      return cli_fail(in->name,
                      "no tensor to round: '%s' has a name of scales; --include with its whole name rounds it",
                      st_printable(shown, results->list[i].tensor->name));
  return cli_fail(in->name,
                  "no tensor to round: none that is chosen is F64, F32, F16 or BF16%s; integers are rounded where "
                  "--include has their whole names",
                  state->any_rank ? "" : " with two axes or more (--any-rank takes others)");
}

static int add_parts(st_file *plan, const st_tensor *tensor, const cli_quantize_state *state) {
  cli_parts parts = {0};
  cli_job job = {0};
  int good = 1;
  cli_job_shape(&job, &state->target, state->rows_out, tensor->dims, tensor->shape);
  cli_parts_plan(&parts, &state->target, &job);
  for (int i = 0; i < parts.count && good; i++) {
    const cli_part *part = &parts.part[i];
    size_t shape[2] = {part->rows, part->cols}, packed[2] = {parts.packed_rows, parts.packed_row};
    int dtype = part->kind == 'f' ? (part->size == 8 ? ST_F64 : ST_F32)
                : part->size == 1 ? ST_U8
                : part->size == 2 ? ST_U16
                                  : ST_U32;
    char *name = tensors_name(tensor->name, part->suffix);
    if (i == 0 && parts.width > 8)
      good = name && st_add(plan, name, dtype, tensor->dims, tensor->shape);
    else
      good = name && st_add(plan, name, dtype, part->dims, i ? shape : packed);
    free(name);
  }
  return good;
}

/* Adds "F32 [64, 10] scaled(...)" under halfulp.NAME: see tensors.h. */
static int add_note(st_file *plan, const st_tensor *tensor, const cli_quantize_state *state) {
  char format[CLI_TARGET_MAX], *key = tensors_key(tensor->name);
  size_t capacity = 24 * (size_t)tensor->dims + 64 + sizeof format, n = 0;
  cli_job job = {0};
  int transposed = cli_job_shape(&job, &state->target, state->rows_out, tensor->dims, tensor->shape);
  char *note = cli_alloc(capacity, 1);
  state->target.kind->text(format, &state->target);
  if (note) {
    n += (size_t)snprintf(note, capacity, "%s [", st_dtype_name(tensors_value_dtype(&state->target, tensor->dtype)));
    for (uint32_t i = 0; i < tensor->dims; i++)
      n += (size_t)snprintf(note + n, capacity - n, "%s%zu", i ? ", " : "", tensor->shape[i]);
    snprintf(note + n, capacity - n, "] %s%s", transposed ? TENSORS_ROWS_OUT : "", format);
  }
  int good = note && key && st_set(plan, key, note);
  free(note);
  free(key);
  return good;
}

static int add_chosen(st_file *plan, const st_tensor *tensor, const cli_quantize_state *state) {
  int wide = state->widen && (tensor->dtype == ST_F16 || tensor->dtype == ST_BF16),
      native = tensors_native(&state->target);
  int dtype = tensors_value_dtype(&state->target, tensor->dtype);
  if (!state->codes) return st_add(plan, tensor->name, wide ? ST_F32 : dtype, tensor->dims, tensor->shape);
  if (!add_note(plan, tensor, state)) return 0;
  return native >= 0 ? st_add(plan, tensor->name, native, tensor->dims, tensor->shape) : add_parts(plan, tensor, state);
}

/* Refuses blocks of GGUF, which are no dtype of .safetensors. */
static int check_blocks(const tensors_input *in) {
  char shown[ST_NAME_MAX];
  for (size_t i = 0; in->gguf && !in->model && i < in->gguf->count; i++) {
    const gguf_tensor *tensor = &in->gguf->tensors[i];
    if (tensor->type->dtype < 0)
      return cli_fail(in->name, "tensor '%s' is %s, which .safetensors has not; `halfulp decode` it first",
                      st_printable(shown, tensor->name), tensor->type->name);
  }
  return CLI_OK;
}

static int make_plan(st_file *plan, const tensors_input *in, const tensors_results *results) {
  int good = 1;
  if (check_blocks(in)) return CLI_BAD;
  memset(plan, 0, sizeof *plan);
  for (size_t i = 0; i < in->file.entries && good; i++)
    good = st_set(plan, in->file.metadata[i].key, in->file.metadata[i].value);
  for (size_t i = 0; i < results->count && good; i++) {
    const st_tensor *tensor = results->list[i].tensor;
    good = results->list[i].done ? add_chosen(plan, tensor, results->asked)
                                 : st_add(plan, tensor->name, tensor->dtype, tensor->dims, tensor->shape);
  }
  if (!good) return cli_fail(results->out, "out of memory");
  return tensors_layout(plan, results->out);
}

/* Workers take the next tensor until there is none, or something went wrong. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void lock(int on) {
  if (on)
    pthread_mutex_lock(&mutex);
  else
    pthread_mutex_unlock(&mutex);
}

typedef struct crew {
  tensors_work work;
  tensors_results *results;
  progress bar;
  size_t next;
  uint64_t bytes;
  int code;
} crew;

static void *worker(void *arg) {
  crew *shared = arg;
  for (;;) {
    lock(1);
    if (shared->work.output && cli_output_stopped(shared->work.output)) shared->code = CLI_BAD;
    tensors_result *result =
        shared->code == CLI_OK && shared->next < shared->results->count ? &shared->results->list[shared->next++] : NULL;
    lock(0);
    if (!result) return NULL;
    int code = tensors_one(&shared->work, result);
    lock(1);
    if (code != CLI_OK) shared->code = code;
    shared->bytes += result->tensor->size;
    progress_at(&shared->bar, shared->bytes);
    lock(0);
  }
}

static int work_all(crew *shared, const char *doing, size_t total) {
  pthread_t threads[HU_THREADS_MAX];
  unsigned asked = shared->work.state->numeric.threads ? shared->work.state->numeric.threads : 1, started = 0;
  unsigned crowd = asked < shared->results->done ? asked : (unsigned)shared->results->done;
  shared->work.threads = asked / crowd;
  progress_start(&shared->bar, doing, total);
  while (started + 1 < crowd && pthread_create(&threads[started], NULL, worker, shared) == 0) started++;
  worker(shared);
  for (unsigned i = 0; i < started; i++) pthread_join(threads[i], NULL);
  progress_end(&shared->bar);
  return shared->code;
}

static int write_header(cli_output *output, st_file *plan, gguf_file *made) {
  size_t length;
  if (made) return gguf_write_rest(output, made, plan);
  char *header = st_header(plan, &length);
  if (!header) return cli_fail(output->path, "the header is too long, or a name in it is not UTF-8");
  int code = cli_output_at(output, 0, header, length);
  free(header);
  return code;
}

static int write_tensors(tensors_results *results, const tensors_input *in, st_file *plan, gguf_file *made) {
  cli_output output;
  size_t total = 0;
  for (size_t i = 0; i < results->count; i++) total += results->list[i].tensor->size;
  int code = cli_output_open(&output, results->out);
  if (code != CLI_OK) return code;
  code = write_header(&output, plan, made);
  crew shared = {{results->asked, in, plan, &output, 1, made}, results, {0}, 0, 0, code};
  if (code == CLI_OK) code = work_all(&shared, "quantize", total);
  if (code == CLI_OK && made) code = gguf_copy_scales(&shared.work);
  /* An error in a tensor has had its line; one in writing gets it here. */
  int closed = cli_output_close(&output, code == CLI_OK || output.error);
  return code == CLI_OK ? closed : code;
}

int tensors_measure(tensors_results *results, const tensors_input *in, const char *doing) {
  size_t total = 0;
  for (size_t i = 0; i < results->count; i++) total += results->list[i].tensor->size;
  crew shared = {{results->asked, in, &in->file, NULL, 1, NULL}, results, {0}, 0, 0, CLI_OK};
  return work_all(&shared, doing, total);
}

void tensors_results_free(tensors_results *results) {
  for (size_t i = 0; results->list && i < results->count; i++) tensors_result_free(&results->list[i]);
  free(results->list);
  results->list = NULL;
}

/* Checks the report's name. It is written last, and must not take the place of a model. */
static int check_report(const cli_quantize_state *state, const char *in, const char *out) {
  if (tensors_spare_operand(state->report, in)) return CLI_BAD;
  if (cli_same_file(state->report, out)) return cli_fail(state->report, "--report would replace the output");
  if (!strcmp(state->report, "-") && state->numeric.json)
    return cli_fail(NULL, "--report - and --json both require standard output");
  return cli_file_try(state->report);
}

static int check_options(const cli_quantize_state *state, const char *in, const char *out) {
  cli_job job = {0};
  job.amax = state->has_amax ? &state->amax : NULL;
  if (state->device) return cli_fail("--device", "models run on the CPU");
  if (state->codes && state->widen) return cli_fail(NULL, "--widen goes with values, not with --codes");
  if (state->target.kind->check(&state->target, &job)) return CLI_BAD;
  if (cli_parts_spare(out, NULL, in, NULL, state->in_place)) return CLI_BAD;
  if (state->report && check_report(state, in, out)) return CLI_BAD;
  return strcmp(out, "-") ? CLI_OK : cli_fail(NULL, "a .safetensors file cannot go to standard output");
}

/* Says how many tensors the file of --importance leaves out; an error: all of them, or it is one array for several. */
static int check_importance(const tensors_results *results) {
  const cli_quantize_state *state = results->asked;
  char shown[ST_NAME_MAX] = "";
  size_t found = 0;
  if (!state->importance) return CLI_OK;
  for (size_t i = 0; i < results->count; i++) {
    const tensors_result *result = &results->list[i];
    int known = result->done && cli_importances_of(&state->weights, result->tensor->name) != NULL;
    found += known;
    if (result->done && !known && !*shown) st_printable(shown, result->tensor->name);
  }
  if (!found) return cli_fail(state->importance, "says nothing of '%s' or of another tensor that is rounded", shown);
  if (!state->weights.list[0].name && found > 1)
    return cli_fail(state->importance, "an array is for one tensor, and %zu are rounded; --include names one", found);
  if (found < results->done)
    cli_note("%s says nothing of '%s'%s; without it all columns count alike", state->importance, shown,
             results->done - found > 1 ? " and others" : "");
  return CLI_OK;
}

int cli_quantize_tensors(const cli_quantize_state *state, const char *path, const char *out) {
  tensors_input in;
  st_file plan = {0};
  gguf_file made = {0};
  int blocks = cli_ends(out, ".gguf");
  if (check_options(state, path, out) || tensors_open(&in, path, cli_layout(state))) return CLI_BAD;
  tensors_results results = {in.name, out, state, NULL, 0, 0};
  int code = tensors_spare_model(&in, out, state->in_place);
  if (code == CLI_OK) code = tensors_spare_read(&in, state->report);
  if (code == CLI_OK) code = tensors_choose(&results, &in);
  if (code == CLI_OK) code = check_importance(&results);
  if (code == CLI_OK) code = blocks ? gguf_plan(&made, &plan, &in, &results) : make_plan(&plan, &in, &results);
  if (code == CLI_OK) code = write_tensors(&results, &in, &plan, blocks ? &made : NULL);
  if (code == CLI_OK && state->report) code = tensors_report(state->report, &results);
  if (code == CLI_OK && state->numeric.json) tensors_json(stdout, &results);
  if (code == CLI_OK && !state->numeric.json && !cli_quiet()) tensors_print(stdout, &results);
  st_free(&plan);
  gguf_free(&made);
  tensors_results_free(&results);
  tensors_close(&in);
  return code;
}
