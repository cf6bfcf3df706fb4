/* SPDX-License-Identifier: MIT */
/* usage: test_probes [quick|slow]
 *
 * quick: of parameters and orders every eighth; of the order of wide sums the order alone, since the search that comes
 * before rules out all models for half a minute (test_identify.py has an order after such a search).
 *
 * Each probe of the search against planted models: every parameter is found and decided, and the question shown for it
 * does what it says; every order of additions is read off masked sums; each kind of drawn question is of its kind; the
 * bits that a unit does not look at are seen. */
#include <stdlib.h>
#include <string.h>

#include "cli/accum/text.h"
#include "cli/base/cli.h"
#include "cli/identify/identify.h"
#include "cli/identify/report.h"
#include "tests/support/cmocka.h"

static hu_type element(const char *name) {
  hu_type type;
  assert_true(cli_parse_element(&type, name));
  return type;
}

static hu_accum parsed(const char *text) {
  hu_accum x;
  assert_int_equal(hu_accum_parse(&x, text, NULL), HU_OK);
  return x;
}

/* ---- parameters ---- */

typedef struct t_planted {
  const char *key, *value; /* of the text of a model */
  const char *model, *ab, *d;
  unsigned n;
  const char *scale;
  unsigned every;
} t_planted;

static const t_planted parameters[] = {
    {"in", "10", "block(align,l=4,f=24,emin=-132,in=10)", "binary32", "binary32", 8, NULL, 0},
    {"out", "13", "block(align,l=4,f=13,emin=-133,acc=binary32,out=fp(8,13,0),round=rtz,over=inf)", "float8_e4m3fn",
     "binary32", 8, NULL, 0},
    {"P", "7", "seq2(fp(8,7,0),binary32)", "binary16", "binary32", 4, NULL, 0},
    {"round", "rtp", "seq(binary32,rtp)", "binary16", "binary32", 4, NULL, 0},
    {"c", "last", "block(align,l=4,f=24,emin=-132,c=last,round=rtz)", "bfloat16", "binary32", 8, NULL, 0},
    {"cut", "floor", "block(align,l=4,f=12,emin=-28,cut=floor,out=binary16)", "binary16", "binary16", 8, NULL, 0},
    {"f", "13", "block(align,l=4,f=13,emin=-28,out=binary16)", "binary16", "binary16", 8, NULL, 0},
    {"f2", "29", "block(late,l=4,f=24,f2=29)", "bfloat16", "binary32", 4, NULL, 0},
    {"far", "25", "block(late,l=4,f=24,f2=31,far=25)", "bfloat16", "binary32", 8, NULL, 0},
    {"order", "mod4", "block(align,l=4,f=24,emin=-132,order=mod4)", "bfloat16", "binary32", 8, NULL, 0},
    {"lanes", "2", "block(late,l=8,f=12,f2=28,lanes=2)", "bfloat16", "binary32", 8, NULL, 0},
    {"l", "3", "block(exact,l=3)", "bfloat16", "binary32", 9, NULL, 0},
    {"g", "4", "block(groups,l=8,f=10,emin=-200,g=4,every=8,scale=float8_e8m0fnu)", "float4_e2m1fn", "binary32", 16,
     "float8_e8m0fnu", 8},
    {"parts", "splitk(2)", "splitk(2,seq(binary32))", "binary16", "binary32", 8, NULL, 0},
    {"parts", "promote(4)", "promote(4,strided(binary16),binary16)", "binary16", "binary16", 8, NULL, 0},
    {"emin", "-17", "block(align,l=4,f=24,emin=-17,out=binary16)", "binary16", "binary16", 8, NULL, 0},
    {"daz", "plus", "block(chain,l=2,daz=plus)", "bfloat16", "binary32", 4, NULL, 0},
    {"ftz", "after", "block(tree,l=2,ftz=after,out=binary16)", "binary16", "binary16", 4, NULL, 0},
    {"zero", "plus", "block(align,l=4,f=24,emin=-132,round=rtz,zero=plus)", "bfloat16", "binary32", 8, NULL, 0},
    {"over", "inf", "block(exact,l=2,round=rtz,over=inf)", "bfloat16", "binary32", 4, NULL, 0},
    {"sat", "finite", "block(exact,l=2,out=binary16,sat=finite)", "binary16", "binary16", 4, NULL, 0},
    {"big", "100", "block(late,l=4,f=24,f2=31,big=100)", "bfloat16", "binary32", 4, NULL, 0},
    {"order", "down", "block(chain,l=2,order=down)", "bfloat16", "bfloat16", 4, NULL, 0}, /* sums in binary32 */
    {"l", "2", "int32(sat,2)", "s8", "s32", 8, NULL, 0},
};

