/* SPDX-License-Identifier: MIT */
/* halfulp gemm - D = A B + C of .npy matrices. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/accum/text.h"
#include "cli/base/cli.h"
#include "cli/base/device.h"
#include "cli/base/numbers.h"
#include "cli/base/progress.h"
#include "cli/draw/errors.h"
#include "cli/tensors/codes.h"
#include "cli/tensors/differences.h"
#include "halfulp/gemm.h"

enum {
  KEY_FA = CLI_KEY_FREE,
  KEY_FB,
  KEY_FC,
  KEY_FD,
  KEY_ACCUM,
  KEY_DEVICE,
  KEY_CODES,
  KEY_STRICT,
  KEY_WATCH,
  KEY_SA,
  KEY_SB,
  KEY_AGAINST,
  KEY_PACKED,
  MODELS_MAX = 64
};

typedef struct gemm_state {
  cli_numeric numeric; /* its format is D's */
  hu_format fa, fb, fc;
  int has_fa, has_fb, has_fc, device, codes, strict, watch, packed;
  hu_accum accum;
  const char *fa_text, *fb_text, *fc_text, *accum_text, *c_path, *d_path, *sa_path, *sb_path;
  hu_accum reference; /* --against */
  const char *reference_text, *models[MODELS_MAX];
  int model_count;
} gemm_state;

/* Reads a model; the last of several stays in accum. */
static int set_accum(gemm_state *state, const char *value) {
  if (state->model_count == MODELS_MAX) return cli_fail(NULL, "--accum: more than %d models", MODELS_MAX);
  state->models[state->model_count++] = value;
  state->accum_text = value;
  return cli_read_model(&state->accum, "--accum", value);
}

static int set_reference(gemm_state *state, const char *value) {
  state->reference_text = value;
  return cli_read_model(&state->reference, "--against", value);
}

static int set(void *context, int key, const char *value) {
  gemm_state *state = context;
  int shared = cli_set_numeric(&state->numeric, key == KEY_FD ? 'f' : key, value);
  if (shared) return shared > 0 ? CLI_OK : CLI_BAD;
  switch (key) {
    case 'C': state->c_path = value; return CLI_OK;
    case 'o': state->d_path = value; return CLI_OK;
    case KEY_FA:
      state->has_fa = 1;
      state->fa_text = value;
      return cli_read_format(&state->fa, value);
    case KEY_FB:
      state->has_fb = 1;
      state->fb_text = value;
      return cli_read_format(&state->fb, value);
    case KEY_FC:
      state->has_fc = 1;
      state->fc_text = value;
      return cli_read_format(&state->fc, value);
    case KEY_ACCUM: return set_accum(state, value);
    case KEY_AGAINST: return set_reference(state, value);
    case KEY_DEVICE: return cli_device_read(&state->device, value);
    case KEY_CODES: state->codes = 1; return CLI_OK;
    case KEY_WATCH: state->watch = 1; return CLI_OK;
    case KEY_PACKED: state->packed = 1; return CLI_OK;
    case KEY_SA: state->sa_path = value; return CLI_OK;
    case KEY_SB: state->sb_path = value; return CLI_OK;
    default: state->strict = 1; return CLI_OK;
  }
}

