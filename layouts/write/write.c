/* SPDX-License-Identifier: MIT */
/* A model as a folder in a layout: see write.h. The plan comes first, so that every byte has its place before the first
 * tensor is read; the files grow in a folder that gets its name at the end. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "halfulp/formats/ocp.h"
#include "halfulp/formats/other.h"
#include "layouts/write/write.h"

static const uint64_t file_bytes = 5000000000u;

/* ---- which tensors ---- */

static int ends(const char *name, const char *end) {
  size_t n = strlen(name), m = strlen(end);
  return n >= m && !strcmp(name + n - m, end);
}

static size_t cols_of(const hui_tensor *tensor) { return tensor->dims ? tensor->shape[tensor->dims - 1] : 1; }

static int matches(const char *const *globs, const char *name) {
  for (size_t i = 0; globs && globs[i]; i++)
    if (!fnmatch(globs[i], name, 0)) return 1;
  return 0;
}

static int is_float(const hui_tensor *tensor) {
  int dtype = tensor->raw->tensor->dtype;
  return tensor->layout || tensor->plain || dtype == ST_F64 || dtype == ST_F32 || dtype == ST_F16 || dtype == ST_BF16;
}

/* Returns 1 if a word of the name says that programs leave such a tensor alone. */
static int is_spared(const hui_target *target, const char *name) {
  static const char *const words[] = {"norm", "ln_", "router", ".gate.weight"};
  static const char *const outer[] = {"lm_head", "embed", "wte.", "wpe."};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strstr(name, words[i])) return 1;
  for (size_t i = 0; i < sizeof outer / sizeof outer[0] && !target->embeddings; i++)
    if (strstr(name, outer[i])) return 1;
  return 0;
}

static int is_expert(const hui_tensor *tensor) {
  return tensor->dims == 3 && strstr(tensor->name, "experts") &&
         (ends(tensor->name, "gate_up_proj") || ends(tensor->name, "down_proj"));
}

/* What programs quantize: matrices of layers. Without a rule, all that is no ordinary number already, or has another
 * dtype. */
static int is_usual(const hui_target *target, const hui_tensor *tensor) {
  if (!target->scale && target->codes_are == HUI_NUMBERS) return tensor->layout || tensor->plain;
  if (target->reader == HUI_FOR_GPT_OSS) return is_expert(tensor);
  if (target->embeddings && cols_of(tensor) % target->block[1]) return 0;
  return tensor->dims == 2 && ends(tensor->name, ".weight") && !is_spared(target, tensor->name);
}

static int is_chosen(const hui_writing *x, const hui_tensor *tensor) {
  const hu_checkpoint_order *order = x->order;
  if (!is_float(tensor) || matches(order->exclude, tensor->name)) return 0;
  return order->include ? matches(order->include, tensor->name) : is_usual(x->target, tensor);
}

static hu_status check_globs(hui_writing *x, const char *const *globs) {
  for (size_t i = 0; globs && globs[i]; i++) {
    size_t k = 0;
    while (k < x->model->count && fnmatch(globs[i], x->model->tensors[k].name, 0)) k++;
    if (k == x->model->count)
      return hui_write_wrong(x, HU_E_NAME, "%s: '%s': no tensor has such a name", x->model->path, globs[i]);
  }
  return HU_OK;
}

/* Returns 1 for experts whose rows are not those of their bias: transformers keeps them transposed. */
static int is_transposed(const hui_writing *x, const hui_tensor *tensor) {
  char name[HUI_NAME_MAX];
  snprintf(name, sizeof name, "%.*s_bias", (int)sizeof name - 8, tensor->name);
  size_t place = hu_checkpoint_find(x->model, name);
  const hui_tensor *bias = place < x->model->count ? &x->model->tensors[place] : NULL;
  return bias && bias->dims && tensor->dims == 3 && bias->shape[bias->dims - 1] != tensor->shape[1];
}

