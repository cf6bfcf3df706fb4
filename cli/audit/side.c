/* SPDX-License-Identifier: MIT */
/* One side of an audit: its tensors, and their values, codes and scales wherever these lie. See audit.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/audit/audit.h"
#include "files/gguf.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/formats/ocp.h"
#include "halfulp/formats/other.h"
#include "halfulp/scalar.h"

static size_t least(size_t x, size_t y) { return x && x < y ? x : y; }

size_t audit_blocks_down(const audit_tensor *x) { return x->scaled ? (x->rows + x->block[0] - 1) / x->block[0] : 0; }
size_t audit_blocks_across(const audit_tensor *x) { return x->scaled ? (x->cols + x->block[1] - 1) / x->block[1] : 0; }

/* ---- tensors of checkpoints ---- */

static void take_shape(audit_tensor *z, uint32_t dims, const size_t *shape, size_t count) {
  z->count = count;
  z->cols = dims ? shape[dims - 1] : 1;
  z->rows = dims > 1 ? shape[dims - 2] : 1;
  z->matrices = z->rows && z->cols ? count / z->rows / z->cols : 0;
}

static void take_layout(audit_tensor *z, const hui_tensor *found) {
  char scale[48];
  z->found = found;
  z->codes = found->codes;
  z->known = hu_format_find(&z->element, found->elements) == HU_OK;
  if (found->plain) { /* one code behind the other, whatever the shape */
    z->codes.rows = z->rows;
    z->codes.cols = z->cols;
    return;
  }
  z->rows = found->rows;
  z->cols = found->cols;
  z->written = hui_integers_of(found);
  z->integers = z->written != SIZE_MAX;
  z->scaled = found->scale && found->grid != HUI_RUNS && (!found->bias || z->integers) && !found->order && !found->zero;
  if (!z->scaled) return;
  snprintf(scale, sizeof scale, "%.*s", (int)strcspn(found->scales, " "), found->scales);
  if (hu_format_find(&z->scale, scale) != HU_OK) z->scaled = 0;
  z->block[0] = least(found->block[0], z->rows);
  z->block[1] = least(found->block[1], z->cols);
  z->second = !found->second ? 0 : found->layout->divide ? -1 : 1;
}

/* Takes MXFP4 and NVFP4 of GGUF; the blocks of its other types are values here. */
static void take_gguf(audit_tensor *z, const hui_tensor *found) {
  int nvfp4 = !strcmp(found->elements, "NVFP4");
  z->quantized = nvfp4 || !strcmp(found->elements, "MXFP4");
  if (!z->quantized) return;
  z->known = z->scaled = 1;
  z->gguf = found;
  z->found = found;
  z->element = hu_float4_e2m1fn();
  z->scale = nvfp4 ? hu_ue4m3() : hu_float8_e8m0fnu();
  z->block[0] = 1;
  z->block[1] = least(nvfp4 ? 16 : 32, z->cols);
  z->second = found->second != NULL;
}

/* Returns the block of an element in the file, 17 bytes of 32 or 36 of 64 elements (docs/files.md section 7). */
static const uint8_t *gguf_block(const audit_tensor *x, size_t matrix, size_t row, size_t col) {
  size_t many = x->block[1] == 32 ? 32 : 64, bytes = many == 32 ? 17 : 36;
  return x->gguf->raw->bytes + ((matrix * x->rows + row) * (x->cols / many) + col / many) * bytes;
}

static unsigned gguf_code(const audit_tensor *x, size_t matrix, size_t row, size_t col) {
  const uint8_t *block = gguf_block(x, matrix, row, col);
  size_t half = x->block[1] / 2, k = col % x->block[1];
  const uint8_t *bytes = x->block[1] == 32 ? block + 1 : block + 4 + col % 64 / 16 * 8;
  return k < half ? bytes[k] & 15u : bytes[k - half] >> 4;
}