/* Half a minute each, which `make check-exhaustive` takes. FP8 products whose sums of 8 are added in binary32 are what
 * DeepSeek-V3 does on NVIDIA's Hopper (arXiv 2412.19437, 3.3.2). */
static const t_planted slow_parameters[] = {
    {"parts", "promote(4)", "promote(4,block(exact,l=2,round=rtz),binary32)", "bfloat16", "binary32", 8, NULL, 0},
    {"out", "13", "promote(8,block(align,l=4,f=13,emin=-133,acc=binary32,out=fp(8,13,0),round=rtz,over=inf),binary32)",
     "float8_e4m3fn", "binary32", 16, NULL, 0},
};

static id_shape shape_of(const t_planted *planted) {
  id_shape shape = {.n = planted->n, .every = planted->every};
  shape.a = shape.b = element(planted->ab);
  shape.result = element(planted->d);
  if (planted->scale) shape.scale = element(planted->scale).format;
  return shape;
}

/* The box's answer on the row is the model's, and `other` gives something else: what the report says. */
static void check_evidence(id_search *search, const id_decision *decision) {
  hu_accum other = search->set.x[0];
  uint64_t own = 0, gives = 0;
  assert_int_equal(decision->evidence.count, 1);
  assert_int_equal(id_compute(&search->set.x[0], &decision->evidence, 0, 1, &own), HU_OK);
  assert_true(id_same(&search->box->shape, own, id_get(&decision->evidence, ID_D, 0, 0)));
  id_axis_set(&search->space, decision->axis, &other, decision->nearest);
  assert_int_equal(id_compute(&other, &decision->evidence, 0, 1, &gives), HU_OK);
  assert_true(id_same(&search->box->shape, gives, decision->other));
  assert_false(id_same(&search->box->shape, own, gives));
}

/* The decision about this key has this value, and every decision that was made shows what it should. */
static int check_decisions(id_search *search, const id_decisions *z, const t_planted *planted) {
  int found = 0;
  for (int i = 0; i < z->count; i++) {
    const id_decision *decision = &z->of[i];
    char text[64];
    id_axis_text(&search->space, decision->axis, &search->set.x[0], decision->value, text, sizeof text);
    if (decision->verdict != ID_OPEN) check_evidence(search, decision);
    if (strcmp(id_axis_key(decision->axis), planted->key) != 0) continue;
    found = strcmp(text, planted->value) == 0 && decision->verdict == ID_DECIDED;
    print_message("%s=%s: found %s, %zu of %zu other values ruled out\n", planted->key, planted->value, text,
                  decision->tried - decision->open, decision->tried);
  }
  return found;
}

/* Equal on drawn questions of all kinds, which the search has not seen. */
static int is_equal(const id_shape *shape, const hu_accum *x, const hu_accum *y) {
  enum { ROWS = 1000 };
  id_vectors vectors;
  id_random random = {99};
  size_t row = ROWS;
  id_vectors_start(&vectors, shape);
  assert_int_equal(id_vectors_grow(&vectors, ROWS), 0);
  for (int kind = 0; kind < ID_DRAW_KINDS && row == ROWS; kind++) {
    id_draw(&vectors, 0, ROWS, kind, &random);
    assert_int_equal(id_compute(x, &vectors, 0, ROWS, vectors.column[ID_D]), HU_OK);
    row = id_first_difference(y, &vectors, 0, ROWS);
  }
  id_vectors_free(&vectors);
  return row == ROWS;
}

