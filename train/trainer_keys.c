/* SPDX-License-Identifier: MIT */
/* The keys of a training run: names, usual values, how a value is read. */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "train/trainer.h"
#include "train/words.h"

enum kind { COUNT, NUMBER, WORD, TEXT, MODEL, RULE, FORMAT, UPDATE, ROUNDING, ACCUM, RATIO, SCHEDULE, SYSTEM };

typedef struct key {
  hu_trainer_key shown;
  enum kind kind;
  size_t at; /* in hu_run_keys */
  double low, high;
  const char *const *words; /* up to a NULL; WORD: the value is its number */
} key;

#define AT(field) offsetof(hu_run_keys, field)
#define WHOLE (1 << 24)
static const char *const no_yes[] = {"no", "yes", NULL};
static const char *const devices[] = {"cpu", "cuda", NULL};
static const char *const sets[] = {"digits",  "gratings", "text",  "least_squares", "teacher", "ratings",
                                   "cifar10", "cifar100", "mnist", "npy",           NULL};
static const char *const losses[] = {"usual", "cross_entropy", "squared_error", NULL};
static const char *const optimizers[] = {"sgd", "adamw", NULL};
static const char *const penalties[] = {"none", "l2", "l2_half", "l1", NULL};
static const char *const larcs[] = {"none", "clip", "scale", NULL};
static const char *const exempts[] = {"none", "first", "last", "both", NULL};
static const char *const assignments[] = {"none", "high", "uniform", "operator", "operator'", "demote", NULL};
static const char *const orders[] = {"largest", "smallest", "random", NULL};

