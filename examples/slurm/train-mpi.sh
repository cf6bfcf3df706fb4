#!/bin/sh
# SPDX-License-Identifier: MIT
# sbatch train-mpi.sh CONFIG OUT [OPTION...]: one training run, whose parallel.shards are shared among the ranks of one
# MPI job.
#SBATCH --job-name=train
#SBATCH --ntasks=8
#SBATCH --time=1:00:00
#SBATCH --requeue
#SBATCH --signal=B:USR1@60
#SBATCH --open-mode=append
config=$1 out=$2
shift 2

# A run that was stopped continues from its checkpoint. One that was killed before its first checkpoint starts again.
if [ -e "$out/checkpoint.safetensors" ]; then
  set -- --resume "$@"
elif [ -e "$out/config.ini" ]; then
  set -- --overwrite "$@"
fi

# A minute before the end of the time limit: the run writes a checkpoint, and the job goes back to the queue.
again() {
  kill -TERM "$job"
  wait "$job"
  scontrol requeue "$SLURM_JOB_ID"
}
trap again USR1

# Open MPI's mpirun kills ranks so many seconds after it has told them to end (its default is 1). A checkpoint may take
# longer.
export OMPI_MCA_odls_base_sigkill_timeout="${OMPI_MCA_odls_base_sigkill_timeout:-30}"

mpirun halfulp train "$config" -o "$out" "$@" &
job=$!
wait "$job"
