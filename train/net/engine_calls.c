/* SPDX-License-Identifier: MIT */
/* Functions through which a network calls its engine. */
#include <string.h>

#include "halfulp/train/data.h"
#include "train/net/net.h"

hu_status hui_done(const hu_net *net) { return net->fault; }

void hui_do(hu_net *net, int kernel, const hu_task *task) {
  if (net->fault == HU_OK) net->fault = net->engine->run(net->self, kernel, task);
}

void hui_do_products(hu_net *net, const hu_operator *op, unsigned part, hu_products *products) {
  if (products->accum->mode.bits) products->words = hui_net_words(net, HU_OF_SUM, op->number << 4 | part);
  if (net->fault == HU_OK) net->fault = net->engine->products(net->self, products);
}

void hui_do_function(hu_net *net, int which, size_t n, float *z, const float *x) {
  if (net->fault == HU_OK) net->fault = net->engine->function(net->self, which, n, z, x);
}

void hui_do_round(hu_net *net, size_t rows, size_t cols, float *z, const float *x, const hu_rounding *rounding,
                  hu_stream words, hu_rounding_counts *counts) {
  if (net->fault == HU_OK) net->fault = net->engine->round(net->self, rows, cols, z, x, rounding, words, counts);
}

void hui_add_counts(hu_rounding_counts *sum, const hu_rounding_counts *counts) {
  sum->elements += counts->elements;
  sum->over += counts->over;
  hu_events_add(&sum->events, &counts->events);
}

void hui_do_put(hu_net *net, void *z, const void *host, size_t bytes) {
  if (net->fault == HU_OK) net->fault = net->engine->put(net->self, z, host, bytes);
}

void hui_do_get(hu_net *net, void *host, const void *x, size_t bytes) {
  if (net->fault == HU_OK) net->fault = net->engine->get(net->self, host, x, bytes);
}

void hui_do_each(hu_net *net, int kernel, size_t n, float *z, const float *a, const float *b, float p) {
  hu_task task = hui_task_of(1, n, z, a, b);
  task.p = p;
  hui_do(net, kernel, &task);
}

void hui_do_fill(hu_net *net, size_t n, float *z, float x) { hui_do_each(net, HU_RUN_FILL, n, z, NULL, NULL, x); }

void hui_do_copy(hu_net *net, size_t rows, size_t cols, float *z, size_t ldz, const float *a, size_t lda) {
  int whole = ldz == cols && lda == cols;
  hu_task task = hui_task_of(whole ? 1 : rows, whole ? rows * cols : cols, z, a, NULL);
  task.ldz = ldz;
  task.lda = lda;
  hui_do(net, HU_RUN_COPY, &task);
}

void hui_do_columns(hu_net *net, int kernel, size_t rows, size_t cols, float *z, const float *a, const float *b,
                    const float *row) {
  const size_t chunk = 64, chunks = (rows + chunk - 1) / chunk;
  float *parts = chunks > 1 ? net->work[HU_BUFFERS - 1] : z;
  hu_task task = hui_task_of(chunks, cols, parts, a, b);
  task.columns.row = row;
  task.columns.rows = rows;
  task.columns.chunk = chunk;
  task.work = rows * cols;
  hui_do(net, kernel, &task);
  if (chunks == 1) return;
  task = hui_task_of(1, cols, z, parts, NULL);
  task.columns.rows = task.columns.chunk = chunks;
  hui_do(net, HU_RUN_COLUMNS, &task);
}

hu_stream hui_net_words(const hu_net *net, unsigned of, uint64_t number) {
  hu_stream stream = hu_stream_of_use(net->seed, of == HU_OF_DROPOUT ? HU_USE_DROPOUT : HU_USE_ROUNDING);
  stream = hu_stream_child(stream, (uint64_t)of << 32 | number);
  if (net->shard && of != HU_OF_PARAMETER)
    stream = hu_stream_child(stream, net->shard); /* all shards see the same weights */
  stream.counter += net->step << 36;              /* a tensor has less than 2^36 numbers */
  return stream;
}