static const key keys[] = {
    {{"run.name", "run", "what the run is called in reports", 0}, TEXT, SIZE_MAX, 0, 0, NULL},
    {{"run.seed", "0", "first weights, order of the data, random words of roundings", 1},
     COUNT,
     AT(seed),
     0,
     0x1p53,
     NULL},
    {{"run.batch", "64", "samples of a step", 1}, COUNT, AT(batch), 1, WHOLE, NULL},
    {{"run.epochs", "10", "passes over the training set", 1}, COUNT, AT(epochs), 0, WHOLE, NULL},
    {{"run.steps", "0", "steps; 0: run.epochs decides", 1}, COUNT, AT(steps), 0, 0x1p40, NULL},
    {{"run.threads", "1", "threads; 0: as many as there are processors, up to 256", 0},
     COUNT,
     AT(threads),
     0,
     256,
     NULL},
    {{"run.device", "cpu", "cpu or cuda", 0}, WORD, AT(device), 0, 0, devices},

    {{"data.set", "digits", "digits, gratings, text, least_squares, teacher, ratings, cifar10, cifar100, mnist or npy",
      1},
     WORD,
     AT(set),
     0,
     0,
     sets},
    {{"data.path", "", "file (text, npy: the inputs) or folder (digits, cifar10, cifar100, mnist); empty: the folder",
      1},
     TEXT,
     AT(path),
     0,
     0,
     NULL},
    {{"data.labels", "", "npy: file of the labels", 1}, TEXT, AT(labels), 0, 0, NULL},
    {{"data.count", "2000", "generated sets: examples for training", 1}, COUNT, AT(count), 1, WHOLE, NULL},
    {{"data.test", "500", "generated sets: examples for testing", 1}, COUNT, AT(test), 1, WHOLE, NULL},
    {{"data.size", "16", "gratings: pixels of a side", 1}, COUNT, AT(size), 4, 256, NULL},
    {{"data.classes", "10", "gratings, npy: classes", 1}, COUNT, AT(classes), 2, 65536, NULL},
    {{"data.features", "10", "least_squares, teacher: features", 1}, COUNT, AT(features), 1, 65536, NULL},
    {{"data.window", "32", "text: tokens of a sample", 1}, COUNT, AT(window), 1, 65536, NULL},
    {{"data.deviation", "25", "teacher: standard deviation of the targets", 1}, NUMBER, AT(deviation), 1e-6, 1e6, NULL},
    {{"data.noise", "0.5", "least_squares, ratings: standard deviation of the noise", 1},
     NUMBER,
     AT(noise),
     0,
     1e6,
     NULL},
    {{"data.users", "100", "ratings: users", 1}, COUNT, AT(users), 1, WHOLE, NULL},
    {{"data.items", "80", "ratings: items", 1}, COUNT, AT(items), 1, WHOLE, NULL},
    {{"data.rank", "4", "ratings: hidden features of users and items", 1}, COUNT, AT(rank), 1, 256, NULL},
    {{"data.implicit", "no", "ratings: yes: labels 0 and 1 in place of scores", 1}, WORD, AT(implicit), 0, 0, no_yes},
    {{"data.raw", "no", "digits: yes: pixels 0 to 16, not divided by 16", 1}, WORD, AT(raw), 0, 0, no_yes},
    {{"data.coarse", "no", "cifar100: yes: the 20 coarse labels", 1}, WORD, AT(coarse), 0, 0, no_yes},
    {{"data.augment", "no", "cifar10, cifar100: yes: padded by 4, cropped, mirrored", 1},
     WORD,
     AT(augment),
     0,
     0,
     no_yes},
    {{"data.seed", "0", "of generated data", 1}, COUNT, AT(data_seed), 0, 0x1p53, NULL},

    {{"model.net", "mlp(layers=2,units=64)", "the network: docs/models.md", 1}, MODEL, AT(model), 0, 0, NULL},

    {{"loss.kind", "usual", "cross_entropy, squared_error, or usual: what the data have", 1},
     WORD,
     AT(loss),
     0,
     0,
     losses},
    {{"loss.power", "0", "the loss is multiplied by 2 to the minus this: a large batch seen in small parts", 1},
     COUNT,
     AT(power),
     0,
     96,
     NULL},
    {{"loss.scale", "none",
      "a rule of loss_scale.h: none, static(1024), backoff(...), logmax(...), gradscaler(...); or largest: static, "
      "chosen "
      "from the largest gradient of 8 batches before the first step",
      1},
     RULE,
     AT(rule),
     0,
     0,
     NULL},
    {{"loss.margin", "1", "loss.scale = largest: binades left free", 1}, COUNT, AT(margin), 0, 32, NULL},

    {{"optimizer.kind", "sgd", "sgd or adamw", 1}, WORD, AT(optimizer), 0, 0, optimizers},
    {{"optimizer.rate", "0.1", "learning rate", 1}, NUMBER, AT(rate), 0, 1e6, NULL},
    {{"optimizer.momentum", "0", "sgd", 1}, NUMBER, AT(momentum), 0, 1, NULL},
    {{"optimizer.beta1", "0.9", "adamw", 1}, NUMBER, AT(beta1), 0, 1, NULL},
    {{"optimizer.beta2", "0.999", "adamw", 1}, NUMBER, AT(beta2), 0, 1, NULL},
    {{"optimizer.eps", "1e-8", "adamw", 1}, NUMBER, AT(eps), 0, 1, NULL},
    {{"optimizer.decay", "0", "weight decay", 1}, NUMBER, AT(decay), 0, 1, NULL},
    {{"optimizer.coupled", "no", "adamw: yes: decay goes into the gradient", 1}, WORD, AT(coupled), 0, 0, no_yes},
    {{"optimizer.fused", "no", "sgd: yes: w - rate m with one rounding", 1}, WORD, AT(fused), 0, 0, no_yes},
    {{"optimizer.state", "binary32", "format of momenta and of the optimizer's arithmetic", 1},
     FORMAT,
     AT(state),
     0,
     0,
     NULL},
    {{"optimizer.weights", "binary32", "format of the weights that it keeps", 1}, FORMAT, AT(weight), 0, 0, NULL},
    {{"optimizer.update", "rne", "end of the weight update: a rounding mode (rne, sra:16, ...) or kahan", 1},
     UPDATE,
     AT(update),
     0,
     0,
     NULL},
    {{"optimizer.kahan", "",
      "parameters that end with Kahan summation whatever optimizer.update says: names, commas "
      "between them",
      1},
     TEXT,
     AT(kahan_only),
     0,
     0,
     NULL},
    {{"optimizer.schedule", "constant",
      "constant; cosine: rate (1 + cos(pi epoch / epochs)) / 2; drop(at,by): rate times `by` from the share `at` of "
      "the "
      "epochs on",
      1},
     SCHEDULE,
     AT(schedule),
     0,
     0,
     NULL},

    {{"gradient.clip", "0", "largest global norm of the unscaled gradients; 0: any", 1},
     NUMBER,
     AT(clip),
     0,
     1e30,
     NULL},
    {{"gradient.penalty", "none", "none; of weights, on the master weights: l2 (lambda |w|^2), l2_half, l1", 1},
     WORD,
     AT(penalty),
     0,
     0,
     penalties},
    {{"gradient.lambda", "1e-5", "its lambda", 1}, NUMBER, AT(lambda), 0, 1e300, NULL},
    {{"gradient.literal", "no", "yes: penalties are added before the loss scale is divided out, as OpenSeq2Seq does",
      1},
     WORD,
     AT(literal),
     0,
     0,
     no_yes},
    {{"gradient.larc", "none", "none, clip or scale", 1}, WORD, AT(larc), 0, 0, larcs},
    {{"gradient.eta", "0.001", "of LARC", 1}, NUMBER, AT(eta), 0, 1e6, NULL},

    {{"precision.system", "binary32",
      "sets the keys below: binary32, fp16, bfloat16, fp8, s2fp8, fp8_tensor, mxfp8, mxfp6, mxfp4, nvfp4, dsv3, hfp8, "
      "wang2018",
      0},
     SYSTEM,
     SIZE_MAX,
     0,
     0,
     NULL},
    {{"precision.values", "keep", "rounding of every value, after its operator", 1}, ROUNDING, AT(values), 0, 0, NULL},
    {{"precision.gradients", "keep", "of the gradient of every value", 1}, ROUNDING, AT(gradients), 0, 0, NULL},
    {{"precision.parameters", "keep", "of the parameters that operators see", 1}, ROUNDING, AT(parameters), 0, 0, NULL},
    {{"precision.parameter_gradients", "keep", "of the gradients of parameters", 1},
     ROUNDING,
     AT(parameter_gradients),
     0,
     0,
     NULL},
    {{"precision.embeddings", "keep", "of the results of embeddings, in place of precision.values", 1},
     ROUNDING,
     AT(embeddings),
     0,
     0,
     NULL},
    {{"precision.x", "keep", "of X in Z = X W of products and convolutions", 1}, ROUNDING, AT(x), 0, 0, NULL},
    {{"precision.w", "keep", "of W there", 1}, ROUNDING, AT(w), 0, 0, NULL},
    {{"precision.dz", "keep", "of dZ in dX = dZ W^T", 1}, ROUNDING, AT(dz), 0, 0, NULL},
    {{"precision.w_back", "keep", "of W there", 1}, ROUNDING, AT(w_back), 0, 0, NULL},
    {{"precision.x_back", "keep", "of X in dW = X^T dZ", 1}, ROUNDING, AT(x_back), 0, 0, NULL},
    {{"precision.dz_w", "keep", "of dZ there", 1}, ROUNDING, AT(dz_w), 0, 0, NULL},
    {{"precision.z_out", "keep", "of the result Z, before the bias", 1}, ROUNDING, AT(z_out), 0, 0, NULL},
    {{"precision.dx_out", "keep", "of the result dX", 1}, ROUNDING, AT(dx_out), 0, 0, NULL},
    {{"precision.dw_out", "keep", "of the result dW", 1}, ROUNDING, AT(dw_out), 0, 0, NULL},
    {{"precision.accum", "fp32", "accumulation model of products: a text of accum.h, or a preset (halfulp models)", 1},
     ACCUM,
     AT(accum),
     0,
     0,
     NULL},
    {{"precision.hadamard", "0", "block of the Hadamard transform before dW: 0, 16, 32, 64 or 128", 1},
     COUNT,
     AT(hadamard),
     0,
     128,
     NULL},
    {{"precision.signs", "0", "its signs: bit i for row i mod 32", 1}, COUNT, AT(signs), 0, 0xFFFFFFFFu, NULL},
    {{"precision.exempt", "none", "products that stay in binary32: none, first, last or both", 1},
     WORD,
     AT(exempt),
     0,
     0,
     exempts},

    {{"precision.layers", "",
      "linear layers and convolutions whose products the keys above are for: names, commas between "
      "them; empty: all",
      1},
     TEXT,
     AT(layers),
     0,
     0,
     NULL},
    {{"precision.attention", "yes", "no: the two products of attention stay in binary32", 1},
     WORD,
     AT(attention),
     0,
     0,
     no_yes},

    {{"assignment.kind", "none",
      "which tensors are low: none (the keys above hold), high, uniform, operator, operator', "
      "demote",
      1},
     WORD,
     AT(assignment),
     0,
     0,
     assignments},
    {{"assignment.ratio", "1/2", "demote: share of low elements to be reached", 1}, RATIO, AT(ratio), 0, 0, NULL},
    {{"assignment.order", "largest", "demote: largest, smallest or random groups first", 1},
     WORD,
     AT(order),
     0,
     0,
     orders},
    {{"assignment.promote", "0.01",
      "share of overflows above which a forward tensor becomes high; 1: never, as in the published baselines (high, "
      "uniform, operator, operator')",
      1},
     RATIO,
     AT(limit),
     0,
     0,
     NULL},
    {{"assignment.keep_high", "yes", "gradients of parameters stay high", 1}, WORD, AT(keep_high), 0, 0, no_yes},
    {{"assignment.low_forward", "fp(4,3,4):finite,sat=finite", "format of low values and parameters", 1},
     ROUNDING,
     AT(low_forward),
     0,
     0,
     NULL},
    {{"assignment.low_backward", "fp(5,2,0):finite,over=inf", "of low gradients", 1},
     ROUNDING,
     AT(low_backward),
     0,
     0,
     NULL},
    {{"assignment.high_forward", "fp(6,9,0):finite,sat=finite", "of high values and parameters", 1},
     ROUNDING,
     AT(high_forward),
     0,
     0,
     NULL},
    {{"assignment.high_backward", "fp(6,9,0):finite,over=inf", "of high gradients", 1},
     ROUNDING,
     AT(high_backward),
     0,
     0,
     NULL},
};
enum { KEYS = sizeof keys / sizeof *keys };