static void take_model(audit_tensor *z, const audit_side *side, size_t i) {
  hu_checkpoint_tensor tensor = hu_checkpoint_at(side->in.model, i);
  z->side = side;
  z->name = tensor.name;
  z->place = i;
  z->layout = tensor.layout;
  z->elements = tensor.layout[0] ? tensor.elements : tensor.dtype;
  take_shape(z, tensor.dims, tensor.shape, tensor.count);
  const hui_tensor *found = &side->in.model->tensors[i];
  if (hui_gguf_is_blocks(found->raw)) {
    take_gguf(z, found);
    return;
  }
  z->quantized = tensor.layout[0] != 0 && found->codes.bits;
  if (z->quantized) take_layout(z, found);
}

/* ---- codes that this command wrote ---- */

/* Takes elements, scales and blocks from a format's text. Returns 0, or an exit code after an error line: `what` has no
 * codes of up to 8 bits under scales. */
static int take_target(audit_tensor *z, const char *path, const cli_target *target, size_t rows, size_t cols) {
  const hu_scaling *scaling = &target->scaling;
  char text[CLI_TARGET_MAX];
  int blocks = target->kind == &cli_kind_scaled;
  z->rows = rows;
  z->cols = cols;
  z->matrices = rows && cols;
  z->count = rows * cols;
  z->quantized = z->known = 1;
  z->layout = "halfulp";
  z->element = blocks ? scaling->element : target->format;
  if (target->by_rows || (!blocks && target->kind != &cli_kind_format && target->kind != &cli_kind_conversion))
    return cli_fail(path, "tensor '%.200s': codes of %s are not audited", z->name, cli_target_name(text, target));
  if (hu_limits_of(z->element).width > 8)
    return cli_fail(path, "tensor '%.200s': codes of more than 8 bits (%s) are not audited", z->name,
                    cli_target_name(text, target));
  if (!blocks) return CLI_OK;
  z->scaled = 1;
  z->scale = scaling->scale;
  z->block[0] = least(scaling->rows, rows);
  z->block[1] = least(scaling->cols, cols);
  z->second = scaling->tensor != 0;
  z->scaling = *scaling;
  z->twos = scaling->coding == HU_CODING_TWOS;
  return CLI_OK;
}

static const void *part_of(const audit_side *side, const char *name, const char *suffix, size_t size) {
  char shown[ST_NAME_MAX];
  char *full = suffix ? tensors_name(name, suffix) : strdup(name);
  size_t has, place = full ? hu_checkpoint_find(side->in.model, full) : SIZE_MAX;
  const void *bytes = place == SIZE_MAX ? NULL : hu_checkpoint_bytes(side->in.model, place, &has);
  if (full && !bytes) cli_fail(side->path, "tensor '%s' is missing", st_printable(shown, full));
  if (bytes && has != size) {
    cli_fail(side->path, "tensor '%s': %zu bytes, its codes require %zu", st_printable(shown, full), has, size);
    bytes = NULL;
  }
  free(full);
  return bytes;
}

static int take_note(audit_tensor *z, const audit_side *side, const tensors_note *note) {
  cli_parts parts = {0};
  cli_job job = {.name = side->path};
  const cli_target *target = &note->kind->target;
  z->side = side;
  z->name = note->name;
  z->elements = "";
  cli_job_shape(&job, target, note->rows_out, note->dims, note->shape);
  if (job.transpose.channels)
    return cli_fail(side->path, "tensor '%.200s': codes of --rows out are not audited", note->name);
  if (take_target(z, side->path, target, job.rows, job.cols)) return CLI_BAD;
  cli_parts_plan(&parts, target, &job);
  int native = note->kind->native >= 0;
  size_t bytes = native ? z->count : parts.packed_rows * parts.packed_row;
  const uint8_t *codes = part_of(side, note->name, native ? NULL : "codes", bytes);
  unsigned bits = native ? 8 : parts.width;
  if (!codes) return CLI_BAD;
  z->codes = (hui_codes){codes, z->rows, z->cols, native ? z->cols : parts.packed_row, 0, HUI_FLAT, (uint8_t)bits};
  for (int i = 1; i < parts.count; i++) {
    const cli_part *part = &parts.part[i];
    const void *data = part_of(side, note->name, part->suffix, (part->dims ? part->rows * part->cols : 1) * part->size);
    if (!data) return CLI_BAD;
    if (i == 1) z->scales = data;
    if (i == 2) z->seconds = data;
  }
  return CLI_OK;
}

