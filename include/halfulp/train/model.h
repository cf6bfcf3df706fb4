/* SPDX-License-Identifier: MIT */
/* halfulp/train/model.h - networks from texts: those of the papers by name, and your own layer by layer.
 *
 *   hu_model m;
 *   if (hu_model_parse(&m, "resnet(width=0.25)", NULL) != HU_OK) ...
 *   hu_model_sizes sizes = hu_model_sizes_of_data(&training);
 *   hu_net *net = hu_net_new(64, 1);
 *   hu_model_ends ends;
 *   const char *why = "";
 *   if (hu_model_build(net, &m, &sizes, &ends, &why) != HU_OK) puts(why);
 *   int loss = hu_net_cross_entropy(net, ends.output, 1);
 *   if (hu_net_initialize(net, seed) != HU_OK) ...
 *   each step: hu_model_feed(net, &ends, x), labels, hu_net_forward, ...
 *
 * A model is what is chosen, its sizes are what the data are; together they determine every layer, its parameters'
 * names (hu_net_parameter_name) and first weights. Models are built from the public calls of net.h alone; the loss, and
 * roundings, are the caller's. docs/training/networks.md draws each of them layer by layer, with its source.
 *
 * A text of more than one line is that of a network of your own: its layers, in the grammar which that page defines.
 * Its model has the kind HU_MODEL_NETWORK and points to the text. Its errors are in the sentence of hu_model_build:
 * the line, the layer and the shapes that it was given.
 *
 * Texts, with all keys and what they are where nothing is said (no blanks; keys in any order, each at most once; a
 * model without keys has no parentheses):
 *
 *   linear                              X W + b; word `nobias`: X W
 *   mlp(layers=2,units=64,activation=relu,dropout=0)
 *                                       hidden layers of so many units; relu, gelu or tanh
 *   conv(channels=8/16/16,kernel=3,width=1,dropout=0)
 *                                       convolution, batch norm, ReLU for each; global average; linear
 *   resnet(blocks=3,width=1)            He et al. 2016, for 32 x 32 images: 6 blocks + 2 layers, so ResNet-20, which
 *                                       `resnet20` means, too; shortcuts are the paper's option A, with the word
 *                                       `projection` its option B
 *   resnet4(stages=2/2/2/2,width=1)     He et al. 2016, section 4.1, so many blocks in each stage; the first layer is
 *                                       that for images of 32 x 32; `resnet18` means it, too. With the word
 *                                       `bottleneck` blocks of three layers. `resnet34`: stages=3/4/6/3, `resnet50`:
 *                                       that and bottleneck
 *   squeezenet(width=1,dropout=0)       Iandola et al. 2016, for 32 x 32 images, batch norm; word `bypass`: with its
 *                                       simple bypass; the paper has dropout=0.5
 *   mobilenet2(width=1,dropout=0)       Sandler et al. 2018, table 2, for images of 32 x 32: the strides of the first
 *                                       layer and of stage 2 are 1
 *   shufflenet2(width=1)                Ma et al. 2018, table 5, for images of 32 x 32: the first layer has stride 1
 *                                       and no max pool behind it
 *   gru(layers=1,units=32,dropout=0)    over the rows of an image; linear on the last state
 *   lstm(layers=1,units=64,deviation=0.1,dropout=0)
 *                                       language model: embedding, LSTM, linear at each step
 *   transformer(layers=1,units=32,heads=2,hidden=128,activation=relu,deviation=0.3,dropout=0)
 *                                       language model: pre-norm, causal, trained positions
 *   ncf(layers=3,units=8,deviation=0.01)
 *                                       He et al. 2017, neural matrix factorisation of users and items
 *   seq2seq(layers=1,units=32,heads=2,hidden=128,activation=relu,deviation=0.3,dropout=0)
 *                                       Vaswani et al. 2017, encoder and decoder of `layers` each, pre-norm, trained
 *                                       positions; padding of the source has no part in attention
 *   bert(layers=1,units=32,heads=2,hidden=128,activation=gelu,deviation=0.02,dropout=0)
 *                                       Devlin et al. 2019, masked language model of one segment: post-norm, every
 *                                       step sees all others; token number `vocabulary` is the mask
 *   dlrm(units=16,bottom=64/32,top=64/32,deviation=0.1)
 *                                       Naumov et al. 2019: layers of the dense features (and one of `units` behind
 *                                       them), embeddings of `units` columns, products of all pairs, layers to the
 *                                       answer
 *
 * and of the code that papers were made with:
 *
 *   tf_resnet(blocks=3,width=1)         tensorflow/models, official/resnet, for 32 x 32 images: 6 blocks + 2 layers,
 *                                       norms before the convolutions; with the word `v1` behind them
 *   tf_imagenet(stages=3/4/6/3)         the same for ImageNet's images: with the words `bottleneck` and `v1`
 *   tf_ncf(units=8,top=64/32/16/8)      tensorflow/models, official/recommendation: one table of users, one of items;
 *                                       the first of `top` is what the layers read
 *   t2t_transformer(layers=2,units=128,heads=4,hidden=512,dropout=0.1)
 *                                       tensor2tensor, transformer_tiny: one table for source, target and logits, whose
 *                                       vocabularies have the same size; sines; pre-norm
 *   lee_squeezenet(width=1), lee_shufflenet2(width=1), lee_mobilenet2(width=1), lee_resnet18(width=1)
 *                                       wonyeol/mixed-prec-train, for 32 x 32 images; lee_resnet18 has the word
 *                                       `defaults`: convolutions start as PyTorch's do where nothing is said
 *
 * `width` multiplies numbers of channels: c channels become floor(width c + 1/2), at least 1. (The last 1280 of
 * mobilenet2 never become fewer; shufflenet2 has those of its paper's table for 0.5, 1, 1.5 and 2; those of lee_ are
 * multiples of 4 or 8: docs/training/networks.md.) `deviation` is that of first embeddings (and positions), `dropout`
 * the probability p of hu_net_dropout, whose layers docs/training/networks.md places in each model; with 0 there are
 * none. Numbers are decimal or "2^k". Errors: HU_E_TRAIN, a field out of its range; HU_E_SHAPE, sizes that the model
 * cannot have; both say which one and why. */
