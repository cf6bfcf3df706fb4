/* SPDX-License-Identifier: MIT */
/* Sets the first weights of a run, drawn or those of a file; digests of weights. */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/data/sha256.h"
#include "train/net/net.h"
#include "train/trainer/trainer.h"

/* ---- names of a file ---- */

/* An entry of model.names: ours and theirs, with the place of a * in each; SIZE_MAX: there is none. */
typedef struct name_entry {
  const char *ours, *theirs;
  size_t our_size, their_size, our_star, their_star;
  int pytorch;
} name_entry;

static size_t star_of(const char *text, size_t n) {
  const char *star = memchr(text, '*', n);
  return star ? (size_t)(star - text) : SIZE_MAX;
}

/* Reads the entry that a text begins with; *text moves behind it and its comma. 0: it is no entry. */
static int read_entry(const char **text, name_entry *entry) {
  static const char form[] = "pytorch";
  const size_t n = strcspn(*text, ",");
  const char *colon = memchr(*text, ':', n), *end = *text + n;
  if (!colon) return 0;
  *entry = (name_entry){.ours = *text, .theirs = colon + 1, .our_size = (size_t)(colon - *text)};
  const char *second = memchr(colon + 1, ':', (size_t)(end - colon) - 1);
  entry->pytorch = second != NULL;
  entry->their_size = (size_t)((second ? second : end) - entry->theirs);
  entry->our_star = star_of(entry->ours, entry->our_size);
  entry->their_star = star_of(entry->theirs, entry->their_size);
  if (second && ((size_t)(end - second) != sizeof form || strncmp(second + 1, form, sizeof form - 1) != 0)) return 0;
  if (!entry->our_size || !entry->their_size || (*end == ',' && !end[1])) return 0;
  if (entry->our_star == SIZE_MAX && entry->their_star != SIZE_MAX) return 0;
  for (int k = 0; k < 2; k++) { /* one * at most */
    const char *of = k ? entry->theirs : entry->ours;
    const size_t size = k ? entry->their_size : entry->our_size, star = k ? entry->their_star : entry->our_star;
    if (star != SIZE_MAX && memchr(of + star + 1, '*', size - star - 1)) return 0;
  }
  *text = end + (*end == ',');
  return 1;
}

/* Returns 1 if an entry is for a name; *rest and *size are what its * stands for. */
static int fits(const name_entry *entry, const char *name, const char **rest, size_t *size) {
  const size_t n = strlen(name), star = entry->our_star;
  if (star == SIZE_MAX) return n == entry->our_size && strncmp(entry->ours, name, n) == 0;
  const size_t behind = entry->our_size - star - 1;
  *rest = name + star;
  *size = n - star - behind;
  return n >= star + behind && strncmp(entry->ours, name, star) == 0 &&
         strncmp(entry->ours + star + 1, name + n - behind, behind) == 0;
}

/* Finds the entry of a name; 0: there is none. model.names has been checked. */
static int find_entry(const char *names, const char *name, name_entry *entry, const char **rest, size_t *size) {
  while (*names && read_entry(&names, entry))
    if (fits(entry, name, rest, size)) return 1;
  return 0;
}

/* Writes the name of the file, "-" for none; 0: it is too long. */
static int name_there(char z[HU_PARAMETER_NAME_MAX], const name_entry *entry, const char *rest, size_t size) {
  const size_t star = entry->their_star, first = star == SIZE_MAX ? entry->their_size : star;
  const size_t behind = star == SIZE_MAX ? 0 : entry->their_size - star - 1, middle = star == SIZE_MAX ? 0 : size;
  if (first + middle + behind >= HU_PARAMETER_NAME_MAX) return 0;
  memcpy(z, entry->theirs, first);
  memcpy(z + first, rest, middle);
  memcpy(z + first + middle, entry->theirs + star + 1, behind);
  z[first + middle + behind] = 0;
  return 1;
}

/* ---- weights of a file ---- */