/* ---- arrays ---- */

static int take_array(audit_side *side, const char *path, const cli_target *target) {
  audit_tensor *z = side->tensors;
  int codes = target->kind != NULL;
  if (codes ? cli_array_load_codes(&side->array, path) : cli_array_load(&side->array, path)) return CLI_BAD;
  side->is_array = 1;
  if (cli_array_in_rows(&side->array)) return CLI_BAD;
  const npy_info *info = &side->array.info;
  const char *slash = strrchr(path, '/');
  side->count = 1;
  z->side = side;
  z->array = &side->array;
  z->name = slash ? slash + 1 : path;
  z->layout = "";
  z->elements = npy_dtype(info);
  take_shape(z, info->dims, info->shape, info->count);
  if (!codes || info->kind == 'f') return CLI_OK;
  cli_job job = {.name = path};
  cli_job_shape(&job, target, 0, info->dims, info->shape);
  if (take_target(z, path, target, job.rows, job.cols)) return CLI_BAD;
  if (info->size != 1) return cli_fail(path, "codes are uint8, this is %s", npy_dtype(info));
  if (cli_parts_alloc(&side->parts, target, &job)) return CLI_BAD;
  memcpy(side->parts.part[0].data, side->array.data, info->count);
  if (cli_codes_check(path, info, side->array.data, cli_code_rule_part(&side->parts.part[0])) ||
      cli_parts_load(&side->parts, path))
    return CLI_BAD;
  z->codes = (hui_codes){side->array.data, z->rows, z->cols, z->cols, 0, HUI_FLAT, 8};
  z->scales = side->parts.count > 1 ? side->parts.part[1].data : NULL;
  z->seconds = side->parts.count > 2 ? side->parts.part[2].data : NULL;
  return CLI_OK;
}

/* ---- open ---- */

static int by_name(const void *x, const void *y) {
  return strcmp(((const audit_tensor *)x)->name, ((const audit_tensor *)y)->name);
}

static int open_model(audit_side *side, const char *path, const char *layout) {
  int code = tensors_open_for_info(&side->in, path, layout);
  if (code != CLI_OK) return code;
  side->opened = 1;
  code = tensors_notes_read(&side->notes, &side->in);
  size_t most = hu_checkpoint_count(side->in.model) + side->notes.count;
  side->tensors = code == CLI_OK ? cli_alloc(most, sizeof *side->tensors) : NULL;
  if (!side->tensors) return CLI_BAD;
  memset(side->tensors, 0, most * sizeof *side->tensors);
  for (size_t i = 0; i < side->notes.count && code == CLI_OK; i++)
    code = take_note(&side->tensors[side->count++], side, &side->notes.list[i]);
  for (size_t i = 0; i < hu_checkpoint_count(side->in.model) && code == CLI_OK; i++) {
    st_tensor named = {(char *)(uintptr_t)hu_checkpoint_at(side->in.model, i).name, 0, 0, NULL, 0, 0, 0};
    if (!tensors_is_part(&named, &side->notes)) take_model(&side->tensors[side->count++], side, i);
  }
  qsort(side->tensors, side->count, sizeof *side->tensors, by_name);
  return code;
}

