/* SPDX-License-Identifier: MIT */
/* halfulp identify - from a black box that computes dot products to its accumulation model; where two models differ. */
#include <stdlib.h>
#include <string.h>

#include "cli/accum/text.h"
#include "cli/base/io.h"
#include "cli/identify/report.h"
#include "cli/identify/tell.h"
#include "cli/vectors/dot_line.h"

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
  KEY_TRIES
};

/* What is asked for. */
enum { IDENTIFY, DISTINGUISH };
static const char *const mode_names[] = {"a box, not --distinguish", "--distinguish"};
enum { OF_BOX = CLI_FOR(IDENTIFY) };

typedef struct state {
  id_shape shape;
  int has_a, has_b, has_d, json, explain, gemm, distinguish;
  uint64_t k, every, seed, verify, timeout, tile, tries;
  const char *library, *function, *beside, *log, *golden, *report;
} state;

static int set_element(hu_element *e, int *has, const char *value) {
  *has = 1;
  return cli_read_element(e, value);
}

static int set(void *into, int key, const char *value) {
  state *s = into;
  switch (key) {
    case KEY_FA: return set_element(&s->shape.a, &s->has_a, value);
    case KEY_FB: return set_element(&s->shape.b, &s->has_b, value);
    case KEY_FD: return set_element(&s->shape.d, &s->has_d, value);
    case KEY_K: return cli_read_u64(&s->k, "--k", value, 1, 4096);
    case KEY_SCALE: return cli_read_format(&s->shape.scale, value);
    case KEY_EVERY: return cli_read_u64(&s->every, "--share", value, 1, 4096);
    case KEY_TILE: return cli_read_u64(&s->tile, "--tile", value, 1, 1024);
    case KEY_TIMEOUT: return cli_read_u64(&s->timeout, "--timeout", value, 1, 86400);
    case KEY_VERIFY: return cli_read_u64(&s->verify, "--verify", value, 0, UINT64_C(1) << 40);
    case CLI_KEY_SEED: return cli_read_u64(&s->seed, "--seed", value, 0, UINT64_MAX);
    case KEY_TRIES: return cli_read_u64(&s->tries, "--tries", value, 1, UINT64_C(1) << 40);
    case KEY_DISTINGUISH: s->distinguish = 1; break;
    case KEY_LIBRARY: s->library = value; break;
    case KEY_FUNCTION: s->function = value; break;
    case KEY_BESIDE: s->beside = value; break;
    case KEY_LOG: s->log = value; break;
    case KEY_GOLDEN: s->golden = value; break;
    case KEY_REPORT: s->report = value; break;
    case KEY_WITHOUT_C: s->shape.without_c = 1; break;
    case KEY_SUMS: s->shape.sums = 1; break;
    case KEY_GEMM: s->gemm = 1; break;
    case KEY_EXPLAIN: s->explain = 1; break;
    default: s->json = 1; break;
  }
  return CLI_OK;
}

static const cli_option options[] = {
    {KEY_FA, "fa", "FORMAT", "elements of A: a format, binary64, s8, u8, s4, u4"},
    {KEY_FB, "fb", "FORMAT", "elements of B; default: those of A"},
    {KEY_FD, "fd", "FORMAT", "elements of C and D; default binary32, with integers s32, with binary64 binary64"},
    {KEY_K, "k", "K", "products of a dot product; default 16, of named models twice the deeper one's depth"},
    {KEY_SCALE | OF_BOX, "scale", "FORMAT", "the box takes scales of A and of B of this format, too"},
    {KEY_EVERY | OF_BOX, "share", "N", "products that share a scale"},
    {KEY_WITHOUT_C, "without-c", NULL, "the box takes no C: it is +0 in every question"},
    {KEY_SUMS | OF_BOX, "sums", NULL, "the box adds the numbers of A: B is 1 in every question"},
    {KEY_LIBRARY | OF_BOX, "library", "FILE", "the box is a function of this shared library, not a command"},
    {KEY_FUNCTION | OF_BOX, "function", "NAME", "its name; default dot, with scales dot_scaled, with --gemm gemm"},
    {KEY_GEMM | OF_BOX, "gemm", NULL,
     "the box multiplies matrices: a command of .npy files A B C D, or such a function"},
    {KEY_TILE | OF_BOX, "tile", "N", "--gemm: rows of A and columns of B in one product; default 16"},
    {KEY_BESIDE | OF_BOX, "beside", "FILE",
     "the box reads standard output and answers on standard input; the report is FILE"},
    {KEY_TIMEOUT | OF_BOX, "timeout", "N", "seconds that the box may be silent; default 30"},
    {KEY_VERIFY | OF_BOX, "verify", "N", "drawn questions that the model has to stand in the end; default 100000"},
    {CLI_KEY_SEED, "seed", "K", "key of the random numbers that draw the questions; default 1"},
    {KEY_LOG | OF_BOX, "log", "FILE", "every question with its answer, for a command"},
    {KEY_GOLDEN | OF_BOX, "golden", "FOLDER", "where the golden files are; default: the installed ones"},
    {KEY_EXPLAIN | OF_BOX, "explain", NULL, "explain how the model was found, step by step"},
    {KEY_REPORT | OF_BOX, "report", "FILE.html", "a page that stands alone, with a picture of the order"},
    {KEY_DISTINGUISH, "distinguish", NULL, "no box: find a question that two models answer differently"},
    {KEY_TRIES | CLI_FOR(DISTINGUISH), "tries", "N",
     "--distinguish: drawn questions where there are too many for all; default 1000000"},
    CLI_OPTION_JSON,
    {0}};
