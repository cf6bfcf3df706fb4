/* SPDX-License-Identifier: MIT */
/* halfulp compare - several formats on the same numbers; two arrays, bit for bit. */
#include "cli/quantize/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/numbers.h"
#include "cli/tensors/codes.h"
#include "halfulp/scalar.h"

enum { BUCKETS = 65, SHOWN_DEFAULT = 10 };

/* What is asked for. */
enum { FORMATS, ARRAYS };
static const char *const mode_names[] = {"one file and several formats", "two arrays"};

typedef struct compare_state {
  compare_asked asked;
  uint64_t shown;
} compare_state;

static int set(void *context, int key, const char *value) {
  compare_state *state = context;
  compare_asked *asked = &state->asked;
  if (key == 'n') return cli_read_u64(&state->shown, "--first", value, 0, UINT64_MAX);
  if (key != 'f') return cli_quantize_set(&asked->common, key, value);
  if (asked->count == COMPARE_FORMATS_MAX) return cli_fail(NULL, "--format: more than %d of them", COMPARE_FORMATS_MAX);
  asked->formats[asked->count++] = value;
  return CLI_OK;
}

static const cli_option options[] = {
    {'f' | CLI_REPEATS, "format", "FORMAT", "a format, as quantize takes them; two or more, of two arrays at most one"},
    CLI_OPTIONS_ROUND_OF(CLI_FOR(FORMATS)),
    CLI_OPTIONS_STREAM_OF(CLI_FOR(FORMATS)),
    {CLI_KEY_INCLUDE | CLI_REPEATS | CLI_FOR(FORMATS), "include", "GLOB",
     ".safetensors: of the tensors, those of these names"},
    {CLI_KEY_EXCLUDE | CLI_REPEATS | CLI_FOR(FORMATS), "exclude", "GLOB",
     ".safetensors: not the tensors of these names"},
    {CLI_KEY_ANY_RANK | CLI_FOR(FORMATS), "any-rank", NULL, ".safetensors: also tensors with fewer than two axes"},
    {CLI_KEY_ROWS | CLI_FOR(FORMATS), "rows", "WHICH",
     "blocks lie along the last axis (default), or out: all but the first (convolutions)"},
    {CLI_KEY_REPORT | CLI_FOR(FORMATS), "report", "FILE.html", "the table and a drawing, a file that stands alone"},
    CLI_OPTION_LAYOUT(CLI_KEY_LAYOUT | CLI_FOR(FORMATS)),
    CLI_OPTION_THREADS,
    CLI_OPTION_PACKED(CLI_KEY_PACKED | CLI_FOR(ARRAYS)),
    {'n' | CLI_FOR(ARRAYS), "first", "N", "two arrays: the first N differences to print; default 10"},
    CLI_OPTION_JSON,
    {0}};
static const cli_command command = {
    "compare",
    "IN | X.npy Y.npy",
    "Round an array (.npy) or the tensors of a model (.safetensors, .gguf) into several formats, or compare two arrays "
    "bit for bit",
    "IN: prints, for each tensor and format, the signal-to-quantization-noise ratio in dB, and for each format\n"
    "the bits per element (scales included), the largest error, the zeros and the overflows of all tensors.\n"
    "The tensors, the rounding and the errors are those of `halfulp quantize` with the same options; nothing\n"
    "is written but the report. A model that is quantized already is refused unless --include names tensors.\n\n"
    "X.npy Y.npy: elements are equal if their bits are: -0 differs from +0, and NaNs differ by sign and payload.\n"
    "Byte order and memory order do not count; dtype and shape do. Distances count representable values, of\n"
    "FORMAT or else of the dtype. With FORMAT uint8, uint16 and uint32 are its codes, other integers values.\n"
    "Exit code 1 if the arrays differ.",
    "  halfulp compare -f float8_e4m3fn -f mxfp8_e4m3 -f nvfp4 -f posit8 digits_weights.npy\n"
    "  halfulp compare -f mxfp4 -f nvfp4 -f s2fp8 --report /tmp/compare.html digits_weights.npy\n"
    "  halfulp compare cpu.npy gpu.npy\n"
    "  halfulp compare x.npy y.npy -f float8_e4m3fn --first 3 --json",
    options,
    1,
    2,
    set};

/* ---- two arrays ---- */

/* What the elements are, to count steps between them. codes: of the format, or integers, which count themselves. */
typedef struct scale {
  cli_source x, y;
  hu_format format;
  hu_limits limits;
  int by_format, codes, is_signed;
  unsigned size;
} scale;