/* Checks that the scale of a layer's activations is there, and a number. */
static hu_status check_input(hui_writing *x, const hui_tensor *tensor) {
  char shown[ST_NAME_MAX];
  const hui_raw *raw = hui_write_input(x, tensor);
  const st_tensor *found = raw ? raw->tensor : NULL;
  int number = found && found->dtype == ST_F32 && found->count == 1;
  uint32_t bits = number ? hui_scale_bits(raw, HUI_SCALE_DTYPE, 0) : 0;
  if (number && bits - 1 < 0x7F7FFFFF) return HU_OK;
  return hui_write_wrong(x, raw ? HU_E_DATA : HU_E_NAME, "%s: tensor '%s': its scale of activations (%s) %s",
                         x->order->activations->path, st_printable(shown, tensor->name), x->target->input,
                         !raw      ? "is not there"
                         : !number ? "is not one number of F32"
                                   : "is not a positive finite number");
}

/* Checks that a chosen tensor is what the target takes. */
static hu_status check_tensor(hui_writing *x, const hui_tensor *tensor) {
  char shown[ST_NAME_MAX], shape[ST_SHAPE_MAX];
  const hui_target *target = x->target;
  const char *why = NULL;
  st_printable(shown, tensor->name);
  st_shape(shape, tensor->dims, tensor->shape);
  if (target->scale && tensor->dims < 2)
    why = "it is no matrix";
  else if (!target->whole && !ends(tensor->name, ".weight"))
    why = "its name does not end in .weight";
  else if (target->sizes && tensor->dims != 2)
    why = "it is no matrix of two axes";
  else if (target->block[0] == 1 && target->block[1] && cols_of(tensor) % target->block[1])
    why = "its rows are no whole blocks";
  else if (target->reader == HUI_FOR_GPT_OSS && is_transposed(x, tensor))
    why = "its rows are not those of its bias, so that it lies transposed";
  else if (target->scale && !tensor->count)
    why = "it has no elements";
  if (!why) return x->order->activations ? check_input(x, tensor) : HU_OK;
  return hui_write_wrong(x, HU_E_SHAPE, "%s: tensor '%s' %s cannot be %s: %s; leave it out", tensor->raw->shard->path,
                         shown, shape, target->said.name, why);
}

/* Returns 1 if the tensor's codes and scales are those of the target: formats, blocks and levels. */
static int is_movable(const hui_writing *x, const hui_tensor *tensor) {
  const hui_target *target = x->target;
  int dtype = tensor->raw->tensor->dtype, by_dtype = tensor->element == HUI_OF_DTYPE;
  if (x->order->rule || !tensor->layout || !target->scale || target->codes_are != HUI_CODES || tensor->order) return 0;
  if (!tensor->scale || !tensor->second != !target->second || tensor->second_step || tensor->grid == HUI_RUNS) return 0;
  if (tensor->zero || tensor->bias || tensor->codes.bits != target->bits) return 0;
  if (target->bits == 4 ? tensor->element != HUI_E2M1
                        : tensor->element != HUI_E4M3 && !(by_dtype && dtype == ST_F8_E4M3))
    return 0;
  int e8m0 = !strcmp(tensor->scales, "float8_e8m0fnu"), e4m3 = !strncmp(tensor->scales, "float8_e4m3fn", 13);
  int codes = target->scale_dtype == ST_U8 || target->scale_dtype == ST_F8_E4M3;
  int wants_e8m0 = target->scale_dtype == ST_U8 && target->scale_type == HUI_SCALE_E8M0;
  if (codes ? (wants_e8m0 ? !e8m0 : !e4m3) : e4m3) return 0;
  size_t rows = target->block[0] ? target->block[0] : tensor->count / (tensor->cols ? tensor->cols : 1);
  size_t cols = target->block[1] ? target->block[1] : tensor->cols;
  return tensor->block[0] == rows && tensor->block[1] == cols;
}

