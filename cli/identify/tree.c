/* SPDX-License-Identifier: MIT */
/* See tree.h. */
#include "cli/identify/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/question/operand.h"

typedef struct mask {
  id_search *search;
  id_tree *tree;
  id_operand a, b, result;
  int high, unit; /* exponents of M and of the unit */
  int subnormal;  /* 1: the unit is, or operands or sums of it are */
  int status;     /* exit code of the box's failure; -1: an answer is no count */
  id_vectors questions;
} mask;

const char id_tree_stopped[] = "the search was stopped before it was seen";

static int smaller(int x, int y) { return x < y ? x : y; }
static int larger(int x, int y) { return x > y ? x : y; }

/* Chooses M and unit so far apart that no cut keeps both, where the formats allow it; at least so far that no rounding
 * does. `normal`: no operand, product or sum is subnormal. */
static int choose(mask *probe, int normal) {
  const id_shape *shape = &probe->search->box->shape;
  int n = (int)shape->n, count = 1;
  while (1 << count < n + 2) count++;
  int least = shape->sums ? probe->a.emin : probe->a.emin + probe->b.emin,
      under = shape->sums ? probe->a.digits : probe->a.digits + probe->b.digits;
  int high = smaller(shape->sums ? probe->a.emax : probe->a.emax + probe->b.emax, probe->result.emax - 2);
  int low = larger(least - (normal ? 0 : under), probe->result.emin - (normal ? 0 : probe->result.digits));
  int enough = probe->result.digits + 2 + count, range = larger(enough, 44 + count);
  if (shape->every || probe->result.integer || high - low < enough) return 0;
  probe->high = high > range / 2 && low < -range / 2 ? range / 2 : high;
  probe->unit = larger(low, probe->high - range);
  probe->subnormal = probe->unit < larger(least, probe->result.emin);
  return 1;
}

/* Makes product k of two powers of two. */
static void put_power(mask *probe, size_t row, size_t k, int exponent, int negative) {
  int low = larger(probe->a.emin - probe->a.digits, exponent - probe->b.emax);
  int high = smaller(probe->a.emax, exponent - probe->b.emin + probe->b.digits);
  int ea = larger(low, smaller(high, exponent / 2));
  if (probe->search->box->shape.sums) ea = exponent;
  uint64_t a = id_operand_power(&probe->a, ea), b = id_operand_power(&probe->b, exponent - ea);
  id_put(&probe->questions, ID_A, row, k, negative ? id_operand_negated(&probe->a, a) : a);
  id_put(&probe->questions, ID_B, row, k, b);
}

static void put_leaf(mask *probe, size_t row, int leaf, int exponent, int negative) {
  if (leaf < probe->tree->n) {
    put_power(probe, row, (size_t)leaf, exponent, negative);
    return;
  }
  uint64_t c = id_operand_power(&probe->result, exponent);
  id_put(&probe->questions, ID_C, row, 0, negative ? id_operand_negated(&probe->result, c) : c);
}

static int ask(mask *probe, size_t count) {
  int status = id_ask(probe->search->box, &probe->questions, 0, count);
  size_t at = status ? SIZE_MAX : id_vectors_grow(&probe->search->later, count);
  if (status) return status;
  if (at == SIZE_MAX) return cli_fail(NULL, "not enough memory");
  for (size_t row = 0; row < count; row++) id_vectors_copy(&probe->search->later, at + row, &probe->questions, row);
  return CLI_OK;
}

/* Counts the products, and C where the box has one. */
static int leaves_of(const mask *probe) { return probe->tree->n + !probe->search->box->shape.without_c; }

/* Returns what came out, in units. */
static double units(const mask *probe, size_t row) {
  return ldexp(id_value(probe->result.element, id_get(&probe->questions, ID_D, row, 0)), -probe->unit);
}

/* Finds how many terms M at the first leaf and -M at each other one make vanish; all these are asked at once. */
static void find_swallowed(mask *probe, const int *leaf, int count, int *size) {
  int leaves = leaves_of(probe);
  for (int j = 1; j < count; j++)
    for (int k = 0; k < leaves; k++)
      put_leaf(probe, (size_t)j - 1, k, k == leaf[0] || k == leaf[j] ? probe->high : probe->unit, k == leaf[j]);
  probe->status = ask(probe, (size_t)count - 1);
  for (int j = 1; j < count; j++) {
    double left = probe->status ? 0 : units(probe, (size_t)j - 1);
    if (probe->status == 0 && !(left >= 0 && left <= leaves - 2 && left == floor(left))) probe->status = -1;
    size[j] = probe->status ? 0 : leaves - (int)left;
  }
}

/* Raises the unit for a box that flushes subnormal numbers, or that cuts so low, loses units everywhere, not only
 * beside M. Then the unit is a normal number, if the range of these formats is wide enough. The question is not kept,
 * since the first stages of the search do not look at the lower end. */