static const cli_option options[] = {
    {'C', "add", "C.npy", "the matrix to add; absent: +0"},
    {'o', "output", "OUT", "the result D, an .npy file; with --against: a drawing of the table, an .svg file"},
    {KEY_FA, "fa", "FORMAT", "format of A; default: what the model takes (a named unit), else binary32"},
    {KEY_FB, "fb", "FORMAT", "format of B; default likewise"},
    {KEY_FC, "fc", "FORMAT", "format of C; default: what the model takes, else D's"},
    {KEY_FD, "fd", "FORMAT", "format of D; default: the unit's or the promotion's, else binary32"},
    {KEY_ACCUM | CLI_REPEATS, "accum", "MODEL",
     "how sums are formed: exact, fp32, seq(F,MODE), ... (halfulp models); default exact"},
    {KEY_AGAINST, "against", "MODEL", "compare each --accum with this model, instead of writing D"},
    {KEY_SA, "sa", "SA.npy",
     "scales of A, for a model that has scales: a row for each of A's, a column for a block of k"},
    {KEY_SB, "sb", "SB.npy", "scales of B: a row for a block of k, a column for each of B's"},
    CLI_OPTIONS_ROUND,
    CLI_OPTIONS_STREAM,
    {KEY_STRICT, "strict", NULL, "an operand that is not a value of its format is an error, not rounded"},
    {KEY_WATCH, "watch", NULL,
     "count the additions inside the sums and those that changed nothing (slower, on the CPU)"},
    CLI_OPTION_PACKED(KEY_PACKED),
    {KEY_CODES, "codes", NULL, "write D as codes (uint8, uint16 or uint32) instead of values"},
    CLI_OPTION_DEVICE(KEY_DEVICE),
    CLI_OPTION_THREADS,
    CLI_OPTION_JSON,
    {0}};
static const cli_command command = {
    "gemm",
    "A.npy B.npy",
    "Multiply matrices, D = A B + C, with the order and the roundings of the sums stated",
    "Without options: binary32 matrices, exact sums, one rounding. A model that takes operands of its own\n"
    "formats alone (a named matrix unit, `takes(A,B,C,MODEL)`, either within promote or splitk) says which,\n"
    "and these are the defaults of --fa, --fb, --fc and --fd; `any(MODEL)` takes others, too.\n"
    "A float array's elements that are not values of its format are first rounded into it, ties to even,\n"
    "with the card's saturation; the report says how many. int8 to int64, uint64 and bool are values, too;\n"
    "uint8, uint16 and uint32 hold codes. -r and -s are those of the one rounding into D. D is float32, or\n"
    "float64 where binary32 cannot hold its format's values.\n"
    "With --against, the products of A and B under each --accum are compared with those under the model\n"
    "given there, `exact` for instance, which gets the same rounded operands and the same format of D. For\n"
    "each model the table shows the largest and the rms difference, the largest difference in ulps (steps\n"
    "from one value of D's format to the next; `sign`: past zero, where one is of each sign), how many elements "
    "differ, and the share of swamped\n"
    "additions, those inside the sums that left the accumulator as it was. Infinities and NaNs are counted\n"
    "apart. -o draws the differences as SVG.",
    "  halfulp gemm digits_images.npy digits_weights.npy -o /tmp/d.npy\n"
    "  halfulp gemm digits_images.npy digits_weights.npy -o /tmp/d.npy --fa float8_e4m3fn --fb float8_e4m3fn \\\n"
    "    --fd bfloat16 --accum exact\n"
    "  halfulp gemm digits_images.npy digits_weights.npy -o /tmp/d.npy --fa bfloat16 --fb bfloat16 --fd binary32 \\\n"
    "    --accum fp32 -j 2 --json\n"
    "  halfulp gemm digits_images.npy digits_weights.npy -o /tmp/d.npy --accum nv.hopper.e4m3.f32.wgmma\n"
    "  halfulp gemm sums_a.npy sums_b.npy --against exact --accum fp32 --accum nv.volta.f16.f32 \\\n"
    "    --accum nv.hopper.f16.f32 --accum 'seq(bfloat16)' --fa binary16 --fb binary16 -o /tmp/sums.svg",
    options,
    2,
    2,
    set};

/* A matrix as codes of its format. */
typedef struct matrix {
  cli_array array;
  void *codes; /* own memory; NULL where the file holds codes */
  hu_view operand;
  size_t rows, columns, off_grid;
} matrix;

static int check_codes(const cli_array *x, hu_format format) {
  hu_limits limits = hu_limits_of(format);
  char name[CLI_NAME_MAX];
  cli_code_rule rule = cli_code_rule_of(format, cli_format_name(name, format));
  rule.can_unpack = 1;
  if (x->info.size * 8 == limits.storage) return cli_codes_check(x->name, &x->info, x->data, rule);
  return cli_fail(x->name, "codes of %s are stored as uint%u, this is %s; --fa, --fb and --fc name the formats", name,
                  limits.storage, npy_dtype(&x->info));
}

