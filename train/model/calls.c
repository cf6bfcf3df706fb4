/* SPDX-License-Identifier: MIT */
/* The functions of networks' texts: of numbers, of shapes, of first weights. */
#include <math.h>
#include <string.h>

#include "train/model/network.h"

enum { MAX, MIN, FLOOR, CEIL, SQRT, COUNT, CHANNELS, ROWS, HEIGHT, WIDTH };

static const struct {
  const char *name;
  int takes; /* HU_ITEM_, each argument */
  size_t at_most;
  int gives, which; /* HU_ITEM_NUMBER: one of the names above; HU_ITEM_START: HU_START_ */
} functions[] = {{"max", HU_ITEM_NUMBER, HU_NETWORK_ARGUMENTS, HU_ITEM_NUMBER, MAX},
                 {"min", HU_ITEM_NUMBER, HU_NETWORK_ARGUMENTS, HU_ITEM_NUMBER, MIN},
                 {"floor", HU_ITEM_NUMBER, 1, HU_ITEM_NUMBER, FLOOR},
                 {"ceil", HU_ITEM_NUMBER, 1, HU_ITEM_NUMBER, CEIL},
                 {"sqrt", HU_ITEM_NUMBER, 1, HU_ITEM_NUMBER, SQRT},
                 {"count", HU_ITEM_LIST, 1, HU_ITEM_NUMBER, COUNT},
                 {"channels_of", HU_ITEM_VALUE, 1, HU_ITEM_NUMBER, CHANNELS},
                 {"rows_of", HU_ITEM_VALUE, 1, HU_ITEM_NUMBER, ROWS},
                 {"height_of", HU_ITEM_VALUE, 1, HU_ITEM_NUMBER, HEIGHT},
                 {"width_of", HU_ITEM_VALUE, 1, HU_ITEM_NUMBER, WIDTH},
                 {"normal", HU_ITEM_NUMBER, 1, HU_ITEM_START, HU_START_NORMAL},
                 {"fan_in", HU_ITEM_NUMBER, 1, HU_ITEM_START, HU_START_FAN_IN},
                 {"fan_in_cut", HU_ITEM_NUMBER, 1, HU_ITEM_START, HU_START_FAN_IN_CUT},
                 {"fan_out", HU_ITEM_NUMBER, 1, HU_ITEM_START, HU_START_FAN_OUT},
                 {"fan_sum", HU_ITEM_NUMBER, 1, HU_ITEM_START, HU_START_FAN_SUM},
                 {"uniform", HU_ITEM_NUMBER, 1, HU_ITEM_START, HU_START_UNIFORM},
                 {"constant", HU_ITEM_NUMBER, 1, HU_ITEM_START, HU_START_CONSTANT},
                 {"inverse_root", HU_ITEM_NUMBER, 1, HU_ITEM_START, HU_START_INVERSE_ROOT}};

static double shape_of(const hu_network *network, int which, int number) {
  const hu_value *value = &network->net->value[number];
  size_t size = which == CHANNELS ? value->cols
                : which == ROWS   ? value->rows / network->net->batch
                : which == HEIGHT ? value->height
                                  : value->width;
  return (double)size;
}

static double number_of(const hu_network *network, int which, const hu_argument *arguments, size_t count) {
  double z = arguments[0].item.number;
  switch (which) {
    case MAX:
    case MIN:
      for (size_t i = 1; i < count; i++) {
        double x = arguments[i].item.number;
        z = (which == MAX ? x > z : x < z) ? x : z;
      }
      return z;
    case FLOOR: return floor(z);
    case CEIL: return ceil(z);
    case SQRT: return sqrt(z);
    case COUNT: return (double)arguments[0].item.count;
    default: return shape_of(network, which, arguments[0].item.value);
  }
}

enum { FUNCTIONS = sizeof functions / sizeof *functions };

static size_t function_named(const char *name, size_t size) {
  size_t f = 0;
  while (f < FUNCTIONS && (strlen(functions[f].name) != size || memcmp(functions[f].name, name, size) != 0)) f++;
  return f;
}

int hui_is_function(const char *name, size_t size) { return function_named(name, size) < FUNCTIONS; }

int hui_network_function(hu_network *network, const char *name, size_t size, const hu_argument *arguments, size_t count,
                         hu_item *result) {
  static const char *const kinds[] = {"", "number", "list", "word", "value", "start"};
  const size_t f = function_named(name, size);
  if (f == FUNCTIONS) return 0;
  int good = count >= 1 && count <= functions[f].at_most;
  for (size_t k = 0; k < count; k++) good &= arguments[k].item.kind == functions[f].takes && !arguments[k].name;
  if (!good) {
    hui_network_wrong(network, HU_E_TEXT, "%s takes %s %s", functions[f].name,
                      functions[f].at_most > 1 ? "each time a" : "one", kinds[functions[f].takes]);
    return 1;
  }
  double x = arguments[0].item.number;
  int start = functions[f].gives == HU_ITEM_START, which = functions[f].which;
  if (!start && which == SQRT && x < 0) hui_network_wrong(network, HU_E_TRAIN, "sqrt: of a negative number");
  if (start && which == HU_START_INVERSE_ROOT && !(x >= 1 && x <= 0x1p40 && x == floor(x)))
    hui_network_wrong(network, HU_E_TEXT, "inverse_root: not a whole number from 1 on");
  result->kind = functions[f].gives;
  result->value = start ? which : -1;
  result->number = start ? x : number_of(network, which, arguments, count);
  return 1;
}
