/* SPDX-License-Identifier: MIT */
/* See foreign.h. docs/files.md section 5 has the same recipes. */
#include "cli/tensors/foreign.h"

#include <string.h>
#include <strings.h>

#define TORCH                                                                                                        \
  "a PyTorch file; in Python: safetensors.torch.save_file(torch.load(FILE, weights_only=True), 'OUT.safetensors'), " \
  "or torch.jit.load(FILE).state_dict() instead of torch.load"
#define ONNX                                                                                               \
  "an ONNX model; in Python: safetensors.numpy.save_file({t.name: onnx.numpy_helper.to_array(t) for t in " \
  "onnx.load(FILE).graph.initializer}, 'OUT.safetensors')"

static int has_suffix(const char *name, const char *suffix) {
  size_t n = strlen(name), m = strlen(suffix);
  return n > m && !strcasecmp(name + n - m, suffix);
}

/* Returns 1 for a name that PyTorch alone gives; .bin and .pkl say it only where a pickled object begins. */
static int is_torch(const char *name, const uint8_t *bytes, size_t size) {
  static const char *const suffixes[] = {".pt", ".pth", ".ckpt", ".jit"};
  if (size >= 2 && bytes[0] == 0x80 && bytes[1] >= 2 && bytes[1] <= 5 &&
      (has_suffix(name, ".bin") || has_suffix(name, ".pkl")))
    return 1;
  for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++)
    if (has_suffix(name, suffixes[i])) return 1;
  return 0;
}

/* Returns 1 for eight bytes of a length, and JSON. */
static int is_safetensors(const uint8_t *bytes, size_t size) {
  uint64_t length = 0;
  if (size < 10 || bytes[8] != '{') return 0;
  for (int i = 0; i < 8; i++) length |= (uint64_t)bytes[i] << 8 * i;
  return length <= size - 8;
}

const char *cli_foreign(const char *name, const uint8_t *bytes, size_t size) {
  if (size >= 6 && !memcmp(bytes, "\x93NUMPY", 6)) return "an .npy file, whose name is to end in .npy";
  if (size >= 4 && !memcmp(bytes, "GGUF", 4)) return "a GGUF file, whose name is to end in .gguf";
  if (size >= 8 && !memcmp(bytes, "\x89HDF\r\n\x1a\n", 8))
    return "an HDF5 file; in Python: numpy.save('OUT.npy', h5py.File(FILE)['NAME'])";
  if (size >= 4 && !memcmp(bytes, "PK\3\4", 4)) {
    if (has_suffix(name, ".npz")) return "an .npz archive; in Python: numpy.save('OUT.npy', numpy.load(FILE)['NAME'])";
    return has_suffix(name, ".zip") ? "a .zip archive; unpack it first" : TORCH;
  }
  if (has_suffix(name, ".onnx")) return ONNX;
  if (is_safetensors(bytes, size)) return "a .safetensors file, whose name is to end in .safetensors";
  if (is_torch(name, bytes, size)) return TORCH;
  if (has_suffix(name, ".json"))
    return "a list in JSON; the files of one that ends in .safetensors.index.json are read";
  return NULL;
}
