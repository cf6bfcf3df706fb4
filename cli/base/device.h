/* SPDX-License-Identifier: MIT */
/* cli/base/device.h - which machine an operation runs on. */
#ifndef HALFULP_CLI_BASE_DEVICE_H
#define HALFULP_CLI_BASE_DEVICE_H

#include "halfulp/device.h"

enum { CLI_DEVICE_MAX = 160 };
#define CLI_OPTION_DEVICE(key) \
  { key, "device", "DEVICE", "cpu or cuda; default cpu" }

/* Reads "cpu" (0) or "cuda" (1). */
int cli_device_read(int *cuda, const char *text);
/* Looks for the device and writes its name. Returns an exit code, after an error line if there is none. */
int cli_device_find(char name[CLI_DEVICE_MAX]);
/* Looks for the device without an error line. Returns 1 if there is one; name says which, or why not. */
int cli_device_ask(char name[CLI_DEVICE_MAX]);
/* What networks run on there (halfulp/train/net.h): 1, or 0 and why not. */
struct hu_engine;
int cli_device_engine(const struct hu_engine **engine, char why[CLI_DEVICE_MAX]);

#endif
