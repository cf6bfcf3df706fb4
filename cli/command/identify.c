/* SPDX-License-Identifier: MIT */
/* halfulp identify - from a black box that computes dot products to its accumulation model, or one that quantizes to
 * its rule; where two of either differ. */
#include <stdlib.h>
#include <string.h>

#include "cli/accum/text.h"
#include "cli/audit/quantizers.h"
#include "cli/base/io.h"
#include "cli/identify/recorded.h"
#include "cli/identify/report.h"
#include "cli/identify/distinguish.h"
#include "cli/vectors/dot_line.h"
#include "halfulp/formats/ieee.h"

enum {
  KEY_FA = CLI_KEY_FREE,
  KEY_FB,
  KEY_FD,
  KEY_K,
  KEY_SCALE,
  KEY_EVERY,
  KEY_LIBRARY,
  KEY_FUNCTION,
  KEY_GEMM,
  KEY_TILE,
  KEY_BESIDE,
  KEY_WITHOUT_C,
  KEY_SUMS,
  KEY_TIMEOUT,
  KEY_VERIFY,
  KEY_LOG,
  KEY_GOLDEN,
  KEY_EXPLAIN,
  KEY_REPORT,
  KEY_DISTINGUISH,
  KEY_TRIES,
  KEY_QUANTIZER,
  KEY_ANSWER,
  KEY_SECONDS,
  KEY_BATCH,
  KEY_DATA,
  KEY_KERNEL
};

/* What is asked for. */
enum { IDENTIFY, DISTINGUISH, QUANTIZER, DATA };
static const char *const mode_names[] = {"a box of dot products", "--distinguish", "--quantizer", "--data"};
enum {
  OF_BOX = CLI_FOR(IDENTIFY),
  OF_MODELS = OF_BOX | CLI_FOR(DISTINGUISH),
  OF_SUMS = OF_MODELS | CLI_FOR(DATA),
  OF_BOXES = OF_BOX | CLI_FOR(QUANTIZER)
};

typedef struct state {
  id_shape shape;
  int has_a, has_b, has_d, json, explain, gemm, distinguish, answer, data, kernel;
  uint64_t k, every, seed, verify, timeout, tile, tries, seconds, batch;
  const char *library, *function, *beside, *log, *golden, *report, *quantizer;
} state;

static int set_element(hu_type *element, int *has, const char *value) {
  *has = 1;
  return cli_read_element(element, value);
}

/* Reads elements of A or B. Registers hold TF32 as patterns of binary32, and so does a line of `halfulp mma`. */
static int set_operand(hu_type *element, int *has, uint8_t *low, const char *value) {
  enum { TF32_LOW = 13 };
  int status = set_element(element, has, value), is_tf32;
  is_tf32 =
      status == CLI_OK && element->kind == HU_TYPE_CODES && hu_format_equal(element->format, hu_format_ieee(8, 10, 0));
  if (is_tf32) *element = hu_type_codes(hu_binary32());
  *low = is_tf32 ? TF32_LOW : 0;
  return status;
}

