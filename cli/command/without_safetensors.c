/* SPDX-License-Identifier: MIT */
/* The command where jansson was not found: .npy files only. */
#include "cli/quantize/compare.h"
#include "cli/quantize/model_info.h"

static int refuse(const char *file) {
  return cli_fail(
      file,
      "this build reads no .safetensors and no .gguf: the library jansson was not found when it was configured "
      "(Debian: libjansson-dev)");
}

int cli_quantize_tensors(const cli_quantize_state *state, const char *in, const char *out) {
  (void)state;
  return refuse(cli_ends(in, ".safetensors") || cli_ends(in, ".gguf") ? in : out);
}

int cli_importances_safetensors(cli_importances *z) { return refuse(z->path); }

int cli_importances_gguf(cli_importances *z, const uint8_t *bytes, size_t size) {
  (void)bytes;
  (void)size;
  return refuse(z->path);
}

int cli_decode_tensors(const cli_quantize_state *state, const char *in, const char *out) {
  (void)state;
  (void)out;
  return refuse(in);
}

int cli_write_model(const cli_quantize_state *state, const char *target, const char *in, const char *out) {
  (void)state;
  (void)target;
  (void)out;
  return refuse(in);
}

int cli_model_info(const char *path, const char *layout, int json) {
  (void)layout;
  (void)json;
  return refuse(path);
}

int cli_decode_gguf(const cli_quantize_state *state, const char *in, const char *out) {
  (void)state;
  (void)out;
  return refuse(in);
}

int cli_tensor_use(const char *path, const char *name, cli_floats_use *use, void *context) {
  (void)name;
  (void)use;
  (void)context;
  return refuse(path);
}

int cli_compare_file(const compare_asked *asked, const char *in) {
  (void)asked;
  return refuse(in);
}

int cli_audit(int argc, char **argv) {
  (void)argc, (void)argv;
  return refuse(NULL);
}