static void raise_unit(mask *probe) {
  mask normal = *probe;
  int leaves = leaves_of(probe);
  if (!probe->subnormal || !choose(&normal, 1)) return;
  for (int k = 0; k < leaves; k++) put_leaf(probe, 0, k, probe->unit, 0);
  probe->status = id_ask(probe->search->box, &probe->questions, 0, 1);
  if (probe->status || units(probe, 0) == leaves) return;
  probe->high = normal.high;
  probe->unit = normal.unit;
}

/* ---- nodes ---- */

static int add_node(id_tree *tree, int leaf) {
  if (tree->count == tree->capacity) {
    int capacity = tree->capacity ? 2 * tree->capacity : 64;
    id_node *larger_array = realloc(tree->node, (size_t)capacity * sizeof *larger_array);
    if (!larger_array) return -1;
    tree->node = larger_array;
    tree->capacity = capacity;
  }
  tree->node[tree->count] = (id_node){leaf, 1, leaf >= 0, -1, -1};
  return tree->count++;
}

static void add_child(id_tree *tree, int parent, int child) {
  int *at = &tree->node[parent].first;
  while (*at >= 0) at = &tree->node[*at].next;
  *at = child;
  tree->node[child].next = -1;
  tree->node[parent].leaves += tree->node[child].leaves;
}

/* Joins x and y by a step; the children of y itself where y's terms meet in the same step. */
static int join(id_tree *tree, int x, int y, int measured) {
  int z = add_node(tree, -1);
  if (z < 0) return -1;
  tree->node[z].measured = measured;
  add_child(tree, z, x);
  if (tree->node[y].leaf < 0 && tree->node[y].measured == measured) {
    for (int child = tree->node[y].first, next; child >= 0; child = next) {
      next = tree->node[child].next;
      add_child(tree, z, child);
    }
  } else {
    add_child(tree, z, y);
  }
  return z;
}

/* Builds the tree over these leaves. With the first of them every other has a step where they meet; those of one step
 * stand together. */
static int build(mask *probe, const int *leaf, int count) {
  int root = add_node(probe->tree, leaf[0]);
  if (count == 1 || root < 0) return root;
  int *size = malloc(2 * (size_t)count * sizeof *size), *some = size ? size + count : NULL, n = 0;
  if (!size) return -1;
  if (probe->status == 0) find_swallowed(probe, leaf, count, size);
  for (int least; probe->status == 0 && root >= 0; root = join(probe->tree, root, build(probe, some, n), least)) {
    least = INT32_MAX;
    for (int j = 1; j < count; j++)
      if (size[j] > 0) least = smaller(least, size[j]);
    if (least == INT32_MAX) break;
    n = 0;
    for (int j = 1; j < count; j++) {
      if (size[j] != least) continue;
      some[n++] = leaf[j];
      size[j] = 0;
    }
  }
  free(size);
  return root;
}

void id_tree_free(id_tree *tree) {
  free(tree->node);
  memset(tree, 0, sizeof *tree);
  tree->root = -1;
}

/* Counts the products below the other child of a step that adds two of which one is C; 0: there is no such step. */
static int beside_c(const id_tree *tree) {
  for (int i = 0; i < tree->count; i++) {
    int first = tree->node[i].leaf < 0 ? tree->node[i].first : -1, second = first >= 0 ? tree->node[first].next : -1;
    if (second < 0 || tree->node[second].next >= 0) continue;
    if (tree->node[first].leaf == tree->n) return tree->node[second].leaves;
    if (tree->node[second].leaf == tree->n) return tree->node[first].leaves;
  }
  return 0;
}

/* Finds the first and the last product below a node; returns 1 if C is not there. *parts becomes 1 where a step has all
 * products between its first and its last one, and not product 0. */
static int range_below(const id_tree *tree, int node, int *low, int *high, int *parts) {
  const id_node *here = &tree->node[node];
  int products = 1;
  *low = *high = here->leaf;
  if (here->leaf >= 0) return here->leaf < tree->n;
  *low = tree->n;
  *high = -1;
  for (int child = here->first; child >= 0; child = tree->node[child].next) {
    int a, b;
    products &= range_below(tree, child, &a, &b, parts);
    *low = smaller(*low, a);
    *high = larger(*high, b);
  }
  *parts |= products && *low > 0 && *high - *low + 1 == here->leaves;
  return products;
}

/* Returns 1 if C is added together with products; or if all additions have two terms, and none joins neighbouring
 * products apart from product 0. */
static int is_whole(const id_tree *tree, int has_c) {
  int low, high, parts = 0;
  if (has_c && !beside_c(tree)) return 1;
  if (!id_tree_is_binary(tree)) return 0;
  (void)range_below(tree, tree->root, &low, &high, &parts);
  return !parts;
}

