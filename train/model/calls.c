/* SPDX-License-Identifier: MIT */
/* The functions of networks' texts: of numbers, of shapes, of first weights. */
#include <math.h>
#include <string.h>

#include "train/model/network.h"

static const hu_item nothing = {HU_ITEM_NONE, -1, 0, NULL, 0, NULL};

static hu_item of_number(double x) {
  hu_item item = nothing;
  item.kind = HU_ITEM_NUMBER;
  item.number = x;
  return item;
}

/* ---- numbers ---- */

static hu_item largest(hu_network *network, const hu_argument *arguments, size_t count) {
  double z = arguments[0].item.number;
  (void)network;
  for (size_t i = 1; i < count; i++) z = arguments[i].item.number > z ? arguments[i].item.number : z;
  return of_number(z);
}

static hu_item smallest(hu_network *network, const hu_argument *arguments, size_t count) {
  double z = arguments[0].item.number;
  (void)network;
  for (size_t i = 1; i < count; i++) z = arguments[i].item.number < z ? arguments[i].item.number : z;
  return of_number(z);
}

static hu_item whole_below(hu_network *network, const hu_argument *arguments, size_t count) {
  (void)network, (void)count;
  return of_number(floor(arguments[0].item.number));
}

static hu_item whole_above(hu_network *network, const hu_argument *arguments, size_t count) {
  (void)network, (void)count;
  return of_number(ceil(arguments[0].item.number));
}

static hu_item root(hu_network *network, const hu_argument *arguments, size_t count) {
  (void)count;
  if (arguments[0].item.number < 0) return hui_network_wrong(network, HU_E_TRAIN, "sqrt: of a negative number");
  return of_number(sqrt(arguments[0].item.number));
}

static hu_item length(hu_network *network, const hu_argument *arguments, size_t count) {
  (void)network, (void)count;
  return of_number((double)arguments[0].item.count);
}

/* ---- shapes ---- */

static const hu_value *value_of(hu_network *network, const hu_argument *arguments) {
  return &network->net->value[arguments[0].item.value];
}

static hu_item channels(hu_network *network, const hu_argument *arguments, size_t count) {
  (void)count;
  return of_number((double)value_of(network, arguments)->cols);
}

static hu_item rows(hu_network *network, const hu_argument *arguments, size_t count) {
  (void)count;
  return of_number((double)(value_of(network, arguments)->rows / network->net->batch));
}

static hu_item height(hu_network *network, const hu_argument *arguments, size_t count) {
  (void)count;
  return of_number((double)value_of(network, arguments)->height);
}

static hu_item width(hu_network *network, const hu_argument *arguments, size_t count) {
  (void)count;
  return of_number((double)value_of(network, arguments)->width);
}

/* ---- first weights ---- */

static hu_item drawn(int how, const hu_argument *arguments) {
  hu_item item = nothing;
  item.kind = HU_ITEM_START;
  item.value = how;
  item.number = arguments[0].item.number;
  return item;
}

#define START(name, how)                                                                 \
  static hu_item name(hu_network *network, const hu_argument *arguments, size_t count) { \
    (void)network, (void)count;                                                          \
    return drawn(how, arguments);                                                        \
  }
START(normal, HU_START_NORMAL)
START(fan_in, HU_START_FAN_IN)
START(fan_out, HU_START_FAN_OUT)
START(fan_sum, HU_START_FAN_SUM)
START(uniform, HU_START_UNIFORM)
START(constant, HU_START_CONSTANT)

static hu_item inverse_root(hu_network *network, const hu_argument *arguments, size_t count) {
  (void)count;
  double x = arguments[0].item.number;
  if (!(x >= 1 && x <= 0x1p40 && x == floor(x)))
    return hui_network_wrong(network, HU_E_TEXT, "inverse_root: not a whole number from 1 on");
  return drawn(HU_START_INVERSE_ROOT, arguments);
}

/* ---- the table ---- */

static const struct {
  const char *name;
  int takes; /* HU_ITEM_, each argument */
  size_t at_most;
  hu_item (*of)(hu_network *network, const hu_argument *arguments, size_t count);
} functions[] = {{"max", HU_ITEM_NUMBER, HU_NETWORK_ARGUMENTS, largest},
                 {"min", HU_ITEM_NUMBER, HU_NETWORK_ARGUMENTS, smallest},
                 {"floor", HU_ITEM_NUMBER, 1, whole_below},
                 {"ceil", HU_ITEM_NUMBER, 1, whole_above},
                 {"sqrt", HU_ITEM_NUMBER, 1, root},
                 {"count", HU_ITEM_LIST, 1, length},
                 {"channels_of", HU_ITEM_VALUE, 1, channels},
                 {"rows_of", HU_ITEM_VALUE, 1, rows},
                 {"height_of", HU_ITEM_VALUE, 1, height},
                 {"width_of", HU_ITEM_VALUE, 1, width},
                 {"normal", HU_ITEM_NUMBER, 1, normal},
                 {"fan_in", HU_ITEM_NUMBER, 1, fan_in},
                 {"fan_out", HU_ITEM_NUMBER, 1, fan_out},
                 {"fan_sum", HU_ITEM_NUMBER, 1, fan_sum},
                 {"uniform", HU_ITEM_NUMBER, 1, uniform},
                 {"constant", HU_ITEM_NUMBER, 1, constant},
                 {"inverse_root", HU_ITEM_NUMBER, 1, inverse_root}};

int hui_network_function(hu_network *network, const char *name, size_t size, const hu_argument *arguments, size_t count,
                         hu_item *result) {
  static const char *const kinds[] = {"", "number", "list", "word", "value", "start"};
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    if (strlen(functions[i].name) != size || memcmp(functions[i].name, name, size) != 0) continue;
    int good = count >= 1 && count <= functions[i].at_most;
    for (size_t k = 0; k < count; k++) good &= arguments[k].item.kind == functions[i].takes && !arguments[k].name;
    *result = good ? functions[i].of(network, arguments, count)
                   : hui_network_wrong(network, HU_E_TEXT, "%s takes %s %s", functions[i].name,
                                       functions[i].at_most > 1 ? "each time a" : "one", kinds[functions[i].takes]);
    return 1;
  }
  return 0;
}