static int try_parameter(const t_planted *planted) {
  id_model model = {.accum = parsed(planted->model)};
  id_box box = {.shape = shape_of(planted), .answer = id_model_answer, .context = &model};
  id_settings settings = {.seed = 1, .verify = 2000};
  id_search search;
  static id_result z;
  model.shape = &box.shape;
  id_search_start(&search, &box, 1, NULL);
  assert_int_equal(id_identify(&search, &settings, &z), CLI_OK);
  int fine = z.verdict == ID_FOUND && check_decisions(&search, &z.decisions, planted) &&
             is_equal(&box.shape, &model.accum, &z.model);
  if (!fine) {
    char text[HU_ACCUM_TEXT_MAX];
    print_message("%s: %s is %s\n", planted->model, id_verdict_word(&z), id_model_text(&search, &z.model, text));
  }
  id_result_free(&z);
  id_search_free(&search);
  return fine;
}

static size_t every = 1; /* of so many parameters, or orders, one */

static void try_all(const t_planted *planted, size_t count) {
  size_t bad = 0;
  for (size_t i = 0; i < count; i += every) bad += !try_parameter(&planted[i]);
  assert_int_equal(bad, 0);
}

static void test_each_parameter(void **state) {
  (void)state;
  try_all(parameters, sizeof parameters / sizeof parameters[0]);
}

static void test_slow_parameters(void **state) {
  (void)state;
  try_all(slow_parameters, sizeof slow_parameters / sizeof slow_parameters[0]);
}

/* What a search left was refuted afterwards: with that answer all stages come to the model. The refuted one here keeps
 * one digit too few. */
static void test_stages_again(void **state) {
  static const t_planted planted = {
      NULL, NULL, "block(align,l=4,f=13,emin=-28,out=binary16)", "binary16", "binary16", 8, NULL, 0};
  hu_accum wrong = parsed("block(align,l=4,f=12,emin=-28,out=binary16)");
  id_model model = {.accum = parsed(planted.model)};
  id_box box = {.shape = shape_of(&planted), .answer = id_model_answer, .context = &model};
  id_search search;
  (void)state;
  model.shape = &box.shape;
  id_search_start(&search, &box, 1, NULL);
  assert_int_equal(id_find(&search), CLI_OK);
  search.set.x[0] = wrong;
  search.set.count = 1;
  assert_int_equal(id_ask_drawn(&search, 100, ID_DRAW_MANY), CLI_OK);
  size_t asked = search.asked.count;
  id_filter(&search);
  assert_int_equal(search.set.count, 0);
  assert_int_equal(id_find_again(&search), CLI_OK);
  assert_true(search.set.count > 0);
  assert_true(search.asked.count >= asked); /* no answer is forgotten */
  assert_true(is_equal(&box.shape, &model.accum, &search.set.x[0]));
  id_search_free(&search);
}

/* ---- orders ---- */

/* Terms below the step where leaf i and leaf j meet, for every pair: two binary trees are the same where these are. */
static int meet(const id_tree *tree, int node, int *below, int *z) {
  const id_node *x = &tree->node[node];
  int leaves = tree->n + 1, count = 0;
  if (x->leaf >= 0) {
    below[0] = x->leaf;
    return 1;
  }
  for (int child = x->first; child >= 0; child = tree->node[child].next) {
    int more = meet(tree, child, below + count, z);
    for (int i = 0; i < count; i++)
      for (int j = count; j < count + more; j++)
        z[below[i] * leaves + below[j]] = z[below[j] * leaves + below[i]] = x->leaves;
    count += more;
  }
  return count;
}

