/* SPDX-License-Identifier: MIT */
/* layouts/onnx.h - a tensor of a graph, which the parts of ONNX's reader share: onnx.c reads messages and graphs,
 * onnx_data.c finds the numbers. */
#ifndef HALFULP_LAYOUTS_ONNX_H
#define HALFULP_LAYOUTS_ONNX_H

#include "layouts/layouts.h"
#include "layouts/wire.h"

/* A TensorProto. */
typedef struct onnx_tensor {
  char name[HUI_NAME_MAX];
  uint64_t type;
  uint32_t dims;
  size_t shape[ST_DIMS_MAX], count;
  hui_wire message; /* all of it */
  const uint8_t *raw;
  size_t raw_size;
  int has_raw, external;
  char location[HUI_NAME_MAX];
  uint64_t offset, length;
  int has_length;
} onnx_tensor;

/* Says what is wrong with a file, or a tensor of it; 0. */
int onnx_wrong(hu_checkpoint *x, size_t place, const char *name, const char *what);
/* Adds a tensor to shard `place`, or to that of its external data: 1, or 0 and the line. */
int onnx_add(hu_checkpoint *x, size_t place, const onnx_tensor *tensor);

#endif
