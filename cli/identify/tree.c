/* SPDX-License-Identifier: MIT */
/* See tree.h. */
#include "cli/identify/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/question/operand.h"

typedef struct mask {
  id_search *s;
  id_tree *t;
  id_operand a, b, d;
  int high, unit; /* exponents of M and of the unit */
  int subnormal;  /* 1: the unit is, or operands or sums of it are */
  int status;     /* exit code of the box's failure; -1: an answer is no count */
  id_vectors v;
} mask;

static int smaller(int x, int y) { return x < y ? x : y; }
static int larger(int x, int y) { return x > y ? x : y; }

/* Chooses M and unit so far apart that no cut keeps both, where the formats allow it; at least so far that no rounding
 * does. `normal`: no operand, product or sum is subnormal. */
static int choose(mask *m, int normal) {
  const id_shape *s = &m->s->box->shape;
  int n = (int)s->n, count = 1;
  while (1 << count < n + 2) count++;
  int least = s->sums ? m->a.emin : m->a.emin + m->b.emin, under = s->sums ? m->a.digits : m->a.digits + m->b.digits;
  int high = smaller(s->sums ? m->a.emax : m->a.emax + m->b.emax, m->d.emax - 2);
  int low = larger(least - (normal ? 0 : under), m->d.emin - (normal ? 0 : m->d.digits));
  int enough = m->d.digits + 2 + count, wanted = larger(enough, 44 + count);
  if (s->every || m->d.integer || high - low < enough) return 0;
  m->high = high > wanted / 2 && low < -wanted / 2 ? wanted / 2 : high;
  m->unit = larger(low, m->high - wanted);
  m->subnormal = m->unit < larger(least, m->d.emin);
  return 1;
}

/* Makes product k of two powers of two. */
static void put_power(mask *m, size_t k, int exponent, int negative) {
  int low = larger(m->a.emin - m->a.digits, exponent - m->b.emax);
  int high = smaller(m->a.emax, exponent - m->b.emin + m->b.digits);
  int ea = larger(low, smaller(high, exponent / 2));
  if (m->s->box->shape.sums) ea = exponent;
  uint64_t a = id_operand_power(&m->a, ea), b = id_operand_power(&m->b, exponent - ea);
  id_put(&m->v, ID_A, 0, k, negative ? id_operand_negated(&m->a, a) : a);
  id_put(&m->v, ID_B, 0, k, b);
}

static void put_leaf(mask *m, int leaf, int exponent, int negative) {
  if (leaf < m->t->n) {
    put_power(m, (size_t)leaf, exponent, negative);
    return;
  }
  uint64_t c = id_operand_power(&m->d, exponent);
  id_put(&m->v, ID_C, 0, 0, negative ? id_operand_negated(&m->d, c) : c);
}

static int ask(mask *m) {
  int status = id_ask(m->s->box, &m->v, 0, 1);
  size_t at = status ? SIZE_MAX : id_vectors_grow(&m->s->later, 1);
  if (status) return status;
  if (at == SIZE_MAX) return cli_fail(NULL, "not enough memory");
  id_vectors_copy(&m->s->later, at, &m->v, 0);
  return CLI_OK;
}

/* Counts the products, and C where the box has one. */
static int leaves_of(const mask *m) { return m->t->n + !m->s->box->shape.without_c; }

/* Returns what came out, in units. */
static double units(const mask *m) { return ldexp(id_value(m->d.element, id_get(&m->v, ID_D, 0, 0)), -m->unit); }

/* Returns how many terms M at i and -M at j make vanish. */
static int swallowed(mask *m, int i, int j) {
  int leaves = leaves_of(m);
  for (int k = 0; k < leaves; k++) put_leaf(m, k, k == i || k == j ? m->high : m->unit, k == j);
  m->status = ask(m);
  double left = m->status ? 0 : units(m);
  if (m->status == 0 && !(left >= 0 && left <= leaves - 2 && left == floor(left))) m->status = -1;
  return m->status ? 0 : leaves - (int)left;
}

