/* SPDX-License-Identifier: MIT */
/* Reads the expressions of networks' texts: numbers, lists, words, values, calls. */
#include <math.h>
#include <string.h>

#include "train/model/network.h"
#include "train/text/words.h"

static const hu_item nothing = {HU_ITEM_NONE, -1, 0, NULL, 0, NULL};

/* ---- operators ---- */

static hu_item number_item(hu_network *network, double x) {
  hu_item item = nothing;
  if (!isfinite(x)) return hui_network_wrong(network, HU_E_TRAIN, "the result is not a finite number");
  item.kind = HU_ITEM_NUMBER;
  item.number = x;
  return item;
}

/* x to the power of a whole number: one factor after another, so that it is the same everywhere. */
static double power(double x, double n) {
  double z = 1;
  if (!(n >= 0 && n <= 1024 && n == floor(n))) return NAN;
  for (; n > 0; n--) z *= x;
  return z;
}

enum { LEVELS = 6, SIGNS = 7 };
static const char *const signs[LEVELS][SIGNS] = {{"or"},     {"and"},    {"==", "!=", "<=", ">=", "<", ">"},
                                                 {"+", "-"}, {"*", "/"}, {"^"}};

static hu_item joined(hu_network *network, const char *sign, const hu_item *a, const hu_item *b) {
  if (a->kind == HU_ITEM_WORD && b->kind == HU_ITEM_WORD && (*sign == '=' || *sign == '!')) {
    int same = a->count == b->count && memcmp(a->word, b->word, a->count) == 0;
    return number_item(network, same == (*sign == '='));
  }
  if (a->kind != HU_ITEM_NUMBER || b->kind != HU_ITEM_NUMBER)
    return hui_network_wrong(network, HU_E_TEXT, "%s: not between two numbers", sign);
  double x = a->number, y = b->number;
  switch (sign[0]) {
    case 'o': return number_item(network, x != 0 || y != 0);
    case 'a': return number_item(network, x != 0 && y != 0);
    case '=': return number_item(network, x == y);
    case '!': return number_item(network, x != y);
    case '<': return number_item(network, sign[1] ? x <= y : x < y);
    case '>': return number_item(network, sign[1] ? x >= y : x > y);
    case '+': return number_item(network, x + y);
    case '-': return number_item(network, x - y);
    case '*': return number_item(network, x * y);
    case '/': return number_item(network, x / y);
    default: return number_item(network, power(x, y));
  }
}

static hu_item single(hu_network *network, int live);

/* Operators of this level and of those that bind more tightly; all are taken from the left. */
static hu_item level(hu_network *network, size_t of, int live) {
  if (of == LEVELS) return single(network, live);
  hu_item a = level(network, of + 1, live);
  while (network->status == HU_OK) {
    size_t i = 0;
    while (i < SIGNS && signs[of][i] && !hui_network_takes(network, signs[of][i])) i++;
    if (i == SIGNS || !signs[of][i]) return a;
    hu_item b = level(network, of + 1, live);
    if (live && network->status == HU_OK) a = joined(network, signs[of][i], &a, &b);
  }
  return nothing;
}

/* ---- single items ---- */

static hu_item number(hu_network *network) {
  const char *here = network->text + network->at;
  size_t n = strspn(here, "0123456789.");
  double x;
  if (n && (here[n] == 'e' || here[n] == 'E')) {
    size_t more = n + 1 + strspn(here + n + 1, "+-");
    n = more + strspn(here + more, "0123456789");
  }
  if (!hui_read_number(here, n, &x)) return hui_network_wrong(network, HU_E_TEXT, "a number, a name or ( is missing");
  network->at += n;
  return number_item(network, x);
}

static hu_item list(hu_network *network, int live) {
  double numbers[HU_NETWORK_LIST];
  size_t count = 0;
  if (hui_network_takes(network, "]")) return hui_network_list(network, numbers, 0);
  do {
    hu_item item = hui_network_expression(network, live);
    if (network->status != HU_OK) return nothing;
    if (live && (item.kind != HU_ITEM_NUMBER || count == HU_NETWORK_LIST))
      return hui_network_wrong(network, HU_E_TEXT, "a list is of numbers, up to %d", HU_NETWORK_LIST);
    if (live) numbers[count++] = item.number;
  } while (hui_network_takes(network, ","));
  if (!hui_network_takes(network, "]")) return hui_network_wrong(network, HU_E_TEXT, "] is missing");
  return live ? hui_network_list(network, numbers, count) : nothing;
}

/* Finds the size of the data that a name of so many characters, "data.height", has. Returns 0 if there is none. */
static int size_named(const hu_network *network, const char *name, size_t size, size_t *x) {
  const size_t before = strlen("data.");
  hu_model_sizes sizes = {0}; /* keys alone are read without the data */
  const char *own;
  if (network->sizes) sizes = *network->sizes;
  if (size < before || memcmp(name, "data.", before) != 0) return 0;
  for (size_t i = 0, *found; (found = hu_model_size(&sizes, i, &own)) != NULL; i++) {
    *x = *found;
    if (strlen(own) == size - before && memcmp(own, name + before, size - before) == 0) return 1;
  }
  return 0;
}

