/* SPDX-License-Identifier: MIT */
/* Runs the statements of networks' texts: keys, blocks, scopes, repetitions, choices. */
#include "train/model/network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/text/words.h"

static const hu_item nothing = {HU_ITEM_NONE, -1, 0, NULL, 0, NULL};

unsigned hui_network_line(const char *text, size_t at) {
  unsigned line = 1;
  for (size_t i = 0; i < at && text[i]; i++) line += text[i] == '\n';
  return line;
}

/* ---- lines ---- */

/* Passes the end of a line, with a comment in front of it. */
static void end_line(hu_network *network) {
  hui_network_skip(network);
  if (network->text[network->at] == '#') network->at += strcspn(network->text + network->at, "\n");
  if (network->text[network->at] == '\n') {
    network->at++;
  } else if (network->text[network->at]) {
    hui_network_wrong(network, HU_E_TEXT, "more than one statement on a line");
  }
}

/* Passes lines without a statement. */
static void skip_lines(hu_network *network) {
  for (;;) {
    hui_network_skip(network);
    char c = network->text[network->at];
    if (c != '#' && c != '\n') return;
    end_line(network);
  }
}

static void statement(hu_network *network, int live);

/* Runs statements up to `end` or `else`, which stays. */
static void lines(hu_network *network, int live) {
  if (++network->depth > HU_NETWORK_DEPTH)
    hui_network_wrong(network, HU_E_TEXT, "parentheses, blocks or calls are %d deep", HU_NETWORK_DEPTH);
  while (network->status == HU_OK) {
    skip_lines(network);
    size_t at = network->at;
    if (hui_network_takes(network, "end") || hui_network_takes(network, "else")) {
      network->at = at;
      break;
    }
    if (!network->text[network->at]) hui_network_wrong(network, HU_E_TEXT, "end is missing");
    if (network->status == HU_OK) statement(network, live && !network->returned);
  }
  network->depth--;
}

static void end(hu_network *network) {
  if (network->status == HU_OK && !hui_network_takes(network, "end"))
    hui_network_wrong(network, HU_E_TEXT, "end is missing");
}

/* ---- variables ---- */

/* Refuses to call something by the name of a layer or a function, which calls would not find. */
static void refuse_taken(hu_network *network, const char *name, size_t size, const char *what) {
  const int layer = hui_is_layer(name, size);
  if (layer || hui_is_function(name, size))
    hui_network_wrong(network, HU_E_NAME, "%s: '%.*s' is a %s", what, (int)(size < 64 ? size : 64), name,
                      layer ? "layer" : "function");
}

/* Refuses a name that has its meaning from a statement before, which the second one would hide. */
static void refuse_second(hu_network *network, const char *what, const char *name, size_t size) {
  hui_network_wrong(network, HU_E_NAME, "%s: '%.*s' is there already", what, (int)(size < 64 ? size : 64), name);
}

/* The place of a name among those that can be set here; behind the last one if it is new. */
static size_t place_of(const hu_network *network, const char *name, size_t size) {
  size_t i = network->frame;
  while (i < network->variables &&
         (network->variable[i].size != size || memcmp(network->variable[i].name, name, size) != 0))
    i++;
  return i;
}

static void set(hu_network *network, const char *name, size_t size, const hu_item *item) {
  if (item->kind == HU_ITEM_WORD) refuse_taken(network, name, size, "name of a layer");
  if (network->status != HU_OK) return;
  size_t place = place_of(network, name, size);
  if (place < network->variables) {
    network->variable[place].item = *item;
    return;
  }
  if (network->variables == HU_NETWORK_VARIABLES) {
    hui_network_wrong(network, HU_E_TEXT, "more than %d names", HU_NETWORK_VARIABLES);
    return;
  }
  network->variable[network->variables].name = name;
  network->variable[network->variables].size = size;
  network->variable[network->variables++].item = *item;
  if (!network->frame) network->globals = network->variables;
}

/* Reads a name that a statement gives. */
static size_t new_name(hu_network *network, const char **name) {
  size_t n = hui_network_name(network, name);
  if (!n || memchr(*name, '.', n)) hui_network_wrong(network, HU_E_TEXT, "a name is missing: a letter a to z, and _");
  return n;
}

static hu_item expression(hu_network *network, int live) {
  hu_item item = hui_network_expression(network, live);
  if (live && network->status == HU_OK && item.kind == HU_ITEM_NONE)
    hui_network_wrong(network, HU_E_TEXT, "that has no result");
  return item;
}

static double number(hu_network *network, int live) {
  hu_item item = expression(network, live);
  if (live && network->status == HU_OK && item.kind != HU_ITEM_NUMBER)
    hui_network_wrong(network, HU_E_TEXT, "not a number");
  return item.number;
}