/* A drawn order: two of the sums that are there are added until one is left. */
static void draw_tree(id_tree *tree, int n, id_random *random) {
  int leaves = n + 1, *open = malloc((size_t)leaves * sizeof *open);
  memset(tree, 0, sizeof *tree);
  tree->n = n;
  tree->node = calloc(2 * (size_t)leaves, sizeof *tree->node);
  assert_true(open && tree->node);
  for (int i = 0; i < leaves; i++) {
    tree->node[i] = (id_node){i, 1, 1, -1, -1};
    open[i] = i;
  }
  tree->count = leaves;
  for (int left = leaves; left > 1; left--) {
    int i = (int)id_random_below(random, (uint64_t)left), x = open[i];
    open[i] = open[left - 1];
    int j = (int)id_random_below(random, (uint64_t)left - 1), y = open[j],
        both = tree->node[x].leaves + tree->node[y].leaves;
    tree->node[x].next = y;
    tree->node[y].next = -1;
    tree->node[tree->count] = (id_node){-1, both, both, x, -1};
    open[j] = tree->count++;
  }
  tree->root = tree->count - 1;
  free(open);
}

typedef struct tree_box {
  const id_tree *tree;
  const id_shape *shape;
  int sum;
} tree_box;

static int tree_answer(void *context, size_t count, const void *a, const void *b, const void *c, const void *sa,
                       const void *sb, void *d) {
  const tree_box *x = context;
  id_vectors vectors;
  (void)sa;
  (void)sb;
  id_vectors_start(&vectors, x->shape);
  assert_int_equal(id_vectors_grow(&vectors, count), 0);
  memcpy(vectors.column[ID_A], a, count * x->shape->n * id_column_size(x->shape, ID_A));
  memcpy(vectors.column[ID_B], b, count * x->shape->n * id_column_size(x->shape, ID_B));
  memcpy(vectors.column[ID_C], c, count * id_column_size(x->shape, ID_C));
  for (size_t i = 0; i < count; i++) id_put(&vectors, ID_D, i, 0, id_sum_along(x->tree, &vectors, i, x->sum, 0));
  memcpy(d, vectors.column[ID_D], count * id_column_size(x->shape, ID_D));
  id_vectors_free(&vectors);
  return CLI_OK;
}

static void test_each_order(void **state) {
  enum { ORDERS = 60, N_MOST = 20, ALL = (N_MOST + 1) * (N_MOST + 1) };
  id_random random = {5};
  (void)state;
  for (int i = 0; i < ORDERS; i += (int)every) {
    int n = 1 + i % N_MOST, below[N_MOST + 1], drawn[ALL] = {0}, seen[ALL] = {0};
    id_shape shape = {
        .a = element("binary32"), .b = element("binary32"), .result = element("binary32"), .n = (unsigned)n};
    id_tree tree, found;
    tree_box context = {&tree, &shape, ID_SUM_TREE};
    id_box box = {.shape = shape, .answer = tree_answer, .context = &context};
    id_search search;
    draw_tree(&tree, n, &random);
    id_search_start(&search, &box, 1, NULL);
    assert_int_equal(id_tree_find(&search, &found), CLI_OK);
    assert_true(id_tree_is_binary(&found));
    assert_int_equal(meet(&tree, tree.root, below, drawn), n + 1);
    assert_int_equal(meet(&found, found.root, below, seen), n + 1);
    assert_memory_equal(drawn, seen, sizeof drawn);
    id_tree_free(&found);
    id_tree_free(&tree);
    id_search_free(&search);
  }
}

