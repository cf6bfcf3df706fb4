/* SPDX-License-Identifier: MIT */
/* Reads schedules of the learning rate, and computes the rate of a step. */
#include "train/step/schedule.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/view.h"
#include "train/text/keys.h"
#include "train/text/words.h"

/* ---- in ---- */

#define KEY(name, field, type) \
  { name, offsetof(hu_schedule, field), type, NULL }
static const char *const counted[] = {"epoch", "step", NULL};
#define EACH \
  { "each", offsetof(hu_schedule, each), 'c', counted }
static const hu_text_key curve_keys[] = {KEY("floor", floor, 'd'), EACH, KEY("until", until, 'u')};
static const hu_text_key power_keys[] = {KEY("", number, 'd'), KEY("floor", floor, 'd'), EACH,
                                         KEY("until", until, 'u')};
static const hu_text_key exponential_keys[] = {KEY("", number, 'd'), KEY("every", every, 'u')};
static const hu_text_key root_keys[] = {KEY("", warmup, 'u'), KEY("width", width, 'u'), KEY("from", from, 'u')};
static const hu_text_key plateau_keys[] = {KEY("", number, 'd'), KEY("window", window, 'u'), KEY("last", last, 'u')};

typedef struct schedule_kind {
  const char *name;
  uint8_t kind;
  hu_text_keys keys;
} schedule_kind;
static const schedule_kind kinds[] = {{"constant", HU_SCHEDULE_CONSTANT, {NULL, 0}},
                                      {"cosine", HU_SCHEDULE_COSINE, HU_TEXT_KEYS(curve_keys)},
                                      {"linear", HU_SCHEDULE_LINEAR, HU_TEXT_KEYS(curve_keys)},
                                      {"polynomial", HU_SCHEDULE_POLYNOMIAL, HU_TEXT_KEYS(power_keys)},
                                      {"exponential", HU_SCHEDULE_EXPONENTIAL, HU_TEXT_KEYS(exponential_keys)},
                                      {"inverse_root", HU_SCHEDULE_INVERSE_ROOT, HU_TEXT_KEYS(root_keys)},
                                      {"plateau", HU_SCHEDULE_PLATEAU, HU_TEXT_KEYS(plateau_keys)},
                                      {"drop", HU_SCHEDULE_DROP, {NULL, 0}},
                                      {"steps", HU_SCHEDULE_STEPS, {NULL, 0}},
                                      {"epochs", HU_SCHEDULE_EPOCHS, {NULL, 0}}};

static hu_status say(char *why, const char *sentence) {
  snprintf(why, HU_SCHEDULE_WHY_MAX, "%s", sentence);
  return HU_E_TRAIN;
}

static hu_schedule defaults(uint8_t kind) {
  hu_schedule schedule;
  memset(&schedule, 0, sizeof schedule);
  schedule.kind = kind;
  schedule.each = kind == HU_SCHEDULE_COSINE ? HU_EACH_EPOCH : HU_EACH_STEP;
  schedule.width = 1;
  schedule.window = 200;
  schedule.last = 3;
  return schedule;
}

static int is_factor(double x) { return x > 0 && x <= 1; }

static const char *wrong(const hu_schedule *schedule) {
  if (!(schedule->floor >= 0 && schedule->floor <= 1)) return "floor: not from 0 to 1";
  switch (schedule->kind) {
    case HU_SCHEDULE_POLYNOMIAL:
      return schedule->number > 0 && schedule->number <= 64 ? NULL : "polynomial: an exponent is above 0, up to 64";
    case HU_SCHEDULE_INVERSE_ROOT:
      if (!schedule->warmup || !schedule->width) return "inverse_root: warm-up and width are at least 1";
      return schedule->from <= 1 ? NULL : "from: not 0 or 1";
    case HU_SCHEDULE_PLATEAU:
      if (!schedule->window) return "window: 0";
      if (!schedule->last || schedule->last > HU_DROPS_MOST) return "last: not from 1 to 8";
      return is_factor(schedule->number) ? NULL : "plateau: a factor is above 0, up to 1";
    case HU_SCHEDULE_EXPONENTIAL:
      return is_factor(schedule->number) ? NULL : "exponential: a factor is above 0, up to 1";
    default: return NULL;
  }
}

