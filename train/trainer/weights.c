/* SPDX-License-Identifier: MIT */
/* Sets the first weights of a run. */
#include "train/net/net.h"
#include "train/trainer/trainer.h"

hu_status hu_first_weights(hu_trainer *t) {
  const hu_mode rne = {0};
  hu_status s = hu_net_initialize(t->net, t->keys.seed);
  for (int i = 0; i < hu_net_parameters(t->net) && s == HU_OK; i++) {
    hu_net_tensor x = hu_net_parameter(t->net, i);
    if (!x.numbers) return HU_E_CUDA;
    s = hu_quantize_n(x.rows * x.cols, x.numbers, 1, x.numbers, 1, t->keys.weight, rne, NULL, NULL);
    if (s == HU_OK) s = hu_net_set_parameter(t->net, i, x.numbers);
  }
  return s;
}