/* ---- statements ---- */

static void equals(hu_network *network) {
  if (!hui_network_takes(network, "=")) hui_network_wrong(network, HU_E_TEXT, "= is missing");
}

static void run_key(hu_network *network, int live) {
  const char *name;
  size_t n = new_name(network, &name);
  size_t place = place_of(network, name, n);
  if (live && place < network->variables && network->variable[place].name != name)
    refuse_second(network, "key", name, n);
  equals(network);
  hu_item item = expression(network, live);
  if (live && network->status == HU_OK) item = hui_network_key(network, name, n, item);
  if (live) set(network, name, n, &item);
}

static void run_block(hu_network *network, int live) {
  const char *name, *parameter;
  size_t n = new_name(network, &name);
  if (live) refuse_taken(network, name, n, "block");
  for (size_t i = 0; live && i < network->blocks; i++) {
    if (network->block[i].size == n && network->block[i].name != name && memcmp(network->block[i].name, name, n) == 0)
      refuse_second(network, "block", name, n);
  }
  if (!hui_network_takes(network, "(")) hui_network_wrong(network, HU_E_TEXT, "( is missing");
  if (live && network->blocks == HU_NETWORK_BLOCKS)
    hui_network_wrong(network, HU_E_TEXT, "more than %d blocks", HU_NETWORK_BLOCKS);
  if (live && network->status == HU_OK) {
    network->block[network->blocks].name = name;
    network->block[network->blocks].size = n;
    network->block[network->blocks++].at = network->at;
  }
  while (network->status == HU_OK && !hui_network_takes(network, ")")) {
    new_name(network, &parameter);
    hui_network_takes(network, ",");
  }
  end_line(network);
  lines(network, 0);
  end(network);
}

/* Writes the words of a scope: those as they stand, and numbers in braces. */
static void scope_part(hu_network *network, char part[HU_SCOPE_MAX], int live) {
  size_t n = 0;
  hui_network_skip(network);
  while (network->status == HU_OK && n < HU_SCOPE_MAX) {
    const char c = network->text[network->at];
    if (!c || strchr(" \t\r\n#", c)) break;
    network->at++;
    part[n++] = c;
    if (c != '{') continue;
    double x = number(network, live);
    if (!hui_network_takes(network, "}")) hui_network_wrong(network, HU_E_TEXT, "} is missing");
    if (live && network->status == HU_OK) n += (size_t)snprintf(part + n - 1, HU_SCOPE_MAX - n + 1, "%.0f", x) - 1;
  }
  part[n < HU_SCOPE_MAX ? n : HU_SCOPE_MAX - 1] = 0;
  if (network->status == HU_OK && (n == 0 || n >= HU_SCOPE_MAX))
    hui_network_wrong(network, HU_E_TEXT, "scope: no name, or one of more than %d characters", HU_SCOPE_MAX - 1);
}

static void enter(hu_network *network) {
  hu_net_scope(network->net, network->scope);
  if (hu_net_status(network->net, NULL) != HU_OK)
    hui_network_wrong(network, HU_E_NAME,
                      "scope '%s': not words of a to z, 0 to 9 and _ with dots between them, "
                      "below 64 characters",
                      network->scope);
}

static void run_scope(hu_network *network, int live) {
  char part[HU_SCOPE_MAX] = "";
  size_t before = strlen(network->scope);
  scope_part(network, part, live);
  end_line(network);
  if (live && network->status == HU_OK) {
    if (before + strlen(part) + 2 > sizeof network->scope) {
      hui_network_wrong(network, HU_E_NAME, "scope: too long");
      return;
    }
    snprintf(network->scope + before, sizeof network->scope - before, "%s%s", before ? "." : "", part);
    enter(network);
  }
  lines(network, live);
  end(network);
  network->scope[before] = 0;
  if (live && network->status == HU_OK) enter(network);
}

/* Runs the lines of a repetition once more, from `at` on. */
static void repeat(hu_network *network, size_t at, const char *name, size_t n, double x) {
  hu_item item = {HU_ITEM_NUMBER, -1, x, NULL, 0, NULL};
  if (++network->steps > HU_NETWORK_STEPS)
    hui_network_wrong(network, HU_E_TEXT, "more than %d statements are run", HU_NETWORK_STEPS);
  set(network, name, n, &item);
  network->at = at;
  lines(network, 1);
}

