/* SPDX-License-Identifier: MIT */
/* Gives the net of a run its precision. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "train/environment.h"
#include "train/net/net.h"
#include "train/text/constant.h"
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

static hu_status round_tensors(hu_trainer *t) {
  const hu_run_keys *k = &t->keys;
  hu_status s = HU_OK;
  for (int i = 0; i < t->loss && s == HU_OK; i++) {
    if (t->net->value[i].tokens) continue; /* names, not numbers */
    s = hu_net_round_value(t->net, i, &k->values, &k->gradients);
  }
  for (int i = 0; i < t->net->operators && s == HU_OK && k->embeddings.kind != HU_ROUND_KEEP; i++) {
    const hu_operator *op = &t->net->op[i];
    if (strcmp(op->kind->name, "embedding") == 0) s = hu_net_round_value(t->net, op->out, &k->embeddings, NULL);
  }
  for (int i = 0; i < hu_net_parameters(t->net) && s == HU_OK; i++) {
    if (k->norms && is_of_norm(t->net, i)) continue;
    s = hu_net_round_parameter(t->net, i, &k->parameters, &k->parameter_gradients);
  }
  return s;
}

/* ---- products ---- */

/* Names the parameters that there are. */
static hu_status no_name(const hu_trainer *t, char *why, const char *key, size_t n, const char *name) {
  hu_status s =
      hu_say(why, HU_E_TRAIN, "%s: nothing is called '%.*s'; parameters are", key, (int)(n < 80 ? n : 80), name);
  for (int i = 0; why && i < hu_net_parameters(t->net); i++) {
    size_t used = strlen(why);
    snprintf(why + used, HU_DATA_WHY_MAX - used, " %s", hu_net_parameter_name(t->net, i));
  }
  return s;
}

static int is_attention(const hu_operator *op) {
  return strcmp(op->kind->name, "scores") == 0 || strcmp(op->kind->name, "mix") == 0;
}

static hu_accum accum_of(const hu_run_keys *k, const hu_own_accum *own) { return own->own ? own->accum : k->accum; }