static int set(void *into, int key, const char *value) {
  state *asked = into;
  switch (key) {
    case KEY_FA: return set_operand(&asked->shape.a, &asked->has_a, &asked->shape.low[0], value);
    case KEY_FB: return set_operand(&asked->shape.b, &asked->has_b, &asked->shape.low[1], value);
    case KEY_FD: return set_element(&asked->shape.result, &asked->has_d, value);
    case KEY_K: return cli_read_u64(&asked->k, "--k", value, 1, 4096);
    case KEY_SCALE: return cli_read_format(&asked->shape.scale, value);
    case KEY_EVERY: return cli_read_u64(&asked->every, "--share", value, 1, 4096);
    case KEY_TILE: return cli_read_u64(&asked->tile, "--tile", value, 1, 1024);
    case KEY_BATCH: return cli_read_u64(&asked->batch, "--batch", value, 1, 1 << 20);
    case KEY_SECONDS: return cli_read_u64(&asked->seconds, "--seconds", value, 1, 31536000);
    case KEY_TIMEOUT: return cli_read_u64(&asked->timeout, "--timeout", value, 1, 86400);
    case KEY_VERIFY: return cli_read_u64(&asked->verify, "--verify", value, 0, UINT64_C(1) << 40);
    case CLI_KEY_SEED: return cli_read_u64(&asked->seed, "--seed", value, 0, UINT64_MAX);
    case KEY_TRIES: return cli_read_u64(&asked->tries, "--tries", value, 1, UINT64_C(1) << 40);
    case KEY_DISTINGUISH: asked->distinguish = 1; break;
    case KEY_DATA: asked->data = 1; break;
    case KEY_KERNEL: asked->kernel = 1; break;
    case KEY_QUANTIZER: asked->quantizer = value; break;
    case KEY_ANSWER: asked->answer = 1; break;
    case KEY_LIBRARY: asked->library = value; break;
    case KEY_FUNCTION: asked->function = value; break;
    case KEY_BESIDE: asked->beside = value; break;
    case KEY_LOG: asked->log = value; break;
    case KEY_GOLDEN: asked->golden = value; break;
    case KEY_REPORT: asked->report = value; break;
    case KEY_WITHOUT_C: asked->shape.without_c = 1; break;
    case KEY_SUMS: asked->shape.sums = 1; break;
    case KEY_GEMM: asked->gemm = 1; break;
    case KEY_EXPLAIN: asked->explain = 1; break;
    default: asked->json = 1; break;
  }
  return CLI_OK;
}

static const cli_option options[] = {
    {KEY_FA | OF_SUMS, "fa", "FORMAT", "elements of A: a format, binary64, s8, u8, s4, u4; tf32: patterns of binary32"},
    {KEY_FB | OF_SUMS, "fb", "FORMAT", "elements of B; default: those of A"},
    {KEY_FD | OF_SUMS, "fd", "FORMAT",
     "elements of C and D; default binary32, with integers s32, with binary64 binary64"},
    {KEY_K | OF_MODELS, "k", "K",
     "products of a dot product; default 16, of named models twice the deeper one's depth"},
    {KEY_SCALE | OF_BOX, "scale", "FORMAT", "the box takes scales of A and of B of this format, too"},
    {KEY_EVERY | OF_BOX, "share", "N", "products that share a scale"},
    {KEY_WITHOUT_C | OF_MODELS, "without-c", NULL, "the box takes no C: it is +0 in every question"},
    {KEY_SUMS | OF_BOX, "sums", NULL, "the box adds the numbers of A: B is 1 in every question"},
    {KEY_LIBRARY | OF_BOX, "library", "FILE", "the box is a function of this shared library, not a command"},
    {KEY_FUNCTION | OF_BOX, "function", "NAME", "its name; default dot, with scales dot_scaled, with --gemm gemm"},
    {KEY_GEMM | OF_BOX, "gemm", NULL,
     "the box multiplies matrices: a command of .npy files A B C D, or such a function"},
    {KEY_TILE | OF_BOX, "tile", "N", "--gemm: rows of A and columns of B in one product; default 16"},
    {KEY_BESIDE | OF_BOX, "beside", "FILE",
     "the box reads standard output and answers on standard input; the report is FILE"},
    {KEY_BATCH | OF_BOX, "batch", "N",
     "the command reads N lines before it answers them, as a pipeline does; the last line is repeated to fill them"},
    {KEY_TIMEOUT | OF_BOXES, "timeout", "N",
     "seconds that the box may be silent, with --quantizer may run; default 30"},
    {KEY_SECONDS | OF_BOX | CLI_FOR(DATA), "seconds", "S",
     "end the search after so long and print what is known by then"},
    {KEY_VERIFY | OF_BOXES, "verify", "N",
     "drawn questions that the model has to stand in the end, or that the nearest one is counted on; default 100000"},
    {CLI_KEY_SEED, "seed", "K", "key of the random numbers that draw the questions; default 1"},
    {KEY_LOG | OF_BOX, "log", "FILE", "every question with its answer, for a command"},
    {KEY_GOLDEN | OF_BOX, "golden", "FOLDER", "where the golden files are; default: the installed ones"},
    {KEY_EXPLAIN | OF_BOX, "explain", NULL, "explain how the model was found, step by step"},
    {KEY_REPORT | OF_BOX, "report", "FILE.html", "a page that stands alone, with a picture of the order"},
    {KEY_DATA, "data", NULL, "no box: arrays A B [C] D, a dot product a row; which models give all D?"},
    {KEY_KERNEL | CLI_FOR(DATA) | OF_BOX, "kernel", NULL,
     "--data: the arrays are matrices, and D is A B + C; --gemm: models of one product of --tile rows, and where"},
    {KEY_DISTINGUISH, "distinguish", NULL,
     "no box: find a question that two models, or two rules of quantizers, answer differently"},
    {KEY_QUANTIZER, "quantizer", "FORMAT",
     "the box quantizes blocks into the elements and scales of this scaled format"},
    {KEY_ANSWER | CLI_FOR(QUANTIZER), "answer", NULL,
     "--quantizer: be the box of FORMAT, on standard input and output"},
    {KEY_TRIES | CLI_FOR(DISTINGUISH), "tries", "N",
     "--distinguish: drawn questions where there are too many for all; default 1000000"},
    CLI_OPTION_JSON,
    {0}};