static void run_for(hu_network *network, int live) {
  const char *name;
  size_t n = new_name(network, &name);
  if (!hui_network_takes(network, "in")) hui_network_wrong(network, HU_E_TEXT, "in is missing");
  hu_item from = expression(network, live);
  int to = hui_network_takes(network, "to");
  double last = to ? number(network, live) : 0;
  if (live && network->status == HU_OK && from.kind != (to ? HU_ITEM_NUMBER : HU_ITEM_LIST))
    hui_network_wrong(network, HU_E_TEXT, to ? "for: not from a number" : "for: neither a list nor two numbers");
  end_line(network);
  size_t at = network->at;
  int ran = 0;
  if (live && network->status == HU_OK && to) {
    for (double x = from.number; x <= last && network->status == HU_OK && !network->returned; x++, ran = 1)
      repeat(network, at, name, n, x);
  }
  for (size_t i = 0; live && !to && i < from.count && network->status == HU_OK && !network->returned; i++, ran = 1)
    repeat(network, at, name, n, from.list[i]);
  if (!ran) lines(network, 0);
  end(network);
}

static void run_if(hu_network *network, int live) {
  int holds = number(network, live) != 0;
  end_line(network);
  lines(network, live && holds);
  if (hui_network_takes(network, "else")) {
    end_line(network);
    lines(network, live && !holds);
  }
  end(network);
}

static void run_return(hu_network *network, int live) {
  hu_item item = expression(network, live);
  if (!live || network->status != HU_OK) return;
  if (!network->frame) hui_network_wrong(network, HU_E_TEXT, "return: not in a block");
  network->result = item;
  network->returned = 1;
}

/* Adds a value with a loss of its own weight. */
static void add_head(hu_network *network, int value, double weight) {
  enum { MOST = sizeof network->ends->heads / sizeof *network->ends->heads };
  hu_model_ends *ends = network->ends;
  if (!(weight > 0 && weight <= 1e6))
    hui_network_wrong(network, HU_E_TEXT, "output: the weight is not above 0 and at most 1000000");
  else if (ends->head_count == MOST)
    hui_network_wrong(network, HU_E_TEXT, "output: more than %d with a weight", MOST);
  if (network->status != HU_OK) return;
  ends->heads[ends->head_count] = value;
  ends->head_weights[ends->head_count++] = weight;
}

/* Notes the factor of the gradient of the output's cross entropy, given or by the rule. */
static void set_loss_factor(hu_network *network, int value, int given, double factor) {
  if (!given && !network->unit) return;
  if (!given) factor = hui_unit_loss(network, value);
  if (network->status == HU_OK && !(factor > 0 && factor <= 0x1p60))
    hui_network_wrong(network, HU_E_TRAIN, "output: times: the factor is not above 0 and at most 2^60");
  network->net->value[value].loss_factor = factor;
}

static void run_output(hu_network *network, int live) {
  hu_item item = expression(network, live);
  int given = hui_network_takes(network, "times");
  double factor = given ? number(network, live) : 0;
  int held = hui_network_takes(network, "within");
  hu_item lengths = held ? expression(network, live) : nothing;
  int head = hui_network_takes(network, ",");
  double weight = head ? number(network, live) : 0;
  if (!live || network->status != HU_OK) return;
  if (item.kind != HU_ITEM_VALUE || (!head && network->ends->output >= 0))
    hui_network_wrong(network, HU_E_TEXT,
                      item.kind != HU_ITEM_VALUE ? "output: not a value" : "output: the second one");
  if (held && (head || lengths.kind != HU_ITEM_VALUE))
    hui_network_wrong(network, HU_E_TEXT, "output: what follows within is not the value of an input of lengths");
  if (network->unit && (held || head))
    hui_network_wrong(network, HU_E_TEXT, "output: scaling unit has no rule for %s",
                      head ? "a loss with a weight" : "labels of sequences");
  if (network->status != HU_OK) return;
  set_loss_factor(network, item.value, given, factor);
  if (held) hui_note_tokens(network, network->ends->lengths = lengths.value);
  if (head)
    add_head(network, item.value, weight);
  else
    network->ends->output = item.value;
}

static void run_scaling(hu_network *network, int live) {
  if (!hui_network_takes(network, "unit")) hui_network_wrong(network, HU_E_TEXT, "scaling: not unit, which there is");
  if (live && network->status == HU_OK) hui_unit_begin(network);
}

static void run_assignment(hu_network *network, int live) {
  const char *name;
  size_t n = new_name(network, &name);
  equals(network);
  hu_item item = expression(network, live);
  if (live) set(network, name, n, &item);
}

static void statement(hu_network *network, int live) {
  static const struct {
    const char *word;
    void (*run)(hu_network *network, int live);
  } all[] = {{"key", run_key},       {"block", run_block},     {"scope", run_scope},
             {"for", run_for},       {"if", run_if},           {"return", run_return},
             {"output", run_output}, {"scaling", run_scaling}, {"", run_assignment}};
  size_t i = 0;
  if (++network->steps > HU_NETWORK_STEPS)
    hui_network_wrong(network, HU_E_TEXT, "more than %d statements are run", HU_NETWORK_STEPS);
  while (all[i].word[0] && !hui_network_takes(network, all[i].word)) i++;
  all[i].run(network, live);
  if (network->status == HU_OK) end_line(network);
}