int audit_open(audit_side *side, const char *path, const char *layout, const cli_target *target) {
  memset(side, 0, sizeof *side);
  side->path = path;
  int code = CLI_BAD;
  if (cli_is_model(path) || cli_ends(path, ".gguf")) {
    code = open_model(side, path, layout);
  } else {
    side->tensors = cli_alloc(1, sizeof *side->tensors);
    if (side->tensors) memset(side->tensors, 0, sizeof *side->tensors);
    if (side->tensors) code = take_array(side, path, target);
  }
  if (code != CLI_OK) audit_close(side);
  return code;
}

void audit_close(audit_side *side) {
  if (side->opened) {
    tensors_notes_free(&side->notes);
    tensors_close(&side->in);
  }
  if (side->is_array) {
    cli_parts_free(&side->parts);
    cli_array_free(&side->array);
  }
  free(side->tensors);
  memset(side, 0, sizeof *side);
}

const audit_tensor *audit_find(const audit_side *side, const char *name, int only) {
  audit_tensor key = {.name = name};
  if (only && side->count == 1) return side->tensors;
  return side->count ? bsearch(&key, side->tensors, side->count, sizeof key, by_name) : NULL;
}

/* ---- codes and scales ---- */

/* Codes of this command lie one after the other in rows that begin at a byte, the first in the lowest bits. */
unsigned audit_code(const audit_tensor *x, size_t matrix, size_t row, size_t col) {
  if (x->gguf) return gguf_code(x, matrix, row, col);
  if (x->found) return hui_code(&x->codes, matrix, row, col);
  unsigned bits = x->codes.bits;
  size_t at = col * bits;
  const uint8_t *bytes = x->codes.bytes + row * x->codes.line + at / 8;
  unsigned shift = at % 8, word = bytes[0];
  if (shift + bits > 8) word |= (unsigned)bytes[1] << 8;
  return word >> shift & ((1u << bits) - 1);
}

void audit_codes(uint8_t *z, const audit_tensor *x, size_t matrix, size_t row, size_t n) {
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < x->cols; j++) z[i * x->cols + j] = (uint8_t)audit_code(x, matrix, row + i, j);
}

static uint32_t little(const uint8_t *at, unsigned bytes) {
  uint32_t z = 0;
  for (unsigned i = 0; i < bytes; i++) z |= (uint32_t)at[i] << 8 * i;
  return z;
}

static float of_bits(uint32_t bits) {
  float z;
  memcpy(&z, &bits, sizeof z);
  return z;
}

/* Returns what is stored in an array of this command: in a file little-endian, in an .npy's in this machine's order. */
static uint32_t stored(const audit_tensor *x, const void *array, size_t i, unsigned bytes) {
  const uint8_t *at = (const uint8_t *)array + i * bytes;
  if (!x->array) return little(at, bytes);
  if (bytes == 1) return *at;
  if (bytes == 2) return ((const uint16_t *)array)[i];
  return ((const uint32_t *)array)[i];
}

float audit_scale(const audit_tensor *x, size_t matrix, size_t p, size_t q, uint32_t *code) {
  unsigned bytes = hu_limits_of(x->scale).storage / 8;
  if (x->gguf) {
    const uint8_t *block = gguf_block(x, matrix, p, q * x->block[1]);
    *code = block[x->block[1] == 32 ? 0 : q % 4];
    return hu_decode(x->scale, *code);
  }
  if (x->found) {
    const hui_raw *raw = x->found->scale;
    size_t place = hui_scale_place(x->found, matrix, p * x->found->block[0], q * x->found->block[1]);
    unsigned size = st_dtype_bits(raw->tensor->dtype) / 8;
    *code = little(raw->bytes + place * size, size);
    return of_bits(hui_scale_bits(raw, x->found->scale_type, place));
  }
  *code = stored(x, x->scales, p * audit_blocks_across(x) + q, bytes);
  return hu_decode(x->scale, *code);
}

