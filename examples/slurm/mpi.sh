#!/bin/sh
# SPDX-License-Identifier: MIT
# sbatch mpi.sh COMMAND [ARGUMENT...]: `halfulp COMMAND ...` as one MPI job. COMMAND is sweep, campaign or verify, and the
# ranks share its items.
#SBATCH --job-name=halfulp
#SBATCH --ntasks=8
#SBATCH --time=1:00:00
#SBATCH --requeue
#SBATCH --signal=B:USR1@60
#SBATCH --open-mode=append

# A minute before the end of the time limit: the items that are not finished are lost, and the job returns to the queue.
again() {
  kill -TERM "$job"
  wait "$job"
  scontrol requeue "$SLURM_JOB_ID"
}
trap again USR1

mpirun halfulp "$@" &
job=$!
wait "$job"