/* Writes the name of the running statistics of operator i, and their number; NULL: it has none. */
static float *running_of(const hu_trainer *trainer, int i, char name[HU_PARAMETER_NAME_MAX], size_t *n) {
  const hu_operator *op = &trainer->net->op[i];
  float *running = hui_running_of(trainer->net, op, n);
  if (!running) return NULL;
  snprintf(name, HU_PARAMETER_NAME_MAX, "%s", hu_net_parameter_name(trainer->net, op->theta[0]));
  *strrchr(name, '.') = 0;
  const size_t used = strlen(name);
  snprintf(name + used, HU_PARAMETER_NAME_MAX - used, ".running");
  return running;
}

/* Each entry is for a tensor. */
static hu_status check_names(const hu_trainer *trainer, char *why) {
  const char *names = trainer->keys.names;
  name_entry entry;
  while (*names) {
    const char *at = names, *rest;
    char name[HU_PARAMETER_NAME_MAX];
    size_t size, n;
    int found = 0;
    if (!read_entry(&names, &entry))
      return hui_say(why, HU_E_TRAIN, "model.names: '%.80s' is not OURS:THEIRS or OURS:THEIRS:pytorch, with one * each",
                     at);
    for (int i = 0; i < hu_net_parameters(trainer->net) && !found; i++)
      found = fits(&entry, hu_net_parameter_name(trainer->net, i), &rest, &size);
    for (int i = 0; i < trainer->net->operators && !found; i++)
      found = running_of(trainer, i, name, &n) && fits(&entry, name, &rest, &size);
    if (!found)
      return hui_say(why, HU_E_TRAIN, "model.names: '%.*s' names no tensor of the network", (int)entry.our_size,
                     entry.ours);
  }
  return HU_OK;
}

/* Reads a tensor; *there: 0: it is to begin as without a file. */
static hu_status read_tensor(const hu_trainer *trainer, const char *name, size_t rows, size_t cols, float *numbers,
                             int *there, char *why) {
  const hu_run_keys *keys = &trainer->keys;
  char other[HU_PARAMETER_NAME_MAX];
  const char *rest = "";
  size_t size = 0;
  name_entry entry = {.pytorch = 0};
  snprintf(other, sizeof other, "%s", name);
  if (find_entry(keys->names, name, &entry, &rest, &size) && !name_there(other, &entry, rest, size))
    return hui_say(why, HU_E_TRAIN, "model.names: the name of %s is too long", name);
  *there = strcmp(other, "-") != 0;
  if (!*there) return HU_OK;
  const int pytorch = find_entry(keys->names, name, &entry, &rest, &size) && entry.pytorch;
  hu_status status = trainer->read(trainer->read_context, keys->weights, other, pytorch, rows, cols, numbers, why);
  if (status != HU_OK) return status;
  for (size_t k = 0; k < rows * cols; k++) {
    if (!(numbers[k] >= -FLT_MAX && numbers[k] <= FLT_MAX))
      return hui_say(why, HU_E_DATA, "%s: tensor '%s': number %zu is not finite", keys->weights, other, k);
  }
  return HU_OK;
}

static hu_status read_parameter(hu_trainer *trainer, int i, float *numbers, char *why) {
  const hu_mode rne = {0};
  const hu_parameter *parameter = &trainer->net->parameter[i];
  const size_t n = parameter->rows * parameter->cols;
  int there = 0;
  hu_status status = read_tensor(trainer, hu_net_parameter_name(trainer->net, i), parameter->rows, parameter->cols,
                                 numbers, &there, why);
  if (status != HU_OK || !there) return status;
  status = hu_quantize_n(n, numbers, 1, numbers, 1, trainer->keys.weight, rne, NULL, NULL);
  return status == HU_OK ? hu_net_set_parameter(trainer->net, i, numbers) : status;
}

/* Statistics are binary32, and not rounded. */
static hu_status read_running(hu_trainer *trainer, int i, float *numbers, char *why) {
  char name[HU_PARAMETER_NAME_MAX];
  size_t n;
  int there = 0;
  float *running = running_of(trainer, i, name, &n);
  if (!running) return HU_OK;
  hu_status status = read_tensor(trainer, name, 2, n / 2, numbers, &there, why);
  if (status != HU_OK || !there) return status;
  trainer->net->fault = HU_OK;
  hui_do_put(trainer->net, running, numbers, n * sizeof *numbers);
  return hui_done(trainer->net);
}