/* ---- blocks ---- */

/* Binds the arguments of a call to the names that the block has for them. */
static void bind(hu_network *network, const hu_argument *arguments, size_t count) {
  const char *name;
  size_t i = 0;
  while (network->status == HU_OK && !hui_network_takes(network, ")")) {
    size_t n = new_name(network, &name);
    if (i == count || arguments[i].name) break;
    if (place_of(network, name, n) < network->variables) refuse_second(network, "block", name, n);
    set(network, name, n, &arguments[i++].item);
    hui_network_takes(network, ",");
  }
  if (i < count || network->text[network->at - 1] != ')')
    hui_network_wrong(network, HU_E_TEXT, "the block takes other arguments");
}

/* Runs a block. Returns 0 if there is none of that name. */
static int call_block(hu_network *network, const char *name, size_t size, const hu_argument *arguments, size_t count,
                      hu_item *result) {
  size_t b = network->blocks, at = network->at, frame = network->frame, variables = network->variables;
  int within = network->within;
  while (b > 0 && (network->block[b - 1].size != size || memcmp(network->block[b - 1].name, name, size) != 0)) b--;
  if (!b) return 0;
  network->at = network->block[b - 1].at;
  network->frame = variables;
  network->within = 0;
  network->result = nothing;
  bind(network, arguments, count);
  end_line(network);
  lines(network, 1);
  end(network);
  *result = network->result;
  network->returned = 0;
  network->at = at;
  network->within = within;
  network->frame = frame;
  network->variables = variables;
  return 1;
}

/* Calls a function, a layer, a block, or the layer that a variable names. */
static hu_item call(hu_network *network, const char *name, size_t size, const hu_argument *arguments, size_t count) {
  hu_item result = nothing;
  if (hui_network_function(network, name, size, arguments, count, &result)) return result;
  if (hui_network_layer(network, name, size, arguments, count, &result)) return result;
  if (call_block(network, name, size, arguments, count, &result)) return result;
  const hu_item *word = hui_network_variable(network, name, size);
  if (word && word->kind == HU_ITEM_WORD &&
      hui_network_layer(network, word->word, word->count, arguments, count, &result))
    return result;
  hui_network_unknown(network, name, size);
  return nothing;
}

/* ---- whole texts ---- */

hu_status hui_network_read(hu_network *network, int what) {
  network->call = call;
  network->variables = network->globals = 1; /* the first one has no name: 0 is the frame outside of blocks */
  while (network->status == HU_OK) {
    skip_lines(network);
    size_t at = network->at;
    if (!network->text[at]) break;
    if (what == HU_NETWORK_KEYS && !hui_network_takes(network, "key")) return HU_OK;
    network->at = at;
    if (hui_network_takes(network, "end") || hui_network_takes(network, "else"))
      hui_network_wrong(network, HU_E_TEXT, "end or else without a beginning");
    if (network->status == HU_OK) statement(network, what != HU_NETWORK_CHECK);
  }
  if (network->status == HU_OK && what == HU_NETWORK_RUN && network->ends->output < 0)
    hui_network_wrong(network, HU_E_TEXT, "there is no output");
  if (network->status == HU_OK && what == HU_NETWORK_RUN && !network->ends->count)
    hui_network_wrong(network, HU_E_TEXT, "there is no input");
  return network->status;
}

/* ---- unit scaling ---- */

/* Returns the number of the output's value, from 0 on, of a net that has this text alone; -1: it cannot be built. */
static int find_output(const hu_network *network) {
  hu_model_ends made = {.inputs = {-1, -1, -1, -1}, .output = -1, .lengths = -1};
  hu_network *probe = calloc(1, sizeof *probe);
  hu_net *net = hu_net_new(1, 1);
  if (probe && net) {
    probe->text = network->text;
    probe->model = network->model;
    probe->keys = network->keys;
    probe->sizes = network->sizes;
    probe->net = net;
    probe->ends = &made;
    probe->unit = 1;
    (void)hui_network_read(probe, HU_NETWORK_RUN);
  }
  hu_net_free(net);
  free(probe);
  return made.output;
}

void hui_unit_begin(hu_network *network) {
  if (network->net->values != network->before)
    hui_network_wrong(network, HU_E_TEXT, "scaling: there is a layer before it");
  if (network->unit || network->status != HU_OK) return;
  const int output = find_output(network);
  network->unit = 1;
  network->last = output < 0 ? -1 : network->before + output;
}
