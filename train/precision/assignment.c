/* SPDX-License-Identifier: MIT */
/* Assigns precision to tensors. */
#include "halfulp/train/rounding.h"

#include <string.h>

enum { DEN_MAX = 1000000 };
#define ELEMENTS_MAX ((uint64_t)1 << 42)

hu_status hu_layout_check(const hu_layout *layout) {
  if (!layout || !layout->values || !layout->row) return HU_E_NULL;
  if (layout->operators == 0 || layout->reading > HU_READING_PUBLISHED) return HU_E_SHAPE;
  uint64_t sum = 0;
  for (size_t i = 0; i <= layout->operators; i++) {
    uint64_t parameters = i < layout->operators ? layout->row[i].parameters : 0;
    if (i < layout->operators && layout->row[i].input > i) return HU_E_SHAPE;
    if (layout->values[i] > ELEMENTS_MAX || parameters > ELEMENTS_MAX) return HU_E_SHAPE;
    sum += 2 * (layout->values[i] + parameters);
    if (sum > ELEMENTS_MAX) return HU_E_SHAPE;
  }
  return HU_OK;
}

uint64_t hu_layout_elements(const hu_layout *layout) {
  uint64_t sum = layout->values[layout->operators];
  for (size_t i = 0; i < layout->operators; i++) sum += layout->values[i] + layout->row[i].parameters;
  return 2 * sum;
}

/* ---- ratios ---- */

int hu_ratio_usable(hu_ratio ratio) { return ratio.den > 0 && ratio.den <= DEN_MAX && ratio.num <= ratio.den; }

hu_ratio hu_ratio_of(uint64_t num, uint64_t den) {
  uint64_t a = num, b = den;
  while (b) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  hu_ratio ratio = {den ? num / a : 0, den ? den / a : 1};
  return ratio;
}

/* Reads digits at *text, up to 7 of them, and moves it behind them. Returns -1 if there are none, or more. */
static int64_t digits(const char **text, unsigned *count) {
  int64_t x = 0;
  for (*count = 0; **text >= '0' && **text <= '9'; (*text)++) {
    if (++*count > 7) return -1;
    x = 10 * x + (**text - '0');
  }
  return *count ? x : -1;
}

hu_status hu_ratio_parse(hu_ratio *ratio, const char *text) {
  unsigned count;
  if (!ratio || !text) return HU_E_NULL;
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
  hu_ratio read = hu_ratio_of((uint64_t)num, (uint64_t)den);
  if (!hu_ratio_usable(read)) return HU_E_TEXT;
  *ratio = read;
  return HU_OK;
}

/* ---- assignments ---- */

static void set_all(const hu_layout *layout, hu_assignment *assignment, int low) {
  memset(assignment->v, low, layout->operators + 1);
  memset(assignment->dv, low, layout->operators + 1);
  memset(assignment->theta, low, layout->operators);
  memset(assignment->dtheta, low, layout->operators);
}

static hu_status begin(const hu_layout *layout, const hu_assignment *assignment) {
  hu_status status = hu_layout_check(layout);
  if (status != HU_OK) return status;
  return assignment && assignment->v && assignment->dv && assignment->theta && assignment->dtheta ? HU_OK : HU_E_NULL;
}

hu_status hu_assign_high(const hu_layout *layout, hu_assignment *assignment) {
  hu_status status = begin(layout, assignment);
  if (status == HU_OK) set_all(layout, assignment, 0);
  return status;
}

hu_status hu_assign_uniform(const hu_layout *layout, hu_assignment *assignment) {
  hu_status status = begin(layout, assignment);
  if (status == HU_OK) set_all(layout, assignment, 1);
  return status;
}

/* A group has the values [from, end). */
static size_t end_of_group(const hu_layout *layout, size_t from) {
  while (from < layout->operators && !layout->row[from].product) from++;
  return from + 1;
}

/* Returns the next operator from i on whose parameters are in the group; the number of operators if there is none. */
static size_t next_of_group(const hu_layout *layout, size_t i, size_t from, size_t end) {
  if (layout->reading == HU_READING_OPERATORS) return i < end && i < layout->operators ? i : layout->operators;
  while (i < layout->operators && (layout->row[i].input < from || layout->row[i].input >= end)) i++;
  return i;
}

static uint64_t size_of_group(const hu_layout *layout, size_t from, size_t end) {
  uint64_t size = 0;
  for (size_t i = from; i < end; i++) size += 2 * layout->values[i];
  for (size_t i = from; (i = next_of_group(layout, i, from, end)) < layout->operators; i++)
    size += 2 * layout->row[i].parameters;
  return size;
}

static void set_group(const hu_layout *layout, hu_assignment *assignment, size_t from, size_t end, int low) {
  for (size_t i = from; i < end; i++) assignment->v[i] = assignment->dv[i] = (uint8_t)low;
  for (size_t i = from; (i = next_of_group(layout, i, from, end)) < layout->operators; i++)
    assignment->theta[i] = assignment->dtheta[i] = (uint8_t)low;
}

