/* SPDX-License-Identifier: MIT */
/* cli/experiment/given.h - what the command line says of the runs of an experiment, a paper's table or a cell. */
#ifndef HALFULP_CLI_EXPERIMENT_GIVEN_H
#define HALFULP_CLI_EXPERIMENT_GIVEN_H

#include "halfulp/train/net.h"

typedef struct experiment_given {
  const char *data, *out, *threads; /* NULL: not given */
  const char *const *pairs;         /* of --set: key, value, ... NULL */
  const hu_engine *engine;          /* of run.device = cuda; NULL: the CPU */
  int stand_in;                     /* 1: generated data in place of the paper's */
  int json;                         /* 1: results are JSON */
} experiment_given;

#endif
