/* SPDX-License-Identifier: MIT */
/* halfulp distinguish - the shortest question that two accumulation models answer differently. */
#include <string.h>

#include "cli/accum/text.h"
#include "cli/identify/report.h"
#include "cli/identify/tell.h"
#include "cli/vectors/dot_line.h"

enum { KEY_FA = CLI_KEY_FREE, KEY_FB, KEY_FD, KEY_K, KEY_TRIES, KEY_WITHOUT_C };

typedef struct state {
  id_shape shape;
  int has_a, has_b, has_d, json;
  uint64_t k, tries, seed;
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
    case KEY_TRIES: return cli_read_u64(&s->tries, "--tries", value, 1, UINT64_C(1) << 40);
    case CLI_KEY_SEED: return cli_read_u64(&s->seed, "--seed", value, 0, UINT64_MAX);
    case KEY_WITHOUT_C: s->shape.without_c = 1; break;
    default: s->json = 1; break;
  }
  return CLI_OK;
}

static const cli_option options[] = {
    {KEY_FA, "fa", "FORMAT", "elements of A; default: those of a named model"},
    {KEY_FB, "fb", "FORMAT", "elements of B"},
    {KEY_FD, "fd", "FORMAT", "elements of C and D"},
    {KEY_K, "k", "K", "products; default: twice the depth of the deeper named model, else 8"},
    {KEY_WITHOUT_C, "without-c", NULL, "C is +0"},
    {KEY_TRIES, "tries", "N", "drawn questions where there are too many for all; default 1000000"},
    {CLI_KEY_SEED, "seed", "K", "key of the random numbers that draw the questions; default 1"},
    CLI_OPTION_JSON,
    {0}};
static const cli_command command = {
    "distinguish",
    "MODEL MODEL",
    "Find a question that two accumulation models answer differently",
    "Prints A B C [SCALES_A SCALES_B] as `halfulp mma` reads them, made short: few products, simple operands. Where "
    "all\n"
    "questions of these formats and K are at most 2^30 each of them is tried, and none found is a proof that the "
    "models\n"
    "are equal; else questions are drawn. Exit code 0: no difference was found; 1: here is one.",
    "  halfulp distinguish nv.ampere.f16.f32 nv.hopper.f16.f32 || true\n"
    "  halfulp distinguish 'block(exact,l=2)' 'block(chain,l=2)' --fa float4_e2m1fn --fd binary32 --k 2 --without-c",
    options,
    2,
    2,
    set};

/* Formats that neither option nor name gave are those of a named model. */
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

static int choose(state *s, char **text, hu_accum model[2]) {
  for (int i = 0; i < 2; i++) {
    cli_dot dot = {0};
    int named;
    if (cli_dot_model(&dot, "model", text[i], &named)) return CLI_BAD;
    model[i] = hu_accum_any(dot.accum);
    take_shape(s, &dot, named);
  }
  if (!s->has_a) return cli_fail(NULL, "distinguish: no named model; use --fa, --fb and --fd");
  if (!s->has_b) s->shape.b = s->shape.a;
  if (!s->has_d) s->shape.d = (hu_element){.format = hu_format_ieee(8, 23, 0)};
  if (s->k) s->shape.n = (uint32_t)s->k;
  if (!s->shape.n) s->shape.n = 8;
  return CLI_OK;
}

/* Both have to take these operands. */
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

static void print_json(const state *s, const finding *f, const id_vectors *v, char **text) {
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
  if (status == CLI_OK && s->json) print_json(s, &f, &v, text);
  if (status == CLI_OK && !s->json) print_finding(s, &f, &v, text);
  id_vectors_free(&v);
  return status != CLI_OK ? status : f.told ? CLI_DIFFERENT : CLI_OK;
}

int cli_distinguish(int argc, char **argv) {
  state s = {.tries = 1000000, .seed = 1};
  hu_accum model[2];
  char **operands;
  int count, status = cli_parse(&command, &s, argc, argv, &operands, &count);
  if (status >= 0) return status;
  status = choose(&s, operands, model);
  if (status == CLI_OK) status = check(&s.shape, model, operands);
  return status == CLI_OK ? compare(&s, model, operands) : status;
}