static hu_status choose(hui_writing *x) {
  size_t chosen = 0;
  hu_status status = check_globs(x, x->order->include);
  if (status == HU_OK) status = check_globs(x, x->order->exclude);
  for (size_t i = 0; i < x->model->count && status == HU_OK; i++) {
    const hui_tensor *tensor = &x->model->tensors[i];
    hu_checkpoint_change *change = &x->changes[i];
    memset(change, 0, sizeof *change);
    change->count = tensor->count;
    x->total += tensor->count;
    if (is_chosen(x, tensor)) {
      chosen++;
      change->what = !x->target->scale       ? HU_CHECKPOINT_VALUES
                     : is_movable(x, tensor) ? HU_CHECKPOINT_MOVED
                                             : HU_CHECKPOINT_ROUNDED;
      status = check_tensor(x, tensor);
    } else if (tensor->layout || (tensor->plain && !x->target->scale)) {
      change->what = HU_CHECKPOINT_VALUES;
    }
  }
  if (status != HU_OK || chosen) return status;
  return hui_write_wrong(x, HU_E_NAME, "%s: no tensor is one that %s takes; name some of them", x->model->path,
                         x->target->said.name);
}

/* ---- the rule that was given ---- */

static hu_status read_rule(hui_writing *x) {
  hu_scaling own;
  const char *rule = x->order->rule, *needs = x->target->said.scaling;
  if (!rule) return HU_OK;
  if (!needs[0])
    return hui_write_wrong(x, HU_E_SCALING, "%s has its program's rule alone, and takes no other",
                           x->target->said.name);
  hu_status status = hu_scaling_parse(&x->scaling, rule, NULL);
  if (status != HU_OK)
    return hui_write_wrong(x, HU_E_NAME, "'%.200s' is no scaled format, which the rule of %s is", rule,
                           x->target->said.name);
  status = hu_scaling_parse(&own, needs, NULL);
  if (status != HU_OK) return status;
  int e4m3 = hu_format_equal(own.scale, hu_float8_e4m3fn()) || own.tensor;
  int scales = hu_format_equal(own.scale, x->scaling.scale) ||
               (e4m3 && hu_format_equal(x->scaling.scale, hu_float8_e4m3fn())) ||
               (e4m3 && hu_format_equal(x->scaling.scale, hu_ue4m3()));
  if (hu_format_equal(own.element, x->scaling.element) && scales && own.rows == x->scaling.rows &&
      own.cols == x->scaling.cols && !own.tensor == !x->scaling.tensor && x->scaling.coding == own.coding &&
      x->scaling.rule < HU_SCALE_INTFLOAT_MAE) /* whose signs of scales no program reads */
    return HU_OK;
  return hui_write_wrong(x, HU_E_SCALING,
                         "'%.200s' has other elements, blocks or scales than %s, which has those of %s", rule,
                         x->target->said.name, needs);
}

/* ---- the plan ---- */

/* A tensor of the folder: its place, end of the name, dtype and shape. */
typedef struct planned {
  const char *end;
  int dtype;
  uint32_t dims;
  size_t shape[ST_DIMS_MAX + 1];
} planned;

static size_t parts_of(size_t n, size_t of) { return of ? n / of + (n % of != 0) : 1; }

static void plan_codes(planned *z, const hui_target *target, const hui_tensor *tensor) {
  unsigned word = st_dtype_bits(target->dtype);
  z->end = target->codes;
  z->dtype = target->dtype;
  z->dims = tensor->dims;
  memcpy(z->shape, tensor->shape, tensor->dims * sizeof *tensor->shape);
  z->shape[z->dims - 1] = parts_of(cols_of(tensor) * target->bits, word);
  if (target->reader != HUI_FOR_GPT_OSS) return;
  z->shape[z->dims - 1] = cols_of(tensor) / 32;
  z->shape[z->dims++] = 16;
}

static void plan_scales(planned *z, const hui_target *target, const hui_tensor *tensor, int dtype) {
  z->end = target->scale;
  z->dtype = dtype;
  z->dims = target->block[0] ? tensor->dims : !target->scalar;
  memcpy(z->shape, tensor->shape, tensor->dims * sizeof *tensor->shape);
  if (!target->block[0]) {
    z->shape[0] = 1;
    return;
  }
  z->shape[z->dims - 1] = parts_of(cols_of(tensor), target->block[1]);
  z->shape[z->dims - 2] = parts_of(tensor->shape[tensor->dims - 2], target->block[0]);
}