static int encode_matrix(matrix *operand, hu_format format, const hu_exec *exec, int strict) {
  char name[CLI_NAME_MAX];
  cli_errors errors;
  size_t n = operand->array.info.count;
  hu_exec plain = {exec->threads, 0, {0, 0}, {0}};
  operand->codes = cli_alloc(n, hu_limits_of(format).storage / 8);
  if (!operand->codes) return CLI_BAD;
  cli_source x = cli_array_source(&operand->array, format), z = cli_codes_source(operand->codes, format);
  hu_status status = cli_encode_source(operand->codes, &x, n, format, (hu_mode){0}, &plain, NULL);
  if (status != HU_OK) return cli_fail_status(operand->array.name, status);
  cli_measure(&errors, &x, &z, n);
  operand->off_grid = errors.changed;
  if (!strict || !errors.changed) return CLI_OK;
  return cli_fail(operand->array.name, "%zu of %zu elements are not values of %s", errors.changed, n,
                  cli_format_name(name, format));
}

/* Loads a matrix. packed: --packed, which concerns the matrices of bytes whose format has codes of 4 or 6 bits. */
static int load_matrix(matrix *operand, const char *path, hu_format format, const hu_exec *exec, int strict,
                       int packed) {
  char shape[NPY_SHAPE_MAX], name[CLI_NAME_MAX];
  if (cli_array_load(&operand->array, path)) return CLI_BAD;
  cli_code_rule rule = cli_code_rule_of(format, cli_format_name(name, format));
  if (packed && cli_array_may_unpack(&operand->array, rule) && cli_array_unpack(&operand->array, rule)) return CLI_BAD;
  const npy_info *info = &operand->array.info;
  if (info->dims != 2)
    return cli_fail(operand->array.name, "a matrix is required, this has shape %s", npy_shape(shape, info));
  operand->rows = info->shape[0];
  operand->columns = info->shape[1];
  int status = cli_array_is_codes(&operand->array) ? check_codes(&operand->array, format)
                                                   : encode_matrix(operand, format, exec, strict);
  size_t ld = info->fortran ? operand->rows : operand->columns;
  operand->operand = hu_matrix_codes(operand->codes ? operand->codes : operand->array.data, ld ? ld : 1, format);
  if (info->fortran) operand->operand = hu_transposed(operand->operand);
  return status;
}

static void free_matrix(matrix *operand) {
  free(operand->codes);
  if (operand->array.bytes.data) cli_array_free(&operand->array);
}

/* All that goes into a product. */
typedef struct factors {
  matrix a, b, c, sa, sb;
  int has_c, scaled;
} factors;

static void free_factors(factors *inputs) {
  matrix *const all[] = {&inputs->a, &inputs->b, &inputs->c, &inputs->sa, &inputs->sb};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free_matrix(all[i]);
}

static int check_scales(const factors *inputs, size_t scales) {
  const matrix *sa = &inputs->sa, *sb = &inputs->sb;
  if (sa->rows != inputs->a.rows || sa->columns != scales)
    return cli_fail(sa->array.name, "shape (%zu, %zu), the scales of A are (%zu, %zu)", sa->rows, sa->columns,
                    inputs->a.rows, scales);
  if (sb->rows != scales || sb->columns != inputs->b.columns)
    return cli_fail(sb->array.name, "shape (%zu, %zu), the scales of B are (%zu, %zu)", sb->rows, sb->columns, scales,
                    inputs->b.columns);
  return CLI_OK;
}

static int check_shapes(const matrix *a, const matrix *b, const matrix *c) {
  if (b->rows != a->columns)
    return cli_fail(b->array.name, "%zu rows, but %s has %zu columns", b->rows, a->array.name, a->columns);
  if (c && (c->rows != a->rows || c->columns != b->columns))
    return cli_fail(c->array.name, "shape (%zu, %zu), but the product has (%zu, %zu)", c->rows, c->columns, a->rows,
                    b->columns);
  return CLI_OK;
}