#ifndef HALFULP_TRAIN_MODEL_H
#define HALFULP_TRAIN_MODEL_H

#include "halfulp/train/data.h"
#include "halfulp/train/net.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of models, by the names of their texts. */
enum {
  HU_MODEL_LINEAR = 0,           /* linear */
  HU_MODEL_MLP = 1,              /* mlp */
  HU_MODEL_CONV = 2,             /* conv */
  HU_MODEL_RESNET = 3,           /* resnet */
  HU_MODEL_SQUEEZENET = 4,       /* squeezenet */
  HU_MODEL_GRU = 5,              /* gru */
  HU_MODEL_LSTM = 6,             /* lstm */
  HU_MODEL_TRANSFORMER = 7,      /* transformer */
  HU_MODEL_NCF = 8,              /* ncf */
  HU_MODEL_RESNET4 = 9,          /* resnet4 */
  HU_MODEL_MOBILENET2 = 10,      /* mobilenet2 */
  HU_MODEL_SHUFFLENET2 = 11,     /* shufflenet2 */
  HU_MODEL_SEQ2SEQ = 12,         /* seq2seq */
  HU_MODEL_BERT = 13,            /* bert */
  HU_MODEL_DLRM = 14,            /* dlrm */
  HU_MODEL_TF_RESNET = 15,       /* tf_resnet */
  HU_MODEL_TF_NCF = 16,          /* tf_ncf */
  HU_MODEL_LEE_SQUEEZENET = 17,  /* lee_squeezenet */
  HU_MODEL_LEE_SHUFFLENET2 = 18, /* lee_shufflenet2 */
  HU_MODEL_LEE_MOBILENET2 = 19,  /* lee_mobilenet2 */
  HU_MODEL_LEE_RESNET18 = 20,    /* lee_resnet18 */
  HU_MODEL_T2T_TRANSFORMER = 21, /* t2t_transformer */
  HU_MODEL_TF_IMAGENET = 22,     /* tf_imagenet */
  HU_MODEL_KINDS = 23,           /* (count of those that have a name) */
  HU_MODEL_NETWORK = 255         /* a text of layers */
};
/* Functions between layers. */
enum {
  HU_ACTIVATION_RELU = 0, /* relu */
  HU_ACTIVATION_GELU = 1, /* gelu */
  HU_ACTIVATION_TANH = 2  /* tanh */
};

