/* SPDX-License-Identifier: MIT */
/* Sizes of data that models are built for: their names in texts, and those of a data set. */
#include <stddef.h>
#include <string.h>

#include "halfulp/train/model.h"

size_t *hu_model_size(hu_model_sizes *sizes, size_t i, const char **name) {
#define SIZE(name) \
  { #name, offsetof(hu_model_sizes, name) }
  static const struct {
    const char *name;
    size_t at;
  } all[] = {SIZE(height), SIZE(width),   SIZE(channels),          SIZE(steps), SIZE(vocabulary), SIZE(users),
             SIZE(items),  SIZE(outputs), SIZE(source_vocabulary), SIZE(dense), SIZE(categories)};
  if (i >= sizeof all / sizeof *all) return NULL;
  *name = all[i].name;
  return (size_t *)((char *)sizes + all[i].at);
}

hu_model_sizes hu_model_sizes_of_data(const hu_data *data) {
  hu_model_sizes sizes;
  memset(&sizes, 0, sizeof sizes);
  if (!data) return sizes;
  sizes.height = data->height;
  sizes.width = data->width;
  sizes.channels = data->channels;
  sizes.outputs = data->classes ? data->classes : data->targets;
  return sizes;
}

hu_model_sizes hu_model_sizes_of_text(const hu_text *text, size_t steps) {
  hu_model_sizes sizes;
  memset(&sizes, 0, sizeof sizes);
  if (!text) return sizes;
  sizes.steps = steps;
  sizes.vocabulary = sizes.outputs = text->kinds;
  return sizes;
}
