/* SPDX-License-Identifier: MIT */
/* Writes the canonical text of a network: one layer a line, with shapes and numbers of parameters. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "train/model/network.h"
#include "train/text/words.h"

char *hui_shape_text(char text[HU_SHAPE_TEXT_MAX], const hu_net *net, int value) {
  const hu_value *x = &net->value[value];
  size_t rows = x->rows / net->batch;
  if (x->height) {
    snprintf(text, HU_SHAPE_TEXT_MAX, "%zu x %zu x %zu", x->height, x->width, x->cols);
  } else if (rows > 1) {
    snprintf(text, HU_SHAPE_TEXT_MAX, "%zu x %zu", rows, x->cols);
  } else {
    snprintf(text, HU_SHAPE_TEXT_MAX, "%zu", x->cols);
  }
  return text;
}

char *hui_start_text(char text[HU_SHAPE_TEXT_MAX], const hu_item *start) {
  static const char *const names[HU_STARTS] = {"normal",  "fan_in",       "fan_out",  "fan_sum",
                                               "uniform", "inverse_root", "constant", "fan_in_cut"};
  char number[HU_DECIMAL_TEXT_MAX];
  snprintf(text, HU_SHAPE_TEXT_MAX, "%s(%s)", names[start->value],
           start->value == HU_START_INVERSE_ROOT ? hui_write_number(number, start->number)
                                                 : hui_write_single(number, (float)start->number));
  return text;
}

static void show(hu_network *network, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void show(hu_network *network, const char *format, ...) {
  va_list list;
  size_t left = network->shown.length < network->shown.size ? network->shown.size - network->shown.length : 0;
  va_start(list, format);
  int n = vsnprintf(left ? network->shown.text + network->shown.length : NULL, left, format, list);
  va_end(list);
  network->shown.length += n > 0 ? (size_t)n : 0;
}

static size_t numbers_from(const hu_net *net, int parameter) {
  size_t n = 0;
  for (int i = parameter; i < net->parameters; i++) n += net->parameter[i].rows * net->parameter[i].cols;
  return n;
}

static void show_scope(hu_network *network) {
  if (strcmp(network->scope, network->shown.scope) == 0) return;
  if (network->shown.scope[0]) show(network, "end\n");
  if (network->scope[0]) show(network, "scope %s\n", network->scope);
  memcpy(network->shown.scope, network->scope, sizeof network->scope);
}

static void show_number(hu_network *network, double x) {
  char text[HU_DECIMAL_TEXT_MAX];
  if (x == floor(x) && fabs(x) < 1e15)
    show(network, "%.0f", x);
  else
    show(network, "%s", hui_write_number(text, x));
}

static void show_item(hu_network *network, const hu_layer_parameter *parameter, const hu_item *item) {
  char text[HU_SHAPE_TEXT_MAX];
  if (item->kind == HU_ITEM_NONE) return;
  if (item->kind == HU_ITEM_NUMBER && item->number == parameter->standard) return;
  if (!network->shown.first) show(network, ", ");
  network->shown.first = 0;
  if (!isnan(parameter->standard)) show(network, "%s=", parameter->name);
  switch (item->kind) {
    case HU_ITEM_VALUE: show(network, "v%d", item->value); break;
    case HU_ITEM_START: show(network, "%s", hui_start_text(text, item)); break;
    case HU_ITEM_LIST:
      for (size_t i = 0; i < item->count; i++) {
        show(network, i ? ", " : "[");
        show_number(network, item->list[i]);
      }
      show(network, "]");
      break;
    default: show_number(network, item->number);
  }
}

void hui_show_layer(hu_network *network, const hu_layer *layer, const hu_item *items, size_t count, int value,
                    int parameters) {
  char shape[HU_SHAPE_TEXT_MAX];
  int all = layer->parameter[0].type == '*';
  if (!network->shown.on) return;
  show_scope(network);
  show(network, "%sv%d = %s(", network->scope[0] ? "  " : "", value, layer->name);
  network->shown.first = 1;
  for (size_t i = 0; i < count; i++) show_item(network, &layer->parameter[all ? 0 : i], &items[i]);
  if (network->shared.kind == HU_ITEM_VALUE) show(network, ", share=v%d", network->shared.value);
  show(network, ")  # %s", hui_shape_text(shape, network->net, value));
  size_t n = numbers_from(network->net, parameters);
  if (n) show(network, "; %zu parameters", n);
  show(network, "\n");
}

void hui_show_end(hu_network *network) {
  char shape[HU_SHAPE_TEXT_MAX];
  show_scope(network);
  for (int i = 0; i < network->ends->head_count; i++) {
    show(network, "output v%d, %s", network->ends->heads[i], hui_write_number(shape, network->ends->head_weights[i]));
    show(network, "  # %s\n", hui_shape_text(shape, network->net, network->ends->heads[i]));
  }
  show(network, "output v%d", network->ends->output);
  const double factor = network->net->value[network->ends->output].loss_factor;
  if (factor != 0) {
    show(network, " times ");
    show_number(network, factor);
  }
  if (network->ends->lengths >= 0) show(network, " within v%d", network->ends->lengths);
  show(network, "  # %s; %zu parameters in all\n", hui_shape_text(shape, network->net, network->ends->output),
       numbers_from(network->net, 0));
}