int id_tree_find(id_search *search, id_tree *tree) {
  const id_shape *shape = &search->box->shape;
  mask probe = {.search = search,
                .tree = tree,
                .a = id_operand_of(shape->a),
                .b = id_operand_of(shape->b),
                .result = id_operand_of(shape->result)};
  memset(tree, 0, sizeof *tree);
  tree->root = -1;
  tree->n = (int)shape->n;
  tree->why = "these formats have no two numbers of which one is lost beside the other";
  if (!choose(&probe, 0)) return CLI_OK;
  int *leaf = malloc(((size_t)tree->n + 1) * sizeof *leaf);
  id_vectors_start(&probe.questions, shape);
  if (!leaf || id_vectors_grow(&probe.questions, (size_t)tree->n + 1) == SIZE_MAX)
    return cli_fail(NULL, "not enough memory");
  int count = leaves_of(&probe);
  raise_unit(&probe);
  for (int k = 0; k < count; k++) leaf[k] = (k + tree->n) % count; /* C first */
  if (probe.status == 0) tree->root = build(&probe, leaf, count);
  free(leaf);
  id_vectors_free(&probe.questions);
  if (probe.status == 0) {
    search->part = beside_c(tree);
    search->whole = is_whole(tree, !shape->without_c);
    return CLI_OK;
  }
  tree->root = -1;
  tree->why = probe.status == ID_STOPPED ? id_tree_stopped : "the answers to masked sums are no counts of terms";
  return probe.status < 0 ? CLI_OK : probe.status;
}

int id_tree_is_binary(const id_tree *tree) {
  for (int i = 0; i < tree->count; i++) {
    const id_node *node = &tree->node[i];
    if (node->leaf >= 0) continue;
    int children = 0;
    for (int child = node->first; child >= 0; child = tree->node[child].next) children++;
    if (children > 2 || node->measured != node->leaves) return 0;
  }
  return tree->root >= 0;
}

static int has_child(const id_tree *tree, int node, int leaf) {
  int child = tree->node[node].first;
  while (child >= 0 && tree->node[child].leaf != leaf) child = tree->node[child].next;
  return child >= 0;
}

/* Finds the child of a step that has C and the products before its others, and the first of these; *before: -1 where
 * there is none. Returns the number of products that the step adds; 0: they are not consecutive. */
static int products_of(const id_tree *tree, int node, int *before, int *from) {
  int low, high, parts = 0, count = 0, last = -1, is_first = has_child(tree, node, tree->n);
  *before = -1;
  *from = tree->n;
  for (int child = tree->node[node].first; child >= 0; child = tree->node[child].next) {
    int products = range_below(tree, child, &low, &high, &parts);
    if (tree->node[child].leaf == tree->n) continue;
    if (*before < 0 && tree->node[child].leaf < 0 && (!products || (!is_first && low == 0))) {
      *before = child;
      continue;
    }
    *from = smaller(*from, low);
    last = larger(last, high);
    count += tree->node[child].leaves;
  }
  return count == last - *from + 1 ? count : 0;
}

int id_tree_step(const id_tree *tree) {
  int length = 0, least = 0, past = tree->n, before, from;
  for (int node = tree->root; node >= 0; node = before) {
    int count = tree->node[node].leaf < 0 ? products_of(tree, node, &before, &from) : 0;
    if (!count || from + count != past || (length && count != length)) return 0;
    if (node == tree->root)
      least = count;
    else
      length = count;
    past = from;
  }
  return past != 0 ? 0 : !length ? least : least <= length ? length : 0;
}

/* ---- text ---- */

static void print_leaf(FILE *out, const id_tree *tree, int leaf) {
  if (leaf == tree->n)
    fputc('C', out);
  else
    fprintf(out, "%d", leaf);
}

/* Returns 1 for a child that is a term and continues a run of terms. */
static int run_past(const id_tree *tree, int child, int *last) {
  int next = tree->node[child].next, length = 1;
  *last = tree->node[child].leaf;
  while (next >= 0 && tree->node[next].leaf == *last + 1 && *last + 1 < tree->n) {
    *last = tree->node[next].leaf;
    next = tree->node[next].next;
    length++;
  }
  if (length > 3) return next;
  *last = tree->node[child].leaf;
  return tree->node[child].next;
}

static void print_node(FILE *out, const id_tree *tree, int i) {
  const id_node *node = &tree->node[i];
  if (node->leaf >= 0) {
    print_leaf(out, tree, node->leaf);
    return;
  }
  int second = tree->node[node->first].next,
      pair = second >= 0 && tree->node[second].next < 0 && node->measured == node->leaves;
  fputc(pair ? '(' : '[', out);
  for (int child = node->first; child >= 0;) {
    int last, next = tree->node[child].next;
    print_node(out, tree, child);
    if (!pair && tree->node[child].leaf >= 0) {
      next = run_past(tree, child, &last);
      if (last != tree->node[child].leaf) fprintf(out, "..%d", last);
    }
    child = next;
    if (child >= 0) fputs(pair ? " + " : " ", out);
  }
  fputc(pair ? ')' : ']', out);
}

void id_tree_print(FILE *out, const id_tree *tree) {
  if (tree->root >= 0)
    print_node(out, tree, tree->root);
  else
    fprintf(out, "none: %s", tree->why);
}
