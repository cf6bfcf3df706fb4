/* SPDX-License-Identifier: MIT */
/* Assigns precision to tensors. */
#include "halfulp/train/assignment.h"

#include <string.h>

enum { DEN_MAX = 1000000 };
#define ELEMENTS_MAX ((uint64_t)1 << 42)

hu_status hu_layout_check(const hu_layout *l) {
  if (!l || !l->values || !l->row) return HU_E_NULL;
  if (l->operators == 0) return HU_E_SHAPE;
  uint64_t sum = 0;
  for (size_t i = 0; i <= l->operators; i++) {
    uint64_t parameters = i < l->operators ? l->row[i].parameters : 0;
    if (i < l->operators && l->row[i].input > i) return HU_E_SHAPE;
    if (l->values[i] > ELEMENTS_MAX || parameters > ELEMENTS_MAX) return HU_E_SHAPE;
    sum += 2 * (l->values[i] + parameters);
    if (sum > ELEMENTS_MAX) return HU_E_SHAPE;
  }
  return HU_OK;
}

uint64_t hu_layout_elements(const hu_layout *l) {
  uint64_t sum = l->values[l->operators];
  for (size_t i = 0; i < l->operators; i++) sum += l->values[i] + l->row[i].parameters;
  return 2 * sum;
}

/* ---- ratios ---- */

int hu_ratio_usable(hu_ratio r) { return r.den > 0 && r.den <= DEN_MAX && r.num <= r.den; }

hu_ratio hu_ratio_of(uint64_t num, uint64_t den) {
  uint64_t a = num, b = den;
  while (b) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  hu_ratio r = {den ? num / a : 0, den ? den / a : 1};
  return r;
}

/* Digits at *text, up to 7 of them; moves it behind them. -1: none, or more. */
static int64_t digits(const char **text, unsigned *count) {
  int64_t x = 0;
  for (*count = 0; **text >= '0' && **text <= '9'; (*text)++) {
    if (++*count > 7) return -1;
    x = 10 * x + (**text - '0');
  }
  return *count ? x : -1;
}

hu_status hu_ratio_parse(hu_ratio *z, const char *text) {
  unsigned count;
  if (!z || !text) return HU_E_NULL;
  int64_t num = digits(&text, &count), den = 1;
  if (num < 0) return HU_E_TEXT;
  if (*text == '/') {
    text++;
    den = digits(&text, &count);
  } else if (*text == '.') {
    text++;
    int64_t part = digits(&text, &count);
    if (part < 0) return HU_E_TEXT;
    for (unsigned i = 0; i < count; i++) den *= 10;
    num = num * den + part;
  }
  if (*text || den <= 0) return HU_E_TEXT;
  hu_ratio r = hu_ratio_of((uint64_t)num, (uint64_t)den);
  if (!hu_ratio_usable(r)) return HU_E_TEXT;
  *z = r;
  return HU_OK;
}

/* ---- assignments ---- */

static void set_all(const hu_layout *l, hu_assignment *a, int low) {
  memset(a->v, low, l->operators + 1);
  memset(a->dv, low, l->operators + 1);
  memset(a->theta, low, l->operators);
  memset(a->dtheta, low, l->operators);
}

static hu_status begin(const hu_layout *l, const hu_assignment *a) {
  hu_status s = hu_layout_check(l);
  if (s != HU_OK) return s;
  return a && a->v && a->dv && a->theta && a->dtheta ? HU_OK : HU_E_NULL;
}

hu_status hu_assign_high(const hu_layout *l, hu_assignment *a) {
  hu_status s = begin(l, a);
  if (s == HU_OK) set_all(l, a, 0);
  return s;
}

hu_status hu_assign_uniform(const hu_layout *l, hu_assignment *a) {
  hu_status s = begin(l, a);
  if (s == HU_OK) set_all(l, a, 1);
  return s;
}

/* Products but the first and the last. */
static hu_status by_operator(const hu_layout *l, hu_assignment *a, int prime) {
  hu_status s = hu_assign_high(l, a);
  size_t first = l->operators, last = 0;
  if (s != HU_OK) return s;
  for (size_t i = 0; i < l->operators; i++) {
    if (!l->row[i].product) continue;
    if (first == l->operators) first = i;
    last = i;
  }
  for (size_t i = first + 1; i < last; i++) {
    if (!l->row[i].product) continue;
    size_t input = l->row[i].input;
    a->v[input] = a->theta[i] = a->dv[i + 1] = 1;
    if (prime) a->v[i + 1] = a->dv[input] = a->dtheta[i] = 1;
  }
  return HU_OK;
}

