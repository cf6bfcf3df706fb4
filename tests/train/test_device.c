/* SPDX-License-Identifier: MIT */
/* Whether there is a device to train on is what hu_device_available says, with CUDA and without. */
#include <stdio.h>

#include "halfulp/device.h"
#include "halfulp/train/net.h"

int main(void) {
  const hu_engine *engine = (const hu_engine *)(const void *)&engine;
  hu_status there = hu_device_available(NULL, 0), status = hu_engine_device(&engine);
  int good = status == there && (status == HU_OK || status == HU_E_DEVICE) && !engine == (status != HU_OK);
  good &= hu_engine_device(NULL) == HU_E_NULL;
  hu_net *net = hu_net_new_on(engine, 2, 1);
  good &= net && hu_net_value(net, hu_net_input(net, 1, 3)).rows == 2;
  hu_net_free(net);
  printf("%s: %s\n", hu_status_name(status), good ? "as it should be" : "FAIL");
  return !good;
}
