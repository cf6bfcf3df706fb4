/* SPDX-License-Identifier: MIT */
/* Finds parameters by name, says what makes a value, and sets the first weights that a user asks for. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/environment.h"
#include "train/net/net.h"

/* ---- scopes ---- */

static int is_scope(const char *text) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
  size_t n = strlen(text);
  if (n >= HU_SCOPE_MAX) return 0;
  for (size_t i = 0; i < n; i++) {
    if (strchr(letters, text[i])) continue;
    /* A dot stands between two words. */
    if (text[i] != '.' || i == 0 || text[i - 1] == '.' || i + 1 == n) return 0;
  }
  return 1;
}

void hu_net_scope(hu_net *net, const char *scope) {
  if (!net || net->status != HU_OK) return;
  if (!scope) {
    hui_refuse(net, HU_E_NULL, "scope: NULL");
  } else if (!is_scope(scope)) {
    hui_refuse(net, HU_E_NAME, "scope: not words of a to z, 0 to 9 and _ with dots between them, below 64 characters");
  } else {
    memcpy(net->scope, scope, strlen(scope) + 1);
  }
}

const char *hu_net_scope_of(const hu_net *net) { return net ? net->scope : ""; }

/* ---- names ---- */

/* N of "layerN.part"; 0 if the name is that of another layer, or of one in a scope of that name. */
static unsigned long number_in(const char *name, const char *layer, size_t n) {
  char *end;
  if (strncmp(name, layer, n) != 0 || name[n] < '0' || name[n] > '9') return 0;
  unsigned long number = strtoul(name + n, &end, 10);
  return *end == '.' && !strchr(end + 1, '.') ? number : 0;
}

/* Returns the layer's number: one more than that of the last of its kind in this scope. */
static unsigned long next_number(const hu_net *net, const char *layer, int before) {
  size_t n = strlen(layer);
  for (int i = before; i-- > 0;) {
    unsigned long number = number_in(net->parameter[i].name, layer, n);
    if (number) return number + 1;
  }
  return 1;
}

void hui_name_parameters(hu_net *net, const char *kind, int first, const char *parts) {
  char layer[HU_SCOPE_MAX + 16];
  if (net->status != HU_OK) return;
  if (net->shared) {
    net->shared = 0; /* the layer has taken those of another one */
    return;
  }
  snprintf(layer, sizeof layer, "%s%s%.15s", net->scope, net->scope[0] ? "." : "", kind);
  unsigned long number = next_number(net, layer, first);
  for (int i = first; i < net->parameters; i++) {
    size_t n = strcspn(parts, " ");
    snprintf(net->parameter[i].name, HU_PARAMETER_NAME_MAX, "%s%lu.%.*s", layer, number, (int)n, parts);
    parts += n + (parts[n] == ' ');
  }
}

const char *hu_net_parameter_name(const hu_net *net, int parameter) {
  return net && parameter >= 0 && parameter < net->parameters ? net->parameter[parameter].name : NULL;
}

int hu_net_parameter_named(const hu_net *net, const char *name) {
  for (int i = 0; net && name && i < net->parameters; i++) {
    if (strcmp(net->parameter[i].name, name) == 0) return i;
  }
  return -1;
}

const char *hu_net_value_kind(const hu_net *net, int value) {
  if (!net || value < 0 || value >= net->values) return NULL;
  int i = hu_net_value_operator(net, value);
  return i < 0 ? "" : net->op[i].kind->name;
}

int hu_net_value_operator(const hu_net *net, int value) {
  for (int i = 0; net && value >= 0 && i < net->operators; i++) {
    if (net->op[i].out == value) return i;
  }
  return -1;
}

/* ---- first weights ---- */

static hu_status start(hu_net *net, int parameter, int drawn, float number) {
  if (!net) return HU_E_NULL;
  if (parameter < 0 || parameter >= net->parameters) return HU_E_SHAPE;
  hu_parameter *weights = &net->parameter[parameter];
  weights->first.drawn = drawn;
  weights->first.deviation = number;
  if (drawn == HU_DRAWN_NORMAL || drawn == HU_DRAWN_CUT) weights->first.start = 0;
  if (drawn == HU_DRAWN_CONSTANT) weights->first.start = number;
  return HU_OK;
}

static HU_NOINLINE hu_status start_drawn(hu_net *net, int parameter, int drawn, float number) {
  if (!(number >= 0 && number <= FLT_MAX)) return HU_E_TRAIN;
  return start(net, parameter, drawn, number);
}

hu_status hu_net_start_normal(hu_net *net, int parameter, float deviation) {
  HU_ENV_RETURN(hu_status, start_drawn(net, parameter, HU_DRAWN_NORMAL, deviation));
}

hu_status hui_net_start_cut(hu_net *net, int parameter, float deviation) {
  return start_drawn(net, parameter, HU_DRAWN_CUT, deviation);
}

hu_status hu_net_start_within(hu_net *net, int parameter, float bound) {
  HU_ENV_RETURN(hu_status, start_drawn(net, parameter, HU_DRAWN_UNIFORM, bound));
}

hu_status hu_net_start_uniform(hu_net *net, int parameter, size_t hidden) {
  if (!hidden) return HU_E_TRAIN;
  HU_ENV_RETURN(hu_status, start(net, parameter, HU_DRAWN_UNIFORM, 1 / sqrtf((float)hidden)));
}

static HU_NOINLINE hu_status start_constant(hu_net *net, int parameter, float x) {
  return x >= -FLT_MAX && x <= FLT_MAX ? start(net, parameter, HU_DRAWN_CONSTANT, x) : HU_E_TRAIN;
}

hu_status hu_net_start_constant(hu_net *net, int parameter, float x) {
  HU_ENV_RETURN(hu_status, start_constant(net, parameter, x));
}
