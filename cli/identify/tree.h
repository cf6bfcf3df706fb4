/* SPDX-License-Identifier: MIT */
/* cli/identify/tree.h - the order of a sum, found by masking: one term is M, one is -M, all others are a unit that is
 * lost beside M. What comes out counts the units that met the sum after M and -M had cancelled, and so says how many
 * terms lie below the step where the two meet (P. Xie et al., FPRev, arXiv 2411.00442). */
#ifndef HALFULP_CLI_IDENTIFY_TREE_H
#define HALFULP_CLI_IDENTIFY_TREE_H

#include "cli/identify/search.h"

/* A node: a term, or a step that adds what its children give; more than two children are added at once. */
typedef struct id_node {
  int leaf;        /* number of the product; n: C; -1: a step */
  int measured;    /* terms that are lost beside M and -M below this step */
  int leaves;      /* terms below */
  int first, next; /* first child; next child of the parent; -1: none */
} id_node;

typedef struct id_tree {
  id_node *node;
  int count, capacity, root; /* root -1: the tree is empty */
  int n;                     /* products; leaf n is C */
  const char *why;           /* why there is no tree */
} id_tree;

/* Is `why` of a tree whose search was stopped before its order was found. */
extern const char id_tree_stopped[];

/* Asks and builds. The questions stay among those asked. Returns 0 or an exit code; root is -1 where these formats have
 * no M and unit, or where the answers are no counts. */
int id_tree_find(id_search *search, id_tree *tree);
void id_tree_free(id_tree *tree);
/* Returns 1 if every step adds two. */
int id_tree_is_binary(const id_tree *tree);
/* Returns L if the sum goes up k by L products a step, the last step perhaps fewer; 0: it does not. */
int id_tree_step(const id_tree *tree);
/* Prints (C + 0) + 1, and [C 0 1 2 3] for a step that adds all of these at once; runs are shortened. */
void id_tree_print(FILE *out, const id_tree *tree);

/* The sums that may stand behind a tree. */
enum {
  ID_SUM_TREE, /* additions along it, each rounded into D's format, ties to even */
  ID_SUM_WIDE, /* into binary32, and the last one into D */
  ID_SUM_LOOP, /* a loop in binary64, k ascending and C last, rounded into D: D of fewer digits shows no tree then */
  ID_SUMS      /* (count) */
};
int id_sum_is_possible(const id_tree *tree, const id_shape *shape, int sum);
/* Computes a sum. fused: a product goes into the step that adds it unrounded. */
uint64_t id_sum_along(const id_tree *tree, const id_vectors *questions, size_t row, int sum, int fused);

#endif