size_t hu_trainer_key_count(void) { return KEYS; }

hu_trainer_key hu_trainer_key_at(size_t i) {
  const hu_trainer_key none = {NULL, NULL, NULL, 0};
  return i < KEYS ? keys[i].shown : none;
}

size_t hu_find_key(const char *name) {
  for (size_t i = 0; i < KEYS; i++) {
    if (strcmp(keys[i].shown.name, name) == 0) return i;
  }
  return SIZE_MAX;
}

/* ---- values ---- */

static hu_status read_number(const key *k, const char *value, double *x, const char **said) {
  double got;
  if (!hu_read_number(value, strlen(value), &got)) {
    *said = "is not a number";
    return HU_E_TRAIN;
  }
  *said = "is out of range";
  if (!(got >= k->low && got <= k->high)) return HU_E_TRAIN;
  *x = got;
  return HU_OK;
}

static hu_status read_count(const key *k, const char *value, uint64_t *z, const char **said) {
  double x;
  hu_status s = read_number(k, value, &x, said);
  if (s != HU_OK) return s;
  if (x != (double)(uint64_t)x) {
    *said = "is not a whole number";
    return HU_E_TRAIN;
  }
  *z = (uint64_t)x;
  return HU_OK;
}

static hu_status read_word(const key *k, const char *value, uint64_t *z, const char **said) {
  for (uint64_t i = 0; k->words[i]; i++) {
    if (strcmp(k->words[i], value) != 0) continue;
    *z = i;
    return HU_OK;
  }
  *said = "is none of its words";
  return HU_E_TRAIN;
}

