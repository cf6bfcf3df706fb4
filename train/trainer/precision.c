/* SPDX-License-Identifier: MIT */
/* Gives the net of a run its precision. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "train/environment.h"
#include "train/net/net.h"
#include "train/step/optimizer.h"
#include "train/text/constant.h"
#include "train/text/words.h"
#include "train/trainer/trainer.h"

/* ---- roundings of tensors ---- */

/* Is the parameter a gain or an offset of a norm? */
static int is_of_norm(const hu_net *net, int parameter) {
  for (int i = 0; i < net->operators; i++) {
    const hu_operator *op = &net->op[i];
    int its = op->theta[0] == parameter || op->theta[1] == parameter;
    if (its) return strcmp(op->kind->name, "batch_norm") == 0 || strcmp(op->kind->name, "layer_norm") == 0;
  }
  return 0;
}

/* Is the value a loss beside the last one? */
static int is_aside(const hu_net *net, int value) {
  const int i = hu_net_value_operator(net, value);
  return i >= 0 && net->op[i].kind->aside;
}

static hu_status round_tensors(hu_trainer *trainer) {
  const hu_run_keys *keys = &trainer->keys;
  const hu_rounding keep = hu_rounding_keep();
  hu_status status = HU_OK;
  for (int i = 0; i < trainer->loss && status == HU_OK; i++) {
    if (trainer->net->value[i].tokens || is_aside(trainer->net, i)) continue; /* names, not numbers; losses */
    uint32_t off = hui_off_of_operator(trainer, hu_net_value_operator(trainer->net, i));
    status = hu_net_round_value(trainer->net, i, off & HU_OFF_VALUE ? &keep : &keys->values,
                                off & HU_OFF_GRADIENT ? &keep : &keys->gradients);
  }
  for (int i = 0; i < trainer->net->operators && status == HU_OK && keys->embeddings.kind != HU_ROUND_KEEP; i++) {
    const hu_operator *op = &trainer->net->op[i];
    if (strcmp(op->kind->name, "embedding") == 0 && !(hui_off_of_operator(trainer, i) & HU_OFF_VALUE))
      status = hu_net_round_value(trainer->net, op->out, &keys->embeddings, NULL);
  }
  for (int i = 0; i < hu_net_parameters(trainer->net) && status == HU_OK; i++) {
    if (keys->norms && is_of_norm(trainer->net, i)) continue;
    uint32_t off = hui_off_of_parameter(trainer, i);
    status = hu_net_round_parameter(trainer->net, i, off & HU_OFF_PARAMETER ? &keep : &keys->parameters,
                                    off & HU_OFF_PARAMETER_GRADIENT ? &keep : &keys->parameter_gradients);
  }
  return status;
}

/* ---- products ---- */

/* Names the parameters that there are. */
static hu_status no_name(const hu_trainer *trainer, char *why, const char *key, size_t n, const char *name) {
  hu_status status =
      hui_say(why, HU_E_TRAIN, "%s: nothing is called '%.*s'; parameters are", key, (int)(n < 80 ? n : 80), name);
  for (int i = 0; why && i < hu_net_parameters(trainer->net); i++) {
    size_t used = strlen(why);
    snprintf(why + used, HU_DATA_WHY_MAX - used, " %s", hu_net_parameter_name(trainer->net, i));
  }
  return status;
}

static int is_attention(const hu_operator *op) {
  return strcmp(op->kind->name, "scores") == 0 || strcmp(op->kind->name, "mix") == 0 ||
         strcmp(op->kind->name, "online") == 0;
}

static hu_accum accum_of(const hu_run_keys *keys, const hu_own_accum *own) {
  return own->own ? own->accum : keys->accum;
}

