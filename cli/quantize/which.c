/* SPDX-License-Identifier: MIT */
/* Which files are models, and how they are opened: see quantize.h. */
#include <string.h>
#include <sys/stat.h>

#include "cli/quantize/quantize.h"

const char *cli_layout(const cli_quantize_state *state) {
  return state->layout ? state->layout : state->includes ? NULL : "auto";
}

int cli_is_model(const char *path) {
  struct stat info;
  return cli_ends(path, ".safetensors") || cli_ends(path, ".safetensors.index.json") ||
         (stat(path, &info) == 0 && S_ISDIR(info.st_mode));
}
