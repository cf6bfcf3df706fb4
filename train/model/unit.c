/* SPDX-License-Identifier: MIT */
/* Unit scaling: factors of layers by a rule for each of them (docs/training/networks.md). */
#include <math.h>
#include <string.h>

#include "train/model/layers.h"

/* What a layer gets. */
enum {
  UNIT_NOTHING = 0,   /* 1 in both directions */
  UNIT_LINEAR = 1,    /* factors of its three products */
  UNIT_GAIN = 2,      /* that of its parameters' gradients */
  UNIT_EMBEDDING = 3, /* the same for a table */
  UNIT_POSITION = 4,  /* the same, and that of an addition behind it */
  UNIT_FACTOR = 5,    /* a constant behind it */
  UNIT_DROPOUT = 6    /* sqrt(1 - p) behind it */
};

/* Square root of 1/2, and of the functions 1 / sqrt(deviation of f(x) times root of the mean of f'(x)^2) over normal x
 * with mean 0 and deviation 1. */
static const struct {
  const char *name;
  int what;
  double factor;
} rules[] = {{"input", UNIT_NOTHING, 1},
             {"image", UNIT_NOTHING, 1},
             {"stop_gradient", UNIT_NOTHING, 1},
             {"as_image", UNIT_NOTHING, 1},
             {"as_rows", UNIT_NOTHING, 1},
             {"columns", UNIT_NOTHING, 1},
             {"concat", UNIT_NOTHING, 1},
             {"stack_rows", UNIT_NOTHING, 1},
             {"shuffle", UNIT_NOTHING, 1},
             {"scale", UNIT_NOTHING, 1},
             {"linear", UNIT_LINEAR, 1},
             {"layer_norm", UNIT_GAIN, 1},
             {"rms_norm", UNIT_GAIN, 1},
             {"embedding", UNIT_EMBEDDING, 1},
             {"position", UNIT_POSITION, 0.70710678118654752440},
             {"add", UNIT_FACTOR, 0.70710678118654752440},
             {"relu", UNIT_FACTOR, 1.5563893447568424037},
             {"gelu", UNIT_FACTOR, 1.5872196993482975521},
             {"gelu_tanh", UNIT_FACTOR, 1.5872439260130337531},
             {"silu", UNIT_FACTOR, 1.7032842459171330649},
             {"tanh", UNIT_FACTOR, 1.5286958673594689777},
             {"sigmoid", UNIT_FACTOR, 4.7618172795505492896},
             {"dropout", UNIT_DROPOUT, 1}};
enum { RULES = sizeof rules / sizeof *rules };

static size_t rule_of(const hu_layer *layer) {
  size_t i = 0;
  while (i < RULES && strcmp(rules[i].name, layer->name) != 0) i++;
  return i;
}

/* Returns rows of a sample: those of a value are rows of the batch. */
static double rows_of(const hu_network *network, int value) {
  return (double)(network->net->value[value].rows / network->net->batch);
}

/* Sets a number that was not given. */
static void set_number(const hu_layer *layer, hu_item *items, const char *name, double number) {
  size_t i = 0;
  while (i < HU_LAYER_PARAMETERS && layer->parameter[i].name && strcmp(layer->parameter[i].name, name) != 0) i++;
  if (i == HU_LAYER_PARAMETERS || !layer->parameter[i].name || items[i].kind != HU_ITEM_NONE) return;
  items[i].kind = HU_ITEM_NUMBER;
  items[i].value = -1;
  items[i].number = number;
}

/* Sets first weights of deviation 1, unless the text has others. */
static void set_start(const hu_layer *layer, hu_item *items) {
  size_t i = 0;
  while (layer->parameter[i].type != 's') i++;
  if (items[i].kind != HU_ITEM_NONE) return;
  items[i].kind = HU_ITEM_START;
  items[i].value = HU_START_NORMAL;
  items[i].number = 1;
}

/* A layer that reads an input or makes the output has a factor of its own for each direction; any other one has the
 * geometric mean in both, so that what it passes back is the gradient of what it computes. */
static void set_linear(hu_network *network, const hu_layer *layer, hu_item *items) {
  const hu_value *x = &network->net->value[items[0].value];
  const double in = (double)x->cols, out = items[1].number;
  const int ends = !x->made || network->net->values == network->last;
  const double both = 1 / sqrt(sqrt(in * out));
  set_number(layer, items, "forward", ends ? 1 / sqrt(in) : both);
  if (x->made) set_number(layer, items, "backward", ends ? 1 / sqrt(out) : both);
  set_number(layer, items, "weights", 1 / sqrt(rows_of(network, items[0].value)));
}

void hui_unit_arguments(hu_network *network, const hu_layer *layer, hu_item *items) {
  const size_t i = rule_of(layer);
  if (i == RULES)
    hui_network_wrong(network, HU_E_NAME, "%s: scaling unit has no rule for this layer", layer->name);
  else if (network->shared.kind != HU_ITEM_NONE)
    hui_network_wrong(network, HU_E_TEXT, "%s: share: scaling unit has no rule for parameters of two layers",
                      layer->name);
  else if (strcmp(layer->name, "silu") == 0 && items[1].number != 1)
    hui_network_wrong(network, HU_E_TRAIN, "silu: beta: the rule of scaling unit is for 1");
  if (network->status != HU_OK) return;
  switch (rules[i].what) {
    case UNIT_LINEAR:
      set_start(layer, items);
      set_linear(network, layer, items);
      break;
    case UNIT_GAIN: set_number(layer, items, "weights", 1 / sqrt(rows_of(network, items[0].value))); break;
    case UNIT_EMBEDDING:
      set_start(layer, items);
      set_number(layer, items, "weights", sqrt(items[1].number / rows_of(network, items[0].value)));
      break;
    case UNIT_POSITION:
      set_start(layer, items);
      set_number(layer, items, "weights", sqrt(2));
      break;
    default: break;
  }
}

double hui_unit_factor(const hu_layer *layer, const hu_item *items) {
  const size_t i = rule_of(layer);
  return rules[i].what == UNIT_DROPOUT ? sqrt(1 - items[1].number) : rules[i].factor;
}

double hui_unit_loss(hu_network *network, int value) {
  const double columns = (double)network->net->value[value].cols;
  if (columns < 2) hui_network_wrong(network, HU_E_SHAPE, "output: scaling unit has no rule for one column");
  return columns < 2 ? 1 : rows_of(network, value) * columns / sqrt(columns - 1);
}