/* Makes high what the authors' code leaves out beside the first and the last product. */
static void keep_ends(const hu_layout *layout, hu_assignment *assignment, size_t last) {
  set_group(layout, assignment, 0, end_of_group(layout, 0), 0);
  set_group(layout, assignment, last + 1, layout->operators + 1, 0);
  assignment->v[layout->row[last].input] = assignment->dv[layout->row[last].input] = 0;
}

/* Makes all products low except the first and the last. */
static hu_status by_operator(const hu_layout *layout, hu_assignment *assignment, int prime) {
  hu_status status = hu_assign_high(layout, assignment);
  size_t first = layout->operators, last = 0;
  if (status != HU_OK) return status;
  for (size_t i = 0; i < layout->operators; i++) {
    if (!layout->row[i].product) continue;
    if (first == layout->operators) first = i;
    last = i;
  }
  for (size_t i = first + 1; i < last; i++) {
    if (!layout->row[i].product) continue;
    size_t input = layout->row[i].input;
    assignment->v[input] = assignment->theta[i] = assignment->dv[i + 1] = 1;
    if (prime) assignment->v[i + 1] = assignment->dv[input] = assignment->dtheta[i] = 1;
  }
  if (layout->reading == HU_READING_PUBLISHED && first < layout->operators) keep_ends(layout, assignment, last);
  return HU_OK;
}

hu_status hu_assign_operator(const hu_layout *layout, hu_assignment *assignment) {
  if (!layout) return HU_E_NULL;
  return by_operator(layout, assignment, 0);
}
hu_status hu_assign_operator_prime(const hu_layout *layout, hu_assignment *assignment) {
  if (!layout) return HU_E_NULL;
  return by_operator(layout, assignment, 1);
}

/* Returns the number that orders the groups: the smallest comes first. */
static uint64_t rank_of(uint64_t size, size_t place, unsigned order, hu_stream stream) {
  if (order == HU_DEMOTE_SMALLEST) return size;
  if (order == HU_DEMOTE_RANDOM) return hu_stream_word(stream, place);
  return ELEMENTS_MAX - size;
}

typedef struct tensor_group {
  size_t from, end, place;
  uint64_t size, rank;
} tensor_group;

/* The first group behind `last` in the order; from the front where `last` has no size. 0: there is none. */
static int next_group(const hu_layout *layout, unsigned order, hu_stream stream, const tensor_group *last,
                      tensor_group *group) {
  int found = 0;
  for (size_t from = 0, place = 0; from <= layout->operators; place++) {
    tensor_group next = {from, 0, place, 0, 0};
    next.end = end_of_group(layout, from);
    next.size = size_of_group(layout, from, next.end);
    next.rank = rank_of(next.size, place, order, stream);
    int behind = !last || next.rank > last->rank || (next.rank == last->rank && next.place > last->place);
    if (behind && (!found || next.rank < group->rank)) {
      *group = next;
      found = 1;
    }
    from = next.end;
  }
  return found;
}

hu_status hu_assign_demote(const hu_layout *layout, hu_assignment *assignment, hu_ratio ratio, unsigned order,
                           hu_stream stream) {
  if (!hu_ratio_usable(ratio) || order > HU_DEMOTE_RANDOM) return HU_E_SHAPE;
  hu_status status = hu_assign_high(layout, assignment);
  if (status != HU_OK) return status;
  uint64_t size = hu_layout_elements(layout), done = 0;
  tensor_group group, last;
  for (int some = 0; done * ratio.den < ratio.num * size; some = 1) {
    if (!next_group(layout, order, stream, some ? &last : NULL, &group)) break;
    set_group(layout, assignment, group.from, group.end, 1);
    done += group.size;
    last = group;
  }
  return HU_OK;
}

void hu_assign_keep_parameter_gradients(const hu_layout *layout, hu_assignment *assignment) {
  memset(assignment->dtheta, 0, layout->operators);
}

hu_ratio hu_assign_ratio(const hu_layout *layout, const hu_assignment *assignment) {
  uint64_t low = 0;
  for (size_t i = 0; i <= layout->operators; i++) {
    low += layout->values[i] * (uint64_t)(assignment->v[i] + assignment->dv[i]);
    if (i < layout->operators)
      low += layout->row[i].parameters * (uint64_t)(assignment->theta[i] + assignment->dtheta[i]);
  }
  return hu_ratio_of(low, hu_layout_elements(layout));
}

/* Makes a tensor high if the share of its elements that overflow is above the limit, or with the authors' code at the
 * limit. */
static size_t promote(const hu_layout *layout, uint8_t *low, uint64_t over, uint64_t size, hu_ratio limit) {
  const uint64_t share = over * limit.den, most = limit.num * size;
  const int at = layout->reading == HU_READING_PUBLISHED && over;
  if (!*low || (at ? share < most : share <= most)) return 0;
  *low = 0;
  return 1;
}

size_t hu_assign_promote(const hu_layout *layout, hu_assignment *assignment, const uint64_t *over_v,
                         const uint64_t *over_theta, hu_ratio limit) {
  size_t count = 0;
  for (size_t i = 0; i <= layout->operators; i++) {
    count += promote(layout, &assignment->v[i], over_v[i], layout->values[i], limit);
    if (i < layout->operators && layout->row[i].parameters) {
      count += promote(layout, &assignment->theta[i], over_theta[i], layout->row[i].parameters, limit);
    }
  }
  return count;
}