static const cli_command command = {
    "identify",
    "-- COMMAND... | --distinguish MODEL MODEL | --data A B [C] D",
    "Find the accumulation model, or the rule of quantization, of a black box, or where two of them differ",
    "The box is a program that reads lines A B C [SCALES_A SCALES_B] as `halfulp mma` does, and writes one D for "
    "each,\n"
    "in hex, as long as lines come. It may also be a function of a shared library:\n\n"
    "  void dot(size_t n, const void *a, const void *b, const void *c, void *d)\n"
    "  void dot_scaled(size_t n, a, b, c, sa, sb, d)         with --scale\n"
    "  void gemm(size_t m, size_t n, size_t k, a, b, c, d)   with --gemm; row-major\n\n"
    "The command asks where candidates differ, until one is left, and then verifies it on many more questions. It\n"
    "prints the model's text and, for each parameter, the question that decides it. Where no model gives all answers, "
    "it\n"
    "prints the nearest, and the shortest question of each kind on which that fails. Interrupted, or after --seconds, "
    "it\n"
    "prints what is known by then. Exit code 0: a model, or an order of "
    "additions,\n"
    "was found; 1: none was, it was stopped, or the box contradicts itself; 2: it ended, was silent or wrote something "
    "else.\n\n"
    "--distinguish prints A B C [SCALES_A SCALES_B] of a question that the models answer differently, made short: few\n"
    "products, simple operands; formats default to those of a named model. Where all questions of these formats and K\n"
    "are at most 2^30 each of them is tried, and none found is a proof that the models are equal; else questions are\n"
    "drawn. Exit code 0: no difference was found; 1: here is one. Of two scaled formats (presets, scaled(...) texts, "
    "with\n"
    "-r MODE behind them for the rounding of elements) it prints the shortest block.\n\n"
    "--data reads what a kernel that cannot be asked has computed. It prints which models give every row, named "
    "units,\n"
    "sums of parts of them (split K), else for K up to 32 those of the language; a question on which two of "
    "these\n"
    "differ; and how many rows each other named unit misses. Where no model gives all rows, as where tiles of D "
    "differ,\n"
    "it names models of parts and where in D they lie. Exit code 0: a model gives all rows; 1: none does.\n\n"
    "--kernel with --gemm asks the box for one product, whose elements are explained in the same way.\n\n"
    "--quantizer: the box reads blocks, a line each, 8 hex digits for each binary32 number, then, where the format has "
    "a\n"
    "second level, a blank and the amax of the tensor. It answers the scale's code, a blank, and the elements' codes.\n"
    "Which elements, scales and blocks these are FORMAT says; what is found is the rule.",
    "  halfulp identify --fa bfloat16 --k 8 --verify 2000 -- halfulp mma intel.vdpbf16ps\n"
    "  halfulp identify --fa s8 --k 32 --verify 2000 --explain -- halfulp mma nv.ampere.s8.s32\n"
    "  halfulp identify --distinguish nv.ampere.f16.f32 nv.hopper.f16.f32 || true\n"
    "  halfulp identify --distinguish 'block(exact,l=2)' 'block(chain,l=2)' --fa float4_e2m1fn --k 2 --without-c\n"
    "  halfulp identify --distinguish nvfp4 nvfp4_te || true\n"
    "  halfulp identify --quantizer nvfp4 --verify 5000 -- halfulp identify --quantizer nvfp4_te --answer",
    options,
    0,
    4096,
    set};