static hu_product_rounding product_of(const hu_run_keys *k, const hu_operator *op) {
  hu_product_rounding r = {k->x,
                           k->w,
                           k->dz,
                           k->w_back,
                           k->x_back,
                           k->dz_w,
                           k->z_out,
                           k->dx_out,
                           k->dw_out,
                           accum_of(k, &k->z_accum),
                           accum_of(k, &k->dx_accum),
                           accum_of(k, &k->dw_accum),
                           (uint32_t)k->hadamard,
                           (uint32_t)k->signs,
                           (uint8_t)k->by_window,
                           (uint8_t)k->twice,
                           (uint8_t)(strcmp(op->kind->name, "linear") == 0 ? k->quartet : 0),
                           op->theta[0] >= 0 ? (float)k->w_average : 0};
  int gram = strcmp(op->kind->name, "gram") == 0;
  if (gram || strcmp(op->kind->name, "scores") == 0) { /* W is K^T; K and dK are stored */
    r.dw_out.turned = r.dw_out.kind == HU_ROUND_SCALED ? !r.dw_out.turned : 0;
    r.w.turned = r.w.kind == HU_ROUND_SCALED ? !r.w.turned : 0;
    r.w_back.turned = r.w_back.kind == HU_ROUND_SCALED ? !r.w_back.turned : 0;
  }
  return r;
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
static int same_layer(const hu_trainer *t, int i, int other) {
  int weights = t->net->op[i].theta[0];
  return i == other || (weights >= 0 && weights == t->net->op[other].theta[0]);
}

/* Is the product of operator i rounded? first, last: those of the net. */
static int is_rounded(const hu_trainer *t, int i, int first, int last) {
  const hu_run_keys *k = &t->keys;
  const hu_operator *op = &t->net->op[i];
  if ((k->exempt & EXEMPT_FIRST) && same_layer(t, i, first)) return 0;
  if ((k->exempt & EXEMPT_LAST) && same_layer(t, i, last)) return 0;
  if (is_attention(op)) return k->attention && !*k->layers;
  if (op->theta[0] < 0) return !*k->layers; /* a product of two values */
  return !*k->layers || is_listed(k->layers, hu_net_parameter_name(t->net, op->theta[0]));
}

/* Every name of precision.layers is one of a layer. */
static hu_status check_layers(const hu_trainer *t, char *why) {
  for (const char *name = t->keys.layers; *name;) {
    size_t n = strcspn(name, ",");
    char one[HU_PARAMETER_NAME_MAX];
    int found = 0;
    snprintf(one, sizeof one, "%.*s", (int)(n < sizeof one ? n : sizeof one - 1), name);
    for (int i = 0; i < t->net->operators && !found; i++) {
      const hu_operator *op = &t->net->op[i];
      found = op->kind->product && op->theta[0] >= 0 && is_listed(one, hu_net_parameter_name(t->net, op->theta[0]));
    }
    if (!found) return no_name(t, why, "precision.layers", n, name);
    name += n + (name[n] == ',');
  }
  return HU_OK;
}

/* Keys by the number of a part, and the key of its product's model. */
static const char *operand_key(unsigned part) {
  static const char *const names[] = {"x", "w", "x_back", "dz_w", "dz", "w_back"};
  return names[part];
}

static const char *accum_key(const hu_run_keys *k, unsigned part) {
  if (part == HU_PART_Z_X || part == HU_PART_Z_W) return k->z_accum.own ? "z_accum" : "accum";
  if (part == HU_PART_DX_DZ || part == HU_PART_DX_W) return k->dx_accum.own ? "dx_accum" : "accum";
  return k->dw_accum.own ? "dw_accum" : "accum";
}

/* Delayed scaling of the product that makes a value, in the net and in those beside it. */
static hu_status delay_product(const hu_trainer *t, int value, char *why) {
  const hu_run_keys *k = &t->keys;
  const hu_delayed d = {(uint32_t)k->history, (uint8_t)k->takes, (uint8_t)k->margin_of_history};
  const hu_shards *shards = &t->shards;
  hu_status s = hu_net_delay_product(t->net, value, &d);
  for (size_t i = 1; shards->net && i < shards->own && s == HU_OK; i++)
    s = hu_net_delay_product(shards->net[i], value, &d);
  if (s == HU_E_SCALING)
    return hu_say(why, s,
                  "precision.history: wants operands with one scale, of one level and the rule ratio (fp8_tensor): "
                  "precision.x, w, dz, w_back, x_back, dz_w, or precision.system = fp8_delayed");
  if (s == HU_E_TRAIN)
    return hu_say(why, s,
                  "precision.history: wants operands with one scale (precision.system = fp8_delayed), without "
                  "precision.hadamard and without precision.convolution = windows");
  return s == HU_OK ? s : hu_say(why, s, "precision.history: %s", hu_status_text(s));
}

/* What stays of the roundings from step precision.until on. A transform before dW serves its roundings alone. */
static void leave(hu_product_rounding *r, uint64_t after) {
  const hu_rounding keep = hu_rounding_keep();
  if (after != AFTER_BACKWARD) {
    r->x = r->w = r->z_out = keep;
    r->w_average = 0;
  }
  if (after == AFTER_FORWARD) return;
  r->dz = r->w_back = r->x_back = r->dz_w = r->dx_out = r->dw_out = keep;
  r->hadamard = 0;
  r->quartet = HU_QUARTET_NONE; /* after = both: check_late */
}

/* Quartet's layer rounds all operands by itself. */
static hu_status check_quartet(const hu_trainer *t, char *why) {
  const hu_run_keys *k = &t->keys;
  const hu_rounding *operands[] = {&k->x, &k->w, &k->x_back, &k->dz_w, &k->dz, &k->w_back}; /* as operand_key */
  if (!k->quartet) return HU_OK;
  for (unsigned i = 0; i < sizeof operands / sizeof *operands; i++) {
    if (operands[i]->kind != HU_ROUND_KEEP)
      return hu_say(why, HU_E_TRAIN, "precision.quartet: rounds all operands, and precision.%s does, too",
                    operand_key(i));
  }
  const char *other = k->hadamard ? "hadamard" : k->twice ? "twice" : k->history ? "history" : NULL;
  return other ? hu_say(why, HU_E_TRAIN, "precision.quartet: does not go with precision.%s", other) : HU_OK;
}

/* late: as from step precision.until on. */
static hu_status round_products(hu_trainer *t, int late, char *why) {
  int first = -1, last = -1;
  for (int i = 0; i < t->net->operators; i++) {
    if (!t->net->op[i].kind->product) continue;
    if (first < 0) first = i;
    last = i;
  }
  char lost[HU_CONSTANT_WHY_MAX];
  if (hu_constant_wrong(lost, "precision.w_average", t->keys.w_average, hu_binary32(), "binary32"))
    return hu_say(why, HU_E_TRAIN, "%s", lost);
  hu_status s = check_layers(t, why);
  if (s != HU_OK) return s;
  for (int i = 0; i < t->net->operators && s == HU_OK; i++) {
    const hu_operator *op = &t->net->op[i];
    if (!op->kind->product || !is_rounded(t, i, first, last)) continue;
    hu_product_rounding r = product_of(&t->keys, op);
    if (late) leave(&r, t->keys.after);
    s = hu_net_round_product(t->net, op->out, &r);
    if (s == HU_E_TRAIN && r.w_average > 0)
      return hu_say(why, s,
                    "precision.w_average: wants precision.w = scaled(float4_e2m1fn;scale=float8_e8m0fnu;block=1x32;"
                    "rule=rceil), turned or not, and precision.twice = yes (precision.system = tetrajet)");
    if (s != HU_OK) return hu_say(why, s, "precision: a product's roundings or accumulation: %s", hu_status_text(s));
    if (t->keys.history) s = delay_product(t, op->out, why);
  }
  return s;
}

/* ---- operands that models do not take ---- */

/* The keys that say what an operand is: its own; else those of the assignment, where there is one. */
static void remedy(const hu_trainer *t, char *text, size_t size, const hu_operator *op, unsigned part, int gradient) {
  const char *operand = operand_key(part), *direction = gradient ? "backward" : "forward";
  if (t->plan && hu_operand_is_tensor(t->net, op, part))
    snprintf(text, size, "assignment.low_%s and high_%s or precision.%s", direction, direction, operand);
  else
    snprintf(text, size, "precision.%s", operand);
}

/* A model that does not take an operand: which, of which format, and the keys that can change it. */
static hu_status not_taken(const hu_trainer *t, char *why, hu_status s, const hu_operator *op, unsigned part,
                           hu_format f) {
  char takes[HU_ACCUM_TEXT_MAX], text[HU_FORMAT_TEXT_MAX], keys[128];
  const char *id = hu_format_id(f), *key = accum_key(&t->keys, part), *operand = operand_key(part);
  if (!id && hu_format_text(text, sizeof text, f)) id = text;
  if (s != HU_E_OPERAND_A && s != HU_E_OPERAND_B)
    return hu_say(why, s, "precision.%s: %s (operand %s of %s is %s)", key, hu_status_text(s), operand, op->kind->name,
                  id);
  hu_accum_takes(takes, sizeof takes, hu_accum_of(op, part));
  remedy(t, keys, sizeof keys, op, part, part == HU_PART_DX_DZ || part == HU_PART_DW_DZ);
  return hu_say(why, s,
                "precision.%s: the model takes %s, but operand %s of %s is %s; give %s that format, a model "
                "per product (precision.z_accum, dx_accum, dw_accum), or insist with any(MODEL)",
                key, takes, operand, op->kind->name, id, keys);
}

static hu_status check_products(const hu_trainer *t, char *why) {
  for (int i = 0; i < t->net->operators; i++) {
    const hu_operator *op = &t->net->op[i];
    unsigned part = 0;
    hu_format format;
    if (!op->kind->product) continue;
    hu_status s = hu_operands_taken(t->net, op, &part, &format);
    if (s != HU_OK) return not_taken(t, why, s, op, part, format);
  }
  return HU_OK;
}

/* ---- parameters whose updates end with Kahan summation ---- */

static hu_status choose_updates(hu_trainer *t, char *why) {
  const hu_mode rne = {0};
  for (const char *name = t->keys.kahan_only; *name;) {
    size_t n = strcspn(name, ",");
    int found = -1;
    for (int i = 0; i < hu_net_parameters(t->net) && found < 0; i++) {
      const char *its = hu_net_parameter_name(t->net, i);
      if (strlen(its) == n && strncmp(its, name, n) == 0) found = i;
    }
    if (found < 0) return no_name(t, why, "optimizer.kahan", n, name);
    hu_status s = hu_net_update_parameter(t->net, found, HU_UPDATE_KAHAN, rne);
    if (s != HU_OK) return hu_say(why, s, "optimizer.kahan: %s", hu_status_text(s));
    name += n + (name[n] == ',');
  }
  for (int i = 0; i < hu_net_parameters(t->net); i++) {
    const char *said = NULL;
    hu_optimizer own = hu_optimizer_of(t->net, i, &t->optimizer);
    hu_status s = hu_optimizer_check(&own, &said);
    if (s != HU_OK) return hu_say(why, s, "optimizer.kahan with the optimizer's other keys: %s", said ? said : "");
  }
  return HU_OK;
}

/* The roundings of the last steps, tried before the first one. */
static hu_status check_late(hu_trainer *t, char *why) {
  if (!t->keys.until) return HU_OK;
  if (t->keys.history) return hu_say(why, HU_E_TRAIN, "precision.until: above 0, and precision.history, too");
  if (t->keys.quartet && t->keys.after != AFTER_BOTH)
    return hu_say(why, HU_E_TRAIN, "precision.after: with precision.quartet it is both");
  hu_status s = round_products(t, 1, why);
  if (s == HU_OK && check_products(t, NULL) != HU_OK)
    s = hu_say(
        why, HU_E_TRAIN,
        "precision.until: operands are not rounded at the end, and an accumulation model (precision.accum, z_accum, "
        "dx_accum, dw_accum) takes no such numbers");
  return s == HU_OK ? round_products(t, 0, why) : s;
}

hu_status hu_set_products(hu_trainer *t) {
  int late = t->keys.until && t->step >= t->keys.until;
  if (late == t->late) return HU_OK;
  t->late = late;
  return round_products(t, late, NULL);
}

hu_status hu_set_precision(hu_trainer *t, char *why) {
  hu_status s = round_tensors(t);
  if (s != HU_OK) return hu_say(why, s, "precision: %s", hu_status_text(s));
  s = check_quartet(t, why);
  if (s == HU_OK) s = round_products(t, 0, why);
  if (s == HU_OK) s = choose_updates(t, why);
  if (s == HU_OK) s = hu_start_plan(t, why);
  if (s == HU_OK) s = check_products(t, why);
  if (s == HU_OK) s = hu_check_promoted(t, check_products, why);
  return s == HU_OK ? check_late(t, why) : s;
}

/* ---- the loss scale from the largest gradient ---- */

/* The smallest of the largest numbers of the formats that gradients go into; binary16's if there is none. */
static float smallest_range(const hu_run_keys *k) {
  const hu_rounding *all[] = {&k->gradients, &k->parameter_gradients, &k->dx_out, &k->dw_out, &k->dz, &k->dz_w};
  float max = 0;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (all[i]->kind != HU_ROUND_FORMAT) continue;
    float one = (float)hu_limits_of(all[i]->format).max;
    if (max == 0 || one < max) max = one;
  }
  return max > 0 ? max : 65504.0f;
}

hu_status hu_choose_scale(hu_trainer *t) {
  enum { BATCHES = 8 };
  float largest = 0;
  hu_status s = HU_OK;
  for (t->step = 0; t->step < BATCHES && s == HU_OK; t->step++) {
    hu_pass pass = {.wants_largest = 1};
    s = hu_make_pass(t, 1, &pass);
    largest = fmaxf(largest, pass.largest);
  }
  t->step = 0;
  if (s != HU_OK) return s;
  float scale = hu_loss_scale_of_gmax(largest, smallest_range(&t->keys), (int)t->keys.margin);
  t->rule.start = scale > 0 ? scale : 1;
  if (!t->source.text) {
    hu_batch_state start = {t->keys.seed, 0, 0};
    hu_batches_free(&t->order);
    s = hu_batches_open(&t->order, t->source.training.count, t->samples, start);
  }
  return s == HU_OK ? hu_first_weights(t) : s;
}
