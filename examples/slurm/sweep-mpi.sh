#!/bin/sh
# SPDX-License-Identifier: MIT
# sbatch sweep-mpi.sh CONFIG OUT [OPTION...]: a sweep whose runs are shared among the ranks of one MPI job.
#SBATCH --job-name=sweep
#SBATCH --ntasks=8
#SBATCH --time=1:00:00
#SBATCH --requeue
#SBATCH --signal=B:USR1@60
#SBATCH --open-mode=append
config=$1 out=$2
shift 2

# A minute before the end of the time limit: the runs under way are lost, and the job goes back to the queue.
again() {
  kill -TERM "$job"
  wait "$job"
  scontrol requeue "$SLURM_JOB_ID"
}
trap again USR1

mpirun halfulp sweep "$config" -o "$out" "$@" &
job=$!
wait "$job"