static const cli_command command = {
    "identify",
    "-- COMMAND... | --distinguish MODEL MODEL",
    "Find the accumulation model of a black box, or where two models differ",
    "The box is a program that reads lines A B C [SCALES_A SCALES_B] as `halfulp mma` does, and writes one D for "
    "each,\n"
    "in hex, as long as lines come. It may also be a function of a shared library:\n\n"
    "  void dot(size_t n, const void *a, const void *b, const void *c, void *d)\n"
    "  void dot_scaled(size_t n, a, b, c, sa, sb, d)         with --scale\n"
    "  void gemm(size_t m, size_t n, size_t k, a, b, c, d)   with --gemm; row-major\n\n"
    "The command asks where candidates differ, until one is left, and then verifies it on many more questions. It\n"
    "prints the model's text and, for each parameter, the question that decides it. Where no model gives all answers, "
    "it\n"
    "prints the nearest, and the shortest question on which that fails. Exit code 0: a model, or an order of "
    "additions,\n"
    "was found; 1: none was, or the box contradicts itself; 2: it ended, was silent or wrote something else.\n\n"
    "--distinguish prints A B C [SCALES_A SCALES_B] of a question that the models answer differently, made short: few\n"
    "products, simple operands; formats default to those of a named model. Where all questions of these formats and K\n"
    "are at most 2^30 each of them is tried, and none found is a proof that the models are equal; else questions are\n"
    "drawn. Exit code 0: no difference was found; 1: here is one.",
    "  halfulp identify --fa bfloat16 --k 8 --verify 2000 -- halfulp mma intel.vdpbf16ps\n"
    "  halfulp identify --fa s8 --k 32 --verify 2000 --explain -- halfulp mma nv.ampere.s8.s32\n"
    "  halfulp identify --distinguish nv.ampere.f16.f32 nv.hopper.f16.f32 || true\n"
    "  halfulp identify --distinguish 'block(exact,l=2)' 'block(chain,l=2)' --fa float4_e2m1fn --k 2 --without-c",
    options,
    0,
    4096,
    set};

static int choose_shape(state *s) {
  if (!s->has_a) return cli_fail(NULL, "identify: --fa is missing: the format of the box's operands");
  if (!s->has_b) s->shape.b = s->shape.a;
  if (!s->has_d) {
    s->shape.d = (hu_element){.format = hu_format_ieee(8, 23, 0)};
    if (s->shape.a.kind == HU_ELEMENT_BINARY64) s->shape.d = s->shape.a;
    if (s->shape.a.kind > HU_ELEMENT_BINARY64) s->shape.d = (hu_element){.kind = HU_ELEMENT_S32};
  }
  int scaled = hu_format_check(s->shape.scale, NULL) == HU_OK && (s->shape.scale.e || s->shape.scale.m);
  if (scaled != (s->every != 0)) return cli_fail(NULL, "identify: --scale and --share belong together");
  s->shape.every = (uint32_t)s->every;
  s->shape.n = (uint32_t)s->k;
  return CLI_OK;
}

/* ---- the box ---- */

typedef struct opened {
  id_program *program;
  id_library *library;
  id_files *files;
} opened;