/* Reads "0.4/0.6/0.8" before the comma: numbers, each above the one before; shares below 1, or whole ones. */
static int read_at(hu_schedule *schedule, const char *text, const char *comma) {
  const double most = schedule->kind == HU_SCHEDULE_DROP ? 1 : 0x1p53;
  for (size_t i = 0; i < HU_DROPS_MOST; i++) {
    size_t n = strcspn(text, "/,");
    double *at = &schedule->at[i], before = i ? schedule->at[i - 1] : 0;
    if (!hui_read_number(text, n, at) || !(*at > before && *at < most)) return 0;
    if (schedule->kind != HU_SCHEDULE_DROP && *at != floor(*at)) return 0;
    schedule->drops = i + 1;
    text += n;
    if (text == comma) return 1;
    text++;
  }
  return 0;
}

/* Reads what stands between the parentheses, n characters: "0.4/0.6/0.8,0.1". */
static hu_status read_drops(hu_schedule *schedule, const char *text, size_t n, char *why) {
  const char *comma = memchr(text, ',', n);
  if (comma && read_at(schedule, text, comma) &&
      hui_read_number(comma + 1, n - (size_t)(comma + 1 - text), &schedule->number) && is_factor(schedule->number))
    return HU_OK;
  if (schedule->kind == HU_SCHEDULE_DROP)
    return say(why, "is not drop(at,by), 0 < at < 1, 0 < by <= 1; up to 8 rising shares with / between");
  snprintf(why, HU_SCHEDULE_WHY_MAX,
           "is not %s(at,by), at a whole number, 0 < by <= 1; up to 8 rising numbers with / between",
           schedule->kind == HU_SCHEDULE_STEPS ? "steps" : "epochs");
  return HU_E_TRAIN;
}

static hu_status read_between(hu_schedule *schedule, const schedule_kind *kind, const char *text, size_t n, char *why) {
  unsigned seen = 0;
  size_t off = 0;
  char said[HU_SCHEDULE_WHY_MAX - 32];
  if (kind->kind >= HU_SCHEDULE_DROP) return read_drops(schedule, text, n, why);
  if (!kind->keys.count) return say(why, "has something behind constant, which takes nothing");
  if (hui_keys_read(schedule, kind->keys.key, kind->keys.count, &seen, text, n, &off) == HU_OK) return HU_OK;
  hui_keys_complain(said, sizeof said, kind->keys.key, kind->keys.count, text, n, off);
  snprintf(why, HU_SCHEDULE_WHY_MAX, "is not right: %s %s", kind->name, said);
  return HU_E_TRAIN;
}

static const schedule_kind *kind_named(const char *word, size_t n) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strlen(kinds[i].name) == n && memcmp(word, kinds[i].name, n) == 0) return &kinds[i];
  return NULL;
}

static int takes_nothing(const schedule_kind *kind) {
  return kind->kind < HU_SCHEDULE_DROP && (!kind->keys.count || kind->keys.key[0].name[0]);
}

hu_status hui_schedule_read(hu_schedule *schedule, const char *text, char why[HU_SCHEDULE_WHY_MAX]) {
  size_t word = strcspn(text, "("), all = strlen(text);
  const schedule_kind *kind = kind_named(text, word);
  if (!kind)
    return say(why,
               "is not constant, cosine, linear, polynomial(exponent), exponential(by), inverse_root(steps), "
               "plateau(by), drop(at,by), steps(at,by) or epochs(at,by)");
  hu_schedule made = defaults(kind->kind);
  if (word == all && !takes_nothing(kind)) return say(why, "has nothing in parentheses, and requires it");
  if (word < all && text[all - 1] != ')') return say(why, "has no closing parenthesis at its end");
  hu_status status = word < all ? read_between(&made, kind, text + word + 1, all - word - 2, why) : HU_OK;
  if (status != HU_OK) return status;
  const char *what = wrong(&made);
  if (what) {
    snprintf(why, HU_SCHEDULE_WHY_MAX, "is not right: %s", what);
    return HU_E_TRAIN;
  }
  *schedule = made;
  return HU_OK;
}

/* ---- the rate ---- */

static float in_binary32(int operation, float x, float y) {
  float z = 0;
  hu_view a = hu_codes(&x, 1, hu_binary32()), b = hu_codes(&y, 1, hu_binary32());
  hu_output to = hu_codes_out(&z, 1, hu_binary32());
  const hu_view both[] = {a, b};
  return hu_apply(operation, 1, &to, both, NULL) == HU_OK ? z : 0;
}