/* Four chains over k mod 4 in binary32 and D in bfloat16, as kernels of CPUs do it: no text says it. */
static void test_an_order_of_wide_sums(void **state) {
  enum { N = 8 };
  id_shape shape = {
      .a = element("bfloat16"), .b = element("bfloat16"), .result = element("bfloat16"), .n = N, .without_c = 1};
  id_node node[2 * N];
  id_tree tree = {node, 0, 2 * N, 0, N, NULL};
  tree_box context = {&tree, &shape, ID_SUM_WIDE};
  id_box box = {.shape = shape, .answer = tree_answer, .context = &context};
  id_settings settings = {.seed = 1, .verify = 4000};
  id_search search;
  static id_result z;
  (void)state;
  for (int k = 0; k < N; k++) node[tree.count++] = (id_node){k, 1, 1, -1, -1};
  for (int j = 0; j < 4; j++) { /* j + (j + 4), then the four of them */
    node[j].next = j + 4;
    node[tree.count++] = (id_node){-1, 2, 2, j, -1};
  }
  for (int j = 1, sum = N; j < 4; j++, sum = tree.count - 1) {
    int leaves = node[sum].leaves + 2;
    node[sum].next = N + j;
    node[tree.count++] = (id_node){-1, leaves, leaves, sum, -1};
  }
  tree.root = tree.count - 1;
  id_search_start(&search, &box, 1, NULL);
  if (every > 1) {
    int below[N + 1], planted_at[(N + 1) * (N + 1)] = {0}, seen[(N + 1) * (N + 1)] = {0};
    id_tree found;
    assert_int_equal(id_tree_find(&search, &found), CLI_OK);
    assert_int_equal(meet(&tree, tree.root, below, planted_at), N);
    assert_int_equal(meet(&found, found.root, below, seen), N);
    assert_memory_equal(planted_at, seen, sizeof seen);
    id_tree_free(&found);
  } else {
    assert_int_equal(id_identify(&search, &settings, &z), CLI_OK);
    assert_int_equal(z.verdict, ID_ORDERED);
    assert_int_equal(z.sum, ID_SUM_WIDE);
    id_result_free(&z);
  }
  id_search_free(&search);
}

/* Steps that add more than two terms at once, as their texts are printed. */
static void test_each_fused_order(void **state) {
  static const char *const of[][2] = {
      {"block(align,l=8,f=24,emin=-132)", "[C 0..7]"},
      {"block(align,l=4,f=24,emin=-132)", "[[C 0..3] 4..7]"},
      {"block(align,l=2,f=24,emin=-132)", "[[[[C 0 1] 2 3] 4 5] 6 7]"},
      {"block(align,l=4,f=24,emin=-132,c=last)", "((C + [0..3]) + [4..7])"},
      {"block(align,l=4,f=24,emin=-132,order=mod4)", "[[C 0 1 4 5] 2 3 6 7]"},
      {"block(tree,l=2)", "((((C + (0 + 1)) + (2 + 3)) + (4 + 5)) + (6 + 7))"},
      {"pairwise(binary32)", "(C + (((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7))))"},
      {"strided(binary32)", "(C + (((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7))))"},
  };
  (void)state;
  size_t bad = 0;
  for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
    t_planted planted = {NULL, NULL, of[i][0], "bfloat16", "binary32", 8, NULL, 0};
    id_model model = {.accum = parsed(planted.model)};
    id_box box = {.shape = shape_of(&planted), .answer = id_model_answer, .context = &model};
    id_search search;
    id_tree tree;
    char *text = NULL;
    size_t size;
    model.shape = &box.shape;
    id_search_start(&search, &box, 1, NULL);
    assert_int_equal(id_tree_find(&search, &tree), CLI_OK);
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    id_tree_print(out, &tree);
    fclose(out);
    if (strcmp(text, of[i][1]) != 0) {
      print_message("%s: %s, not %s\n", planted.model, text, of[i][1]);
      bad++;
    }
    free(text);
    id_tree_free(&tree);
    id_search_free(&search);
  }
  assert_int_equal(bad, 0);
}

/* ---- kinds of questions ---- */

/* Rows of a kind that have a property. */
static size_t rows_with(int kind, int (*property)(const id_vectors *vectors, size_t row), size_t count) {
  id_shape shape = {.a = element("binary16"), .b = element("binary16"), .result = element("binary16"), .n = 8};
  id_vectors vectors;
  id_random random = {11};
  hu_accum exact = parsed("block(exact,l=8,out=binary16)");
  size_t n = 0;
  id_vectors_start(&vectors, &shape);
  assert_int_equal(id_vectors_grow(&vectors, count), 0);
  id_draw(&vectors, 0, count, kind, &random);
  assert_int_equal(id_compute(&exact, &vectors, 0, count, vectors.column[ID_D]), HU_OK);
  for (size_t i = 0; i < count; i++) n += property(&vectors, i) != 0;
  id_vectors_free(&vectors);
  return n;
}

