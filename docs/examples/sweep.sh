#!/bin/bash
# Submit a sweep of four tasks, two at a time, and a job that collects what they found if all of them succeeded.
set -eu
sweep=$(sbatch --parsable "$@" sweep.sbatch)
collect=$(sbatch --parsable "$@" --dependency=afterok:"$sweep" --kill-on-invalid-dep=yes collect.sbatch)
echo "$sweep $collect"
