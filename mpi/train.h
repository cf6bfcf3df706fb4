/* SPDX-License-Identifier: MIT */
/* mpi/train.h - makes the processes of an MPI job those that `halfulp train` shares the shards of a run among. */
#ifndef HALFULP_MPI_TRAIN_H
#define HALFULP_MPI_TRAIN_H

#include <mpi.h>

/* Makes the processes of a communicator those that train; may be called again for another one. */
void mpi_train_start(MPI_Comm of);

#endif