/* Takes the elements of A for B. */
static void copy_operand(state *asked) {
  asked->shape.b = asked->shape.a;
  asked->shape.low[1] = asked->shape.low[0];
}

static int choose_shape(state *asked) {
  if (!asked->has_a) return cli_fail(NULL, "identify: --fa is missing: the format of the box's operands");
  if (!asked->has_b) copy_operand(asked);
  if (!asked->has_d) {
    asked->shape.result = hu_type_codes(hu_format_ieee(8, 23, 0));
    if (asked->shape.a.kind == HU_TYPE_BINARY64) asked->shape.result = asked->shape.a;
    if (asked->shape.a.kind > HU_TYPE_BINARY64) asked->shape.result = hu_type_plain(HU_TYPE_INT32);
  }
  int scaled = hu_format_check(asked->shape.scale, NULL) == HU_OK && (asked->shape.scale.e || asked->shape.scale.m);
  if (scaled != (asked->every != 0)) return cli_fail(NULL, "identify: --scale and --share belong together");
  asked->shape.every = (uint32_t)asked->every;
  asked->shape.n = (uint32_t)asked->k;
  return CLI_OK;
}

/* ---- the box ---- */

typedef struct opened {
  id_program *program;
  id_library *library;
  id_files *files;
} opened;

static int open_box(id_box *box, opened *server, const state *asked, char **operands, int count, FILE *log) {
  int boxes = (count > 0) + (asked->library != NULL) + (asked->beside != NULL);
  if (boxes != 1) return cli_fail(NULL, "identify: name one box: -- COMMAND, --library FILE or --beside FILE");
  if (asked->kernel && (!asked->gemm || asked->beside || asked->report || asked->explain))
    return cli_fail(NULL, "identify: --kernel is for --gemm, whose product it explains, or for --data");
  if (asked->batch && (asked->library || asked->beside || asked->gemm))
    return cli_fail(NULL, "identify: --batch is for a command that answers lines");
  box->shape = asked->shape;
  if (asked->library) {
    server->library =
        id_library_open(&box->shape, asked->library, asked->function, asked->gemm ? (size_t)asked->tile : 0);
    box->context = server->library;
    box->answer = id_library_answer;
  } else if (asked->gemm && !asked->beside) {
    server->files = id_files_start(&box->shape, operands, count, (size_t)asked->tile, (double)asked->timeout);
    box->context = server->files;
    box->answer = id_files_answer;
  } else {
    server->program = asked->beside
                          ? id_program_beside(&box->shape, (double)asked->timeout, log)
                          : id_program_start(&box->shape, operands, (double)asked->timeout, (size_t)asked->batch, log);
    box->batch = (size_t)asked->batch;
    box->context = server->program;
    box->answer = id_program_answer;
  }
  return box->context ? CLI_OK : CLI_BAD;
}

