/* SPDX-License-Identifier: MIT */
/* The device's name. This file is compiled twice: HU_CLI_HOST_RUN is 1 in the executable whose CUDA kernels are
 * compiled for and run by the CPU. */
#include "cli/base/device.h"

#include <stdio.h>
#include <string.h>

#include "cli/base/cli.h"
#include "halfulp/train/net.h"

#ifndef HU_CLI_HOST_RUN
#define HU_CLI_HOST_RUN 0
#endif

int cli_device_read(int *cuda, const char *text) {
  if (strcmp(text, "cpu") && strcmp(text, "cuda"))
    return cli_fail(NULL, "--device: '%s' is neither cpu nor cuda", text);
  *cuda = strcmp(text, "cuda") == 0;
  return CLI_OK;
}

int cli_device_ask(char name[CLI_DEVICE_MAX]) {
  char found[CLI_DEVICE_MAX - 8] = "";
  hu_status status = hu_device_available(found, sizeof found);
  if (status != HU_OK)
    snprintf(name, CLI_DEVICE_MAX, "%s", *found ? found : hu_status_text(status));
  else if (HU_CLI_HOST_RUN)
    snprintf(name, CLI_DEVICE_MAX, "host-run of the CUDA kernels");
  else
    snprintf(name, CLI_DEVICE_MAX, "GPU %s", found);
  return status == HU_OK;
}

int cli_device_find(char name[CLI_DEVICE_MAX]) {
  if (cli_device_ask(name)) return CLI_OK;
  return cli_fail("--device cuda", "%s", name);
}

int cli_device_engine(const struct hu_engine **engine, char why[CLI_DEVICE_MAX]) {
  if (!cli_device_ask(why)) return 0;
  hu_status status = hu_engine_device(engine);
  if (status != HU_OK) snprintf(why, CLI_DEVICE_MAX, "%s", hu_status_text(status));
  return status == HU_OK;
}