static hu_product_rounding product_of(const hu_run_keys *keys, const hu_operator *op) {
  const int averaged = op->theta[0] >= 0 && op->passes != HU_PASSES_TRAINING;
  hu_product_rounding rounding = {.x = keys->x,
                                  .w = keys->w,
                                  .dz = keys->dz,
                                  .w_back = keys->w_back,
                                  .x_back = keys->x_back,
                                  .dz_w = keys->dz_w,
                                  .z_out = keys->z_out,
                                  .dx_out = keys->dx_out,
                                  .dw_out = keys->dw_out,
                                  .z_accum = accum_of(keys, &keys->z_accum),
                                  .dx_accum = accum_of(keys, &keys->dx_accum),
                                  .dw_accum = accum_of(keys, &keys->dw_accum),
                                  .hadamard = (uint32_t)keys->hadamard,
                                  .signs = (uint32_t)keys->signs,
                                  .by_window = (uint8_t)keys->by_window,
                                  .twice = (uint8_t)keys->twice,
                                  .quartet = (uint8_t)(strcmp(op->kind->name, "linear") == 0 ? keys->quartet : 0),
                                  .w_average = averaged ? (float)keys->w_average : 0};
  int gram = strcmp(op->kind->name, "gram") == 0;
  if (gram || op->sharing.transposed || strcmp(op->kind->name, "scores") == 0) { /* W^T and dW^T are stored */
    rounding.dw_out.turned = rounding.dw_out.kind == HU_ROUND_SCALED ? !rounding.dw_out.turned : 0;
    rounding.w.turned = rounding.w.kind == HU_ROUND_SCALED ? !rounding.w.turned : 0;
    rounding.w_back.turned = rounding.w_back.kind == HU_ROUND_SCALED ? !rounding.w_back.turned : 0;
  }
  return rounding;
}

/* 1: one of the names of a list is that of the layer whose weights these are ("linear1" of "linear1.weight"). */
static int is_listed(const char *list, const char *weights) {
  const char *dot = strrchr(weights, '.');
  size_t length = dot ? (size_t)(dot - weights) : strlen(weights);
  for (; *list; list += *list == ',') {
    size_t n = strcspn(list, ",");
    if (n == length && strncmp(list, weights, n) == 0) return 1;
    list += n;
  }
  return 0;
}

/* Are these one layer? Cells have an operator for each step, which share their weights. */
static int same_layer(const hu_trainer *trainer, int i, int other) {
  int weights = trainer->net->op[i].theta[0];
  return i == other || (weights >= 0 && weights == trainer->net->op[other].theta[0]);
}

/* Is the product of operator i rounded? first, last: those of the net. */
static int is_rounded(const hu_trainer *trainer, int i, int first, int last) {
  const hu_run_keys *keys = &trainer->keys;
  const hu_operator *op = &trainer->net->op[i];
  if ((keys->exempt & EXEMPT_FIRST) && same_layer(trainer, i, first)) return 0;
  if ((keys->exempt & EXEMPT_LAST) && same_layer(trainer, i, last)) return 0;
  if (is_attention(op)) return keys->attention && !*keys->layers;
  if (op->theta[0] < 0) return !*keys->layers; /* a product of two values */
  return !*keys->layers || is_listed(keys->layers, hu_net_parameter_name(trainer->net, op->theta[0]));
}

/* Every name of precision.layers is one of a layer. */
static hu_status check_layers(const hu_trainer *trainer, char *why) {
  for (const char *name = trainer->keys.layers; *name;) {
    size_t n = strcspn(name, ",");
    char one[HU_PARAMETER_NAME_MAX];
    int found = 0;
    snprintf(one, sizeof one, "%.*s", (int)(n < sizeof one ? n : sizeof one - 1), name);
    for (int i = 0; i < trainer->net->operators && !found; i++) {
      const hu_operator *op = &trainer->net->op[i];
      found =
          op->kind->product && op->theta[0] >= 0 && is_listed(one, hu_net_parameter_name(trainer->net, op->theta[0]));
    }
    if (!found) return no_name(trainer, why, "precision.layers", n, name);
    name += n + (name[n] == ',');
  }
  return HU_OK;
}

/* Return the key of a part, and the key of its product's model. */
static const char *operand_key(unsigned part) {
  static const char *const names[] = {"x", "w", "x_back", "dz_w", "dz", "w_back"};
  return names[part];
}

static const char *accum_key(const hu_run_keys *keys, unsigned part) {
  if (part == HU_PART_Z_X || part == HU_PART_Z_W) return keys->z_accum.own ? "z_accum" : "accum";
  if (part == HU_PART_DX_DZ || part == HU_PART_DX_W) return keys->dx_accum.own ? "dx_accum" : "accum";
  return keys->dw_accum.own ? "dw_accum" : "accum";
}