static void print_off_grid(FILE *out, const matrix *operand) {
  char shown[CLI_SHOWN_MAX];
  if (operand->off_grid)
    fprintf(out, "  note: %s: %zu of %zu elements were not values of the format and were rounded first\n",
            cli_shown(shown, operand->array.name), operand->off_grid, operand->array.info.count);
}

static void print_watch(FILE *out, const hu_watch *watch) {
  double share = watch->additions ? 100 * (double)watch->swamped / (double)watch->additions : 0;
  fprintf(out, "  additions inside the sums\n    %-16s%" PRIu64 "\n", "all", watch->additions);
  fprintf(out, "    %-16s%" PRIu64 " (%s %%)  left the accumulator as it was\n", "swamped", watch->swamped,
          ROUNDED(share, 3));
  fprintf(out, "    %-16s%" PRIu64 "  of the accumulator\n", "overflows", watch->overflows);
  fprintf(out, "    %-16s%" PRIu64 "  binades between accumulator and addend\n", "largest gap", watch->gap);
}

static void json_watch(FILE *out, const hu_watch *watch) {
  cli_json(out, ", 'watch': {'additions': ?, 'swamped': ?, 'overflows': ?, 'gap': ?}", JSON(watch->additions),
           JSON(watch->swamped), JSON(watch->overflows), JSON(watch->gap));
}

static void report(const gemm_state *state, const matrix *a, const matrix *b, const matrix *c, const hu_events *events,
                   const hu_watch *watch, const char *device) {
  char fa[CLI_NAME_MAX], fb[CLI_NAME_MAX], fd[CLI_NAME_MAX], mode[CLI_NAME_MAX], model[HU_ACCUM_TEXT_MAX];
  FILE *out = cli_report_file(state->d_path, state->numeric.json);
  if (!out) return;
  cli_shown_name(fa, state->fa, state->fa_text);
  cli_shown_name(fb, state->fb, state->fb_text);
  cli_shown_name(fd, state->numeric.format, state->numeric.format_text);
  cli_mode_name(mode, state->numeric.mode);
  size_t off_c = c ? c->off_grid : 0;
  if (state->numeric.json) {
    int exact = hu_gemm_exact64(a->columns, state->fa, state->fb, c ? &state->fc : NULL);
    hu_accum_text(model, sizeof model, &state->accum);
    cli_json(out, "{'m': ?, 'n': ?, 'k': ?, 'fa': ?, 'fb': ?, 'fd': ?, 'accum': ?, 'model': ?, ", JSON(a->rows),
             JSON(b->columns), JSON(a->columns), JSON(fa), JSON(fb), JSON(fd), JSON(state->accum_text), JSON(model));
    cli_json(out, "'mode': ?, 'device': ?, 'off_grid': [?, ?, ?], 'binary64_sums': ?, 'events': ?", JSON(mode),
             JSON(device), JSON(a->off_grid), JSON(b->off_grid), JSON(off_c), cli_truth(exact), JSON(events));
    if (state->watch) json_watch(out, watch);
    fputs("}\n", out);
    return;
  }
  fprintf(out, "(%zu, %zu) %s times (%zu, %zu) %s to %s, accumulation %s, %s, on %s\n", a->rows, a->columns, fa,
          b->rows, b->columns, fb, fd, state->accum_text, mode, device);
  print_off_grid(out, a);
  print_off_grid(out, b);
  if (c) print_off_grid(out, c);
  fprintf(out, "  events\n");
  cli_print_events(out, "    ", events);
  if (state->watch) print_watch(out, watch);
}

static int save_result(const gemm_state *state, const void *codes, size_t rows, size_t columns) {
  hu_format format = state->numeric.format;
  npy_info info = {0};
  info.dims = 2;
  info.shape[0] = rows;
  info.shape[1] = columns;
  info.count = rows * columns;
  info.kind = state->codes ? 'u' : 'f';
  info.size = (uint8_t)(state->codes ? hu_limits_of(format).storage / 8 : hu_format_fits_binary32(format) ? 4 : 8);
  if (state->codes) return cli_array_save(state->d_path, &info, codes);
  void *z = cli_alloc(info.count, info.size);
  if (!z) return CLI_BAD;
  hu_status status = info.size == 8 ? hu_decode64_n(info.count, z, 1, codes, 1, format, NULL)
                                    : hu_decode_n(info.count, z, 1, codes, 1, format, NULL);
  int code = status == HU_OK ? cli_array_save(state->d_path, &info, z) : cli_fail_status(state->d_path, status);
  free(z);
  return code;
}

