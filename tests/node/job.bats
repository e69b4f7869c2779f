#!/usr/bin/env bats
# What runs on a node around a job: slurm/prolog, task-prolog, gpu-health and epilog, on machines that are made up.

load world.sh

@test "task-prolog: NCCL's environment by what is in /sys, for each fabric" {
	alone fabrics
}

@test "task-prolog: what the user has set stays, also if it is empty; node-init's file comes first" {
	alone users_own
}

@test "task-prolog: it needs no program, no file, and says nothing odd" {
	alone needs_nothing
}

@test "task-prolog: MASTER_ADDR is the first node of any list, MASTER_PORT the same for all tasks" {
	alone masters
}

@test "gpu-health: GPUs that are missing, and a tool that hangs or is not there" {
	alone missing_gpus
}

@test "gpu-health: ECC errors, rows, Xids that last, and none of a program's own" {
	alone sick_gpus
}

@test "prolog: a sick GPU drains the node with the reason, and the job does not start" {
	alone prolog_drains
}

@test "prolog, epilog: a directory for each job, and only that is removed" {
	alone scratch
}

@test "prolog, epilog: Enroot's directory of a user, until his last job here has ended" {
	alone enroot_directories
}

@test "prolog, epilog: Enroot's directory is nobody else's, and no link is followed" {
	alone enroot_hostile
}

@test "prolog, epilog: no link, no other's directory, no other number" {
	alone scratch_hostile
}

@test "prolog, epilog: what a user has mounted on his directories drains no node, keeps nothing, and hangs nobody" {
	alone mounted_directories
}

@test "epilog: what takes long to remove goes on while others have the node" {
	alone long_removal
}