/* Delayed scaling of the product that makes a value, in the net and in those beside it. */
static hu_status delay_product(const hu_trainer *trainer, int value, char *why) {
  const hu_run_keys *keys = &trainer->keys;
  const hu_delayed delayed = {(uint32_t)keys->history, (uint8_t)keys->takes, (uint8_t)keys->margin_of_history};
  const hu_shards *shards = &trainer->shards;
  hu_status status = hu_net_delay_product(trainer->net, value, &delayed);
  for (size_t i = 1; shards->net && i < shards->own && status == HU_OK; i++)
    status = hu_net_delay_product(shards->net[i], value, &delayed);
  if (status == HU_E_SCALING)
    return hui_say(why, status,
                   "precision.history: requires operands with one scale, of one level and the rule ratio (fp8_tensor): "
                   "precision.x, w, dz, w_back, x_back, dz_w, or precision.system = fp8_delayed");
  if (status == HU_E_TRAIN)
    return hui_say(why, status,
                   "precision.history: requires operands with one scale (precision.system = fp8_delayed), without "
                   "precision.hadamard and without precision.convolution = windows");
  return status == HU_OK ? status : hui_say(why, status, "precision.history: %s", hu_status_text(status));
}

/* What stays of the roundings from step precision.until on. A transform before dW serves its roundings alone. */
static void leave(hu_product_rounding *rounding, uint64_t after) {
  const hu_rounding keep = hu_rounding_keep();
  if (after != AFTER_BACKWARD) {
    rounding->x = rounding->w = rounding->z_out = keep;
    rounding->w_average = 0;
  }
  if (after == AFTER_FORWARD) return;
  rounding->dz = rounding->w_back = rounding->x_back = rounding->dz_w = rounding->dx_out = rounding->dw_out = keep;
  rounding->hadamard = 0;
  rounding->quartet = HU_QUARTET_NONE; /* after = both: check_late */
}

/* Checks that no key rounds operands, since Quartet's layer does. */
static hu_status check_quartet(const hu_trainer *trainer, char *why) {
  const hu_run_keys *keys = &trainer->keys;
  const hu_rounding *operands[] = {&keys->x,    &keys->w,  &keys->x_back,
                                   &keys->dz_w, &keys->dz, &keys->w_back}; /* as operand_key */
  if (!keys->quartet) return HU_OK;
  for (unsigned i = 0; i < sizeof operands / sizeof *operands; i++) {
    if (operands[i]->kind != HU_ROUND_KEEP)
      return hui_say(why, HU_E_TRAIN, "precision.quartet: rounds all operands, and precision.%s does, too",
                     operand_key(i));
  }
  const char *other = keys->hadamard ? "hadamard" : keys->twice ? "twice" : keys->history ? "history" : NULL;
  return other ? hui_say(why, HU_E_TRAIN, "precision.quartet: does not go with precision.%s", other) : HU_OK;
}

/* Sets the roundings of products; late: as from step precision.until on. */
static hu_status round_products(hu_trainer *trainer, int late, char *why) {
  int first = -1, last = -1;
  for (int i = 0; i < trainer->net->operators; i++) {
    if (!trainer->net->op[i].kind->product) continue;
    if (first < 0) first = i;
    last = i;
  }
  char lost[HU_CONSTANT_WHY_MAX];
  if (hui_constant_wrong(lost, "precision.w_average", trainer->keys.w_average, hu_binary32(), "binary32"))
    return hui_say(why, HU_E_TRAIN, "%s", lost);
  hu_status status = check_layers(trainer, why);
  if (status != HU_OK) return status;
  for (int i = 0; i < trainer->net->operators && status == HU_OK; i++) {
    const hu_operator *op = &trainer->net->op[i];
    if (!op->kind->product || !is_rounded(trainer, i, first, last)) continue;
    hu_product_rounding rounding = product_of(&trainer->keys, op);
    if (late) leave(&rounding, trainer->keys.after);
    hui_off_product(&rounding, hui_off_of_operator(trainer, i));
    status = hu_net_round_product(trainer->net, op->out, &rounding);
    if (status == HU_E_TRAIN && rounding.w_average > 0)
      return hui_say(why, status,
                     "precision.w_average: requires precision.w = scaled(float4_e2m1fn;scale=float8_e8m0fnu;block=1x32;"
                     "rule=rceil), turned or not, and precision.twice = yes (precision.system = tetrajet)");
    if (status == HU_E_TRAIN && rounding.quartet && op->sharing.transposed)
      return hui_say(why, status,
                     "precision.quartet: a layer multiplies by %s transposed, which Quartet does not round: "
                     "precision.layers or precision.exempt can leave the layer out",
                     hu_net_parameter_name(trainer->net, op->theta[0]));
    if (status != HU_OK)
      return hui_say(why, status, "precision: a product's roundings or accumulation: %s", hu_status_text(status));
    if (trainer->keys.history) status = delay_product(trainer, op->out, why);
  }
  return status;
}

/* ---- operands that models do not take ---- */

