/* SPDX-License-Identifier: MIT */
/* The search for the roundings that cost the accuracy: groups of layers are halved, then the parts of the layer that is
 * found, then its steps. See attribute.h. */
#include "cli/experiment/attribute.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/io.h"
#include "cli/train/interrupt.h"

enum { OFF_MAX = 8000 };

/* ---- what is tried ---- */

/* A part, and the keys of which at least one has to round something. */
typedef struct part {
  const char *name, *group; /* group: NULL for the three groups */
  const char *keys[6];
} part;
static const part parts[] = {
    {"forward",
     NULL,
     {"precision.x", "precision.w", "precision.z_out", "precision.values", "precision.parameters",
      "precision.embeddings"}},
    {"backward", NULL, {"precision.dz", "precision.w_back", "precision.dx_out", "precision.gradients"}},
    {"weights", NULL, {"precision.x_back", "precision.dz_w", "precision.dw_out", "precision.parameter_gradients"}},
    {"x", "forward", {"precision.x"}},
    {"w", "forward", {"precision.w"}},
    {"z_out", "forward", {"precision.z_out"}},
    {"value", "forward", {"precision.values", "precision.embeddings"}},
    {"parameter", "forward", {"precision.parameters"}},
    {"dz", "backward", {"precision.dz"}},
    {"w_back", "backward", {"precision.w_back"}},
    {"dx_out", "backward", {"precision.dx_out"}},
    {"gradient", "backward", {"precision.gradients"}},
    {"x_back", "weights", {"precision.x_back"}},
    {"dz_w", "weights", {"precision.dz_w"}},
    {"dw_out", "weights", {"precision.dw_out"}},
    {"parameter_gradient", "weights", {"precision.parameter_gradients"}},
};
enum { PARTS = sizeof parts / sizeof *parts, PART_KEYS = 6 };

static int rounds(const attribute *work, const part *one) {
  for (size_t i = 0; i < PART_KEYS && one->keys[i]; i++) {
    if (strcmp(hu_trainer_get(work->trainer, one->keys[i]), "keep") != 0) return 1;
  }
  return 0;
}

/* Do the keys of the updates round anything? */
static int rounds_updates(const attribute *work) {
  static const char *const keys[] = {"optimizer.state", "optimizer.weights", "optimizer.stored_m",
                                     "optimizer.stored_v"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    const char *value = hu_trainer_get(work->trainer, keys[i]);
    if (strcmp(value, "binary32") != 0 && strcmp(value, "keep") != 0) return 1;
  }
  return 0;
}

/* ---- the search ---- */

/* Is a group to be looked at more closely? It has a quarter of what its whole has, and more than noise. */
static int is_worth(const attribute_try *one, const attribute_try *of) {
  return one && of && one->noise != 1 && one->loss > 0 && one->loss >= of->loss / 4;
}

static const attribute_try *better(const attribute_try *x, const attribute_try *y) {
  return !x || (y && y->loss > x->loss) ? y : x;
}

/* A range of layers, or of slices of the steps, that is halved. */
typedef struct axis {
  const char *search;
  /* Writes what of a range is left out; *from: the step from which it is. */
  int (*text)(const attribute *work, const struct axis *along, size_t low, size_t high, char *off, uint64_t *from);
  const attribute_try *root; /* the whole range */
  const attribute_try *found;
  size_t size; /* of what is found */
} axis;

static int try_range(attribute *work, const axis *along, size_t low, size_t high, const attribute_try **z) {
  char off[OFF_MAX];
  uint64_t from = 0;
  int status = along->text(work, along, low, high, off, &from);
  return status == CLI_OK ? attribute_run(work, along->search, off, from, z) : status;
}

/* Takes the smallest range that has half of what the whole has, and of several of a size the one that has most. */
static void find(axis *along, size_t size, const attribute_try *one) {
  if (one->loss < along->root->loss / 2) return;
  if (along->found && (size > along->size || (size == along->size && one->loss <= along->found->loss))) return;
  along->found = one;
  along->size = size;
}

/* Halves a range, first the half whose roundings cost more. */
static int halve(attribute *work, axis *along, size_t low, size_t high, const attribute_try *whole) {
  const attribute_try *half[2] = {NULL, NULL};
  size_t middle = low + (high - low) / 2;
  find(along, high - low, whole);
  if (high - low == 1) return CLI_OK;
  int status = try_range(work, along, low, middle, &half[0]);
  if (status == CLI_OK) status = try_range(work, along, middle, high, &half[1]);
  if (status != CLI_OK || !half[0] || !half[1]) return status;
  int first = half[1]->loss > half[0]->loss;
  for (int i = 0; i < 2 && status == CLI_OK && !work->ended; i++) {
    int k = i ? !first : first;
    if (is_worth(half[k], whole)) status = halve(work, along, k ? middle : low, k ? high : middle, half[k]);
  }
  return status;
}

