/* SPDX-License-Identifier: MIT */
/* train/model/network.h - reads a network's text, line by line, and adds its layers to a net. docs/training/networks.md
 * defines the texts. */
#ifndef HALFULP_TRAIN_MODEL_NETWORK_H
#define HALFULP_TRAIN_MODEL_NETWORK_H

#include "halfulp/train/model.h"
#include "train/net/net.h"
#include "train/text/keys.h"

/* What an expression is. */
enum {
  HU_ITEM_NONE = 0,
  HU_ITEM_NUMBER = 1,
  HU_ITEM_LIST = 2,  /* of numbers */
  HU_ITEM_WORD = 3,  /* the name of a layer */
  HU_ITEM_VALUE = 4, /* of the net */
  HU_ITEM_START = 5  /* how first weights are drawn */
};
typedef struct hu_item {
  int kind;           /* HU_ITEM_ */
  int value;          /* its number in the net; of a start: HU_START_ */
  double number;      /* of a start: its argument */
  const double *list; /* count numbers */
  size_t count;       /* of a word: its letters */
  const char *word;
} hu_item;

/* How first weights are drawn: the functions of these names. */
enum {
  HU_START_NORMAL = 0,
  HU_START_FAN_IN = 1,
  HU_START_FAN_OUT = 2,
  HU_START_FAN_SUM = 3,
  HU_START_UNIFORM = 4,
  HU_START_INVERSE_ROOT = 5,
  HU_START_CONSTANT = 6,
  HU_START_FAN_IN_CUT = 7,
  HU_STARTS = 8
};

/* An argument of a call: the item, and its name where it has one. */
typedef struct hu_argument {
  hu_item item;
  const char *name;
  size_t size;
} hu_argument;

enum {
  HU_NETWORK_ARGUMENTS = 16,
  HU_NETWORK_VARIABLES = 256,
  HU_NETWORK_BLOCKS = 64,
  HU_NETWORK_LIST = 256,      /* numbers in a list */
  HU_NETWORK_LISTED = 4096,   /* numbers in all lists */
  HU_NETWORK_DEPTH = 60,      /* parentheses, blocks and calls within each other */
  HU_NETWORK_STEPS = 1 << 20, /* statements that are run */
  HU_NETWORK_WHY_MAX = 256
};

/* A text that is being read. */
typedef struct hu_network hu_network;
struct hu_network {
  const char *text;
  size_t at; /* the next character */
  int within, depth;
  unsigned steps;
  hu_status status; /* the first error, where it is, and a sentence */
  size_t wrong_at;
  char why[HU_NETWORK_WHY_MAX];
  struct {
    const char *name;
    size_t size;
    hu_item item;
  } variable[HU_NETWORK_VARIABLES];
  size_t variables, frame; /* of the block that runs: from `frame` on; the others are global up to `globals` */
  size_t globals;
  struct {
    const char *name;
    size_t size, at; /* behind the opening parenthesis */
  } block[HU_NETWORK_BLOCKS];
  size_t blocks;
  double listed[HU_NETWORK_LISTED];
  size_t lists;
  /* What calls in expressions do (network.c). */
  hu_item (*call)(hu_network *network, const char *name, size_t size, const hu_argument *arguments, size_t count);
  hu_item shared; /* of the layer in hand: the value whose layer has its parameters, or none */
  int returned;   /* 1: the block that runs has its result */
  hu_item result;
  /* What the layers are added to. */
  hu_net *net;
  const hu_model *model;
  const hu_text_keys *keys; /* of a named model's record; NULL: keys come from the model's settings */
  const hu_model_sizes *sizes;
  hu_model_ends *ends;
  int unit;          /* 1: layers get factors by the rule of unit scaling */
  int before, last;  /* values of the net before the text; the value that is the output */
  unsigned settings; /* bit i: setting i is a key's */
  char scope[2 * HU_SCOPE_MAX + 2];
  /* The canonical text of the layers so far, up to size - 1 characters. */
  struct {
    int on;
    char *text;
    size_t size, length;
    int first;                        /* 1: no argument of the call yet */
    char scope[2 * HU_SCOPE_MAX + 2]; /* the one that is open in it */
  } shown;
};

typedef struct hu_layer hu_layer;

/* ---- what can be called ---- */

/* Calls a function. Returns 0 if there is none of that name. */
int hui_network_function(hu_network *network, const char *name, size_t size, const hu_argument *arguments, size_t count,
                         hu_item *result);