/* The keys that say what an operand is: its own; else those of the assignment, where there is one. */
static void remedy(const hu_trainer *trainer, char *text, size_t size, const hu_operator *op, unsigned part,
                   int gradient) {
  const char *operand = operand_key(part), *direction = gradient ? "backward" : "forward";
  if (trainer->plan && hui_operand_is_tensor(trainer->net, op, part))
    snprintf(text, size, "assignment.low_%s and high_%s or precision.%s", direction, direction, operand);
  else
    snprintf(text, size, "precision.%s", operand);
}

/* A model that does not take an operand: which, of which format, and the keys that can change it. */
static hu_status not_taken(const hu_trainer *trainer, char *why, hu_status status, const hu_operator *op, unsigned part,
                           hu_format format) {
  char takes[HU_ACCUM_TEXT_MAX], text[HU_FORMAT_TEXT_MAX], keys[128];
  const char *id = hu_format_id(format), *key = accum_key(&trainer->keys, part), *operand = operand_key(part);
  if (!id && hu_format_text(text, sizeof text, format)) id = text;
  if (status != HU_E_OPERAND_A && status != HU_E_OPERAND_B)
    return hui_say(why, status, "precision.%s: %s (operand %s of %s is %s)", key, hu_status_text(status), operand,
                   op->kind->name, id);
  hu_accum_takes(takes, sizeof takes, hui_accum_of(op, part));
  remedy(trainer, keys, sizeof keys, op, part, part == HU_PART_DX_DZ || part == HU_PART_DW_DZ);
  return hui_say(why, status,
                 "precision.%s: the model takes %s, but operand %s of %s is %s; give %s that format, a model "
                 "per product (precision.z_accum, dx_accum, dw_accum), or insist with any(MODEL)",
                 key, takes, operand, op->kind->name, id, keys);
}

static hu_status check_products(const hu_trainer *trainer, char *why) {
  for (int i = 0; i < trainer->net->operators; i++) {
    const hu_operator *op = &trainer->net->op[i];
    unsigned part = 0;
    hu_format format;
    if (!op->kind->product) continue;
    hu_status status = hui_operands_taken(trainer->net, op, &part, &format);
    if (status != HU_OK) return not_taken(trainer, why, status, op, part, format);
  }
  return HU_OK;
}

/* ---- parameters whose updates are their own ---- */

typedef hu_status change(hu_net *net, int parameter, double factor);

static hu_status ends_with_kahan(hu_net *net, int parameter, double factor) {
  const hu_mode rne = {0};
  (void)factor;
  return hu_net_update_parameter(net, parameter, HU_UPDATE_KAHAN, rne);
}

static hu_status is_adamws(hu_net *net, int parameter, double factor) {
  (void)factor;
  return hu_net_muon_parameter(net, parameter, 0);
}

static hu_status has_rate(hu_net *net, int parameter, double factor) {
  hu_parameter_rule rule = net->parameter[parameter].rule;
  rule.rate = factor;
  return hu_net_rule_parameter(net, parameter, &rule);
}

static hu_status has_decay(hu_net *net, int parameter, double factor) {
  hu_parameter_rule rule = net->parameter[parameter].rule;
  rule.decay = factor;
  return hu_net_rule_parameter(net, parameter, &rule);
}

static hu_status is_lazy(hu_net *net, int parameter, double factor) {
  hu_parameter_rule rule = net->parameter[parameter].rule;
  rule.lazy = factor != 0;
  return hu_net_rule_parameter(net, parameter, &rule);
}

static hu_status is_clipped(hu_net *net, int parameter, double factor) {
  hu_parameter_rule rule = net->parameter[parameter].rule;
  rule.unclipped = factor == 0;
  return hu_net_rule_parameter(net, parameter, &rule);
}

/* Is the name that of the pattern, n characters, in which a * stands for any? */
static int is_like(const char *name, const char *pattern, size_t n) {
  if (!n) return !*name;
  if (*pattern == '*') return is_like(name, pattern + 1, n - 1) || (*name && is_like(name + 1, pattern, n));
  return *name == *pattern && is_like(name + 1, pattern + 1, n - 1);
}

/* Changes the parameters that one pattern of a key names. */
static hu_status change_like(hu_trainer *trainer, const char *key, const char *pattern, size_t n, change *made,
                             double factor, char *why) {
  int found = 0;
  for (int i = 0; i < hu_net_parameters(trainer->net); i++) {
    if (!is_like(hu_net_parameter_name(trainer->net, i), pattern, n)) continue;
    hu_status status = made(trainer->net, i, factor);
    if (status != HU_OK) return hui_say(why, status, "%s: %s", key, hu_status_text(status));
    found = 1;
  }
  return found ? HU_OK : no_name(trainer, why, key, n, pattern);
}

