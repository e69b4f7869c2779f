#!/usr/bin/env bats
# A machine that reaches Vault and slurmctld, and no burstd: stage0-token with a wrapping token, and node-init without us.

load world.sh

@test "with a token in its user-data a machine becomes a node, and talks to no burstd" {
	alone token_all_of_it
}

@test "the metadata service is closed to jobs before the token is there, by the same rules as ever" {
	alone token_firewall
	alone token_same_rules
}

@test "the token is for root alone, and gone when it was used" {
	alone token_is_hidden
}

@test "node-init must be in the image, and the one that burstd wants" {
	alone token_image
}

@test "a token that somebody else has used ends the machine, though there is nobody to tell" {
	alone token_used
}

@test "the clock is compared with Vault's, and Vault is waited for" {
	alone token_clock
}

@test "a failed step ends the machine without a report" {
	alone token_step_fails
}