static size_t largest_tensor(const hu_trainer *trainer) {
  size_t most = 1, n;
  for (int i = 0; i < trainer->net->parameters; i++) {
    n = trainer->net->parameter[i].rows * trainer->net->parameter[i].cols;
    most = n > most ? n : most;
  }
  for (int i = 0; i < trainer->net->operators; i++) {
    if (hui_running_of(trainer->net, &trainer->net->op[i], &n) && n > most) most = n;
  }
  return most;
}

/* Takes the weights of model.weights. */
static hu_status weights_of_file(hu_trainer *trainer, char *why) {
  if (!trainer->read) return hui_say(why, HU_E_TRAIN, "model.weights: nothing reads files of weights here");
  hu_status status = check_names(trainer, why);
  float *numbers = status == HU_OK ? malloc(largest_tensor(trainer) * sizeof *numbers) : NULL;
  if (status == HU_OK && !numbers) status = HU_E_MEMORY;
  for (int i = 0; i < trainer->net->parameters && status == HU_OK; i++)
    status = read_parameter(trainer, i, numbers, why);
  for (int i = 0; i < trainer->net->operators && status == HU_OK; i++) status = read_running(trainer, i, numbers, why);
  free(numbers);
  return status;
}

hu_status hu_trainer_set_reader(hu_trainer *trainer, hu_trainer_reader *read, void *context) {
  if (!trainer) return HU_E_NULL;
  if (trainer->net) return HU_E_SHAPE;
  trainer->read = read;
  trainer->read_context = context;
  return HU_OK;
}

/* ---- first weights, and digests ---- */

hu_status hui_first_weights(hu_trainer *trainer, char *why) {
  const hu_mode rne = {0};
  hu_status status = hu_net_initialize(trainer->net, trainer->keys.seed);
  for (int i = 0; i < hu_net_parameters(trainer->net) && status == HU_OK; i++) {
    hu_net_tensor tensor = hu_net_parameter(trainer->net, i);
    if (!tensor.numbers) return HU_E_CUDA;
    status = hu_quantize_n(tensor.rows * tensor.cols, tensor.numbers, 1, tensor.numbers, 1, trainer->keys.weight, rne,
                           NULL, NULL);
    if (status == HU_OK) status = hu_net_set_parameter(trainer->net, i, tensor.numbers);
  }
  return status == HU_OK && *trainer->keys.weights ? weights_of_file(trainer, why) : status;
}

/* Copies the bytes of a number, the least significant one first. */
static void put_bytes(uint8_t *z, float x) {
  uint32_t word;
  memcpy(&word, &x, sizeof word);
  for (int i = 0; i < 4; i++) z[i] = (uint8_t)(word >> 8 * i);
}

hu_status hu_trainer_sha256(const hu_trainer *trainer, int parameter, char text[HU_SHA256_TEXT + 1]) {
  if (!trainer || !text) return HU_E_NULL;
  if (!trainer->net) return HU_E_TRAIN;
  int count = hu_net_parameters(trainer->net), first = parameter < 0 ? 0 : parameter,
      end = parameter < 0 ? count : parameter + 1;
  if (parameter < -1 || end > count) return HU_E_SHAPE;
  uint8_t *bytes = NULL;
  size_t size = 0;
  for (int i = first; i < end; i++) {
    hu_net_tensor tensor = hu_net_parameter(trainer->net, i);
    size_t n = tensor.rows * tensor.cols;
    uint8_t *more = tensor.numbers ? realloc(bytes, size + 4 * n + 1) : NULL;
    if (!more) {
      free(bytes);
      return tensor.numbers ? HU_E_MEMORY : HU_E_CUDA;
    }
    bytes = more;
    for (size_t k = 0; k < n; k++) put_bytes(bytes + size + 4 * k, tensor.numbers[k]);
    size += 4 * n;
  }
  (void)hui_sha256_text(text, size, bytes);
  free(bytes);
  return HU_OK;
}
