/* SPDX-License-Identifier: MIT */
/* cli/verify/probe.h - tiles of operands for a matrix instruction, and what its model makes of them. */
#ifndef HALFULP_CLI_VERIFY_PROBE_H
#define HALFULP_CLI_VERIFY_PROBE_H

#include "cli/base/cli.h"
#include "halfulp/device.h"

/* A number of tiles for one instruction: A, C and D are row-major, B is stored by columns, the layout of
 * hu_device_mma_run. */
typedef struct probe_run {
  size_t number; /* of the instruction */
  hu_device_mma mma;
  hu_accum accum;
  size_t tiles, room;
  uint8_t *a, *b, *c, *d;
  uint64_t compared, different, lines, off_golden;
  int quiet; /* 1: differing products are counted, not printed */
} probe_run;

/* Makes the buffers and the model of run->mma; an exit code. */
int probe_run_start(probe_run *run);
void probe_run_end(probe_run *run);

/* Draws the operands of tile `tile`, the same for the same key and `at`. */
void probe_draw(probe_run *run, size_t tile, uint64_t key, uint64_t at);
/* Fills tile 0: every row of A and every column of B from hex digits, K elements each. */
void probe_fill(probe_run *run, const char *a, const char *b);

/* Computes element (i, j) of a tile under the model. */
hu_status probe_model(const probe_run *run, size_t tile, size_t i, size_t j, uint8_t *z);
int probe_same(const probe_run *run, size_t tile, size_t i, size_t j, const uint8_t *z);

#endif