static hu_status read_rule(hu_run_keys *z, const char *value, const char **said) {
  hu_loss_rule rule;
  int largest = strcmp(value, "largest") == 0;
  hu_status s = hu_loss_rule_parse(&rule, largest ? "static(1)" : value, NULL);
  *said = "is not a rule of the loss scale";
  if (s != HU_OK) return s;
  z->largest = (uint64_t)largest;
  z->rule = rule;
  return HU_OK;
}

static hu_status read_update(hu_run_keys *z, const char *value, const char **said) {
  hu_mode mode = {0};
  int kahan = strcmp(value, "kahan") == 0;
  hu_status s = kahan ? HU_OK : hu_mode_parse_round(&mode, value);
  *said = "is neither a rounding mode nor kahan";
  if (s != HU_OK) return s;
  z->kahan = (uint64_t)kahan;
  z->update = mode;
  return HU_OK;
}

/* "drop(0.667,0.1)" */
static hu_status read_schedule(hu_run_keys *z, const char *value, const char **said) {
  double at, by;
  size_t n = strlen(value);
  const char *comma = strchr(value, ',');
  *said = "is not constant, cosine or drop(at,by), 0 < at < 1, 0 < by <= 1";
  if (strcmp(value, "constant") == 0 || strcmp(value, "cosine") == 0) {
    z->schedule = value[2] == 's' ? SCHEDULE_COSINE : SCHEDULE_CONSTANT;
    return HU_OK;
  }
  if (strncmp(value, "drop(", 5) != 0 || value[n - 1] != ')' || !comma) return HU_E_TRAIN;
  if (!hu_read_number(value + 5, (size_t)(comma - value) - 5, &at) || !(at > 0 && at < 1)) return HU_E_TRAIN;
  if (!hu_read_number(comma + 1, n - (size_t)(comma - value) - 2, &by) || !(by > 0 && by <= 1)) return HU_E_TRAIN;
  z->schedule = SCHEDULE_DROP;
  z->drop_at = at;
  z->drop_by = by;
  return HU_OK;
}

