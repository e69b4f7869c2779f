#!/usr/bin/env bats
# node-init --keys: other keys while the node is up, with the real munged.

load world.sh

@test "keys: another version is staged beside the key in use, and nothing is restarted" {
	alone stage
}

@test "keys: the switch starts munged anew, and the old key's credentials are refused" {
	alone switch
}

@test "keys: a key that munged does not take leaves the old one in use" {
	alone bad_key
}

@test "keys: a switch that was broken off before munged was started anew is finished" {
	alone broken_off
}

@test "keys: a node that was away when all others switched follows, when burstd says so" {
	alone late
}

@test "keys: slurm.jwks is replaced whole" {
	alone jwks
}

@test "keys: unwrapped at Vault" {
	alone wrapped
}

@test "keys: an answer that is none, or cut off, or odd, changes nothing" {
	alone refused
}