/* Raises the unit for a box that flushes subnormal numbers, or that cuts so low, loses units everywhere, not only
 * beside M. Then the unit is a normal number, if the range of these formats is wide enough. The question is not kept,
 * since the first stages of the search do not look at the lower end. */
static void raise_unit(mask *m) {
  mask normal = *m;
  int leaves = leaves_of(m);
  if (!m->subnormal || !choose(&normal, 1)) return;
  for (int k = 0; k < leaves; k++) put_leaf(m, k, m->unit, 0);
  m->status = id_ask(m->s->box, &m->v, 0, 1);
  if (m->status || units(m) == leaves) return;
  m->high = normal.high;
  m->unit = normal.unit;
}

/* ---- nodes ---- */

static int add_node(id_tree *t, int leaf) {
  if (t->count == t->room) {
    int room = t->room ? 2 * t->room : 64;
    id_node *larger_array = realloc(t->node, (size_t)room * sizeof *larger_array);
    if (!larger_array) return -1;
    t->node = larger_array;
    t->room = room;
  }
  t->node[t->count] = (id_node){leaf, 1, leaf >= 0, -1, -1};
  return t->count++;
}

static void add_child(id_tree *t, int parent, int child) {
  int *at = &t->node[parent].first;
  while (*at >= 0) at = &t->node[*at].next;
  *at = child;
  t->node[child].next = -1;
  t->node[parent].leaves += t->node[child].leaves;
}

/* Joins x and y by a step; the children of y itself where y's terms meet in the same step. */
static int join(id_tree *t, int x, int y, int measured) {
  int z = add_node(t, -1);
  if (z < 0) return -1;
  t->node[z].measured = measured;
  add_child(t, z, x);
  if (t->node[y].leaf < 0 && t->node[y].measured == measured) {
    for (int child = t->node[y].first, next; child >= 0; child = next) {
      next = t->node[child].next;
      add_child(t, z, child);
    }
  } else {
    add_child(t, z, y);
  }
  return z;
}

/* Builds the tree over these leaves. With the first of them every other has a step where they meet; those of one step
 * stand together. */