hu_status hu_assign_operator(const hu_layout *l, hu_assignment *a) {
  if (!l) return HU_E_NULL;
  return by_operator(l, a, 0);
}
hu_status hu_assign_operator_prime(const hu_layout *l, hu_assignment *a) {
  if (!l) return HU_E_NULL;
  return by_operator(l, a, 1);
}

/* Operators [*from, *end) of the group that begins at *from; the last group takes the last value in, too. */
static uint64_t group_at(const hu_layout *l, size_t from, size_t *end) {
  uint64_t size = 0;
  size_t i = from;
  for (; i < l->operators; i++) {
    size += 2 * (l->values[i] + l->row[i].parameters);
    if (l->row[i].product) {
      *end = i + 1;
      return size;
    }
  }
  *end = i + 1;
  return size + 2 * l->values[l->operators];
}

/* What orders the groups: the smallest first. */
static uint64_t rank_of(uint64_t size, size_t place, unsigned order, hu_stream stream) {
  if (order == HU_DEMOTE_SMALLEST) return size;
  if (order == HU_DEMOTE_RANDOM) return hu_stream_word(stream, place);
  return ELEMENTS_MAX - size;
}

typedef struct group {
  size_t from, end, place;
  uint64_t size, rank;
} group;

/* The first group behind `last` in the order; from the front where `last` has no size. 0: there is none. */
static int next_group(const hu_layout *l, unsigned order, hu_stream stream, const group *last, group *z) {
  int found = 0;
  for (size_t from = 0, place = 0; from <= l->operators; place++) {
    group g = {from, 0, place, 0, 0};
    g.size = group_at(l, from, &g.end);
    g.rank = rank_of(g.size, place, order, stream);
    int behind = !last || g.rank > last->rank || (g.rank == last->rank && g.place > last->place);
    if (behind && (!found || g.rank < z->rank)) {
      *z = g;
      found = 1;
    }
    from = g.end;
  }
  return found;
}

hu_status hu_assign_demote(const hu_layout *l, hu_assignment *a, hu_ratio r, unsigned order, hu_stream stream) {
  if (!hu_ratio_usable(r) || order > HU_DEMOTE_RANDOM) return HU_E_SHAPE;
  hu_status s = hu_assign_high(l, a);
  if (s != HU_OK) return s;
  uint64_t size = hu_layout_elements(l), done = 0;
  group g, last;
  for (int some = 0; done * r.den < r.num * size; some = 1) {
    if (!next_group(l, order, stream, some ? &last : NULL, &g)) break;
    for (size_t i = g.from; i < g.end; i++) {
      a->v[i] = a->dv[i] = 1;
      if (i < l->operators) a->theta[i] = a->dtheta[i] = 1;
    }
    done += g.size;
    last = g;
  }
  return HU_OK;
}

void hu_assign_keep_parameter_gradients(const hu_layout *l, hu_assignment *a) { memset(a->dtheta, 0, l->operators); }

hu_ratio hu_assign_ratio(const hu_layout *l, const hu_assignment *a) {
  uint64_t low = 0;
  for (size_t i = 0; i <= l->operators; i++) {
    low += l->values[i] * (uint64_t)(a->v[i] + a->dv[i]);
    if (i < l->operators) low += l->row[i].parameters * (uint64_t)(a->theta[i] + a->dtheta[i]);
  }
  return hu_ratio_of(low, hu_layout_elements(l));
}

static size_t promote(uint8_t *low, uint64_t over, uint64_t size, hu_ratio limit) {
  if (!*low || over * limit.den <= limit.num * size) return 0;
  *low = 0;
  return 1;
}

size_t hu_assign_promote(const hu_layout *l, hu_assignment *a, const uint64_t *over_v, const uint64_t *over_theta,
                         hu_ratio limit) {
  size_t count = 0;
  for (size_t i = 0; i <= l->operators; i++) {
    count += promote(&a->v[i], over_v[i], l->values[i], limit);
    if (i < l->operators && l->row[i].parameters) {
      count += promote(&a->theta[i], over_theta[i], l->row[i].parameters, limit);
    }
  }
  return count;
}
