/* SPDX-License-Identifier: MIT */
/* Moves the loss scale from step to step. */
#include "halfulp/train/gradient.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "halfulp/arith.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"
#include "train/environment.h"

static float limited(double x, const hu_loss_rule *rule) {
  if (!(x > rule->low)) return rule->low;
  return x < rule->high ? (float)x : rule->high;
}

hu_loss_scale hu_loss_scale_start(const hu_loss_rule *rule) {
  hu_loss_scale scale;
  memset(&scale, 0, sizeof scale);
  if (hu_loss_rule_check(rule, NULL) != HU_OK) return scale;
  scale.scale = rule->start;
  scale.c1 = scale.c2 = 1;
  return scale;
}

static void backoff(hu_loss_scale *scale, const hu_loss_rule *rule, int bad) {
  if (bad) {
    scale->since = 0;
    scale->scale = limited((double)scale->scale / (double)rule->grow, rule);
  } else if (++scale->since % rule->window == 0) {
    scale->scale = limited((double)scale->scale * (double)rule->grow, rule);
  }
}

static void gradscaler(hu_loss_scale *scale, const hu_loss_rule *rule, int bad) {
  if (bad) {
    float less = scale->scale * rule->shrink;
    scale->since = 0;
    scale->scale = less > 0 ? less : FLT_TRUE_MIN;
  } else if (++scale->since == rule->window) {
    float more = scale->scale * rule->grow;
    scale->since = 0;
    if (more <= FLT_MAX) scale->scale = more;
  }
}

/* Sets the scale by the number of steps alone; a bad one is counted, too. */
static void exponential(hu_loss_scale *scale, const hu_loss_rule *rule) {
  float more = scale->scale * rule->grow;
  if (scale->iteration % rule->window == 0) scale->scale = more < rule->high ? more : rule->high;
}

/* Returns the logarithm rounded; those of binary32 numbers are within -149 and 128, where 27 digits reach 2^-19. */
static double log2_of(float x) {
  const hu_mode rne = {0};
  const hu_format wide = hu_format_ieee(5, 26, 0);
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  return hu_decode64(wide, hu_log2(wide, rne, hu_binary32(), u, 0, NULL));
}

/* Returns, of x within -200 and 200, so that it fits, 2^x as a binary64 number, infinity beyond binary32. */
static double exp2_of(double x) {
  const hu_mode rne = {0};
  const hu_format wide = hu_format_ieee(6, 25, 0);
  x = x < -200 ? -200 : x > 200 ? 200 : x;
  uint32_t code = hu_exp2(hu_binary32(), rne, wide, hu_encode64(wide, rne, x, 0, NULL), 0, NULL);
  return hu_decode64(hu_binary32(), code);
}

static void logmax(hu_loss_scale *scale, const hu_loss_rule *rule, hu_gradient_found found) {
  if (!found.bad && found.amax == 0) return;
  double x = found.bad ? rule->log_max : log2_of(found.amax);
  if (found.bad && rule->literal) x = exp2_of(rule->log_max);
  double less1 = 1 - rule->beta1, less2 = 1 - rule->beta2;
  scale->xh = rule->beta1 * scale->xh + less1 * x;
  scale->c1 *= rule->beta1;
  double mu = scale->xh / (1 - scale->c1);
  scale->sh = rule->beta2 * scale->sh + less2 * x;
  scale->qh = rule->beta2 * scale->qh + less2 * x * x;
  scale->c2 *= rule->beta2;
  double mean = scale->sh / (1 - scale->c2), variance = scale->qh / (1 - scale->c2) - mean * mean;
  double sigma = variance > 0 ? sqrt(variance) : 0;
  scale->scale = limited(exp2_of(16 - (mu + rule->deviations * sigma)), rule);
}

static HU_NOINLINE int update(hu_loss_scale *scale, const hu_loss_rule *rule, hu_gradient_found found) {
  int taken = !found.bad || rule->kind == HU_LOSS_NONE || (rule->kind == HU_LOSS_STATIC && rule->unchecked);
  scale->iteration++;
  scale->skipped += !taken;
  if (rule->kind == HU_LOSS_BACKOFF) backoff(scale, rule, found.bad);
  if (rule->kind == HU_LOSS_GRADSCALER) gradscaler(scale, rule, found.bad);
  if (rule->kind == HU_LOSS_EXPONENTIAL) exponential(scale, rule);
  if (rule->kind == HU_LOSS_LOGMAX) logmax(scale, rule, found);
  return taken;
}

int hu_loss_scale_update(hu_loss_scale *scale, const hu_loss_rule *rule, hu_gradient_found found) {
  HU_ENV_RETURN(int, update(scale, rule, found));
}

/* Compares magnitudes as whole numbers, in the order of their bits, which compilers put into lanes. */
static HU_NOINLINE void unscale(size_t n, float *g, float scale, hu_gradient_found *found) {
  const int32_t infinity = 0x7F800000;
  float back = 1 / scale, top;
  int32_t most = 0, bad = 0;
  for (size_t i = 0; i < n; i++) {
    float x = g[i] * back;
    int32_t a;
    memcpy(&a, &x, sizeof a);
    a &= 0x7FFFFFFF;
    g[i] = x;
    bad |= a >= infinity;
    a = a >= infinity ? 0 : a;
    most = a > most ? a : most;
  }
  memcpy(&top, &most, sizeof top);
  if (top > found->amax) found->amax = top;
  found->bad |= (uint8_t)bad;
}

void hu_gradient_unscale_n(size_t n, float *g, float scale, hu_gradient_found *found) {
  HU_ENV_DO(unscale(n, g, scale, found));
}

static HU_NOINLINE float scale_of(float gmax, float max, int margin) {
  if (!(gmax > 0 && gmax <= FLT_MAX && max > 0 && max <= FLT_MAX) || margin < -1000 || margin > 1000) return 0;
  int eg, em;
  float g = frexpf(gmax, &eg), m = frexpf(max, &em);
  int e = em - eg - (m < g) - margin;
  return ldexpf(1, e < -149 ? -149 : e > 127 ? 127 : e);
}

float hu_loss_scale_of_gmax(float gmax, float max, int margin) { HU_ENV_RETURN(float, scale_of(gmax, max, margin)); }
