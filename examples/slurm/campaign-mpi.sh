#!/bin/sh
# SPDX-License-Identifier: MIT
# sbatch campaign-mpi.sh LIST [OPTION...]: a campaign whose items are shared among the ranks of one MPI job.
#SBATCH --job-name=campaign
#SBATCH --ntasks=8
#SBATCH --time=1:00:00
#SBATCH --requeue
#SBATCH --signal=B:USR1@60
#SBATCH --open-mode=append

# A minute before the end of the time limit: the items under way are lost, and the job goes back to the queue.
again() {
  kill -TERM "$job"
  wait "$job"
  scontrol requeue "$SLURM_JOB_ID"
}
trap again USR1

mpirun halfulp campaign "$@" &
job=$!
wait "$job"