static int open_box(id_box *box, opened *o, const state *s, char **operands, int count, FILE *log) {
  int ways = (count > 0) + (s->library != NULL) + (s->beside != NULL);
  if (ways != 1) return cli_fail(NULL, "identify: name one box: -- COMMAND, --library FILE or --beside FILE");
  box->shape = s->shape;
  if (s->library) {
    o->library = id_library_open(&box->shape, s->library, s->function, s->gemm ? (size_t)s->tile : 0);
    box->context = o->library;
    box->answer = id_library_answer;
  } else if (s->gemm && !s->beside) {
    o->files = id_files_start(&box->shape, operands, count, (size_t)s->tile, (double)s->timeout);
    box->context = o->files;
    box->answer = id_files_answer;
  } else {
    o->program = s->beside ? id_program_beside(&box->shape, (double)s->timeout, log)
                           : id_program_start(&box->shape, operands, (double)s->timeout, log);
    box->context = o->program;
    box->answer = id_program_answer;
  }
  return box->context ? CLI_OK : CLI_BAD;
}

static void close_box(opened *o) {
  id_program_end(o->program);
  id_library_close(o->library);
  id_files_end(o->files);
}

/* ---- the report ---- */

typedef struct report {
  const id_search *s;
  const id_result *z;
} report;

static void print_json(FILE *out, const void *what) {
  const report *r = what;
  id_print_json(out, r->s, r->z);
}

static int tell(const state *t, const id_search *s, const id_result *z, const char *log) {
  report r = {s, z};
  int status = CLI_OK;
  if (t->beside) {
    status = cli_text_write(t->beside, print_json, &r);
  } else if (t->json) {
    id_print_json(stdout, s, z);
  } else {
    if (t->explain) fputs(log, stdout);
    id_print_text(stdout, s, z);
  }
  if (status == CLI_OK && t->report) status = id_write_page(t->report, s, z, log);
  if (status != CLI_OK) return status;
  return z->verdict <= ID_ORDERED ? CLI_OK : CLI_DIFFERENT;
}

static int search(const state *t, id_box *box, FILE *steps, char **text) {
  id_search s;
  id_result z;
  id_settings settings = {t->seed, t->verify, t->golden};
  id_search_start(&s, box, t->seed, steps);
  int status = id_identify(&s, &settings, &z);
  fflush(steps);
  if (status == CLI_OK) status = tell(t, &s, &z, *text);
  id_result_free(&z);
  id_search_free(&s);
  return status;
}

/* Returns 1 if all of it was written. */
static int close_log(FILE *log) {
  int failed = ferror(log);
  return fclose(log) == 0 && !failed;
}

static int run(const state *t, char **operands, int count) {
  id_box box = {0};
  opened o = {0};
  char *text = NULL;
  size_t size = 0;
  FILE *log = t->log ? fopen(t->log, "w") : NULL, *steps = open_memstream(&text, &size);
  int status = CLI_OK;
  if (t->log && !log) status = cli_fail(t->log, "cannot be written");
  operands[count] = NULL; /* for execvp */
  if (status == CLI_OK && !steps) status = cli_fail(NULL, "not enough memory");
  if (status == CLI_OK) status = open_box(&box, &o, t, operands, count, log);
  if (status == CLI_OK) status = search(t, &box, steps, &text);
  close_box(&o);
  if (log && !close_log(log) && status != CLI_BAD) status = cli_fail(t->log, "the log was not written in full");
  if (steps) fclose(steps);
  free(text);
  return status;
}

/* ---- two models ---- */

/* Takes the formats of a named model where neither option nor name gave some. */
static void take_shape(state *s, const cli_dot *dot, int named) {
  if (named && !s->has_a) s->shape.a = dot->a;
  if (named && !s->has_b) s->shape.b = dot->b;
  if (named && !s->has_d) s->shape.d = dot->d;
  if (named) s->has_a = s->has_b = s->has_d = 1;
  if (named && s->shape.n < 2 * dot->depth) s->shape.n = (uint32_t)(2 * dot->depth);
  if (dot->accum.block.every) {
    s->shape.every = dot->accum.block.every;
    s->shape.scale = dot->accum.block.scale;
  }
}

static int choose_models(state *s, char **text, hu_accum model[2]) {
  for (int i = 0; i < 2; i++) {
    cli_dot dot = {0};
    int named;
    if (cli_dot_model(&dot, "model", text[i], &named)) return CLI_BAD;
    model[i] = hu_accum_any(dot.accum);
    take_shape(s, &dot, named);
  }
  if (!s->has_a) return cli_fail(NULL, "identify: no named model; use --fa, --fb and --fd");
  if (!s->has_b) s->shape.b = s->shape.a;
  if (!s->has_d) s->shape.d = (hu_element){.format = hu_format_ieee(8, 23, 0)};
  if (s->k) s->shape.n = (uint32_t)s->k;
  if (!s->shape.n) s->shape.n = 8;
  return CLI_OK;
}

