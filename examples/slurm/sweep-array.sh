#!/bin/sh
# SPDX-License-Identifier: MIT
# sbatch sweep-array.sh CONFIG OUT [OPTION...]: a sweep as a job array, without MPI. Each task does a part of the runs.
#SBATCH --job-name=sweep
#SBATCH --array=1-4
#SBATCH --cpus-per-task=2
#SBATCH --time=1:00:00
#SBATCH --requeue
#SBATCH --signal=B:USR1@60
#SBATCH --open-mode=append
config=$1 out=$2
shift 2

# A minute before the end of the time limit: the runs under way are lost, and the task goes back to the queue.
again() {
  kill -TERM "$job"
  wait "$job"
  scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
}
trap again USR1

part=$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT
halfulp sweep "$config" -o "$out" --shard "$part" --jobs "${SLURM_CPUS_PER_TASK:-1}" "$@" &
job=$!
wait "$job"
