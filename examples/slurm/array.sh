#!/bin/sh
# SPDX-License-Identifier: MIT
# sbatch array.sh COMMAND [ARGUMENT...]: `halfulp COMMAND ...` as a job array, without MPI. COMMAND is sweep, campaign or
# verify, and each task does a part of its items.
#SBATCH --job-name=halfulp
#SBATCH --array=1-4
#SBATCH --cpus-per-task=2
#SBATCH --time=1:00:00
#SBATCH --requeue
#SBATCH --signal=B:USR1@60
#SBATCH --open-mode=append

# A minute before the end of the time limit: the items that are not finished are lost, and the task returns to the queue.
again() {
  kill -TERM "$job"
  wait "$job"
  scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
}
trap again USR1

part=$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT
halfulp "$@" --shard "$part" --jobs "${SLURM_CPUS_PER_TASK:-1}" &
job=$!
wait "$job"