/* Where factors come from that keep numbers and gradients near a variance of 1 (docs/training/networks.md). */
enum {
  HU_SCALING_NONE = 0, /* from the network's text alone */
  HU_SCALING_UNIT = 1  /* from a rule for each layer; as the line `scaling unit` at the head of a text */
};

/* The most convolutions of `conv`, the most stages of `resnet4`, the most layers in a list of `dlrm`. */
enum {
  HU_MODEL_CHANNELS_MAX = 8, /* convolutions */
  HU_MODEL_STAGES_MAX = 8,   /* stages */
  HU_MODEL_UNITS_MAX = 8     /* layers */
};
/* A network. Fields that a kind's text does not have are not looked at; hu_model_default leaves them 0. */
typedef struct hu_model {
  uint8_t kind;                             /* HU_MODEL_ */
  uint8_t activation;                       /* HU_ACTIVATION_; transformer, seq2seq, bert: not tanh */
  uint8_t no_bias, projection, bypass;      /* the words of linear, resnet, squeezenet */
  uint8_t variant;                          /* the words of tf_resnet, tf_imagenet, lee_resnet18 */
  uint8_t scaling;                          /* HU_SCALING_; no part of hu_model_text */
  uint32_t layers, blocks;                  /* 1 ... 64; 1 ... 100 */
  uint32_t units, hidden;                   /* 1 ... 65536 */
  uint32_t heads;                           /* a divisor of units */
  uint32_t kernel;                          /* odd, 1 ... 15 */
  uint32_t channels[HU_MODEL_CHANNELS_MAX]; /* 1 ... 65536 each, as many as there are, then 0 */
  double width;                             /* above 0, up to 16 */
  float deviation;                          /* 0 ... 16 */
  uint32_t stages[HU_MODEL_STAGES_MAX];     /* blocks of each stage, 1 ... 100, as many as there are, then 0 */
  uint8_t bottleneck;                       /* the word of resnet4, tf_imagenet */
  double dropout;                           /* 0 ... below 1 */
  uint32_t bottom[HU_MODEL_UNITS_MAX];      /* units of layers, 1 ... 65536 each, as many as there are, then 0 */
  uint32_t top[HU_MODEL_UNITS_MAX];         /* the same */
  const char *text;                         /* of HU_MODEL_NETWORK: the caller's, while the model is used; else NULL */
  const char *settings;                     /* NULL, or values of its keys: "width=0.25,stages=2/2,bottleneck" */
} hu_model;

/* What the data are. Looked at:
 *   linear, mlp                height, width, channels (inputs are rows of all their numbers), outputs
 *   conv, resnet, resnet4, squeezenet, mobilenet2, shufflenet2, tf_resnet, tf_imagenet, lee_squeezenet,
 *   lee_shufflenet2, lee_mobilenet2, lee_resnet18
 *                              height, width, channels, outputs; both squeezenets: sides from 8 on
 *   gru                        height (steps), width, channels, outputs
 *   lstm, transformer          steps, vocabulary, outputs (vocabulary, or 0, which means that)
 *   ncf, tf_ncf                users, items, outputs: 1 for scores and for one logit, 2 for labels 0 and 1
 *   seq2seq, t2t_transformer   steps (of source and target), source_vocabulary, vocabulary, outputs as of transformer;
 *                              t2t_transformer: both vocabularies of one size
 *   bert                       steps, vocabulary, outputs as of transformer
 *   dlrm                       dense, categories (features of each kind), vocabulary (rows of all categories together),
 *                              outputs
 * Sides, channels, steps and outputs are 1 ... 65536; vocabularies, users, items 1 ... 2^24 (bert: below 2^24); dense
 * and categories are 1 ... 4095. */