/* Returns cos(pi x), x from 0 to 1: of a binary32 number, correctly rounded. */
static double cosine(double x) { return (double)in_binary32(HU_OP_COS, (float)(3.14159265358979323846 * x), 0); }

/* How far a run is: `done` of `all` parts, none before the first and all behind the last. */
typedef struct progress {
  double done, all;
} progress;

static progress progress_of(const hu_schedule *schedule, const hu_schedule_place *place) {
  int epochs = schedule->each == HU_EACH_EPOCH;
  uint64_t at = epochs ? place->epoch : place->step, first = epochs ? 0 : place->warmup;
  uint64_t end = schedule->until ? schedule->until : epochs ? place->epochs : place->steps;
  if (at >= end) return (progress){1, 1};
  return at <= first ? (progress){0, 1} : (progress){(double)(at - first), (double)(end - first)};
}

/* Returns factor^count, by squares: the bits of count decide, the highest first. */
static double whole_power(double factor, uint64_t count) {
  double z = 1;
  for (int bit = 63; bit >= 0; bit--) {
    z *= z;
    if (count >> bit & 1) z *= factor;
  }
  return z;
}

static double curve(const hu_schedule *schedule, const hu_schedule_place *place) {
  const progress at = progress_of(schedule, place);
  const double left = (at.all - at.done) / at.all;
  double f = left;
  if (schedule->kind == HU_SCHEDULE_COSINE) f = 0.5 * (1 + cosine(at.done / at.all));
  if (schedule->kind == HU_SCHEDULE_POLYNOMIAL)
    f = (double)in_binary32(HU_OP_POW, (float)left, (float)schedule->number);
  return schedule->floor + (1 - schedule->floor) * f;
}

static double inverse_root(const hu_schedule *schedule, double rate, uint64_t step) {
  const double s = (double)(step + schedule->from), warmup = (double)schedule->warmup;
  if (s < warmup) rate *= s / warmup;
  return rate / sqrt(s < warmup ? warmup : s) / sqrt((double)schedule->width);
}

static double dropped(const hu_schedule *schedule, double rate, const hu_schedule_place *place) {
  const double x = schedule->kind == HU_SCHEDULE_DROP
                       ? (double)place->epoch / (double)(place->epochs ? place->epochs : 1)
                   : schedule->kind == HU_SCHEDULE_STEPS ? (double)place->step
                                                         : (double)place->epoch;
  for (size_t i = 0; i < schedule->drops; i++)
    if (x >= schedule->at[i]) rate *= schedule->number;
  return rate;
}

static double unwarmed(const hu_schedule *schedule, double rate, const hu_schedule_place *place) {
  switch (schedule->kind) {
    case HU_SCHEDULE_COSINE:
    case HU_SCHEDULE_LINEAR:
    case HU_SCHEDULE_POLYNOMIAL: return rate * curve(schedule, place);
    case HU_SCHEDULE_EXPONENTIAL:
      return rate * whole_power(schedule->number, schedule->every ? place->step / schedule->every : place->epoch);
    case HU_SCHEDULE_INVERSE_ROOT: return inverse_root(schedule, rate, place->step);
    case HU_SCHEDULE_CONSTANT:
    case HU_SCHEDULE_PLATEAU: return rate;
    default: return dropped(schedule, rate, place);
  }
}

double hui_schedule_rate(const hu_schedule *schedule, double rate, const hu_schedule_place *place) {
  rate = unwarmed(schedule, rate, place);
  return place->step < place->warmup ? rate * ((double)(place->step + 1) / (double)place->warmup) : rate;
}

/* ---- plateau ---- */

static int is_above_all(const hu_stall *stall, double mean) {
  for (uint64_t i = 0; i < stall->means; i++)
    if (!(mean > stall->mean[i])) return 0;
  return 1;
}

void hui_stall_add(hu_stall *stall, const hu_schedule *schedule, double loss) {
  if (schedule->kind != HU_SCHEDULE_PLATEAU) return;
  stall->sum += loss;
  if (++stall->count < schedule->window) return;
  const double mean = stall->sum / (double)stall->count;
  if (stall->means == schedule->last) {
    if (is_above_all(stall, mean)) stall->factor *= schedule->number;
    memmove(stall->mean, stall->mean + 1, (size_t)(stall->means - 1) * sizeof *stall->mean);
    stall->means--;
  }
  stall->mean[stall->means++] = mean;
  stall->sum = 0;
  stall->count = 0;
}