static void close_box(opened *server) {
  id_program_end(server->program);
  id_library_close(server->library);
  id_files_end(server->files);
}

/* ---- the report ---- */

typedef struct report {
  const id_search *search;
  const id_result *result;
} report;

static void print_json(FILE *out, const void *what) {
  const report *shown = what;
  id_print_json(out, shown->search, shown->result);
}

static int report_result(const state *asked, const id_search *search, const id_result *result, const char *log) {
  report shown = {search, result};
  int status = CLI_OK;
  if (asked->beside) {
    status = cli_text_write(asked->beside, print_json, &shown);
  } else if (asked->json) {
    id_print_json(stdout, search, result);
  } else {
    if (asked->explain) fputs(log, stdout);
    id_print_text(stdout, search, result);
  }
  if (status == CLI_OK && asked->report) status = id_write_page(asked->report, search, result, log);
  if (status != CLI_OK) return status;
  return result->verdict <= ID_ORDERED ? CLI_OK : CLI_DIFFERENT;
}

static int search(const state *asked, id_box *box, FILE *steps, char **text) {
  id_search search;
  id_result result;
  id_settings settings = {asked->seed, asked->verify, asked->golden};
  interrupt before;
  id_search_start(&search, box, asked->seed, steps);
  id_stop_begin(&before, (double)asked->seconds);
  int status = id_identify(&search, &settings, &result);
  id_stop_end(&before);
  fflush(steps);
  if (status == CLI_OK) status = report_result(asked, &search, &result, *text);
  id_result_free(&result);
  id_search_free(&search);
  return status;
}

/* ---- recorded results ---- */

/* Says which models give the rows, and where none gives all, which give parts of them. */
static int explain(const state *asked, const id_box *box, const id_recorded *rows) {
  id_explained found = {0};
  id_search search;
  id_box rowless = {.shape = box->shape};
  interrupt before;
  id_search_start(&search, &rowless, asked->seed, NULL);
  id_stop_begin(&before, (double)asked->seconds);
  int status = id_explain_recorded(&search, rows, &found);
  id_stop_end(&before);
  if (status == CLI_OK) (asked->json ? id_print_recorded_json : id_print_recorded)(stdout, &search, rows, &found);
  if (status == CLI_OK && !found.models.count) status = CLI_DIFFERENT;
  id_set_free(&found.models);
  id_search_free(&search);
  return status;
}

static int recorded(state *asked, char **operands, int count) {
  id_recorded rows;
  id_box box = {0};
  if (count != 3 && count != 4) return cli_fail(NULL, "identify: --data requires A B D or A B C D");
  int status = choose_shape(asked);
  if (status != CLI_OK) return status;
  box.shape = asked->shape;
  status = id_recorded_load(&rows, &box.shape, operands, count, asked->kernel);
  if (status == CLI_OK) status = explain(asked, &box, &rows);
  id_recorded_free(&rows);
  return status;
}

/* Asks the box for one product, and explains its elements. */
static int kernel(const state *asked, id_box *box, const opened *server) {
  id_recorded rows;
  const id_tile *tile = server->library ? id_library_tile(server->library) : id_files_tile(server->files);
  int status = id_recorded_ask(&rows, box, tile, asked->seed);
  if (status == CLI_OK) status = explain(asked, box, &rows);
  id_recorded_free(&rows);
  return status;
}

/* Returns 1 if all of it was written. */
static int close_log(FILE *log) {
  int failed = ferror(log);
  return fclose(log) == 0 && !failed;
}

