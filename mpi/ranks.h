/* SPDX-License-Identifier: MIT */
/* mpi/ranks.h - makes the processes of an MPI job those that `halfulp campaign` shares its items among. */
#ifndef HALFULP_MPI_RANKS_H
#define HALFULP_MPI_RANKS_H

/* Are called before anything else, and as the last thing, with the exit status. */
void mpi_ranks_start(int *argc, char ***argv);
int mpi_ranks_stop(int status);

#endif
