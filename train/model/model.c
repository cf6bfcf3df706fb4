/* SPDX-License-Identifier: MIT */
/* Checks and builds models: the table of kinds, limits and ends. */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model_networks.h"
#include "train/environment.h"
#include "train/model/kinds.h"
#include "train/model/network.h"
#include "train/net/net.h"
#include "train/text/words.h"

/* ---- kinds ---- */

static const char *const activations[] = {"relu", "gelu", "tanh", NULL};

#define KEY(name, type) \
  { #name, offsetof(hu_model, name), type, NULL }
static const hu_text_key linear_keys[] = {{"nobias", offsetof(hu_model, no_bias), 'w', NULL}};
static const hu_text_key mlp_keys[] = {KEY(layers, 'i'),
                                       KEY(units, 'i'),
                                       {"activation", offsetof(hu_model, activation), 'c', activations},
                                       KEY(dropout, 'd')};
static const hu_text_key conv_keys[] = {KEY(channels, 'l'), KEY(kernel, 'i'), KEY(width, 'd'), KEY(dropout, 'd')};
static const hu_text_key resnet_keys[] = {KEY(blocks, 'i'), KEY(width, 'd'), KEY(projection, 'w')};
static const hu_text_key resnet4_keys[] = {KEY(stages, 'l'), KEY(width, 'd'), KEY(bottleneck, 'w')};
static const hu_text_key squeezenet_keys[] = {KEY(width, 'd'), KEY(bypass, 'w'), KEY(dropout, 'd')};
static const hu_text_key mobilenet2_keys[] = {KEY(width, 'd'), KEY(dropout, 'd')};
static const hu_text_key shufflenet2_keys[] = {KEY(width, 'd')};
static const hu_text_key gru_keys[] = {KEY(layers, 'i'), KEY(units, 'i'), KEY(dropout, 'd')};
static const hu_text_key lstm_keys[] = {KEY(layers, 'i'), KEY(units, 'i'), KEY(deviation, 'f'), KEY(dropout, 'd')};
static const hu_text_key transformer_keys[] = {KEY(layers, 'i'),
                                               KEY(units, 'i'),
                                               KEY(heads, 'i'),
                                               KEY(hidden, 'i'),
                                               {"activation", offsetof(hu_model, activation), 'c', activations},
                                               KEY(deviation, 'f'),
                                               KEY(dropout, 'd')};
static const hu_text_key dlrm_keys[] = {KEY(units, 'i'), KEY(bottom, 'l'), KEY(top, 'l'), KEY(deviation, 'f')};
static const hu_text_key ncf_keys[] = {KEY(layers, 'i'), KEY(units, 'i'), KEY(deviation, 'f')};
/* Those of the papers' own code. */
static const hu_text_key t2t_transformer_keys[] = {KEY(layers, 'i'), KEY(units, 'i'), KEY(heads, 'i'), KEY(hidden, 'i'),
                                                   KEY(dropout, 'd')};
static const hu_text_key tf_resnet_keys[] = {
    KEY(blocks, 'i'), KEY(width, 'd'), {"v1", offsetof(hu_model, variant), 'w', NULL}};
static const hu_text_key tf_imagenet_keys[] = {
    KEY(stages, 'l'), KEY(bottleneck, 'w'), {"v1", offsetof(hu_model, variant), 'w', NULL}};
static const hu_text_key tf_ncf_keys[] = {KEY(units, 'i'), KEY(top, 'l')};
static const hu_text_key lee_keys[] = {KEY(width, 'd'), {"defaults", offsetof(hu_model, variant), 'w', NULL}};

static const hu_model_kind kinds[HU_MODEL_KINDS] = {
    {"linear", NULL, HU_TEXT_KEYS(linear_keys), HU_NEEDS_IMAGE, network_linear},
    {"mlp", NULL, HU_TEXT_KEYS(mlp_keys), HU_NEEDS_IMAGE, network_mlp},
    {"conv", NULL, HU_TEXT_KEYS(conv_keys), HU_NEEDS_IMAGE, network_conv},
    {"resnet", "resnet20", HU_TEXT_KEYS(resnet_keys), HU_NEEDS_IMAGE, network_resnet},
    {"squeezenet", NULL, HU_TEXT_KEYS(squeezenet_keys), HU_NEEDS_IMAGE, network_squeezenet},
    {"gru", NULL, HU_TEXT_KEYS(gru_keys), HU_NEEDS_IMAGE, network_gru},
    {"lstm", NULL, HU_TEXT_KEYS(lstm_keys), HU_NEEDS_TOKENS, network_lstm},
    {"transformer", NULL, HU_TEXT_KEYS(transformer_keys), HU_NEEDS_TOKENS, network_transformer},
    {"ncf", NULL, HU_TEXT_KEYS(ncf_keys), HU_NEEDS_PAIRS, network_ncf},
    {"resnet4", "resnet18", HU_TEXT_KEYS(resnet4_keys), HU_NEEDS_IMAGE, network_resnet4},
    {"mobilenet2", NULL, HU_TEXT_KEYS(mobilenet2_keys), HU_NEEDS_IMAGE, network_mobilenet2},
    {"shufflenet2", NULL, HU_TEXT_KEYS(shufflenet2_keys), HU_NEEDS_IMAGE, network_shufflenet2},
    {"seq2seq", NULL, HU_TEXT_KEYS(transformer_keys), HU_NEEDS_TOKENS | HU_NEEDS_SOURCE, network_seq2seq},
    {"bert", NULL, HU_TEXT_KEYS(transformer_keys), HU_NEEDS_TOKENS, network_bert},
    {"dlrm", NULL, HU_TEXT_KEYS(dlrm_keys), HU_NEEDS_FEATURES, network_dlrm},
    {"tf_resnet", NULL, HU_TEXT_KEYS(tf_resnet_keys), HU_NEEDS_IMAGE, network_tf_resnet},
    {"tf_ncf", NULL, HU_TEXT_KEYS(tf_ncf_keys), HU_NEEDS_PAIRS, network_tf_ncf},
    {"lee_squeezenet", NULL, {lee_keys, 1}, HU_NEEDS_IMAGE, network_lee_squeezenet},
    {"lee_shufflenet2", NULL, {lee_keys, 1}, HU_NEEDS_IMAGE, network_lee_shufflenet2},
    {"lee_mobilenet2", NULL, {lee_keys, 1}, HU_NEEDS_IMAGE, network_lee_mobilenet2},
    {"lee_resnet18", NULL, HU_TEXT_KEYS(lee_keys), HU_NEEDS_IMAGE, network_lee_resnet18},
    {"t2t_transformer", NULL, HU_TEXT_KEYS(t2t_transformer_keys), HU_NEEDS_TOKENS | HU_NEEDS_SOURCE,
     network_t2t_transformer},
    {"tf_imagenet", NULL, HU_TEXT_KEYS(tf_imagenet_keys), HU_NEEDS_IMAGE, network_tf_imagenet}};

const hu_model_kind *hui_model_kind_of(uint8_t kind) { return &kinds[kind]; }

/* Sets a key of the record to what the network's text has for it. */
static void set_key(hu_model *model, const hu_text_key *key, const hu_item *item) {
  void *at = (char *)model + key->at;
  switch (key->type) {
    case 'w': *(uint8_t *)at = item->number != 0; break;
    case 'i': *(uint32_t *)at = (uint32_t)item->number; break;
    case 'f': *(float *)at = (float)item->number; break;
    case 'd': *(double *)at = item->number; break;
    case 'c':
      for (uint8_t i = 0; key->words[i]; i++) {
        if (hui_same_word(item->word, item->count, key->words[i])) *(uint8_t *)at = i;
      }
      break;
    default:
      for (size_t i = 0; i < item->count && i < HU_KEY_LIST; i++) ((uint32_t *)at)[i] = (uint32_t)item->list[i];
  }
}

static HU_NOINLINE hu_model standard_of(uint8_t kind) {
  hu_model model;
  memset(&model, 0, sizeof model);
  hu_network *network = kind < HU_MODEL_KINDS ? calloc(1, sizeof *network) : NULL;
  if (!network) return model;
  model.kind = kind;
  network->text = kinds[kind].text;
  (void)hui_network_read(network, HU_NETWORK_KEYS);
  for (size_t i = 0; i < kinds[kind].keys.count; i++) {
    const hu_text_key *key = &kinds[kind].keys.key[i];
    const hu_item *item = hui_network_variable(network, key->name, strlen(key->name));
    if (item) set_key(&model, key, item);
  }
  free(network);
  return model;
}

hu_model hu_model_default(uint8_t kind) { HU_ENV_RETURN(hu_model, standard_of(kind)); }

/* ---- limits ---- */

enum { SIDE_MAX = 65536, NUMBERS_MAX = 1 << 24, ROWS_MAX = 4095 };

static const char *wrong_key(const hu_model *model, const hu_text_key *key) {
  static const struct {
    const char *name;
    double low, high;
    const char *wrong;
  } limits[] = {{"layers", 1, 64, "layers: not from 1 to 64"},
                {"blocks", 1, 100, "blocks: not from 1 to 100"},
                {"units", 1, SIDE_MAX, "units: not from 1 to 65536"},
                {"hidden", 1, SIDE_MAX, "hidden: not from 1 to 65536"},
                {"heads", 1, SIDE_MAX, "heads: not from 1 to 65536"},
                {"kernel", 1, 15, "kernel: not from 1 to 15"},
                {"width", DBL_MIN, 16, "width: not above 0 and up to 16"},
                {"deviation", 0, 16, "deviation: not from 0 to 16"},
                {"dropout", 0, 1 - DBL_EPSILON / 2, "dropout: not from 0 to below 1"},
                {"activation", 0, HU_ACTIVATION_TANH, "activation: unknown"},
                {"", 0, 1, "nobias, projection, bypass, bottleneck, v1, defaults: neither 0 nor 1"}};
  size_t i = 0;
  if (key->type == 'l') return NULL;
  while (limits[i].name[0] && (key->type == 'w' || strcmp(limits[i].name, key->name) != 0)) i++;
  double x = hui_key_number(model, key);
  return x >= limits[i].low && x <= limits[i].high ? NULL : limits[i].wrong;
}

/* Numbers from 1 to `most`, at least one, then zeros. */
static int is_list(const uint32_t x[HU_KEY_LIST], uint32_t most) {
  int ended = 0, good = x[0] != 0;
  for (size_t i = 0; i < HU_KEY_LIST; i++) {
    good &= x[i] <= most && !(ended && x[i]);
    ended |= x[i] == 0;
  }
  return good;
}

static const char *wrong_list(const hu_model *model) {
  if (model->kind == HU_MODEL_CONV && model->channels[0] == 0) return "channels: none";
  if (model->kind == HU_MODEL_CONV && !is_list(model->channels, SIDE_MAX)) return "channels: not from 1 to 65536";
  int has_stages = model->kind == HU_MODEL_RESNET4 || model->kind == HU_MODEL_TF_IMAGENET;
  if (has_stages && !is_list(model->stages, 100)) return "stages: not from 1 to 100 blocks each";
  if (model->kind == HU_MODEL_DLRM && !is_list(model->bottom, SIDE_MAX))
    return "bottom: not from 1 to 65536 units each";
  int has_top = model->kind == HU_MODEL_DLRM || model->kind == HU_MODEL_TF_NCF;
  if (has_top && !is_list(model->top, SIDE_MAX)) return "top: not from 1 to 65536 units each";
  return NULL;
}

static const char *wrong(const hu_model *model) {
  if (model->scaling > HU_SCALING_UNIT) return "scaling: unknown";
  if (model->kind == HU_MODEL_NETWORK) return model->text ? NULL : "text: NULL";
  if (model->kind >= HU_MODEL_KINDS) return "kind: unknown";
  const hu_model_kind *kind = &kinds[model->kind];
  for (size_t i = 0; i < kind->keys.count; i++) {
    const char *what = wrong_key(model, &kind->keys.key[i]);
    if (what) return what;
  }
  if (model->kind == HU_MODEL_CONV && model->kernel % 2 == 0) return "kernel: not odd";
  int attends = model->kind == HU_MODEL_TRANSFORMER || model->kind == HU_MODEL_SEQ2SEQ || model->kind == HU_MODEL_BERT;
  int has_heads = attends || model->kind == HU_MODEL_T2T_TRANSFORMER;
  if (has_heads && model->units % model->heads != 0) return "heads: no divisor of units";
  if (attends && model->activation == HU_ACTIVATION_TANH) return "activation: neither relu nor gelu";
  if (model->kind == HU_MODEL_NCF && model->layers > 16) return "layers: above 16";
  return wrong_list(model);
}

static int outside(size_t x, size_t most) { return x == 0 || x > most; }

static const char *wrong_sizes(const hu_model *model, const hu_model_sizes *sizes) {
  if (model->kind == HU_MODEL_NETWORK) return NULL; /* the text says what it needs */
  unsigned needs = kinds[model->kind].needs;
  if (needs & HU_NEEDS_IMAGE) {
    if (outside(sizes->height, SIDE_MAX)) return "height: not from 1 to 65536";
    if (outside(sizes->width, SIDE_MAX)) return "width of images: not from 1 to 65536";
    if (outside(sizes->channels, SIDE_MAX)) return "channels of images: not from 1 to 65536";
    if ((uint64_t)sizes->height * sizes->width * sizes->channels > NUMBERS_MAX)
      return "height, width, channels: above 2^24 numbers";
    int halved = model->kind == HU_MODEL_SQUEEZENET || model->kind == HU_MODEL_LEE_SQUEEZENET;
    if (halved && (sizes->height < 8 || sizes->width < 8)) return "height, width: below 8";
  }
  if (needs & HU_NEEDS_TOKENS) {
    if (outside(sizes->steps, SIDE_MAX)) return "steps: not from 1 to 65536";
    if (outside(sizes->vocabulary, NUMBERS_MAX)) return "vocabulary: not from 1 to 2^24";
    if (model->kind == HU_MODEL_BERT && sizes->vocabulary == NUMBERS_MAX)
      return "vocabulary: 2^24, and the mask is one more";
    if ((needs & HU_NEEDS_SOURCE) && outside(sizes->source_vocabulary, NUMBERS_MAX))
      return "source_vocabulary: not from 1 to 2^24";
    if (model->kind == HU_MODEL_T2T_TRANSFORMER && sizes->source_vocabulary != sizes->vocabulary)
      return "source_vocabulary: not that of the target, and both share a table";
    return sizes->outputs && sizes->outputs != sizes->vocabulary ? "outputs: neither the vocabulary nor 0" : NULL;
  }
  if (needs & HU_NEEDS_FEATURES) {
    if (outside(sizes->dense, ROWS_MAX)) return "dense: not from 1 to 4095";
    if (outside(sizes->categories, ROWS_MAX)) return "categories: not from 1 to 4095";
    if (outside(sizes->vocabulary, NUMBERS_MAX)) return "vocabulary: not from 1 to 2^24";
  }
  if (needs & HU_NEEDS_PAIRS) {
    if (outside(sizes->users, NUMBERS_MAX)) return "users: not from 1 to 2^24";
    if (outside(sizes->items, NUMBERS_MAX)) return "items: not from 1 to 2^24";
  }
  return outside(sizes->outputs, SIDE_MAX) ? "outputs: not from 1 to 65536" : NULL;
}

static HU_NOINLINE hu_status check(const hu_model *model, const hu_model_sizes *sizes, const char **why) {
  if (!model) return HU_E_NULL;
  const char *what = wrong(model);
  hu_status status = what ? HU_E_TRAIN : HU_OK;
  if (!what && sizes) {
    what = wrong_sizes(model, sizes);
    if (what) status = HU_E_SHAPE;
  }
  if (what && why) *why = what;
  return status;
}

hu_status hu_model_check(const hu_model *model, const hu_model_sizes *sizes, const char **why) {
  HU_ENV_RETURN(hu_status, check(model, sizes, why));
}

/* ---- building ---- */

/* Says in the net what is wrong with a text: its model, the line, and a sentence. */
static void refuse_text(const hu_network *network) {
  char said[HU_NETWORK_WHY_MAX + 48];
  const hu_model *model = network->model;
  int named = model->kind != HU_MODEL_NETWORK;
  snprintf(said, sizeof said, "%s%sline %u: %s", named ? kinds[model->kind].name : "", named ? ", " : "",
           hui_network_line(network->text, network->wrong_at), network->why);
  hui_refuse_whole(network->net, network->status, said);
}

/* Adds the layers of a text. */
static hu_status add_text(hu_network *network) {
  const hu_model *model = network->model;
  int named = model->kind != HU_MODEL_NETWORK;
  network->text = named ? kinds[model->kind].text : model->text;
  network->keys = named ? &kinds[model->kind].keys : NULL;
  snprintf(network->scope, sizeof network->scope, "%s", hu_net_scope_of(network->net));
  network->before = network->net->values;
  if (model->scaling == HU_SCALING_UNIT) hui_unit_begin(network);
  if (network->status != HU_OK) return network->status;
  hu_status status = hui_network_read(network, HU_NETWORK_RUN);
  if (status == HU_OK) hui_network_settings(network);
  if (network->status != HU_OK) refuse_text(network);
  return network->status;
}

static HU_NOINLINE hu_status build(hu_net *net, const hu_model *model, const hu_model_sizes *sizes, hu_model_ends *ends,
                                   const char **why) {
  hu_model_ends made = {.inputs = {-1, -1, -1, -1}, .output = -1, .lengths = -1};
  if (!net || !model || !sizes || !ends) return HU_E_NULL;
  hu_status status = hu_model_check(model, sizes, why);
  if (status == HU_OK) status = hu_net_status(net, why);
  if (status != HU_OK) return status;
  hu_network *network = calloc(1, sizeof *network);
  if (!network) return HU_E_MEMORY;
  network->net = net;
  network->model = model;
  network->sizes = sizes;
  network->ends = &made;
  status = add_text(network);
  free(network);
  if (status == HU_OK) *ends = made;
  return status == HU_OK ? HU_OK : hu_net_status(net, why);
}

hu_status hu_model_build(hu_net *net, const hu_model *model, const hu_model_sizes *sizes, hu_model_ends *ends,
                         const char **why) {
  HU_ENV_RETURN(hu_status, build(net, model, sizes, ends, why));
}

static HU_NOINLINE size_t describe(char *text, size_t size, const hu_model *model, const hu_model_sizes *sizes) {
  hu_model_ends made = {.inputs = {-1, -1, -1, -1}, .output = -1, .lengths = -1};
  hu_net *net = model && sizes && hu_model_check(model, sizes, NULL) == HU_OK ? hu_net_new(1, 1) : NULL;
  hu_network *network = calloc(1, sizeof *network);
  size_t length = 0;
  if (net && network) {
    network->net = net;
    network->model = model;
    network->sizes = sizes;
    network->ends = &made;
    network->shown.on = 1;
    network->shown.text = text;
    network->shown.size = size;
    if (add_text(network) == HU_OK) {
      hui_show_end(network);
      length = network->shown.length;
    }
  }
  free(network);
  hu_net_free(net);
  return length;
}

size_t hu_model_describe(char *text, size_t size, const hu_model *model, const hu_model_sizes *sizes) {
  HU_ENV_RETURN(size_t, describe(text, size, model, sizes));
}

/* ---- feeding ---- */

/* Numbers from `from` on of every sample's `all`, n of them, for one input. */
static hu_status feed_part(hu_net *net, int input, size_t samples, size_t n, size_t from, size_t all, const float *x) {
  float *part = malloc(samples * n * sizeof *part);
  if (!part) return HU_E_MEMORY;
  for (size_t i = 0; i < samples; i++) memcpy(part + i * n, x + i * all + from, n * sizeof *part);
  hu_status status = hu_net_feed(net, input, part);
  free(part);
  return status;
}

hu_status hu_model_feed(hu_net *net, const hu_model_ends *ends, const float *x) {
  enum { MOST = sizeof ends->inputs / sizeof *ends->inputs };
  size_t numbers[MOST], all = 0;
  if (!net || !ends || !x) return HU_E_NULL;
  if (ends->count == 1) return hu_net_feed(net, ends->inputs[0], x);
  if (ends->count < 1 || ends->count > MOST) return HU_E_SHAPE;
  for (int k = 0; k < ends->count; k++) {
    const char *made_by = hu_net_value_kind(net, ends->inputs[k]);
    if (!made_by || *made_by) return HU_E_SHAPE; /* before x is read: "" is an input */
    numbers[k] = hui_net_rows(net, ends->inputs[k]) * hui_net_cols(net, ends->inputs[k]);
  }
  const size_t samples = net->batch;
  for (int k = 0; k < ends->count; k++) all += numbers[k] / samples;
  hu_status status = HU_OK;
  for (size_t k = 0, from = 0; k < (size_t)ends->count && status == HU_OK; k++) {
    size_t n = numbers[k] / samples;
    status = feed_part(net, ends->inputs[k], samples, n, from, all, x);
    from += n;
  }
  return status;
}