static int run(const state *asked, char **operands, int count) {
  id_box box = {0};
  opened server = {0};
  char *text = NULL;
  size_t size = 0;
  FILE *log = asked->log ? fopen(asked->log, "w") : NULL, *steps = open_memstream(&text, &size);
  int status = CLI_OK;
  if (asked->log && !log) status = cli_fail(asked->log, "cannot be written");
  operands[count] = NULL; /* for execvp */
  if (status == CLI_OK && !steps) status = cli_fail(NULL, "not enough memory");
  if (status == CLI_OK) status = open_box(&box, &server, asked, operands, count, log);
  if (status == CLI_OK) status = asked->kernel ? kernel(asked, &box, &server) : search(asked, &box, steps, &text);
  close_box(&server);
  if (log && !close_log(log) && status != CLI_BAD) status = cli_fail(asked->log, "the log was not written in full");
  if (steps) fclose(steps);
  free(text);
  return status;
}

/* ---- two models ---- */

/* Takes the formats of a named model where neither option nor name gave some. */
static void take_shape(state *asked, const cli_dot *dot, int named) {
  if (named && !asked->has_a) asked->shape.a = dot->a;
  if (named && !asked->has_b) asked->shape.b = dot->b;
  if (named && !asked->has_d) asked->shape.result = dot->result;
  if (named) asked->has_a = asked->has_b = asked->has_d = 1;
  if (named && asked->shape.n < 2 * dot->depth) asked->shape.n = (uint32_t)(2 * dot->depth);
  if (dot->accum.block.every) {
    asked->shape.every = dot->accum.block.every;
    asked->shape.scale = dot->accum.block.scale;
  }
}

static int choose_models(state *asked, char **text, hu_accum model[2]) {
  for (int i = 0; i < 2; i++) {
    cli_dot dot = {0};
    int named;
    if (cli_dot_model(&dot, "model", text[i], &named)) return CLI_BAD;
    model[i] = hu_accum_any(dot.accum);
    take_shape(asked, &dot, named);
  }
  if (!asked->has_a) return cli_fail(NULL, "identify: no named model; use --fa, --fb and --fd");
  if (!asked->has_b) copy_operand(asked);
  if (!asked->has_d) asked->shape.result = hu_type_codes(hu_format_ieee(8, 23, 0));
  if (asked->k) asked->shape.n = (uint32_t)asked->k;
  if (!asked->shape.n) asked->shape.n = 8;
  return CLI_OK;
}

/* Checks that both models take these operands. */
static int check(const id_shape *shape, const hu_accum model[2], char **text) {
  id_vectors questions;
  id_vectors_start(&questions, shape);
  if (id_vectors_grow(&questions, 1) == SIZE_MAX) return cli_fail(NULL, "not enough memory");
  hu_status status = HU_OK;
  int i = 0;
  for (; i < 2 && status == HU_OK; i++) status = id_compute(&model[i], &questions, 0, 1, questions.column[ID_D]);
  id_vectors_free(&questions);
  return status == HU_OK ? CLI_OK : cli_fail_status(text[i - 1], status);
}

typedef struct finding {
  int differs, all;
  uint64_t count;
  uint64_t answer[2];
} finding;

static void print_finding(const state *asked, const finding *found, const id_vectors *questions, char **text) {
  if (!found->differs && found->all) {
    printf("equal: all %llu questions of these formats and K = %u have the same answer\n",
           (unsigned long long)found->count, asked->shape.n);
  } else if (!found->differs) {
    printf("no difference found in %llu drawn questions, which is no proof\n", (unsigned long long)found->count);
  } else {
    id_vectors_print(stdout, questions, 0);
    for (int i = 0; i < 2; i++) {
      printf("\n    ");
      id_print_answer(stdout, &asked->shape, found->answer[i]);
      printf("  %s", text[i]);
    }
    putchar('\n');
  }
}

static void print_finding_json(const state *asked, const finding *found, const id_vectors *questions, char **text) {
  int digits = (int)(hu_type_width(asked->shape.result) + 3) / 4;
  cli_json(stdout, "{'differ': ?, 'proof': ?, 'questions': ?", cli_truth(found->differs),
           cli_truth(found->all || found->differs), JSON(found->count));
  if (found->differs) {
    printf(", \"question\": \"");
    id_vectors_print(stdout, questions, 0);
    printf("\", \"answers\": [");
    for (int i = 0; i < 2; i++)
      cli_json(stdout, "?{'model': ?, 'd': {?}}", cli_comma(i == 0), JSON(text[i]),
               cli_code(digits, found->answer[i], id_value(asked->shape.result, found->answer[i])));
    putchar(']');
  }
  printf("}\n");
}