/* All tensors of one that is rounded or moved. */
static void plan_layout(planned z[HUI_PLACES], const hui_writing *x, const hui_tensor *tensor) {
  const hui_target *target = x->target;
  int own = tensor->layout || tensor->plain ? ST_F32 : tensor->raw->tensor->dtype;
  int dtype = target->scale_dtype >= 0 ? target->scale_dtype : own == ST_BF16 || own == ST_F16 ? own : ST_F32;
  plan_codes(&z[HUI_CODE_PLACE], target, tensor);
  plan_scales(&z[HUI_SCALE_PLACE], target, tensor, dtype);
  plan_scales(&z[HUI_BIAS_PLACE], target, tensor, dtype);
  z[HUI_SECOND_PLACE] = (planned){target->second, ST_F32, !target->scalar, {1}};
  z[HUI_BIAS_PLACE].end = target->bias;
  z[HUI_SIZES_PLACE] = (planned){target->sizes, ST_I64, 1, {2}};
  z[HUI_INPUT_PLACE] = (planned){x->order->activations ? target->input : NULL, ST_F32, !target->scalar, {1}};
}

static void plan_tensor(planned z[HUI_PLACES], const hui_writing *x, size_t i) {
  const hui_tensor *tensor = &x->model->tensors[i];
  uint32_t what = x->changes[i].what;
  for (int k = 0; k < HUI_PLACES; k++) z[k].end = NULL;
  if (what == HU_CHECKPOINT_ROUNDED || what == HU_CHECKPOINT_MOVED) {
    plan_layout(z, x, tensor);
    return;
  }
  z[0] = (planned){"", tensor->raw->tensor->dtype, tensor->dims, {0}};
  if (what == HU_CHECKPOINT_VALUES) z[0].dtype = x->target->scale ? x->values : x->target->dtype;
  memcpy(z[0].shape, tensor->shape, tensor->dims * sizeof *tensor->shape);
}

static char *planned_name(const hui_writing *x, size_t i, const planned *z) {
  uint32_t what = x->changes[i].what;
  const char *name = x->model->tensors[i].name;
  return what == HU_CHECKPOINT_ROUNDED || what == HU_CHECKPOINT_MOVED ? hui_write_name(x->target, name, z->end)
                                                                      : strdup(name);
}

static hu_status add_part(hui_writing *x) {
  hui_part *more = realloc(x->parts, (x->part_count + 1) * sizeof *more);
  if (!more) return hui_write_no_memory(x);
  x->parts = more;
  memset(&more[x->part_count], 0, sizeof *more);
  more[x->part_count].fd = -1;
  const char *format = x->target->reader == HUI_FOR_MLX ? "mlx" : "pt";
  return st_set(&more[x->part_count++].file, "format", format) ? HU_OK : hui_write_no_memory(x);
}

/* Adds the tensors of one to the last file, or to a new one where they do not fit; *used: bytes of the last file. */
static hu_status add_tensor(hui_writing *x, size_t i, uint64_t *used) {
  planned list[HUI_PLACES];
  uint64_t bytes = 0, most = x->order->file_bytes ? x->order->file_bytes : file_bytes;
  hu_status status = HU_OK;
  plan_tensor(list, x, i);
  for (int k = 0; k < HUI_PLACES; k++) {
    size_t count, size;
    unsigned odd;
    if (list[k].end && st_count(&count, &size, &odd, list[k].dtype, list[k].dims, list[k].shape)) bytes += size;
  }
  x->changes[i].bytes = bytes;
  if (!x->part_count || (*used && *used + bytes > most)) {
    status = add_part(x);
    *used = 0;
  }
  *used += bytes;
  for (int k = 0; k < HUI_PLACES && status == HU_OK; k++) {
    if (!list[k].end) continue;
    char *name = planned_name(x, i, &list[k]);
    x->places[i][k].part = x->part_count - 1;
    if (!name || !st_add(&x->parts[x->part_count - 1].file, name, list[k].dtype, list[k].dims, list[k].shape))
      status = hui_write_no_memory(x);
    free(name);
  }
  return status;
}