typedef struct tally {
  uint64_t differing, zero_signs, nans, infinities, off_grid;
  uint64_t histogram[BUCKETS]; /* 0: unused; i: 2^(i-1) .. 2^i - 1 steps */
} tally;

static uint64_t bits_at(const void *data, size_t i, unsigned size) {
  if (size == 1) return ((const uint8_t *)data)[i];
  if (size == 2) return ((const uint16_t *)data)[i];
  if (size == 4) return ((const uint32_t *)data)[i];
  return ((const uint64_t *)data)[i];
}

/* Maps sign and magnitude bits to a place on a line, zeros at 0. */
static int64_t place_of_bits(uint64_t bits, unsigned width) {
  uint64_t sign = (uint64_t)1 << (width - 1), magnitude = bits & (sign - 1);
  return bits & sign ? -(int64_t)magnitude : (int64_t)magnitude;
}

/* Maps integers to that line; those of 64 bits without a sign lie 2^63 lower. */
static int64_t place_of_integer(const scale *axis, uint64_t bits) {
  unsigned up = 64 - 8 * axis->size;
  if (axis->is_signed) return (int64_t)(bits << up) >> up;
  return (int64_t)(axis->size == 8 ? bits ^ (uint64_t)1 << 63 : bits);
}

static int64_t place_of_code(const scale *axis, uint32_t code) {
  uint32_t magnitude = code & ~axis->limits.sign_mask;
  int skips = magnitude && axis->limits.min_code; /* codes that lie between zero and the least number */
  int64_t place = magnitude - (skips ? (int64_t)axis->limits.min_code - 1 : 0);
  return code & axis->limits.sign_mask ? -place : place;
}

/* Returns 1 and the place, or 0 if the value is not one of the format. */
static int place_of(int64_t *place, const scale *axis, double value, uint64_t bits) {
  if (!axis->by_format) {
    *place = axis->codes ? place_of_integer(axis, bits) : place_of_bits(bits, 8 * axis->size);
    return 1;
  }
  uint32_t code = axis->codes ? (uint32_t)bits : hu_encode64(axis->format, (hu_mode){0}, value, 0, NULL);
  *place = place_of_code(axis, code);
  return axis->codes || hu_decode64(axis->format, code) == value;
}

static unsigned bucket_of(uint64_t steps) {
  unsigned i = 0;
  while (steps) {
    steps >>= 1;
    i++;
  }
  return i;
}

static void tally_pair(tally *counts, const scale *axis, double a, double b, uint64_t x, uint64_t y) {
  int64_t place_x, place_y;
  counts->differing++;
  if (isnan(a) || isnan(b))
    counts->nans++;
  else if (isinf(a) || isinf(b))
    counts->infinities++;
  else if (a == 0 && b == 0 && !(axis->codes && !axis->by_format))
    counts->zero_signs++;
  else if (!place_of(&place_x, axis, a, x) || !place_of(&place_y, axis, b, y))
    counts->off_grid++;
  else
    counts->histogram[bucket_of(place_x > place_y ? (uint64_t)place_x - (uint64_t)place_y
                                                  : (uint64_t)place_y - (uint64_t)place_x)]++;
}

static void print_index(const npy_info *info, size_t i) {
  char text[CLI_INDEX_MAX];
  fputs(cli_index_text(text, info, i), stdout);
}

static void print_pair(const scale *axis, const npy_info *info, size_t i, double a, double b, int json, int first) {
  char ta[NUMBER_TEXT_MAX], tb[NUMBER_TEXT_MAX];
  uint64_t x = bits_at(axis->x.data, i, axis->size), y = bits_at(axis->y.data, i, axis->size);
  int digits = (int)axis->size * 2;
  printf(json ? "%s{\"index\": " : "  ", first ? "" : ", ");
  print_index(info, i);
  if (!json) {
    printf("  %0*llx %-24s  %0*llx %s\n", digits, (unsigned long long)x, number_hex(ta, a), digits,
           (unsigned long long)y, number_hex(tb, b));
    return;
  }
  cli_json(stdout, ", 'x': {?}, 'y': {?}}", cli_code(digits, x, a), cli_code(digits, y, b));
}

