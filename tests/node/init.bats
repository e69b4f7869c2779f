#!/usr/bin/env bats
# node-init: each step, passed and failed, with the tools of the machine made up; then all of it, with the real munged.

load world.sh

@test "claim: an answer with a malformed line, or cut off, is none" {
	alone answer_is_judged
}

@test "imds: users who reach the metadata service, or no proof that they do not" {
	alone imds_open
}

@test "time: a clock 30 s off fails, after chrony had its chance" {
	alone time_is_burstds
}

@test "munge_version: none with CVE-2026-25506, but what the image says is patched" {
	alone munge_versions
}

@test "key: 0400 on a tmpfs, munge's, and nowhere else" {
	alone key_inline
}

@test "key: an image without node-init.conf has its defaults" {
	alone key_no_conf
}

@test "key, confirm: auth/slurm has its files, and no munge" {
	alone key_slurm
}

@test "key: unwrapped at Vault, the path looked at first" {
	alone key_wrapped
}

@test "key: an unwrap without an answer is looked at before it is sent again" {
	alone key_unwrap_lost
}

@test "key: unwrap already used: alarm" {
	alone key_unwrap_used
}

@test "key: a token that has ended, or that our own unwrap without an answer may have used, is told as that" {
	alone key_unwrap_unsure
}

@test "key: a Vault that is sealed while it unwraps may have done it" {
	alone key_unwrap_sealed
}

@test "key: wrong creation_path: alarm, and it is not unwrapped" {
	alone key_other_path
}

@test "key: a Vault with a certificate of another authority gets no token" {
	alone key_rogue_vault
}

@test "time, confirm, --keys: a burstd with a certificate of another authority that the image believes gets nothing" {
	alone rogue_burstd
}

@test "key: Vault's redirect to another host is not followed; one that is sealed is no answer" {
	alone key_redirected
}

@test "key: Vault sealed, a standby, away or behind a proxy while it boots: it is waited for, and the token used once" {
	alone key_vault_waits
}

@test "key: a Vault that is sealed for longer than the token lives is no alarm; a token that was used meanwhile is" {
	alone key_vault_too_long
}

@test "key: a proxy's 403 is none of Vault's, and no alarm" {
	alone key_proxys_no
}

@test "key: an old version of the keys is refused" {
	alone key_old
}

@test "munge, confirm: the real munged, and the round trip with burstd" {
	alone munge_runs
}

@test "munge: a munged that does not start, or does not answer" {
	alone munge_dead
}

@test "confirm: burstd's number for a version that is none" {
	alone long_version
}

@test "confirm: burstd or its munged is restarted meanwhile" {
	alone burstd_restarts
}

@test "ready: a machine that works does not end because burstd is restarted" {
	alone unheard
}

@test "ready: one that burstd does not want ends" {
	alone unwanted
}

@test "names: host name, hosts, nss_slurm; localhost stays" {
	alone names
}

@test "route: one slurmctld is enough, none is not" {
	alone route
}

@test "route: a slurmctld that is restarted meanwhile is waited for" {
	alone route_waits
}

@test "gpu: number, type, health; no tool is no GPU" {
	alone gpus
}

@test "gpu: rows of memory that cannot be replaced, or not before a reset" {
	alone gpu_rows
}

@test "gpu, fabric_manager, dcgm, nccl: parts of GPUs (MIG)" {
	alone gpu_parts
}

@test "fabric_manager: it runs, and each GPU has joined" {
	alone fabric_manager
}

@test "fabric: ports of InfiniBand, RoCE and EFA, by state and rate" {
	alone fabric
}

@test "dcgm: a fault, a failure, silence and no end" {
	alone dcgm
}

@test "mounts: what does not mount, does not answer or cannot be written" {
	alone mounts_here
}

@test "mounts: a server that is not there yet, and file systems that others mount, are waited for, and not for ever" {
	alone mounts_wait
}

@test "mounts: one whose server never answers, so that nobody can kill who asks" {
	alone mounts_hung
}

@test "unmount: slurmd is stopped, then the last mounted first, and nothing else" {
	alone unmount_in_order
}

@test "unmount: what is in use, by force and lazily at last, and it is said" {
	alone unmount_busy
}

@test "unmount: one that hangs costs the others nothing" {
	alone unmount_hung
}

@test "unmount: who has a network's file system in a container is killed, and nobody else" {
	alone unmount_containers
}

@test "unmount: slurmd has its time, and is killed after it" {
	alone unmount_slurmd
}

@test "unmount: a machine that fails tells burstd first, then gives its mounts back" {
	alone unmount_at_failure
}

@test "scratch: its size" {
	alone scratch
}

@test "hardware: processors and memory as slurmd sees them" {
	alone hardware
}

@test "container: Enroot and Pyxis where they are configured" {
	alone container
}

@test "limits: locked memory and open files" {
	alone limits
}

@test "hygiene: swap, core dumps, user-data that cloud-init keeps" {
	alone hygiene
}

@test "nccl: environment by fabric, for shells and tasks, and users win" {
	alone nccl
}

@test "nccl: scripts of the cloud's image, and what one type needs" {
	alone nccl_scripts
}

@test "agent: its configuration, and that it takes it" {
	alone agent
}

@test "slurmd: its options by version, the gate, auth/slurm's keys" {
	alone slurmd
}

@test "all of it: a machine becomes a node, and burstd hears how long each step took" {
	alone all_of_it
}

@test "... with a wrapped key" {
	alone all_wrapped
}

@test "a step that fails is reported, the keys are wiped and the machine is powered off" {
	alone step_fails
}

@test "no firewall, no key, no slurmd" {
	alone no_firewall_no_slurmd
}

@test "an answer with quotes, blanks and substitutions runs nothing" {
	alone hostile_answer
}

@test "--list, --only, --dry-run, --conf, --help, and what makes no sense" {
	alone command_line
}