/* Gives the tensors of all files their bytes. */
static hu_status lay_out(hui_writing *x) {
  char shown[ST_NAME_MAX];
  for (size_t p = 0; p < x->part_count; p++) {
    const char *twice = st_layout(&x->parts[p].file);
    if (twice)
      return hui_write_wrong(x, HU_E_NAME, "%s: two tensors would be named '%s'", x->model->path,
                             st_printable(shown, twice));
    if (x->part_count == 1)
      snprintf(x->parts[p].name, sizeof x->parts[p].name, "model.safetensors");
    else
      snprintf(x->parts[p].name, sizeof x->parts[p].name, "model-%05zu-of-%05zu.safetensors", p + 1, x->part_count);
  }
  for (size_t i = 0; i < x->model->count; i++) {
    planned list[HUI_PLACES];
    plan_tensor(list, x, i);
    for (int k = 0; k < HUI_PLACES; k++) {
      char *name = list[k].end ? planned_name(x, i, &list[k]) : NULL;
      const st_tensor *tensor = name ? st_find(&x->parts[x->places[i][k].part].file, name) : NULL;
      free(name);
      if (list[k].end && !tensor) return hui_write_no_memory(x);
      if (tensor) x->places[i][k].at = tensor->begin;
    }
  }
  return HU_OK;
}

static hu_status plan(hui_writing *x) {
  uint64_t used = 0;
  hu_status status = HU_OK;
  x->places = calloc(x->model->count + 1, sizeof *x->places);
  if (!x->places) return hui_write_no_memory(x);
  for (size_t i = 0; i < x->model->count && status == HU_OK; i++) status = add_tensor(x, i, &used);
  return status == HU_OK ? lay_out(x) : status;
}

/* ---- files ---- */

static hu_status open_parts(hui_writing *x, int folder) {
  for (size_t p = 0; p < x->part_count; p++) {
    hui_part *part = &x->parts[p];
    size_t length;
    char *header = st_header(&part->file, &length);
    if (!header)
      return hui_write_wrong(x, HU_E_DATA, "%s: the header is too long, or a name in it is not UTF-8", x->model->path);
    part->fd = openat(folder, part->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    hu_status status = part->fd < 0 ? hui_write_cannot(x, part->name) : HU_OK;
    size_t data = part->file.data;
    part->file.data = 0;
    if (status == HU_OK) status = hui_write_bytes(x, (hui_place){p, 0}, 0, header, length);
    part->file.data = data;
    free(header);
    if (status != HU_OK) return status;
  }
  return HU_OK;
}

static hu_status close_parts(hui_writing *x, hu_status status) {
  for (size_t p = 0; p < x->part_count; p++) {
    if (x->parts[p].fd < 0) continue;
    if (status == HU_OK && fsync(x->parts[p].fd) && errno != EINVAL) status = hui_write_cannot(x, x->parts[p].name);
    if (close(x->parts[p].fd) && status == HU_OK) status = hui_write_cannot(x, x->parts[p].name);
  }
  return status;
}

/* ---- the folder ---- */

static int is_empty(const char *path) {
  DIR *folder = opendir(path);
  int count = 0;
  if (!folder) return 0;
  for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder))
    count += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
  closedir(folder);
  return !count;
}

/* Finds the empty folder that a path leads to, since a new one cannot replace a link; to be freed. NULL: nothing is
 * there yet. */
static hu_status find_folder(char **real, hui_writing *x, const char *path) {
  char first;
  *real = realpath(path, NULL);
  if (*real && is_empty(*real)) return HU_OK;
  if (*real) return hui_write_wrong(x, HU_E_FILE, "%.500s: is there, and no empty folder", path);
  if (errno != ENOENT) return hui_write_cannot(x, path);
  if (readlink(path, &first, 1) >= 0) return hui_write_wrong(x, HU_E_FILE, "%.500s: a link that leads nowhere", path);
  return HU_OK;
}

/* Makes the folder of the files, beside the one that they will be in. */
static hu_status make_folder(hui_writing *x, const char *path) {
  size_t length = strlen(path);
  while (length > 1 && path[length - 1] == '/') length--;
  size_t stem = length;
  while (stem && path[stem - 1] != '/') stem--;
  x->folder = malloc(stem + 32);
  if (!x->folder) return hui_write_no_memory(x);
  snprintf(x->folder, stem + 32, "%.*s.halfulp-XXXXXX", (int)stem, path);
  if (mkdtemp(x->folder)) {
    mode_t mask = umask(0);
    umask(mask);
    if (!chmod(x->folder, 0777 & ~mask)) return HU_OK;
  }
  hu_status status = hui_write_cannot(x, path);
  free(x->folder);
  x->folder = NULL;
  return status;
}

