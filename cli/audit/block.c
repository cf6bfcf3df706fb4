/* SPDX-License-Identifier: MIT */
/* Blocks of which two rules make different things, and how they are made short. See audit.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/audit/audit.h"

static int two_levels(const audit_rule *rule) { return !rule->plain && rule->scaling.tensor != HU_TENSOR_NONE; }

/* Applies a rule to a block as a matrix of one row, or of one column where blocks have one. */
static int apply(audit_made *made, const audit_rule *rule, const audit_block *block) {
  float copy[AUDIT_BLOCK];
  int column = !rule->plain && rule->scaling.cols == 1 && rule->scaling.rows != 1;
  uint32_t limit = rule->plain ? 0 : column ? rule->scaling.rows : rule->scaling.cols;
  if (limit && block->n > limit) return 0;
  memcpy(copy, block->x, block->n * sizeof *copy);
  return audit_rule_apply(made, rule, column ? block->n : 1, column ? 1 : block->n, copy,
                          two_levels(rule) ? &block->amax : NULL);
}

static int same(float x, float y) { return x == y || (isnan(x) && isnan(y)); }

int audit_block_differs(audit_block *z, audit_made made[2], const audit_rule *x, const audit_rule *y) {
  const audit_rule *rules[2] = {x, y};
  if (!z->n) return 0;
  for (int k = 0; k < 2; k++)
    if (!apply(&made[k], rules[k], z)) return -1;
  int blocks = !x->plain && !y->plain;
  int differs = memcmp(made[0].codes, made[1].codes, z->n) != 0;
  differs |= blocks && !same(made[0].scales[0], made[1].scales[0]);
  differs |= blocks && !same(made[0].second, made[1].second);
  if (!differs) return 0;
  audit_shown *shown = &z->shown;
  size_t n = z->n < AUDIT_SHOWN ? z->n : AUDIT_SHOWN;
  *shown = (audit_shown){.there = 1, .known = 1, .n = n, .all = z->n, .amax = NAN};
  if (two_levels(x) || two_levels(y)) shown->amax = z->amax;
  memcpy(shown->x, z->x, n * sizeof *z->x);
  for (int k = 0; k < 2; k++) {
    memcpy(shown->code[k], made[k].codes, n);
    shown->second[k] = made[k].second;
    shown->scale[k] = blocks ? made[k].scales[0] : 1;
    shown->scale_code[k] = blocks ? made[k].scale_codes[0] : 0;
  }
  return 1;
}

/* Rounds a number toward zero to so many trailing digits of its significand. */
static float with_digits(float x, int digits) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  bits &= UINT32_MAX << (23 - digits);
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* Tries the block with fewer digits in a number of it. */
static void simplify(audit_block *z, audit_made made[2], const audit_rule *x, const audit_rule *y, float *number) {
  float was = *number;
  for (int digits = 0; digits < 23; digits++) {
    *number = with_digits(was, digits);
    if (*number != was && z->amax >= 0 && audit_block_differs(z, made, x, y) == 1) return;
  }
  *number = was;
}

static int is_within(const audit_block *z) {
  for (size_t i = 0; i < z->n; i++)
    if (isfinite(z->x[i]) && fabsf(z->x[i]) > z->amax) return 0;
  return 1;
}

void audit_block_shorten(audit_block *z, audit_made made[2], const audit_rule *x, const audit_rule *y, int simple) {
  audit_block tried;
  for (size_t size = z->n / 2; size; size = size > 1 ? size / 2 : 0)
    for (size_t i = 0; i + size <= z->n && z->n > size;) {
      tried = *z;
      memmove(tried.x + i, tried.x + i + size, (z->n - i - size) * sizeof *z->x);
      tried.n -= size;
      if (audit_block_differs(&tried, made, x, y) == 1)
        *z = tried;
      else
        i += size;
    }
  for (size_t i = 0; simple && i < z->n; i++) {
    tried = *z;
    simplify(&tried, made, x, y, &tried.x[i]);
    if (is_within(&tried) || !two_levels(x)) *z = tried;
  }
  if (simple && two_levels(x)) {
    tried = *z;
    simplify(&tried, made, x, y, &tried.amax);
    if (is_within(&tried)) *z = tried;
  }
  audit_block_differs(z, made, x, y);
}
