/* SPDX-License-Identifier: MIT */
/* Sets the first weights of a run. */
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