/* Returns 1 if that is a function's name. */
int hui_is_function(const char *name, size_t size);
/* Adds a layer. Returns 0 if there is none of that name. */
int hui_network_layer(hu_network *network, const char *name, size_t size, const hu_argument *arguments, size_t count,
                      hu_item *result);
/* Notes that what an input has are no numbers to compute with. */
void hui_note_tokens(hu_network *network, int value);
/* Begins unit scaling: before the first layer. */
void hui_unit_begin(hu_network *network);
/* Sets arguments of a layer that the rule knows, where they were not given; refuses a layer that it has nothing for. */
void hui_unit_arguments(hu_network *network, const hu_layer *layer, hu_item *items);
/* Returns the factor of the rule that follows a layer; 1: none. */
double hui_unit_factor(const hu_layer *layer, const hu_item *items);
/* Returns the factor of the gradient of the cross entropy of a value. */
double hui_unit_loss(hu_network *network, int value);
/* Says that nothing of that name can be called. */
void hui_network_unknown(hu_network *network, const char *name, size_t size);
/* 1 if that is a layer's name. */
int hui_is_layer(const char *name, size_t size);

/* ---- reading ---- */

/* Keeps the first error and where the text is. Returns an item of nothing. */
hu_item hui_network_wrong(hu_network *network, hu_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Passes blanks; within parentheses ends of lines, too. */
void hui_network_skip(hu_network *network);
/* Passes `mark` behind blanks, if it stands there: a word, or signs. */
int hui_network_takes(hu_network *network, const char *mark);
/* Passes a name behind blanks. Returns its length, 0 if there is none. */
size_t hui_network_name(hu_network *network, const char **name);
/* Reads an expression; if live is 0, it is only passed. */
hu_item hui_network_expression(hu_network *network, int live);
/* Returns the variable of that name; NULL: none. */
hu_item *hui_network_variable(hu_network *network, const char *name, size_t size);
/* Returns a list of these numbers, which are copied. */
hu_item hui_network_list(hu_network *network, const double *numbers, size_t count);

/* Returns the value of a key: what the model says, else `standard` (setting.c). */
hu_item hui_network_key(hu_network *network, const char *name, size_t size, hu_item standard);
/* Says that a setting is no key of the text, if there is one. */
void hui_network_settings(hu_network *network);

/* ---- whole texts ---- */

enum { HU_NETWORK_CHECK = 0, HU_NETWORK_KEYS = 1, HU_NETWORK_RUN = 2 };
/* Reads a text: HU_NETWORK_CHECK passes all of it, HU_NETWORK_KEYS runs the keys at its head, HU_NETWORK_RUN all. */
hu_status hui_network_read(hu_network *network, int what);
/* Returns the line of an offset, from 1 on. */
unsigned hui_network_line(const char *text, size_t at);

/* ---- canonical text ---- */

/* Writes a layer that was added: its name and its arguments as they were taken. */
void hui_show_layer(hu_network *network, const hu_layer *layer, const hu_item *items, size_t count, int value,
                    int parameters);
void hui_show_end(hu_network *network);
/* A value's shape, "32 x 32 x 16"; returns text. */
enum { HU_SHAPE_TEXT_MAX = 80 };
char *hui_shape_text(char text[HU_SHAPE_TEXT_MAX], const hu_net *net, int value);
/* A start as it is written, "fan_in(2)"; returns text. */
char *hui_start_text(char text[HU_SHAPE_TEXT_MAX], const hu_item *start);

/* ---- layers ---- */

/* A parameter of a layer.
 *   v: a value            o: a value, or none        *: values, all that are left
 *   n: a whole number     b: 0 or 1                  r: a number
 *   s: a start            m: a number, or none       c: a number, or one of each column
 *   w: a whole number, or two, down and across       p: one, two, or four: top, bottom, left, right */
typedef struct hu_layer_parameter {
  const char *name;
  char type;
  double standard; /* NaN: it must be given */
} hu_layer_parameter;
enum { HU_LAYER_PARAMETERS = 12 };
struct hu_layer {
  const char *name;
  hu_layer_parameter parameter[HU_LAYER_PARAMETERS];
  /* Returns the value, or -1; the items are those of the parameters. */
  int (*add)(hu_network *network, const hu_item *items);
};

#endif
