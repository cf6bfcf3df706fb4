/* SPDX-License-Identifier: MIT */
/* precision.off: the roundings of tensors and products that a run leaves out. */
#include <string.h>

#include "train/net/net.h"
#include "train/trainer/trainer.h"

static int is_active(const hu_off_entry *one, uint64_t step) { return step >= one->from && step < one->to; }

/* ---- layers ---- */

/* Returns the length of the name of a parameter's layer: what stands before its last point. */
static size_t layer_length(const char *parameter) {
  const char *dot = strrchr(parameter, '.');
  return dot ? (size_t)(dot - parameter) : strlen(parameter);
}

/* Returns a parameter of the layer that an operator belongs to: its own, or that of the last one before it. */
static int parameter_of(const hu_trainer *trainer, int op) {
  while (op >= 0 && trainer->net->op[op].theta[0] < 0) op--;
  return op < 0 ? -1 : trainer->net->op[op].theta[0];
}

static uint32_t off(const hu_trainer *trainer, int parameter) {
  const char *name = parameter < 0 ? "input" : hu_net_parameter_name(trainer->net, parameter);
  size_t n = parameter < 0 ? strlen(name) : layer_length(name);
  uint32_t parts = 0;
  hu_off_entry one;
  for (const char *text = trainer->keys.off; *text && hui_off_read(&text, &one);) {
    int is = (one.length == 1 && *one.layer == '*') || (one.length == n && strncmp(one.layer, name, n) == 0);
    if (is && is_active(&one, trainer->step)) parts |= one.parts;
  }
  return parts;
}

uint32_t hui_off_of_operator(const hu_trainer *trainer, int op) {
  return *trainer->keys.off ? off(trainer, parameter_of(trainer, op)) : 0;
}

uint32_t hui_off_of_parameter(const hu_trainer *trainer, int parameter) {
  return *trainer->keys.off ? off(trainer, parameter) : 0;
}

/* ---- roundings ---- */

void hui_off_product(hu_product_rounding *rounding, uint32_t parts) {
  hu_rounding *const roundings[] = {&rounding->x,      &rounding->w,      &rounding->z_out,
                                    &rounding->dz,     &rounding->w_back, &rounding->dx_out,
                                    &rounding->x_back, &rounding->dz_w,   &rounding->dw_out};
  static const uint32_t part[] = {HU_OFF_X,  HU_OFF_W,      HU_OFF_Z,    HU_OFF_DZ, HU_OFF_W_BACK,
                                  HU_OFF_DX, HU_OFF_X_BACK, HU_OFF_DZ_W, HU_OFF_DW};
  const hu_accum plain = hu_product_rounding_plain().z_accum;
  for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
    if (parts & part[i]) *roundings[i] = hu_rounding_keep();
  }
  if ((parts & HU_OFF_FORWARD) == HU_OFF_FORWARD) rounding->z_accum = plain;
  if ((parts & HU_OFF_BACKWARD) == HU_OFF_BACKWARD) rounding->dx_accum = plain;
  if ((parts & HU_OFF_WEIGHTS) == HU_OFF_WEIGHTS) {
    rounding->dw_accum = plain;
    rounding->hadamard = 0; /* it serves these roundings alone */
  }
}

int hui_off_changes(const hu_trainer *trainer, uint64_t before) {
  hu_off_entry one;
  for (const char *text = trainer->keys.off; *text && hui_off_read(&text, &one);) {
    if (is_active(&one, before) != is_active(&one, trainer->step)) return 1;
  }
  return 0;
}

int hui_off_next(const hu_trainer *trainer, uint64_t *step) {
  uint64_t next = UINT64_MAX;
  hu_off_entry one;
  for (const char *text = trainer->keys.off; *text && hui_off_read(&text, &one);) {
    if (one.from > *step && one.from < next) next = one.from;
    if (one.to > *step && one.to < next) next = one.to;
  }
  *step = next;
  return next != UINT64_MAX;
}

/* ---- checks ---- */

static int has_layer(const hu_trainer *trainer, const hu_off_entry *one) {
  if (one->length == 1 && *one->layer == '*') return 1;
  if (one->length == 5 && strncmp(one->layer, "input", 5) == 0) return 1;
  for (int i = 0; i < hu_net_parameters(trainer->net); i++) {
    const char *name = hu_net_parameter_name(trainer->net, i);
    if (layer_length(name) == one->length && strncmp(name, one->layer, one->length) == 0) return 1;
  }
  return 0;
}

hu_status hui_off_check(const hu_trainer *trainer, char *why) {
  const hu_run_keys *keys = &trainer->keys;
  const char *other = keys->assignment              ? "assignment.kind"
                      : keys->quartet               ? "precision.quartet"
                      : keys->history               ? "precision.history"
                      : keys->w_average > 0         ? "precision.w_average"
                      : keys->twice                 ? "precision.twice"
                      : keys->ramping               ? "optimizer.ramping"
                      : trainer->shards.net != NULL ? "parallel.statistics = batch"
                                                    : NULL;
  hu_off_entry one;
  if (!*keys->off) return HU_OK;
  if (other) return hui_say(why, HU_E_TRAIN, "precision.off: does not go with %s", other);
  for (const char *text = keys->off; *text && hui_off_read(&text, &one);) {
    if (!has_layer(trainer, &one))
      return hui_say(why, HU_E_TRAIN,
                     "precision.off: no layer is called '%.*s'; layers are the names of parameters (halfulp train "
                     "--tensors) without their last part, 'input' and '*'",
                     (int)(one.length < 80 ? one.length : 80), one.layer);
  }
  return HU_OK;
}