static hu_view from_row(const hu_view *x, size_t row) {
  hu_view part = *x;
  size_t step = (size_t)x->row * (hu_limits_of(x->type.format).storage / 8);
  part.data = (const uint8_t *)x->data + row * step;
  return part;
}

/* Multiplies on the CPU, some rows at a time where it is long work, with a progress bar between them. Element (i, j)
 * draws random word i n + j of the stream, so the rows' results are what one call would give. */
static hu_status on_cpu(const gemm_state *state, const factors *inputs, const hu_output *result, const hu_exec *exec,
                        hu_events *events, hu_watch *watch) {
  size_t m = inputs->a.rows, n = inputs->b.columns, k = inputs->a.columns;
  const size_t part_work = (size_t)1 << (watch ? 24 : 30), part_rows = watch ? 1 : 256;
  size_t row_work = n && k > SIZE_MAX / n ? SIZE_MAX : n * k, rows = row_work ? part_work / row_work : m;
  hu_status status = HU_OK;
  progress bar;
  if (rows < part_rows) rows = part_rows;
  progress_start(&bar, "gemm", m);
  for (size_t row = 0; status == HU_OK && (row < m || row == 0); row += rows) {
    hu_exec own = *exec;
    hu_how how = {state->numeric.mode, &own, events};
    hu_product part = {.m = m - row < rows ? m - row : rows, .n = n, .k = k, .accum = &state->accum, .watch = watch};
    part.d = *result;
    part.d.data = (uint8_t *)result->data + row * (size_t)result->row * (hu_limits_of(result->type.format).storage / 8);
    part.a = from_row(&inputs->a.operand, row);
    part.b = inputs->b.operand;
    if (inputs->has_c) part.c = from_row(&inputs->c.operand, row);
    if (inputs->scaled) part.sa = from_row(&inputs->sa.operand, row);
    if (inputs->scaled) part.sb = inputs->sb.operand;
    own.stream.counter += row * n;
    status = hu_multiply(&part, &how);
    progress_at(&bar, row + rows < m ? row + rows : m);
  }
  progress_end(&bar);
  return status;
}

static int refused(const gemm_state *state, hu_status status) {
  hu_type given = hu_type_codes(status == HU_E_OPERAND_A   ? state->fa
                                : status == HU_E_OPERAND_B ? state->fb
                                                           : state->fc);
  if (status == HU_E_OPERAND_A) return cli_fail_operand(state->accum_text, &state->accum, status, given, "--fa");
  if (status == HU_E_OPERAND_B) return cli_fail_operand(state->accum_text, &state->accum, status, given, "--fb");
  if (status == HU_E_OPERAND_C) return cli_fail_operand(state->accum_text, &state->accum, status, given, "--fc");
  return cli_fail_status(NULL, status);
}

static int multiply(const gemm_state *state, const factors *inputs, const hu_exec *exec, const char *device) {
  hu_events events = {0};
  hu_watch watch = {0};
  size_t m = inputs->a.rows, n = inputs->b.columns, k = inputs->a.columns,
         every = state->accum.scaled ? state->accum.promote : state->accum.block.every;
  const matrix *c = inputs->has_c ? &inputs->c : NULL;
  if (check_shapes(&inputs->a, &inputs->b, c)) return CLI_BAD;
  if (inputs->scaled && check_scales(inputs, (k + every - 1) / every)) return CLI_BAD;
  if (n && m > SIZE_MAX / 16 / n) return cli_fail(state->d_path, "the result does not fit the address space");
  void *codes = cli_alloc(m * n, hu_limits_of(state->numeric.format).storage / 8);
  if (!codes) return CLI_BAD;
  hu_output result = hu_matrix_codes_out(codes, n ? n : 1, state->numeric.format);
  hu_exec there = *exec;
  there.where = hu_cuda_host();
  hu_how how = {state->numeric.mode, &there, &events};
  hu_status status = state->device ? hu_gemm(m, n, k, &result, &inputs->a.operand, &inputs->b.operand,
                                             c ? &c->operand : NULL, &state->accum, &how)
                                   : on_cpu(state, inputs, &result, exec, &events, state->watch ? &watch : NULL);
  int code = status == HU_OK ? save_result(state, codes, m, n) : refused(state, status);
  if (code == CLI_OK) report(state, &inputs->a, &inputs->b, c, &events, &watch, device);
  free(codes);
  return code;
}