static hu_status change_named(hu_trainer *trainer, const char *key, const char *patterns, change *made, char *why) {
  hu_status status = HU_OK;
  for (const char *pattern = patterns; *pattern && status == HU_OK;) {
    size_t n = strcspn(pattern, ",");
    status = change_like(trainer, key, pattern, n, made, 1, why);
    pattern += n + (pattern[n] == ',');
  }
  return status;
}

static hu_status stays(hu_net *net, int parameter, double factor) {
  (void)net;
  (void)parameter;
  (void)factor;
  return HU_OK;
}

hu_status hui_check_patterns(hu_trainer *trainer, const char *key, const char *patterns, char *why) {
  return change_named(trainer, key, patterns, stays, why);
}

int hui_is_among(const char *name, const char *patterns) {
  for (const char *pattern = patterns; *pattern;) {
    size_t n = strcspn(pattern, ",");
    if (is_like(name, pattern, n)) return 1;
    pattern += n + (pattern[n] == ',');
  }
  return 0;
}

/* Changes the parameters that "PATTERN:FACTOR,PATTERN:FACTOR" names. */
static hu_status change_by_factors(hu_trainer *trainer, const char *key, const char *text, change *made, char *why) {
  hu_status status = HU_OK;
  while (*text && status == HU_OK) {
    size_t n = strcspn(text, ","), colon = strcspn(text, ":,");
    double factor = 0;
    if (colon == n || !hui_read_number(text + colon + 1, n - colon - 1, &factor) || !(factor >= 0 && factor <= 1e6))
      return hui_say(why, HU_E_TRAIN, "%s: '%.*s' is not PATTERN:FACTOR, a factor from 0 to 1000000", key,
                     (int)(n < 80 ? n : 80), text);
    status = change_like(trainer, key, text, colon, made, factor, why);
    text += n + (text[n] == ',');
  }
  return status;
}

static hu_status choose_rules(hu_trainer *trainer, char *why) {
  const hu_run_keys *keys = &trainer->keys;
  if (*keys->rates && keys->larc)
    return hui_say(why, HU_E_TRAIN, "gradient.larc: requires one rate, and optimizer.rates has factors");
  if (*keys->clipped && keys->clip == 0)
    return hui_say(why, HU_E_TRAIN, "gradient.clipped: gradient.clip is 0, so that nothing is clipped");
  if (*keys->lazy && (hui_optimizer_stores(&trainer->optimizer) || keys->ramping))
    return hui_say(why, HU_E_TRAIN, "optimizer.lazy: does not go with %s",
                   keys->ramping ? "optimizer.ramping" : "optimizer.stored_m, stored_v");
  hu_status status = change_by_factors(trainer, "optimizer.rates", keys->rates, has_rate, why);
  if (status == HU_OK) status = change_by_factors(trainer, "optimizer.decays", keys->decays, has_decay, why);
  if (status == HU_OK) status = change_named(trainer, "optimizer.lazy", keys->lazy, is_lazy, why);
  if (status != HU_OK || !*keys->clipped) return status;
  status = change_like(trainer, "gradient.clipped", "*", 1, is_clipped, 0, why);
  return status == HU_OK ? change_named(trainer, "gradient.clipped", keys->clipped, is_clipped, why) : status;
}

static hu_status choose_updates(hu_trainer *trainer, char *why) {
  const hu_run_keys *keys = &trainer->keys;
  if (*keys->adamw_only && keys->optimizer != HU_MUON)
    return hui_say(why, HU_E_TRAIN, "optimizer.adamw: of optimizer.kind = muon alone");
  hu_status made = change_named(trainer, "optimizer.kahan", keys->kahan_only, ends_with_kahan, why);
  if (made == HU_OK) made = change_named(trainer, "optimizer.adamw", keys->adamw_only, is_adamws, why);
  if (made == HU_OK) made = choose_rules(trainer, why);
  if (made != HU_OK) return made;
  for (int i = 0; i < hu_net_parameters(trainer->net); i++) {
    const char *said = NULL;
    hu_optimizer own = hui_optimizer_of(trainer->net, i, &trainer->optimizer);
    hu_status status = hu_optimizer_check(&own, &said);
    if (status != HU_OK)
      return hui_say(why, status, "optimizer.%s with the optimizer's other keys: %s",
                     *keys->kahan_only ? "kahan" : "rates, decays,", said ? said : "");
  }
  return HU_OK;
}

