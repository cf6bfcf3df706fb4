/* SPDX-License-Identifier: MIT */
/* Keeps what went wrong while a net was built. */
#include <stdio.h>

#include "train/net/net.h"

int hui_refuse(hu_net *net, hu_status status, const char *what) {
  if (net->status != HU_OK) return -1;
  net->status = status;
  snprintf(net->why, sizeof net->why, "operator %d: %s", net->operators, what);
  return -1;
}

void hui_refuse_whole(hu_net *net, hu_status status, const char *sentence) {
  net->status = status;
  snprintf(net->why, sizeof net->why, "%s", sentence);
}

int hui_usable(hu_net *net, int x) {
  if (!net || net->status != HU_OK) return 0;
  if (x >= 0 && x < net->values) return 1;
  hui_refuse(net, HU_E_SHAPE, "no value of that number");
  return 0;
}