static int check_options(const gemm_state *state) {
  if (state->model_count > 1)
    return cli_fail(NULL, "gemm: several --accum are for a comparison; give --against MODEL, too");
  if (!state->d_path) return cli_fail(NULL, "gemm: no output given; use -o D.npy");
  int scaled = hu_accum_is_scaled(&state->accum);
  if (scaled && (!state->sa_path || !state->sb_path))
    return cli_fail(NULL, "gemm: %s has scales; use --sa SA.npy and --sb SB.npy", state->accum_text);
  if (!scaled && (state->sa_path || state->sb_path)) return cli_fail(NULL, "gemm: %s has no scales", state->accum_text);
  if (scaled && state->device) return cli_fail(NULL, "gemm: models with scales are for the CPU, not for --device cuda");
  if (state->watch && state->device) return cli_fail(NULL, "gemm: --watch is for the CPU, not for --device cuda");
  return CLI_OK;
}

/* Sets formats that were not given to those that the model takes, or else binary32. A unit of integers has none. */
static int use_defaults(gemm_state *state) {
  const hu_type single = hu_type_codes(hu_format_ieee(8, 23, 0));
  if (!state->accum_text) state->accum_text = "exact"; /* the record of all zeros */
  const hu_type a = cli_taken_element(state->accum.a, single), b = cli_taken_element(state->accum.b, single);
  const hu_type taken = cli_taken_element(cli_model_result(&state->accum), single);
  int codes = a.kind == HU_TYPE_CODES && b.kind == HU_TYPE_CODES && taken.kind == HU_TYPE_CODES;
  if (!codes || state->accum.kind == HU_ACCUM_INT32)
    return cli_fail(NULL, "gemm: %s multiplies integers or binary64, which `halfulp mma` takes and gemm does not",
                    state->accum_text);
  if (!state->has_fa) state->fa = a.format;
  if (!state->has_fb) state->fb = b.format;
  if (!state->numeric.format_text) state->numeric.format = taken.format;
  const hu_type result = hu_type_codes(state->numeric.format);
  int within = state->accum.promote || state->accum.slices; /* there the unit's C is not the call's */
  if (!state->has_fc) state->fc = within ? result.format : cli_taken_element(state->accum.c, result).format;
  return CLI_OK;
}

/* Checks that D is not one of the files that are read. */
static int spare_inputs(const gemm_state *state, char **operands) {
  const char *const inputs[] = {operands[0], operands[1], state->c_path, state->sa_path, state->sb_path};
  for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++)
    if (inputs[i] && cli_spare_input(state->d_path, inputs[i], "give -o another name")) return CLI_BAD;
  return CLI_OK;
}

/* Refuses --packed that unpacks nothing: it is a slip. */
static int check_packed(const gemm_state *state, const factors *inputs) {
  const hu_format formats[] = {state->fa, state->fb, state->fc};
  const matrix *const all[] = {&inputs->a, &inputs->b, &inputs->c};
  for (int i = 0; i < 3; i++)
    if (all[i]->array.bytes.data && cli_array_may_unpack(&all[i]->array, cli_code_rule_of(formats[i], NULL)))
      return CLI_OK;
  return cli_fail(NULL, "gemm: --packed: no matrix is uint8 with a format of 4 or 6 bits");
}