/* ---- layers ---- */

static int layers_text(const attribute *work, const axis *along, size_t low, size_t high, char *off, uint64_t *from) {
  size_t n = 0;
  (void)along;
  *from = 0;
  for (size_t i = low; i < high && n < OFF_MAX; i++)
    n += (size_t)snprintf(off + n, OFF_MAX - n, "%s%s:all", i > low ? "," : "", work->layer[i]);
  return n < OFF_MAX ? CLI_OK : cli_fail(work->how->cell, "--attribute: the names of its layers are too long");
}

static int list_layers(attribute *work) {
  hu_net *net = hu_trainer_net(work->trainer);
  int count = hu_net_parameters(net);
  work->layer = calloc((size_t)count + 1, sizeof *work->layer);
  if (!work->layer || !(work->layer[work->layers++] = strdup("input"))) return cli_fail(NULL, "out of memory");
  for (int i = 0; i < count; i++) {
    const char *name = hu_net_parameter_name(net, i), *dot = strrchr(name, '.');
    size_t n = dot ? (size_t)(dot - name) : strlen(name), k = 0;
    while (k < work->layers && (strlen(work->layer[k]) != n || strncmp(work->layer[k], name, n) != 0)) k++;
    if (k < work->layers) continue;
    work->layer[work->layers] = strndup(name, n);
    if (!work->layer[work->layers++]) return cli_fail(NULL, "out of memory");
  }
  return CLI_OK;
}

/* ---- parts ---- */

/* Tries the parts of a group (NULL: the groups) of what `off` leaves out whole: "linear1:all". */
static int try_parts(attribute *work, const attribute_try *whole, const char *group, const attribute_try **found) {
  char off[OFF_MAX];
  const attribute_try *best = NULL, *one;
  int status = CLI_OK;
  for (size_t i = 0; i < PARTS && status == CLI_OK && !work->ended; i++) {
    int is = group ? parts[i].group && strcmp(parts[i].group, group) == 0 : !parts[i].group;
    if (!is || !rounds(work, &parts[i])) continue;
    size_t n = 0;
    for (const char *at = work->layer_found->off; *at && n < OFF_MAX;) { /* each "LAYER:all" */
      size_t length = strcspn(at, ":");
      n += (size_t)snprintf(off + n, OFF_MAX - n, "%s%.*s:%s", n ? "," : "", (int)length, at, parts[i].name);
      at += strcspn(at, ",");
      at += *at == ',';
    }
    if (n >= OFF_MAX) return cli_fail(work->how->cell, "--attribute: the names of its layers are too long");
    status = attribute_run(work, "parts", off, 0, &one);
    if (status == CLI_OK && is_worth(one, whole)) best = better(best, one);
  }
  if (status == CLI_OK && best && !work->ended) *found = best;
  return status;
}

static int search_parts(attribute *work) {
  const attribute_try *group = NULL, *one = NULL;
  int status = try_parts(work, work->layer_found, NULL, &group);
  work->part_found = group ? group : work->layer_found;
  if (status != CLI_OK || !group || work->ended) return status;
  const char *colon = strchr(group->off, ':') + 1;
  char name[24];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(colon, ","), colon);
  status = try_parts(work, group, name, &one);
  if (one) work->part_found = one;
  return status;
}

/* ---- steps ---- */

static uint64_t begin_of(const attribute *work, size_t slice) { return work->steps * slice / ATTRIBUTE_SLICES; }

/* The last range has no end, so that evaluations are as the steps before them. */
static int steps_text(const attribute *work, const axis *along, size_t low, size_t high, char *off, uint64_t *from) {
  char to[24] = "";
  size_t n = 0;
  *from = begin_of(work, low);
  if (high < ATTRIBUTE_SLICES) snprintf(to, sizeof to, "%" PRIu64, begin_of(work, high));
  for (const char *at = along->root->off; *at && n < OFF_MAX;) {
    size_t length = strcspn(at, ",");
    n += (size_t)snprintf(off + n, OFF_MAX - n, "%s%.*s@%" PRIu64 "..%s", n ? "," : "", (int)length, at, *from, to);
    at += length;
    at += *at == ',';
  }
  return n < OFF_MAX ? CLI_OK : cli_fail(work->how->cell, "--attribute: the names of its layers are too long");
}

