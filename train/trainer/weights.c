/* SPDX-License-Identifier: MIT */
/* Sets the first weights of a run; digests of weights. */
#include <stdlib.h>
#include <string.h>

#include "train/data/sha256.h"
#include "train/net/net.h"
#include "train/trainer/trainer.h"

hu_status hui_first_weights(hu_trainer *trainer) {
  const hu_mode rne = {0};
  hu_status status = hu_net_initialize(trainer->net, trainer->keys.seed);
  for (int i = 0; i < hu_net_parameters(trainer->net) && status == HU_OK; i++) {
    hu_net_tensor tensor = hu_net_parameter(trainer->net, i);
    if (!tensor.numbers) return HU_E_CUDA;
    status = hu_quantize_n(tensor.rows * tensor.cols, tensor.numbers, 1, tensor.numbers, 1, trainer->keys.weight, rne,
                           NULL, NULL);
    if (status == HU_OK) status = hu_net_set_parameter(trainer->net, i, tensor.numbers);
  }
  return status;
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