static int load_factors(const gemm_state *state, factors *inputs, char **operands, const hu_exec *exec) {
  /* promote(...,scaled) leaves the format of its scales open. */
  hu_format scale = state->accum.scaled ? hu_format_ieee(8, 23, 0) : state->accum.block.scale;
  inputs->has_c = state->c_path != NULL;
  inputs->scaled = state->sa_path != NULL;
  int status = load_matrix(&inputs->a, operands[0], state->fa, exec, state->strict, state->packed);
  if (status == CLI_OK) status = load_matrix(&inputs->b, operands[1], state->fb, exec, state->strict, state->packed);
  if (status == CLI_OK && inputs->has_c)
    status = load_matrix(&inputs->c, state->c_path, state->fc, exec, state->strict, state->packed);
  if (status == CLI_OK && state->packed) status = check_packed(state, inputs);
  if (status == CLI_OK && inputs->scaled) status = load_matrix(&inputs->sa, state->sa_path, scale, exec, 1, 0);
  if (status == CLI_OK && inputs->scaled) status = load_matrix(&inputs->sb, state->sb_path, scale, exec, 1, 0);
  return status;
}

/* One model's line. */
typedef struct judged {
  differences error;
  hu_watch watch;
  char format[CLI_NAME_MAX];
} judged;

/* Computes the product under state->accum as codes; free() them. NULL after an error line. */
static void *product(const gemm_state *state, const factors *inputs, const hu_exec *exec, hu_watch *watch) {
  size_t m = inputs->a.rows, n = inputs->b.columns;
  hu_events events = {0};
  void *codes = cli_alloc(m * n, hu_limits_of(state->numeric.format).storage / 8);
  if (!codes) return NULL;
  hu_output result = hu_matrix_codes_out(codes, n ? n : 1, state->numeric.format);
  hu_status status = on_cpu(state, inputs, &result, exec, &events, watch);
  if (status == HU_OK) return codes;
  refused(state, status);
  free(codes);
  return NULL;
}

static int judge(judged *line, const gemm_state *state, const factors *inputs, const hu_exec *exec) {
  gemm_state other = *state;
  size_t m = inputs->a.rows, n = inputs->b.columns;
  other.accum = state->reference;
  other.accum_text = state->reference_text;
  if (check_shapes(&inputs->a, &inputs->b, inputs->has_c ? &inputs->c : NULL)) return CLI_BAD;
  if (n && m > SIZE_MAX / 16 / n) return cli_fail(NULL, "the result does not fit the address space");
  void *reference = product(&other, inputs, exec, NULL),
       *codes = reference ? product(state, inputs, exec, &line->watch) : NULL;
  if (codes) line->error = differences_of(m * n, codes, reference, state->numeric.format);
  free(reference);
  free(codes);
  return codes ? CLI_OK : CLI_BAD;
}

static int judge_model(judged *line, const gemm_state *asked, const char *text, char **operands) {
  gemm_state state = *asked;
  factors inputs = {0};
  hu_exec exec = {state.numeric.threads, 0, state.numeric.stream, {0}};
  state.accum_text = text;
  state.accum = (hu_accum){0};
  if (cli_read_model(&state.accum, "--accum", text) || use_defaults(&state)) return CLI_BAD;
  if (hu_accum_is_scaled(&state.accum))
    return cli_fail(NULL, "gemm: %s has scales, which --against does not take", text);
  int status = load_factors(&state, &inputs, operands, &exec);
  if (status == CLI_OK) status = judge(line, &state, &inputs, &exec);
  if (status == CLI_OK) cli_shown_name(line->format, state.numeric.format, state.numeric.format_text);
  free_factors(&inputs);
  return status;
}

static void print_judged(const judged *line, const char *text) {
  double share = line->watch.additions ? 100 * (double)line->watch.swamped / (double)line->watch.additions : 0;
  printf("%-32s %12s %12s %10s %9zu %10s", text, ROUNDED(line->error.max, 5), ROUNDED(line->error.rms, 5),
         line->error.signs ? "sign" : ROUNDED(line->error.steps, 6), line->error.different,
         line->watch.additions ? ROUNDED(share, 3) : "-");
  if (line->error.not_finite) printf("  %zu not finite", line->error.not_finite);
  putchar('\n');
}