/* ---- all of it ---- */

static int search_layers(attribute *work, const attribute_try *whole) {
  axis along = {.search = "layers", .text = layers_text, .root = whole};
  int status = halve(work, &along, 0, work->layers, whole);
  work->layer_found = along.found;
  return status;
}

static int search_steps(attribute *work) {
  axis along = {.search = "steps", .text = steps_text, .root = work->part_found};
  int status = halve(work, &along, 0, ATTRIBUTE_SLICES, work->part_found);
  work->step_found = along.found;
  return status;
}

static int search(attribute *work) {
  const attribute_try *all, *one;
  int status = attribute_run(work, "all", "none", 0, &one);
  if (status == CLI_OK && !work->ended) status = attribute_run(work, "all", "*:all", 0, &all);
  if (status != CLI_OK || work->ended) return status;
  for (size_t i = 0; i < 3 && status == CLI_OK; i++) {
    char off[32];
    snprintf(off, sizeof off, "*:%s", parts[i].name);
    if (rounds(work, &parts[i])) status = attribute_run(work, "all", off, 0, &one);
  }
  if (status == CLI_OK && rounds_updates(work)) status = attribute_run(work, "all", "updates", 0, &one);
  if (status != CLI_OK || work->ended || !is_worth(all, all)) return status;
  status = search_layers(work, all);
  if (status == CLI_OK && !work->ended && work->layer_found) status = search_parts(work);
  if (status != CLI_OK || work->ended || !work->part_found || work->steps < ATTRIBUTE_SLICES) return status;
  return search_steps(work);
}

static int begin(attribute *work) {
  const job_part all = {.list = 0, .what = "another cell"};
  int lock = -1;
  work->trainer = hu_trainer_new();
  int status = work->trainer ? ledger_set_keys(work->trainer, work->how, NULL) : cli_fail(NULL, "out of memory");
  if (status == CLI_OK) status = ledger_begin_trainer(work->trainer, work->how);
  if (status != CLI_OK) return status;
  snprintf(work->sources, sizeof work->sources, "%016" PRIx64, ledger_sources(work->trainer));
  work->steps = hu_trainer_steps(work->trainer);
  status = list_layers(work);
  if (status == CLI_OK && mkdir(work->how->given.out, 0777) && errno != EEXIST)
    status = cli_fail(work->how->given.out, "%s", strerror(errno));
  if (status == CLI_OK) status = cli_folder_lock(&lock, work->how->given.out, "experiment");
  if (status == CLI_OK && asprintf(&work->path, "%s/runs.ledger", work->how->given.out) < 0)
    status = cli_fail(NULL, "out of memory");
  return status == CLI_OK ? job_ledger_open(&work->ledger, work->path, &all, "experiment") : status;
}

static void end(attribute *work) {
  for (size_t i = 0; i < work->count; i++) free(work->tried[i].off);
  for (size_t i = 0; i < work->layers; i++) free(work->layer[i]);
  free(work->layer);
  free(work->path);
  attribute_free_states(work);
  job_ledger_free(&work->ledger);
  hu_trainer_free(work->trainer);
}

int attribute_command(const ledger_how *how, size_t seeds, double budget) {
  attribute work = {.how = how, .seeds = seeds, .budget = budget, .ledger = JOB_NO_LEDGER(JOB_FIELDS)};
  interrupt before;
  if (seeds > ATTRIBUTE_SEEDS_MAX) return cli_fail(NULL, "--seeds: with --attribute from 1 to %d", ATTRIBUTE_SEEDS_MAX);
  interrupt_begin(&before);
  int status = begin(&work);
  if (status == CLI_OK) status = search(&work);
  int stopped = interrupt_signal();
  interrupt_end(&before);
  if (status == CLI_OK && stopped)
    cli_note("stopped by %s after %zu runs; the same command continues", strsignal(stopped), work.runs);
  if (status == CLI_OK && !stopped) status = attribute_write(&work);
  if (status == CLI_OK && !stopped && how->given.json) attribute_print_json(stdout, &work);
  if (status == CLI_OK && !stopped && !how->given.json && !cli_quiet()) attribute_print(stdout, &work);
  if (status == CLI_OK && !stopped && work.count < 2) status = CLI_DIFFERENT; /* the budget was too small */
  end(&work);
  if (status == CLI_OK && stopped) raise(stopped); /* takes its default effect */
  return status;
}