typedef struct hu_model_sizes {
  size_t height, width, channels;
  size_t steps, vocabulary;
  size_t users, items;
  size_t outputs;
  size_t source_vocabulary;
  size_t dense, categories;
} hu_model_sizes;

/* Returns the size number i by its name, which *name becomes, in the order of the record; NULL: there are no more.
 * sizes and name may not be NULL. */
HU_API size_t *hu_model_size(hu_model_sizes *sizes, size_t i, const char **name);

/* Of a data set: its images or features, and outputs = classes, or targets. Of a text: windows of steps + 1 tokens, of
 * which the last is no input. All other sizes are 0, and all are where the argument is NULL. */
HU_API hu_model_sizes hu_model_sizes_of_data(const hu_data *x);               /* sizes of a data set */
HU_API hu_model_sizes hu_model_sizes_of_text(const hu_text *x, size_t steps); /* sizes of windows of a text */

/* The model of a text that is a kind alone; linear for an unknown kind. */
HU_API hu_model hu_model_default(uint8_t kind);
/* sizes: NULL, or checked too. *why, if why is not NULL and the model is refused, is a static sentence that names the
 * field. */
HU_API HU_MUST_CHECK hu_status hu_model_check(const hu_model *m, const hu_model_sizes *sizes, const char **why);

/* On an error *where, if where is not NULL, is the offset of what is wrong. HU_E_NULL, HU_E_NAME (no such model or
 * key), HU_E_TEXT, or hu_model_check's (*where is 0 then). *m is set on success. */
HU_API HU_MUST_CHECK hu_status hu_model_parse(hu_model *m, const char *text, size_t *where);
/* The shortest text that hu_model_parse turns into the same model: keys that have their defaults are left out. Returns
 * its length; 0 for a model that hu_model_check refuses, or of HU_MODEL_NETWORK. Writes at most size characters with
 * the 0; HU_MODEL_TEXT_MAX always suffice. */
#define HU_MODEL_TEXT_MAX 256
HU_API size_t hu_model_text(char *text, size_t size, const hu_model *m);

/* Where a model begins and ends. */
typedef struct hu_model_ends {
  int inputs[4];   /* values; ncf: users, items (one column each); seq2seq: source tokens, the number of them that are
                      no padding, target tokens that are given; dlrm: dense features, categories */
  int count;       /* of inputs */
  int output;      /* rows of logits, scores, ...; no function after the last linear layer */
  unsigned tokens; /* bit i: input i has names of things, as an embedding reads them, or lengths */
  int masked;      /* 1: a masked language model, whose input has the token number `vocabulary` for what it is asked */
  int lengths;     /* -1, or the input with the number of steps that the output of each sample has */
  int heads[4];    /* other values that the loss looks at, too, and the weights of their losses */
  double head_weights[4];
  int head_count;
} hu_model_ends;

/* Adds a model's layers to a net that may have other ones; parameters get names within the net's scope of the time
 * ("" else), which is left as it was. *ends is set on success. Other errors: those of the building calls, with their
 * sentence (*why lives as long as the net). */
HU_API HU_MUST_CHECK hu_status hu_model_build(hu_net *net, const hu_model *m, const hu_model_sizes *sizes,
                                              hu_model_ends *ends, const char **why);
/* Writes the model's layers as a text of HU_MODEL_NETWORK, one layer a line with its shape and the number of its
 * parameters, up to size - 1 characters and a 0. Returns its length; 0 where hu_model_build refuses the model. The text
 * builds the same net, and its own description is the same text. */
HU_API size_t hu_model_describe(char *text, size_t size, const hu_model *m, const hu_model_sizes *sizes);
/* hu_net_feed for all inputs: x is a batch as hu_data_gather makes it: of each sample the numbers of the first input,
 * then those of the next one. */
HU_API HU_MUST_CHECK hu_status hu_model_feed(hu_net *net, const hu_model_ends *ends, const float *x);

#ifdef __cplusplus
}
#endif
#endif