static void compare(tally *counts, const scale *axis, const npy_info *info, uint64_t shown, int json) {
  double a[CLI_BLOCK], b[CLI_BLOCK];
  if (json) printf("\"first\": [");
  for (size_t i = 0; i < info->count; i += CLI_BLOCK) {
    size_t n = info->count - i < CLI_BLOCK ? info->count - i : CLI_BLOCK;
    const char *x = (const char *)axis->x.data + i * axis->size, *y = (const char *)axis->y.data + i * axis->size;
    if (memcmp(x, y, n * axis->size) == 0) continue;
    cli_source_read(&axis->x, a, i, n);
    cli_source_read(&axis->y, b, i, n);
    for (size_t j = 0; j < n; j++) {
      uint64_t value_x = bits_at(axis->x.data, i + j, axis->size), value_y = bits_at(axis->y.data, i + j, axis->size);
      if (value_x == value_y) continue;
      if (counts->differing < shown) print_pair(axis, info, i + j, a[j], b[j], json, counts->differing == 0);
      tally_pair(counts, axis, a[j], b[j], value_x, value_y);
    }
  }
  if (json) printf("], ");
}

static void print_tally(const tally *counts, const npy_info *info) {
  printf("%s%llu of %zu elements differ%s\n", cli_ink_on(stdout, counts->differing ? CLI_INK_WRONG : CLI_INK_RIGHT),
         (unsigned long long)counts->differing, info->count, cli_ink_on(stdout, CLI_INK_END));
  if (!counts->differing) return;
  printf("distance in ulps\n");
  if (counts->zero_signs) printf("  %-22s %llu\n", "0 (signs of zero)", (unsigned long long)counts->zero_signs);
  for (unsigned i = 0; i < BUCKETS; i++) {
    char label[48];
    unsigned long long low = i ? 1ull << (i - 1) : 0, high = i ? (i > 63 ? UINT64_MAX : (1ull << i) - 1) : 0;
    if (!counts->histogram[i]) continue;
    if (low == high)
      snprintf(label, sizeof label, "%llu", low);
    else
      snprintf(label, sizeof label, "%llu to %llu", low, high);
    printf("  %-22s %llu\n", label, (unsigned long long)counts->histogram[i]);
  }
  if (counts->infinities) printf("  %-22s %llu\n", "an infinity", (unsigned long long)counts->infinities);
  if (counts->nans) printf("  %-22s %llu\n", "a NaN", (unsigned long long)counts->nans);
  if (counts->off_grid) printf("  %-22s %llu\n", "not in the format", (unsigned long long)counts->off_grid);
}

static void json_tally(const tally *counts) {
  int first = 1;
  cli_json(stdout, "'differing': ?, 'zero_signs': ?, 'infinities': ?, 'nans': ?, 'off_grid': ?, 'ulps': [",
           JSON(counts->differing), JSON(counts->zero_signs), JSON(counts->infinities), JSON(counts->nans),
           JSON(counts->off_grid));
  for (unsigned i = 0; i < BUCKETS; i++) {
    if (!counts->histogram[i]) continue;
    cli_json(stdout, "?{'from': ?, 'count': ?}", cli_comma(first), JSON(i ? 1ull << (i - 1) : 0),
             JSON(counts->histogram[i]));
    first = 0;
  }
  printf("], ");
}

/* Copies y's elements into the other memory order. */
static int reorder(cli_array *y) {
  const npy_info *info = &y->info;
  uint8_t *z = cli_alloc(info->count, info->size);
  if (!z) return CLI_BAD;
  for (size_t i = 0; i < info->count; i++) {
    size_t rest = i, to = 0, step = 1;
    size_t index[NPY_DIMS_MAX];
    for (uint32_t k = 0; k < info->dims; k++) {
      uint32_t axis = info->fortran ? k : info->dims - 1 - k;
      index[axis] = rest % info->shape[axis];
      rest /= info->shape[axis];
    }
    for (uint32_t k = 0; k < info->dims; k++) {
      uint32_t axis = info->fortran ? info->dims - 1 - k : k;
      to += index[axis] * step;
      step *= info->shape[axis];
    }
    memcpy(z + to * info->size, (const uint8_t *)y->data + i * info->size, info->size);
  }
  free(y->copy);
  y->copy = z;
  y->data = z;
  y->info.fortran = !y->info.fortran;
  return CLI_OK;
}

