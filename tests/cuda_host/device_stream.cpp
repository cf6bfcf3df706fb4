/* SPDX-License-Identifier: MIT */
/* tests/cuda_host/device_stream.cpp - see device_stream.h. */
#include "tests/cuda_host/device_stream.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

static void need(cudaError_t error, const char *what) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  exit(1);
}

void *t_device_stream(void) {
  static cudaStream_t stream;
  if (!stream) need(cudaStreamCreate(&stream), "cudaStreamCreate");
  return stream;
}

hu_status t_device_captured(hu_status (*call)(void *stream, void *context), void *context, int times, size_t *nodes) {
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  need(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  need(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
  hu_status status = call(stream, context);
  need(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  need(cudaGraphGetNodes(graph, NULL, nodes), "cudaGraphGetNodes");
  need(cudaGraphInstantiateWithFlags(&ready, graph, 0), "cudaGraphInstantiate");
  for (int i = 0; i < times; i++) need(cudaGraphLaunch(ready, stream), "cudaGraphLaunch");
  need(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  need(cudaGraphExecDestroy(ready), "cudaGraphExecDestroy");
  need(cudaGraphDestroy(graph), "cudaGraphDestroy");
  need(cudaStreamDestroy(stream), "cudaStreamDestroy");
  return status;
}