static void json_judged(const judged *line, const char *text, int first) {
  const differences *error = &line->error;
  cli_json(stdout, "?{'accum': ?, 'fd': ?, 'max_abs': ?, 'rms': ?, 'ulps': ?, ", cli_comma(first), JSON(text),
           JSON(line->format), JSON(error->max), JSON(error->rms), JSON(error->steps));
  cli_json(stdout, "'count': ?, 'different': ?, 'not_finite': ?", JSON(error->count), JSON(error->different),
           JSON(error->not_finite));
  json_watch(stdout, &line->watch);
  putchar('}');
}

static int check_comparison(const gemm_state *state, char **operands) {
  if (!state->model_count) return cli_fail(NULL, "gemm: --against requires a model to compare: --accum MODEL");
  if (state->d_path && (!cli_ends(state->d_path, ".svg") || !strcmp(state->d_path, "-")))
    return cli_fail(state->d_path, "--against writes no matrix, but a drawing: give -o FILE.svg, or leave -o out");
  if (state->codes || state->device) return cli_fail(NULL, "gemm: --against takes neither --codes nor --device cuda");
  if (state->sa_path || state->sb_path || hu_accum_is_scaled(&state->reference))
    return cli_fail(NULL, "gemm: --against takes no scales");
  if (!strcmp(operands[0], "-") || !strcmp(operands[1], "-") || (state->c_path && !strcmp(state->c_path, "-")))
    return cli_fail(NULL, "gemm: --against reads its matrices once per model; give files");
  return CLI_OK;
}

static int draw_judged(const judged *line, const gemm_state *state, char **operands) {
  error_row rows[MODELS_MAX];
  char title[512];
  for (int i = 0; i < state->model_count; i++)
    rows[i] = (error_row){state->models[i],    line[i].error.max,       line[i].error.rms,
                          line[i].error.count, line[i].error.different, line[i].error.not_finite};
  snprintf(title, sizeof title, "Sums of %.80s times %.80s, against %.80s", operands[0], operands[1],
           state->reference_text);
  return errors_write(state->d_path, title, rows, (size_t)state->model_count);
}

/* Judges every model before anything is printed, so that an error leaves no half of a table. */
static int compare_models(gemm_state *state, char **operands) {
  judged line[MODELS_MAX] = {0};
  if (check_comparison(state, operands) || (state->d_path && spare_inputs(state, operands))) return CLI_BAD;
  for (int i = 0; i < state->model_count; i++)
    if (judge_model(&line[i], state, state->models[i], operands)) return CLI_BAD;
  if (state->d_path && draw_judged(line, state, operands)) return CLI_BAD;
  if (state->numeric.json) {
    cli_json(stdout, "{'against': ?, 'models': [", JSON(state->reference_text));
    for (int i = 0; i < state->model_count; i++) json_judged(&line[i], state->models[i], i == 0);
    printf("]}\n");
    return CLI_OK;
  }
  printf("%zu elements against %s\n", line[0].error.count, state->reference_text);
  printf("%-32s %12s %12s %10s %9s %10s\n", "model", "max", "rms", "ulps", "different", "swamped %");
  for (int i = 0; i < state->model_count; i++) print_judged(&line[i], state->models[i]);
  return CLI_OK;
}

int cli_gemm(int argc, char **argv) {
  gemm_state state = {0};
  factors inputs = {0};
  char device[CLI_DEVICE_MAX] = "CPU";
  char **operands;
  int count, status = cli_parse(&command, &state, argc, argv, &operands, &count);
  if (status >= 0) return status;
  if (state.reference_text) return compare_models(&state, operands);
  if (use_defaults(&state) || check_options(&state) || spare_inputs(&state, operands)) return CLI_BAD;
  if (state.device && cli_device_find(device)) return CLI_BAD;
  hu_exec exec = {state.numeric.threads, 0, state.numeric.stream, {0}};
  status = load_factors(&state, &inputs, operands, &exec);
  if (status == CLI_OK) status = multiply(&state, &inputs, &exec, device);
  free_factors(&inputs);
  return status;
}
