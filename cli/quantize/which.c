/* SPDX-License-Identifier: MIT */
/* Which files are models, and how they are opened: see quantize.h. */
#include <string.h>
#include <sys/stat.h>

#include "cli/quantize/quantize.h"

const char *cli_layout(const cli_quantize_state *state) {
  return state->layout ? state->layout : state->includes ? NULL : "auto";
}

char *cli_array_tensor(const char *path) {
  const char *slash = strrchr(path, '/');
  char *name = strdup(!strcmp(path, "-") ? "array" : slash ? slash + 1 : path);
  if (name && cli_ends(name, ".npy")) name[strlen(name) - 4] = 0;
  return name;
}

int cli_is_model(const char *path) {
  static const char *const suffixes[] = {
      ".safetensors", ".safetensors.index.json", ".bin.index.json", ".pt", ".pth", ".ckpt", ".bin", ".onnx", ".distcp"};
  struct stat info;
  for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++)
    if (cli_ends(path, suffixes[i])) return 1;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

int cli_is_folder_name(const char *path) {
  return !cli_ends(path, ".safetensors") && !cli_ends(path, ".npy") && !cli_ends(path, ".gguf") &&
         strcmp(path, "-") != 0;
}