static int compare(const state *asked, const hu_accum model[2], char **text) {
  id_vectors questions;
  finding found = {0};
  int status = CLI_OK;
  found.differs = id_distinguish_all(&questions, &asked->shape, &model[0], &model[1], &found.count);
  found.all = found.differs >= 0;
  if (!found.all) {
    id_random random = {asked->seed};
    id_vectors_free(&questions);
    found.differs = id_distinguish(&questions, &asked->shape, &model[0], &model[1],
                                   (size_t)(asked->tries / ID_DRAW_KINDS + 1), &random, &found.count);
  }
  if (found.differs < 0) status = cli_fail(NULL, "not enough memory");
  if (found.differs > 0) {
    id_shorten_difference(&questions, &model[0], &model[1]);
    for (int i = 0; i < 2; i++) {
      hu_status computed = id_compute(&model[i], &questions, 0, 1, questions.column[ID_D]);
      if (computed != HU_OK) status = cli_fail_status(text[i], computed);
      found.answer[i] = id_get(&questions, ID_D, 0, 0);
    }
  }
  if (status == CLI_OK && asked->json) print_finding_json(asked, &found, &questions, text);
  if (status == CLI_OK && !asked->json) print_finding(asked, &found, &questions, text);
  id_vectors_free(&questions);
  return status != CLI_OK ? status : found.differs ? CLI_DIFFERENT : CLI_OK;
}

static int distinguish(state *asked, char **operands) {
  hu_accum model[2];
  int status = choose_models(asked, operands, model);
  if (status == CLI_OK) status = check(&asked->shape, model, operands);
  return status == CLI_OK ? compare(asked, model, operands) : status;
}

/* Finds the rule of a box that quantizes. */
static int quantizer(const state *asked, char **operands, int count) {
  if (asked->answer && count) return cli_fail(NULL, "identify: --answer is the box itself, and takes no operands");
  if (asked->answer) return audit_answer(asked->quantizer);
  if (!count) return cli_fail(NULL, "identify: name the box: --quantizer FORMAT -- COMMAND...");
  operands[count] = NULL; /* for execvp */
  return audit_identify(asked->quantizer, operands, asked->verify ? asked->verify : 1, asked->seed, asked->timeout,
                        asked->json);
}

int cli_identify(int argc, char **argv) {
  state asked = {.golden = HU_CLI_GOLDEN, .seed = 1, .verify = 100000, .timeout = 30, .tile = 16, .tries = 1000000};
  char **operands;
  int count, status = cli_parse(&command, &asked, argc, argv, &operands, &count);
  if (status >= 0) return status;
  if (asked.distinguish && asked.quantizer) return cli_fail(NULL, "identify: --distinguish asks no box");
  int mode = asked.data ? DATA : asked.distinguish ? DISTINGUISH : asked.quantizer ? QUANTIZER : IDENTIFY;
  if (cli_mode_check(&command, mode, mode_names)) return CLI_BAD;
  if (asked.data) return recorded(&asked, operands, count);
  if (asked.quantizer) return quantizer(&asked, operands, count);
  if (asked.distinguish && count != 2) return cli_fail(NULL, "identify: --distinguish requires MODEL MODEL");
  if (asked.distinguish && audit_is_rule(operands[0]) && audit_is_rule(operands[1]))
    return audit_distinguish(operands, asked.tries, asked.seed, asked.json);
  if (asked.distinguish) return distinguish(&asked, operands);
  if (!asked.k) asked.k = 16;
  status = choose_shape(&asked);
  return status == CLI_OK ? run(&asked, operands, count) : status;
}