static void remove_folder(const char *path) {
  DIR *folder = opendir(path);
  for (struct dirent *entry = folder ? readdir(folder) : NULL; entry; entry = readdir(folder))
    if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..")) (void)unlinkat(dirfd(folder), entry->d_name, 0);
  if (folder) closedir(folder);
  (void)rmdir(path);
}

static hu_status write_all(hui_writing *x) {
  int folder = open(x->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  hu_status status = folder < 0 ? hui_write_cannot(x, x->folder) : open_parts(x, folder);
  for (size_t i = 0; i < x->model->count && status == HU_OK; i++) status = hui_write_tensor(x, i);
  status = close_parts(x, status);
  if (status == HU_OK) status = hui_write_config(x);
  if (status == HU_OK && x->part_count > 1) status = hui_write_index(x);
  if (status == HU_OK) status = hui_write_rest(x);
  if (status == HU_OK && x->order->progress && x->order->progress(x->order->context, x->total, x->total))
    status = hui_write_wrong(x, HU_E_FILE, "%s: stopped; nothing was written", x->model->path);
  if (status == HU_OK && fsync(folder) && errno != EINVAL) status = hui_write_cannot(x, x->folder);
  if (folder >= 0) close(folder);
  return status;
}

static hu_status write_folder(hui_writing *x, const char *path) {
  char *real;
  hu_status status = find_folder(&real, x, path);
  const char *to = real ? real : path;
  if (status == HU_OK) status = make_folder(x, to);
  int made = status == HU_OK;
  if (status == HU_OK) status = write_all(x);
  if (status == HU_OK && rename(x->folder, to)) status = hui_write_cannot(x, path);
  if (made && status != HU_OK) remove_folder(x->folder);
  free(real);
  return status;
}

/* ---- the call ---- */

static hu_status read_order(hui_writing *x) {
  const char *values = x->order->values ? x->order->values : "BF16";
  x->target = x->order->target ? hui_target_find(x->order->target) : NULL;
  x->values = st_dtype_find(values);
  if (!x->target) {
    size_t n = (size_t)snprintf(x->line, HU_CHECKPOINT_LINE, "'%.80s' is no layout that can be written; these can:",
                                x->order->target ? x->order->target : "");
    for (size_t i = 0; i < hui_targets_count && n < HU_CHECKPOINT_LINE; i++)
      n += (size_t)snprintf(x->line + n, HU_CHECKPOINT_LINE - n, " %s", hui_targets[i].said.name);
    return HU_E_NAME;
  }
  if (x->values != ST_BF16 && x->values != ST_F16 && x->values != ST_F32)
    return hui_write_wrong(x, HU_E_NAME, "values can be BF16, F16 or F32, not '%.80s'", values);
  if (x->order->activations && !x->target->input)
    return hui_write_wrong(x, HU_E_NAME, "%s has no scales of activations", x->target->said.name);
  return read_rule(x);
}

static void clean_up(hui_writing *x) {
  for (size_t p = 0; p < x->part_count; p++) st_free(&x->parts[p].file);
  free(x->parts);
  free(x->places);
  free(x->folder);
}

hu_status hu_checkpoint_write(const hu_checkpoint *x, const char *folder, const hu_checkpoint_order *order,
                              hu_checkpoint_change *changes, char line[HU_CHECKPOINT_LINE]) {
  char own[HU_CHECKPOINT_LINE];
  hui_writing all = {.model = x, .order = order, .line = line ? line : own};
  if (!x || !folder || !order) return HU_E_NULL;
  all.line[0] = 0;
  all.changes = changes ? changes : calloc(x->count + 1, sizeof *changes);
  hu_status status = all.changes ? read_order(&all) : hui_write_no_memory(&all);
  if (status == HU_OK) status = choose(&all);
  if (status == HU_OK) status = plan(&all);
  if (status == HU_OK) status = write_folder(&all, folder);
  if (!changes) free(all.changes);
  clean_up(&all);
  return status;
}