/* Checks that both models take these operands. */
static int check(const id_shape *shape, const hu_accum model[2], char **text) {
  id_vectors v;
  id_vectors_start(&v, shape);
  if (id_vectors_grow(&v, 1) == SIZE_MAX) return cli_fail(NULL, "not enough memory");
  hu_status status = HU_OK;
  int i = 0;
  for (; i < 2 && status == HU_OK; i++) status = id_compute(&model[i], &v, 0, 1, v.column[ID_D]);
  id_vectors_free(&v);
  return status == HU_OK ? CLI_OK : cli_fail_status(text[i - 1], status);
}

typedef struct finding {
  int told, all;
  uint64_t count;
  uint64_t answer[2];
} finding;

static void print_finding(const state *s, const finding *f, const id_vectors *v, char **text) {
  if (!f->told && f->all) {
    printf("equal: all %llu questions of these formats and K = %u have the same answer\n", (unsigned long long)f->count,
           s->shape.n);
  } else if (!f->told) {
    printf("no difference found in %llu drawn questions, which is no proof\n", (unsigned long long)f->count);
  } else {
    id_vectors_print(stdout, v, 0);
    for (int i = 0; i < 2; i++) {
      printf("\n    ");
      id_print_answer(stdout, &s->shape, f->answer[i]);
      printf("  %s", text[i]);
    }
    putchar('\n');
  }
}

static void print_finding_json(const state *s, const finding *f, const id_vectors *v, char **text) {
  int digits = (int)(hu_element_width(s->shape.d) + 3) / 4;
  printf("{\"differ\": %s, \"proof\": %s, \"questions\": %llu", f->told ? "true" : "false",
         f->all || f->told ? "true" : "false", (unsigned long long)f->count);
  if (f->told) {
    printf(", \"question\": \"");
    id_vectors_print(stdout, v, 0);
    printf("\", \"answers\": [");
    for (int i = 0; i < 2; i++) {
      printf(i ? ", {\"model\": " : "{\"model\": ");
      cli_json_string(stdout, text[i]);
      printf(", \"d\": ");
      cli_json_code(stdout, digits, f->answer[i], id_value(s->shape.d, f->answer[i]));
      putchar('}');
    }
    putchar(']');
  }
  printf("}\n");
}

static int compare(const state *s, const hu_accum model[2], char **text) {
  id_vectors v;
  finding f = {0};
  int status = CLI_OK;
  f.told = id_tell_all(&v, &s->shape, &model[0], &model[1], &f.count);
  f.all = f.told >= 0;
  if (!f.all) {
    id_random random = {s->seed};
    id_vectors_free(&v);
    f.told = id_tell(&v, &s->shape, &model[0], &model[1], (size_t)(s->tries / ID_DRAW_KINDS + 1), &random, &f.count);
  }
  if (f.told < 0) status = cli_fail(NULL, "not enough memory");
  if (f.told > 0) {
    id_shorten_difference(&v, &model[0], &model[1]);
    for (int i = 0; i < 2; i++) {
      hu_status computed = id_compute(&model[i], &v, 0, 1, v.column[ID_D]);
      if (computed != HU_OK) status = cli_fail_status(text[i], computed);
      f.answer[i] = id_get(&v, ID_D, 0, 0);
    }
  }
  if (status == CLI_OK && s->json) print_finding_json(s, &f, &v, text);
  if (status == CLI_OK && !s->json) print_finding(s, &f, &v, text);
  id_vectors_free(&v);
  return status != CLI_OK ? status : f.told ? CLI_DIFFERENT : CLI_OK;
}

static int distinguish(state *s, char **operands) {
  hu_accum model[2];
  int status = choose_models(s, operands, model);
  if (status == CLI_OK) status = check(&s->shape, model, operands);
  return status == CLI_OK ? compare(s, model, operands) : status;
}

int cli_identify(int argc, char **argv) {
  state s = {.golden = HU_CLI_GOLDEN, .seed = 1, .verify = 100000, .timeout = 30, .tile = 16, .tries = 1000000};
  char **operands;
  int count, status = cli_parse(&command, &s, argc, argv, &operands, &count);
  if (status >= 0) return status;
  if (cli_mode_check(&command, s.distinguish ? DISTINGUISH : IDENTIFY, mode_names)) return CLI_BAD;
  if (s.distinguish && count != 2) return cli_fail(NULL, "identify: --distinguish requires MODEL MODEL");
  if (s.distinguish) return distinguish(&s, operands);
  if (!s.k) s.k = 16;
  status = choose_shape(&s);
  return status == CLI_OK ? run(&s, operands, count) : status;
}
