/* SPDX-License-Identifier: MIT */
/* The layers that networks' texts name, and how their arguments are taken. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "train/model/layers.h"
#include "train/text/words.h"

static const hu_layer_list *const lists[] = {&hui_layers_of_rows, &hui_layers_of_windows, &hui_layers_of_norms,
                                             &hui_layers_of_transformers, &hui_layers_of_steps};
enum {
  LISTS = sizeof lists / sizeof *lists,
  NAMES = 128 /* of layers, at most */
};

static const hu_layer *layer_named(const char *name, size_t size) {
  for (size_t i = 0; i < LISTS; i++) {
    for (size_t j = 0; j < lists[i]->count; j++) {
      const hu_layer *layer = &lists[i]->layers[j];
      if (strlen(layer->name) == size && memcmp(layer->name, name, size) == 0) return layer;
    }
  }
  return NULL;
}

int hui_is_layer(const char *name, size_t size) { return layer_named(name, size) != NULL; }

void hui_network_unknown(hu_network *network, const char *name, size_t size) {
  const char *names[NAMES + 1] = {NULL};
  char word[64], perhaps[HU_PERHAPS_MAX];
  size_t count = 0;
  for (size_t i = 0; i < LISTS; i++) {
    for (size_t j = 0; j < lists[i]->count && count < NAMES; j++) names[count++] = lists[i]->layers[j].name;
  }
  snprintf(word, sizeof word, "%.*s", (int)(size < 63 ? size : 63), name);
  hui_network_wrong(network, HU_E_NAME, "there is no layer, block or function '%s'%s", word,
                    hui_perhaps(perhaps, word, names));
}

/* ---- parameters of another layer ---- */

/* The layer in hand takes the parameters of the one that made this value; `share` is that argument. */
static void share(hu_network *network, const hu_layer *layer) {
  if (network->shared.kind == HU_ITEM_NONE) return;
  int value = network->shared.kind == HU_ITEM_VALUE;
  int p = value ? hui_layer_parameter(network->net, network->shared.value) : -1;
  if (p < 0) {
    hui_network_wrong(network, HU_E_TEXT, "%s: share: not a value that a layer with parameters has made", layer->name);
  } else if (!strstr(layer->name, "linear") || hui_layer_shared_table(network) < 0) {
    hu_net_share(network->net, p);
  }
}

/* ---- arguments ---- */

/* Returns the argument; numbers of windows in their shortest form: of pads that are equal above and below, and on both
 * sides, two of four; of two equal numbers one. */
static hu_item shortest(hu_network *network, const hu_layer_parameter *parameter, const hu_item *item) {
  hu_item one = *item;
  const double *list = item->list;
  if (item->kind != HU_ITEM_LIST || (parameter->type != 'w' && parameter->type != 'p')) return one;
  if (parameter->type == 'p' && item->count == 4 && list[0] == list[1] && list[2] == list[3]) {
    const double two[2] = {list[0], list[2]};
    one = hui_network_list(network, two, 2);
  }
  if (one.count != 2 || one.list[0] != one.list[1]) return one;
  const double number = one.list[0];
  memset(&one, 0, sizeof one);
  one.kind = HU_ITEM_NUMBER;
  one.value = -1;
  one.number = number;
  return one;
}

static int is_whole(double x) { return x >= 0 && x <= 0x1p40 && x == floor(x); }

/* 1 if it is a whole number, or a list of so many. */
static int are_whole(const hu_item *item, size_t count) {
  if (item->kind != HU_ITEM_LIST) return item->kind == HU_ITEM_NUMBER && is_whole(item->number);
  int whole = item->count == count;
  for (size_t i = 0; i < item->count; i++) whole &= is_whole(item->list[i]);
  return whole;
}

/* What is wrong with an argument; NULL: nothing. */
static const char *wrong_argument(const hu_layer_parameter *parameter, const hu_item *item) {
  double x = item->number;
  switch (parameter->type) {
    case 'v':
    case '*':
    case 'o': return item->kind == HU_ITEM_VALUE ? NULL : "not a value of the network";
    case 's':
      return item->kind == HU_ITEM_START
                 ? NULL
                 : "not a start: normal, fan_in, fan_in_cut, fan_out, fan_sum, uniform, inverse_root or constant";
    case 'n': return item->kind == HU_ITEM_NUMBER && is_whole(x) ? NULL : "not a whole number";
    case 'w': return are_whole(item, 2) ? NULL : "neither a whole number nor two, down and across";
    case 'p': return are_whole(item, 2) || are_whole(item, 4) ? NULL : "neither a whole number nor two or four";
    case 'c': return item->kind == HU_ITEM_NUMBER || item->kind == HU_ITEM_LIST ? NULL : "neither a number nor a list";
    case 'b': return item->kind == HU_ITEM_NUMBER && (x == 0 || x == 1) ? NULL : "neither 0 nor 1";
    default: return item->kind == HU_ITEM_NUMBER ? NULL : "not a number";
  }
}