float audit_bias(const audit_tensor *x, size_t matrix, size_t p, size_t q) {
  const hui_tensor *found = x->found;
  if (!x->scaled || !found || !found->bias) return 0;
  return of_bits(hui_scale_bits(found->bias, HUI_SCALE_DTYPE,
                                hui_scale_place(found, matrix, p * found->block[0], q * found->block[1])));
}

float audit_second(const audit_tensor *x, size_t matrix) {
  if (!x->second) return 1;
  if (x->found) return of_bits(hui_scale_bits(x->found->second, HUI_SCALE_DTYPE, matrix * x->found->second_step));
  return of_bits(stored(x, x->seconds, 0, 4));
}

/* ---- values ---- */

/* Decodes up to LINE elements of one row of a block, as the format does it. */
enum { LINE = 256 };
static hu_status decode_run(float *z, const audit_tensor *x, size_t row, size_t col, size_t n) {
  uint32_t scale;
  uint8_t narrow[LINE];
  float second = audit_second(x, 0);
  for (size_t i = 0; i < n; i++) narrow[i] = (uint8_t)audit_code(x, 0, row, col + i);
  if (!x->scaled) {
    for (size_t i = 0; i < n; i++) z[i] = hu_decode(x->element, narrow[i]);
    return HU_OK;
  }
  audit_scale(x, 0, row / x->block[0], col / x->block[1], &scale);
  uint16_t half = (uint16_t)scale;
  uint8_t byte = (uint8_t)scale;
  unsigned storage = hu_limits_of(x->scale).storage;
  void *scales = storage == 8 ? (void *)&byte : storage == 16 ? (void *)&half : (void *)&scale;
  hu_scaled from = {narrow, n, scales, 1, x->second ? &second : NULL};
  return hu_scaled_decode(1, n, z, n, &from, &x->scaling, NULL);
}

static int decode(float *z, const audit_tensor *x, size_t first, size_t n) {
  hu_status status = HU_OK;
  for (size_t i = 0; i < n && status == HU_OK;) {
    size_t row = (first + i) / x->cols, col = (first + i) % x->cols, some = x->cols - col;
    if (x->scaled && some > x->block[1] - col % x->block[1]) some = x->block[1] - col % x->block[1];
    if (some > LINE) some = LINE;
    if (some > n - i) some = n - i;
    status = decode_run(z + i, x, row, col, some);
    i += some;
  }
  return status == HU_OK ? CLI_OK : cli_fail_status(x->side->path, status);
}

/* Reads an .npy file of numbers. */
static int read_array(float *z, const audit_tensor *x, size_t first, size_t n) {
  cli_source source = cli_values_source(x->array);
  double block[CLI_BLOCK];
  for (size_t i = 0; i < n; i += CLI_BLOCK) {
    size_t some = n - i < CLI_BLOCK ? n - i : CLI_BLOCK;
    cli_source_read(&source, block, first + i, some);
    for (size_t k = 0; k < some; k++) {
      z[i + k] = (float)hu_quantize64(hu_binary32(), (hu_mode){0}, block[k], 0, NULL);
      if ((double)z[i + k] != block[k] && !isnan(block[k]))
        return cli_fail(x->side->path, "element %zu is not a binary32 number, which quantizers start from",
                        first + i + k);
    }
  }
  return CLI_OK;
}

int audit_values(float *z, const audit_tensor *x, size_t first, size_t n) {
  char shown[ST_NAME_MAX];
  if (x->quantized && !x->found) return decode(z, x, first, n);
  if (x->array) return read_array(z, x, first, n);
  hu_status status = hu_checkpoint_read(x->side->in.model, x->place, first, n, z);
  if (status == HU_OK) return CLI_OK;
  return cli_fail(x->side->path, "tensor '%s': its values cannot be read: %s", st_printable(shown, x->name),
                  status == HU_E_FORMAT ? "complex numbers" : "a library call failed");
}