/* A model, or the preset of a matrix unit, whose own formats the operands have to fit. */
static hu_status read_accum(const char *value, hu_accum *z, const char **said) {
  hu_accum a;
  hu_status s = hu_accum_parse(&a, value, NULL);
  *said = "is not an accumulation model";
  if (s == HU_OK) *z = a;
  return s;
}

static hu_status read_format(const char *value, hu_format *z, const char **said) {
  hu_format f;
  hu_status s = hu_format_parse(&f, value, NULL);
  *said = "is not a format";
  if (s == HU_OK && !hu_format_fits_binary32(f)) {
    *said = "is a format beyond binary32";
    s = HU_E_CARRIER;
  }
  if (s == HU_OK) *z = f;
  return s;
}

static hu_status read_rounding(const char *value, hu_rounding *z, const char **said) {
  hu_rounding r;
  hu_status s = hu_rounding_parse(&r, value, NULL);
  *said = "is not a rounding";
  if (s == HU_OK) *z = r;
  return s;
}

static hu_status read_model(const char *value, hu_model *z, const char **said) {
  hu_model m;
  hu_status s = hu_model_parse(&m, value, NULL);
  *said = "is not a model";
  if (s == HU_OK) *z = m;
  return s;
}

hu_status hu_read_key(hu_run_keys *z, size_t i, const char *value, const char **said) {
  const key *k = &keys[i];
  void *at = k->at == SIZE_MAX ? NULL : (char *)z + k->at;
  *said = NULL;
  switch (k->kind) {
    case COUNT: return read_count(k, value, at, said);
    case NUMBER: return read_number(k, value, at, said);
    case WORD: return read_word(k, value, at, said);
    case MODEL: return read_model(value, at, said);
    case RULE: return read_rule(z, value, said);
    case FORMAT: return read_format(value, at, said);
    case UPDATE: return read_update(z, value, said);
    case ROUNDING: return read_rounding(value, at, said);
    case ACCUM: return read_accum(value, at, said);
    case SCHEDULE: return read_schedule(z, value, said);
    case RATIO: *said = "is not a ratio between 0 and 1"; return hu_ratio_parse(at, value);
    case SYSTEM: *said = "is no system"; return hu_system_pairs(value) ? HU_OK : HU_E_NAME;
    case TEXT: break;
  }
  if (at) *(const char **)at = value;
  return HU_OK;
}

hu_status hu_say(char *why, hu_status s, const char *format, ...) {
  va_list list;
  if (!why) return s;
  va_start(list, format);
  vsnprintf(why, HU_DATA_WHY_MAX, format, list);
  va_end(list);
  return s;
}