/* Returns 1 if dtype and shape are the same; else says what differs. */
static int comparable(const cli_array *x, const cli_array *y, int json) {
  char sx[NPY_SHAPE_MAX], sy[NPY_SHAPE_MAX];
  int same = x->info.kind == y->info.kind && x->info.size == y->info.size && x->info.dims == y->info.dims &&
             !memcmp(x->info.shape, y->info.shape, x->info.dims * sizeof x->info.shape[0]);
  if (same) return 1;
  npy_shape(sx, &x->info);
  npy_shape(sy, &y->info);
  printf(json ? "{\"comparable\": false, \"why\": \"dtype or shape differ: %s %s and %s %s\"}\n"
              : "dtype or shape differ: %s %s and %s %s\n",
         npy_dtype(&x->info), sx, npy_dtype(&y->info), sy);
  return 0;
}

static cli_source source_of(const cli_array *x, const compare_state *state) {
  return state->asked.common.numeric.format_text ? cli_array_source(x, state->asked.common.numeric.format)
                                                 : cli_values_source(x);
}

/* Takes codes of the format, unpacked where --packed is given. */
static int take_codes(const compare_state *state, cli_array *x) {
  hu_format format = state->asked.common.numeric.format;
  cli_code_rule rule = cli_code_rule_of(format, state->asked.common.numeric.format_text);
  if (state->asked.common.packed && !state->asked.common.numeric.format_text)
    return cli_fail(NULL, "compare: --packed requires -f FORMAT");
  if (state->asked.common.packed) return cli_array_unpack(x, rule);
  if (!state->asked.common.numeric.format_text || !cli_array_is_codes(x)) return CLI_OK;
  if (x->info.size * 8 != hu_limits_of(format).storage)
    return cli_fail(x->name, "codes of %s are stored as uint%u, this is %s", state->asked.common.numeric.format_text,
                    hu_limits_of(format).storage, npy_dtype(&x->info));
  rule.can_unpack = 1;
  return cli_codes_check(x->name, &x->info, x->data, rule);
}

static int compare_arrays(const compare_state *state, cli_array *x, cli_array *y) {
  int json = state->asked.common.numeric.json;
  tally counts = {0};
  cli_errors errors;
  if (take_codes(state, x) || take_codes(state, y)) return CLI_BAD;
  if (!comparable(x, y, json)) return CLI_DIFFERENT;
  if (x->info.dims > 1 && x->info.fortran != y->info.fortran && reorder(y)) return CLI_BAD;
  hu_format format = state->asked.common.numeric.format;
  int by_format = state->asked.common.numeric.format_text != NULL, whole = x->info.kind != 'f';
  scale sc = {
      source_of(x, state), source_of(y, state), format, {0}, by_format, by_format ? cli_array_is_codes(x) : whole,
      x->info.kind == 'i', x->info.size};
  if (sc.by_format) sc.limits = hu_limits_of(format);
  if (json) printf("{\"comparable\": true, ");
  compare(&counts, &sc, &x->info, state->shown, json);
  if (json)
    json_tally(&counts);
  else
    print_tally(&counts, &x->info);
  if (counts.differing) {
    cli_measure(&errors, &sc.x, &sc.y, x->info.count);
    if (json)
      cli_json(stdout, "'errors': ?, ", cli_errors_value(&errors));
    else
      cli_print_errors(stdout, "  ", &errors);
  }
  if (json) printf("\"count\": %zu}\n", x->info.count);
  return counts.differing ? CLI_DIFFERENT : CLI_OK;
}

static int compare_files(compare_state *state, char **names) {
  cli_array x, y;
  cli_numeric *numeric = &state->asked.common.numeric;
  if (state->asked.count > 1)
    return cli_fail(NULL, "compare: of two arrays at most one -f FORMAT, whose steps are counted");
  if (state->asked.count && cli_set_numeric(numeric, 'f', state->asked.formats[0]) < 0) return CLI_BAD;
  if (cli_array_load(&x, names[0])) return CLI_BAD;
  if (cli_array_load(&y, names[1])) {
    cli_array_free(&x);
    return CLI_BAD;
  }
  int status = compare_arrays(state, &x, &y);
  cli_array_free(&x);
  cli_array_free(&y);
  return status;
}

int cli_compare(int argc, char **argv) {
  compare_state state = {.shown = SHOWN_DEFAULT};
  char **operands;
  int count, status = cli_parse(&command, &state, argc, argv, &operands, &count);
  if (status >= 0) return status;
  if (cli_mode_check(&command, count == 2 ? ARRAYS : FORMATS, mode_names)) return CLI_BAD;
  if (count == 2) return compare_files(&state, operands);
  if (state.asked.count < 2) return cli_fail(NULL, "compare: requires two formats or more, or a second array");
  return cli_compare_file(&state.asked, operands[0]);
}