/* Returns the place of an argument among a layer's parameters; -1 after an error. */
static int place_of(hu_network *network, const hu_layer *layer, const hu_argument *argument, size_t i) {
  size_t place = 0;
  if (layer->parameter[0].type == '*') place = HU_LAYER_PARAMETERS;
  while (place < HU_LAYER_PARAMETERS && layer->parameter[place].name) {
    const char *name = layer->parameter[place].name;
    if (argument->name ? strlen(name) == argument->size && memcmp(name, argument->name, argument->size) == 0
                       : place == i)
      return (int)place;
    place++;
  }
  if (layer->parameter[0].type == '*' && !argument->name) return 0;
  if (argument->name) {
    hui_network_wrong(network, HU_E_NAME, "%s has no '%.*s'", layer->name,
                      (int)(argument->size < 40 ? argument->size : 40), argument->name);
  } else {
    hui_network_wrong(network, HU_E_TEXT, "%s: too many arguments", layer->name);
  }
  return -1;
}

/* Any layer with parameters has this argument, by name. */
static int is_share(const hu_argument *argument) {
  return argument->name && argument->size == 5 && memcmp(argument->name, "share", 5) == 0;
}

/* Takes the arguments of a call. Returns how many items there are. */
static size_t take(hu_network *network, const hu_layer *layer, const hu_argument *arguments, size_t count,
                   hu_item items[HU_NETWORK_ARGUMENTS]) {
  int all = layer->parameter[0].type == '*';
  size_t i = 0;
  memset(items, 0, HU_NETWORK_ARGUMENTS * sizeof *items);
  network->shared.kind = HU_ITEM_NONE;
  for (; i < count && network->status == HU_OK; i++) {
    if (is_share(&arguments[i])) {
      network->shared = arguments[i].item;
      continue;
    }
    int place = place_of(network, layer, &arguments[i], i);
    if (place < 0) return 0;
    const hu_layer_parameter *parameter = &layer->parameter[place];
    hu_item *item = &items[all ? i : (size_t)place];
    const int twice = item->kind != HU_ITEM_NONE;
    const char *wrong = twice ? "given twice" : wrong_argument(parameter, &arguments[i].item);
    if (wrong) hui_network_wrong(network, HU_E_TEXT, "%s: %s: %s", layer->name, parameter->name, wrong);
    *item = wrong ? arguments[i].item : shortest(network, parameter, &arguments[i].item);
  }
  if (all) return count;
  for (i = 0; i < HU_LAYER_PARAMETERS && layer->parameter[i].name; i++) {
    const hu_layer_parameter *parameter = &layer->parameter[i];
    if (items[i].kind) continue;
    if (isnan(parameter->standard))
      hui_network_wrong(network, HU_E_TEXT, "%s: %s is missing", layer->name, parameter->name);
    if (!strchr("osm", parameter->type)) items[i].kind = HU_ITEM_NUMBER;
    items[i].number = parameter->standard;
  }
  return i;
}

/* The engine's sentence, with the shapes that the layer was given. */
static void refused(hu_network *network, const hu_layer *layer, const hu_item *items, size_t count) {
  const char *said = "";
  char shapes[HU_NETWORK_WHY_MAX] = "", shape[HU_SHAPE_TEXT_MAX];
  hu_status status = hu_net_status(network->net, &said);
  const char *sentence = strstr(said, ": "), *own = sentence ? sentence + 2 : said;
  size_t n = strlen(layer->name), length = 0;
  if (strncmp(own, layer->name, n) == 0 && own[n] == ':') own += n + 2;
  for (size_t i = 0; i < count && length < sizeof shapes - HU_SHAPE_TEXT_MAX - 8; i++) {
    if (items[i].kind == HU_ITEM_VALUE)
      length += (size_t)snprintf(shapes + length, sizeof shapes - length, "%s%s", length ? " and " : " of ",
                                 hui_shape_text(shape, network->net, items[i].value));
  }
  hui_network_wrong(network, status, "%s%s: %s", layer->name, shapes, own);
}

/* Multiplies a result by a factor of the rule, in a layer `scale` of its own. */
static int add_factor(hu_network *network, double factor, hu_item *result) {
  const hu_argument arguments[2] = {{*result, NULL, 0}, {{HU_ITEM_NUMBER, -1, factor, NULL, 0, NULL}, NULL, 0}};
  return factor == 1 ? 1 : hui_network_layer(network, "scale", 5, arguments, 2, result);
}

int hui_network_layer(hu_network *network, const char *name, size_t size, const hu_argument *arguments, size_t count,
                      hu_item *result) {
  hu_item items[HU_NETWORK_ARGUMENTS];
  const hu_layer *layer = layer_named(name, size);
  if (!layer) return 0;
  size_t taken = take(network, layer, arguments, count, items);
  if (network->status == HU_OK && network->unit) hui_unit_arguments(network, layer, items);
  if (network->status != HU_OK) return 1;
  int parameters = hu_net_parameters(network->net);
  const hu_item shared = network->shared;
  share(network, layer);
  if (network->status != HU_OK) return 1;
  int z = layer->add(network, items);
  if (hu_net_status(network->net, NULL) == HU_OK && network->net->shared)
    hui_network_wrong(network, HU_E_TEXT, "%s: share: the layer has no parameters", layer->name);
  network->shared = shared;
  if (hu_net_status(network->net, NULL) != HU_OK) refused(network, layer, items, taken);
  if (network->status != HU_OK) return 1;
  result->kind = HU_ITEM_VALUE;
  result->value = z;
  if (strcmp(layer->name, "dropout") != 0 || items[1].number != 0)
    hui_show_layer(network, layer, items, taken, z, parameters);
  return network->unit ? add_factor(network, hui_unit_factor(layer, items), result) : 1;
}