static uint32_t magnitude(const id_vectors *vectors, size_t row) { return id_get(vectors, ID_D, row, 0) & 0x7fff; }
static int has_one(const id_vectors *vectors, size_t row) { return id_terms(vectors, row) == 1; }
static int has_few(const id_vectors *vectors, size_t row) {
  return id_terms(vectors, row) >= 2 && id_terms(vectors, row) <= 4;
}
static int has_many(const id_vectors *vectors, size_t row) { return id_terms(vectors, row) > 4; }
static int is_normal(const id_vectors *vectors, size_t row) {
  uint32_t x = magnitude(vectors, row);
  return x == 0 || (x >= 0x400 && x < 0x7c00);
}
static int is_small(const id_vectors *vectors, size_t row) {
  return magnitude(vectors, row) > 0 && magnitude(vectors, row) < 0x400;
}
static int is_over(const id_vectors *vectors, size_t row) { return magnitude(vectors, row) == 0x7c00; }
static int is_nan(const id_vectors *vectors, size_t row) { return magnitude(vectors, row) > 0x7c00; }
static int is_zero(const id_vectors *vectors, size_t row) { return magnitude(vectors, row) == 0; }

/* Is a subnormal number of A multiplied by one of B that is at least 1? */
static int has_uneven(const id_vectors *vectors, size_t row) {
  for (size_t k = 0; k < 8; k++) {
    uint32_t a = id_get(vectors, ID_A, row, k) & 0x7fff, b = id_get(vectors, ID_B, row, k) & 0x7fff;
    if (a > 0 && a < 0x400 && b >= 0x3c00 && b < 0x7c00) return 1;
  }
  return 0;
}

/* Of at most four units, and something below that is lost. */
static int is_least(const id_vectors *vectors, size_t row) {
  return magnitude(vectors, row) <= 4 && id_terms(vectors, row) >= 2;
}

static void test_each_kind_of_question(void **state) {
  enum { COUNT = 2000 };
  (void)state;
  assert_true(rows_with(ID_DRAW_ONE, has_one, COUNT) > COUNT * 9 / 10);
  assert_true(rows_with(ID_DRAW_ONE, is_normal, COUNT) > COUNT * 9 / 10);
  assert_true(rows_with(ID_DRAW_FEW, has_few, COUNT) > COUNT / 2);
  assert_true(rows_with(ID_DRAW_MANY, has_many, COUNT) > COUNT / 4);
  assert_true(rows_with(ID_DRAW_SMALL, is_small, COUNT) > COUNT / 4);
  assert_true(rows_with(ID_DRAW_SMALL, has_uneven, COUNT) > COUNT / 20);
  assert_true(rows_with(ID_DRAW_LARGE, is_over, COUNT) > COUNT / 10);
  assert_true(rows_with(ID_DRAW_SPECIAL, is_nan, COUNT) > COUNT / 20);
  assert_true(rows_with(ID_DRAW_SPECIAL, is_zero, COUNT) > COUNT / 20);
  assert_true(rows_with(ID_DRAW_ANY, is_over, COUNT) > COUNT / 20);
  assert_true(rows_with(ID_DRAW_ANY, is_small, COUNT) > COUNT / 20);
  assert_true(rows_with(ID_DRAW_LOWEST, is_least, COUNT) > COUNT / 4);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_parameter),   cmocka_unit_test(test_stages_again),
      cmocka_unit_test(test_each_order),       cmocka_unit_test(test_an_order_of_wide_sums),
      cmocka_unit_test(test_each_fused_order), cmocka_unit_test(test_each_kind_of_question)};
  const struct CMUnitTest slow[] = {cmocka_unit_test(test_slow_parameters)};
  if (argc > 1 && strcmp(argv[1], "slow") == 0) return cmocka_run_group_tests_name("slow probes", slow, NULL, NULL);
  if (argc > 1 && strcmp(argv[1], "quick") == 0) every = 8;
  return cmocka_run_group_tests_name("probes", tests, NULL, NULL);
}