/* Tries the roundings of the last steps before the first one. */
static hu_status check_late(hu_trainer *trainer, char *why) {
  if (!trainer->keys.until) return HU_OK;
  if (trainer->keys.history) return hui_say(why, HU_E_TRAIN, "precision.until: above 0, and precision.history, too");
  if (trainer->keys.quartet && trainer->keys.after != AFTER_BOTH)
    return hui_say(why, HU_E_TRAIN, "precision.after: with precision.quartet it is both");
  hu_status status = round_products(trainer, 1, why);
  if (status == HU_OK && check_products(trainer, NULL) != HU_OK)
    status = hui_say(
        why, HU_E_TRAIN,
        "precision.until: operands are not rounded at the end, and an accumulation model (precision.accum, z_accum, "
        "dx_accum, dw_accum) takes no such numbers");
  return status == HU_OK ? round_products(trainer, 0, why) : status;
}

hu_status hui_set_products(hu_trainer *trainer) {
  int late = trainer->keys.until && trainer->step >= trainer->keys.until;
  int others = hui_off_changes(trainer, trainer->rounded);
  if (late == trainer->late && !others) return HU_OK;
  trainer->late = late;
  trainer->rounded = trainer->step;
  hu_status status = others ? round_tensors(trainer) : HU_OK;
  return status == HU_OK ? round_products(trainer, late, NULL) : status;
}

/* Tries each set of roundings that precision.off leaves before the first step. */
static hu_status check_off(hu_trainer *trainer, char *why) {
  hu_status status = HU_OK;
  if (!*trainer->keys.off) return status;
  for (uint64_t step = 0; status == HU_OK && hui_off_next(trainer, &step);) {
    trainer->step = step;
    status = hui_set_products(trainer);
    if (status == HU_OK) status = check_products(trainer, why);
  }
  trainer->step = 0;
  return status == HU_OK ? hui_set_products(trainer) : status;
}

hu_status hui_set_precision(hu_trainer *trainer, char *why) {
  hu_status status = hui_off_check(trainer, why);
  if (status != HU_OK) return status;
  status = round_tensors(trainer);
  if (status != HU_OK) return hui_say(why, status, "precision: %s", hu_status_text(status));
  status = check_quartet(trainer, why);
  if (status == HU_OK) status = round_products(trainer, 0, why);
  if (status == HU_OK) status = choose_updates(trainer, why);
  if (status == HU_OK) status = hui_start_plan(trainer, why);
  if (status == HU_OK) status = check_products(trainer, why);
  if (status == HU_OK) status = hui_check_promoted(trainer, check_products, why);
  if (status == HU_OK) status = check_late(trainer, why);
  return status == HU_OK ? check_off(trainer, why) : status;
}

/* ---- the loss scale from the largest gradient ---- */

/* The smallest of the largest numbers of the formats that gradients go into; binary16's if there is none. */
static float smallest_range(const hu_run_keys *keys) {
  const hu_rounding *all[] = {&keys->gradients, &keys->parameter_gradients, &keys->dx_out, &keys->dw_out, &keys->dz,
                              &keys->dz_w};
  float max = 0;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (all[i]->kind != HU_ROUND_FORMAT) continue;
    float one = (float)hu_limits_of(all[i]->format).max;
    if (max == 0 || one < max) max = one;
  }
  return max > 0 ? max : 65504.0f;
}

hu_status hui_choose_scale(hu_trainer *trainer, char *why) {
  enum { BATCHES = 8 };
  float largest = 0;
  hu_status status = HU_OK;
  for (trainer->step = 0; trainer->step < BATCHES && status == HU_OK; trainer->step++) {
    hu_pass pass = {.needs_largest = 1};
    status = hui_make_pass(trainer, 1, &pass);
    largest = fmaxf(largest, pass.largest);
  }
  trainer->step = 0;
  if (status != HU_OK) return status;
  float scale = hu_loss_scale_of_gmax(largest, smallest_range(&trainer->keys), (int)trainer->keys.margin);
  trainer->rule.start = scale > 0 ? scale : 1;
  if (!trainer->source.text) {
    hu_batch_state start = {trainer->keys.seed, 0, 0};
    hu_batches_free(&trainer->order);
    status = hui_open_batches(trainer, &trainer->order, start);
  }
  return status == HU_OK ? hui_first_weights(trainer, why) : status;
}
