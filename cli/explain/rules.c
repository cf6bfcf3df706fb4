/* SPDX-License-Identifier: MIT */
/* See rules.h. */
#include "cli/explain/rules.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *nearest_rule(const neighbours *between, hu_mode mode) {
  int half = neighbours_half(between);
  if (half < 0) return "less than half a step: the neighbour toward zero is nearer";
  if (half > 0) return "more than half a step: the neighbour away from zero is nearer";
  if (mode.round == HU_RNA) return "a tie: away from zero";
  if (mode.round == HU_RNZ) return "a tie: toward zero";
  return between->lower_odd ? "a tie: the neighbour toward zero is odd, so the other, even one"
                            : "a tie: the neighbour toward zero is even";
}

static void stochastic_rule(char rule[RULE_MAX], const neighbours *between, hu_mode mode, uint32_t random, int up) {
  uint64_t all = (uint64_t)1 << mode.bits, n = neighbours_upward(between, mode);
  unsigned long long digits = random & (UINT32_MAX >> (32 - mode.bits));
  snprintf(rule, RULE_MAX, "away from zero for %llu of %llu values of R, those from 0x%llx on; R = 0x%llx goes %s",
           (unsigned long long)n, (unsigned long long)all, (unsigned long long)(all - n), digits,
           up ? "away from zero" : "toward zero");
}

void rule_of_rounding(char rule[RULE_MAX], const neighbours *between, hu_mode mode, int negative, uint32_t random) {
  int up = neighbours_take_upper(between, mode, negative, random);
  const char *text = "";
  if (between->below_all)
    text = "below the smallest value of a format without zero: the smallest value";
  else if (!between->part)
    text = "exactly there: nothing to round";
  else if (mode.round <= HU_RNZ)
    text = nearest_rule(between, mode);
  else if (mode.round == HU_RTO)
    text = between->lower_odd ? "the neighbour toward zero is odd" : "the neighbour away from zero is odd";
  else if (mode.round == HU_RTZ)
    text = "toward zero";
  else if (mode.round == HU_RAZ)
    text = "away from zero";
  else if (mode.round == HU_RTP)
    text = up ? "toward positive: away from zero" : "toward positive: toward zero";
  else if (mode.round == HU_RTN)
    text = up ? "toward negative: away from zero" : "toward negative: toward zero";
  else {
    stochastic_rule(rule, between, mode, random, up);
    return;
  }
  snprintf(rule, RULE_MAX, "%s", text);
}

__attribute__((format(printf, 2, 3))) static void add_rule(char rule[RULE_MAX], const char *format, ...) {
  va_list args;
  size_t n = strlen(rule);
  if (n) n += (size_t)snprintf(rule + n, RULE_MAX - n, "; then ");
  if (n >= RULE_MAX) return;
  va_start(args, format);
  vsnprintf(rule + n, RULE_MAX - n, format, args);
  va_end(args);
}

static const char *policy_of(hu_format format, hu_mode mode) {
  static const char *const names[] = {"", "none", "finite", "propagate"};
  if (mode.saturate == HU_SAT_DEFAULT) return format.inf ? "none, the default" : "finite, the default";
  return names[mode.saturate];
}

void rule_of_range(char rule[RULE_MAX], hu_format format, hu_mode mode, double x, uint32_t events) {
  const char *policy = policy_of(format, mode);
  if (events & HU_EVENT_OVERFLOW) add_rule(rule, "beyond max: overflow under policy %s", policy);
  if (x < 0 && !format.sign && (events & HU_EVENT_INVALID))
    add_rule(rule, "below the range of an unsigned format, policy %s", policy);
  else if (isinf(x))
    add_rule(rule, "an infinity under policy %s", policy);
  if (format.subnormal == HU_SUBNORMAL_FLUSH && (events & HU_EVENT_TO_ZERO))
    add_rule(rule, "subnormals are flushed to zero");
}

/* Returns the NaN policy that decided, and whether it was asked for. */
static const char *nan_policy(hu_mode mode) {
  static const char *const names[] = {"max, the default: +max", "zero: the code 0",
                                      "error: +max, and the event invalid"};
  return names[mode.nan % 3];
}

void rule_of_special(char rule[RULE_MAX], const char *because, hu_format format, hu_mode mode, double x) {
  rule[0] = 0;
  if (because) add_rule(rule, "%s", because);
  if (isnan(x) && hu_limits_of(format).has_nan)
    add_rule(rule, "NaN: the format's canonical NaN");
  else if (isnan(x))
    add_rule(rule, "NaN into a format without NaN: NaN policy %s", nan_policy(mode));
  else if (x == 0 && hu_limits_of(format).min_code == 0)
    add_rule(rule, "zero into a format without zero: the smallest value");
  else if (x == 0 && signbit(x) && !format.negzero)
    add_rule(rule, "zero; the format has no negative one");
  else if (x == 0)
    add_rule(rule, "zero");
}