static int build(mask *m, const int *leaf, int count) {
  int root = add_node(m->t, leaf[0]);
  if (count == 1 || root < 0) return root;
  int *size = malloc(2 * (size_t)count * sizeof *size), *some = size ? size + count : NULL, n = 0;
  if (!size) return -1;
  for (int j = 1; j < count && m->status == 0; j++) size[j] = swallowed(m, leaf[0], leaf[j]);
  for (int least; m->status == 0 && root >= 0; root = join(m->t, root, build(m, some, n), least)) {
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

void id_tree_free(id_tree *t) {
  free(t->node);
  memset(t, 0, sizeof *t);
  t->root = -1;
}

/* Counts the products below the other child of a step that adds two of which one is C; 0: there is no such step. */
static int beside_c(const id_tree *t) {
  for (int i = 0; i < t->count; i++) {
    int first = t->node[i].leaf < 0 ? t->node[i].first : -1, second = first >= 0 ? t->node[first].next : -1;
    if (second < 0 || t->node[second].next >= 0) continue;
    if (t->node[first].leaf == t->n) return t->node[second].leaves;
    if (t->node[second].leaf == t->n) return t->node[first].leaves;
  }
  return 0;
}

/* Finds the first and the last product below a node; returns 1 if C is not there. *parts becomes 1 where a step has all
 * products between its first and its last one, and not product 0. */
static int range_below(const id_tree *t, int node, int *low, int *high, int *parts) {
  const id_node *x = &t->node[node];
  int products = 1;
  *low = *high = x->leaf;
  if (x->leaf >= 0) return x->leaf < t->n;
  *low = t->n;
  *high = -1;
  for (int child = x->first; child >= 0; child = t->node[child].next) {
    int a, b;
    products &= range_below(t, child, &a, &b, parts);
    *low = smaller(*low, a);
    *high = larger(*high, b);
  }
  *parts |= products && *low > 0 && *high - *low + 1 == x->leaves;
  return products;
}

/* Returns 1 if C is added together with products; or if all additions have two terms, and none joins neighbouring
 * products apart from product 0. */
static int is_whole(const id_tree *t, int has_c) {
  int low, high, parts = 0;
  if (has_c && !beside_c(t)) return 1;
  if (!id_tree_is_binary(t)) return 0;
  (void)range_below(t, t->root, &low, &high, &parts);
  return !parts;
}

int id_tree_find(id_search *s, id_tree *t) {
  const id_shape *shape = &s->box->shape;
  mask m = {.s = s, .t = t, .a = id_operand_of(shape->a), .b = id_operand_of(shape->b), .d = id_operand_of(shape->d)};
  memset(t, 0, sizeof *t);
  t->root = -1;
  t->n = (int)shape->n;
  t->why = "these formats have no two numbers of which one is lost beside the other";
  if (!choose(&m, 0)) return CLI_OK;
  int *leaf = malloc(((size_t)t->n + 1) * sizeof *leaf);
  id_vectors_start(&m.v, shape);
  if (!leaf || id_vectors_grow(&m.v, 1) == SIZE_MAX) return cli_fail(NULL, "not enough memory");
  int count = leaves_of(&m);
  raise_unit(&m);
  for (int k = 0; k < count; k++) leaf[k] = (k + t->n) % count; /* C first */
  if (m.status == 0) t->root = build(&m, leaf, count);
  free(leaf);
  id_vectors_free(&m.v);
  if (m.status == 0) {
    s->part = beside_c(t);
    s->whole = is_whole(t, !shape->without_c);
    return CLI_OK;
  }
  t->root = -1;
  t->why = "the answers to masked sums are no counts of terms";
  return m.status < 0 ? CLI_OK : m.status;
}

int id_tree_is_binary(const id_tree *t) {
  for (int i = 0; i < t->count; i++) {
    const id_node *x = &t->node[i];
    if (x->leaf >= 0) continue;
    int children = 0;
    for (int child = x->first; child >= 0; child = t->node[child].next) children++;
    if (children > 2 || x->measured != x->leaves) return 0;
  }
  return t->root >= 0;
}

/* ---- text ---- */

static void print_leaf(FILE *out, const id_tree *t, int leaf) {
  if (leaf == t->n)
    fputc('C', out);
  else
    fprintf(out, "%d", leaf);
}

/* Returns 1 for a child that is a term and continues a run of terms. */
static int run_past(const id_tree *t, int child, int *last) {
  int next = t->node[child].next, length = 1;
  *last = t->node[child].leaf;
  while (next >= 0 && t->node[next].leaf == *last + 1 && *last + 1 < t->n) {
    *last = t->node[next].leaf;
    next = t->node[next].next;
    length++;
  }
  if (length > 3) return next;
  *last = t->node[child].leaf;
  return t->node[child].next;
}

static void print_node(FILE *out, const id_tree *t, int i) {
  const id_node *x = &t->node[i];
  if (x->leaf >= 0) {
    print_leaf(out, t, x->leaf);
    return;
  }
  int second = t->node[x->first].next, pair = second >= 0 && t->node[second].next < 0 && x->measured == x->leaves;
  fputc(pair ? '(' : '[', out);
  for (int child = x->first; child >= 0;) {
    int last, next = t->node[child].next;
    print_node(out, t, child);
    if (!pair && t->node[child].leaf >= 0) {
      next = run_past(t, child, &last);
      if (last != t->node[child].leaf) fprintf(out, "..%d", last);
    }
    child = next;
    if (child >= 0) fputs(pair ? " + " : " ", out);
  }
  fputc(pair ? ')' : ']', out);
}

void id_tree_print(FILE *out, const id_tree *t) {
  if (t->root >= 0)
    print_node(out, t, t->root);
  else
    fprintf(out, "none: %s", t->why);
}