static hu_item named(hu_network *network, const char *name, size_t size) {
  hu_item *variable = hui_network_variable(network, name, size), item = nothing;
  if (variable) return *variable;
  size_t x;
  if (size_named(network, name, size, &x)) {
    if (!x) return hui_network_wrong(network, HU_E_SHAPE, "%.*s: the data have no such size", (int)size, name);
    return number_item(network, (double)x);
  }
  if (!hui_is_layer(name, size))
    return hui_network_wrong(network, HU_E_NAME, "there is no '%.*s'", (int)(size < 64 ? size : 64), name);
  item.kind = HU_ITEM_WORD;
  item.word = name;
  item.count = size;
  return item;
}

/* "name=" in front of an argument. */
static void argument_name(hu_network *network, hu_argument *argument) {
  size_t at = network->at;
  argument->size = hui_network_name(network, &argument->name);
  hui_network_skip(network);
  const char *here = network->text + network->at;
  if (argument->size && here[0] == '=' && here[1] != '=') {
    network->at++;
    return;
  }
  network->at = at;
  argument->name = NULL;
}

static hu_item call(hu_network *network, const char *name, size_t size, int live) {
  hu_argument arguments[HU_NETWORK_ARGUMENTS];
  size_t count = 0;
  network->within++;
  while (network->status == HU_OK && !hui_network_takes(network, ")")) {
    if (count == HU_NETWORK_ARGUMENTS) return hui_network_wrong(network, HU_E_TEXT, "too many arguments");
    argument_name(network, &arguments[count]);
    arguments[count++].item = hui_network_expression(network, live);
    if (hui_network_takes(network, ",")) continue;
    if (!hui_network_takes(network, ")")) return hui_network_wrong(network, HU_E_TEXT, ") or , is missing");
    break;
  }
  network->within--;
  if (!live || network->status != HU_OK) return nothing;
  return network->call(network, name, size, arguments, count);
}

static hu_item element(hu_network *network, const hu_item *list_item, const hu_item *index, int live) {
  if (!live || network->status != HU_OK) return nothing;
  if (list_item->kind != HU_ITEM_LIST || index->kind != HU_ITEM_NUMBER)
    return hui_network_wrong(network, HU_E_TEXT, "[ ] takes a number of a list");
  double i = index->number;
  if (!(i >= 1 && i <= (double)list_item->count && i == floor(i)))
    return hui_network_wrong(network, HU_E_TRAIN, "the list has %zu numbers, from 1 on", list_item->count);
  return number_item(network, list_item->list[(size_t)i - 1]);
}

/* Reads what stands in parentheses or brackets. */
static hu_item enclosed(hu_network *network, int live) {
  hu_item item;
  network->within++;
  if (hui_network_takes(network, "[")) {
    item = list(network, live);
  } else {
    network->at++;
    item = hui_network_expression(network, live);
    if (!hui_network_takes(network, ")")) item = hui_network_wrong(network, HU_E_TEXT, ") is missing");
  }
  network->within--;
  return item;
}

static hu_item single(hu_network *network, int live) {
  const char *name;
  hu_item item;
  if (hui_network_takes(network, "-")) {
    if (hui_network_takes(network, "-")) return hui_network_wrong(network, HU_E_TEXT, "-: not before a number");
    item = single(network, live);
    if (!live || network->status != HU_OK) return nothing;
    if (item.kind != HU_ITEM_NUMBER) return hui_network_wrong(network, HU_E_TEXT, "-: not before a number");
    return number_item(network, -item.number);
  }
  hui_network_skip(network);
  char c = network->text[network->at];
  size_t n = hui_network_name(network, &name);
  if (n) {
    item = network->text[network->at] == '(' ? (network->at++, call(network, name, n, live))
           : live                            ? named(network, name, n)
                                             : nothing;
  } else {
    item = c == '(' || c == '[' ? enclosed(network, live) : number(network);
  }
  while (network->status == HU_OK && network->text[network->at] == '[') {
    network->within++;
    network->at++;
    hu_item index = hui_network_expression(network, live);
    if (!hui_network_takes(network, "]")) return hui_network_wrong(network, HU_E_TEXT, "] is missing");
    network->within--;
    item = element(network, &item, &index, live);
  }
  return item;
}

hu_item hui_network_expression(hu_network *network, int live) {
  if (network->depth == HU_NETWORK_DEPTH)
    return hui_network_wrong(network, HU_E_TEXT, "parentheses, blocks or calls are %d deep", HU_NETWORK_DEPTH);
  network->depth++;
  hu_item item = level(network, 0, live && network->status == HU_OK);
  network->depth--;
  return network->status == HU_OK ? item : nothing;
}
