#!/usr/bin/env bats
# stage0: the user-data of a new machine, against a burstd, a Vault and a metadata service that may be hostile.

load world.sh

legacy() {
	unshare -n iptables-legacy -S >/dev/null 2>&1 || skip 'this kernel has no iptables of old'
	unshare -n ip6tables-legacy -S >/dev/null 2>&1 || skip 'this kernel has no ip6tables of old'
}

@test "stage0 claims, fetches node-init by its certificate, and leaves no secret behind" {
	alone claims_and_begins
}

@test "the image's node-init is run when it is the one that burstd wants" {
	alone image_is_used
}

@test "an image's node-init that burstd does not want is not run" {
	alone other_image_is_fetched
}

@test "it works where /run is noexec" {
	alone noexec_run
}

@test "AWS: the identity document goes along, and one that is not there yet is waited for" {
	alone aws_identity
}

@test "GCP: the identity is made for this claim" {
	alone gcp_identity
}

@test "Azure: the document has burstd's nonce" {
	alone azure_identity
}

@test "F30: Azure's document that is not there yet is waited for, however that is said" {
	alone azure_hiccups
}

@test "where root's port is asked for, each claim comes from another one: three within a minute" {
	alone roots_port
}

@test "root's ports are nobody else's towards burstd: not a user's, not a container's" {
	alone roots_port_by_nft
}

@test "... by iptables" {
	alone roots_port_by_iptables
}

@test "... by that of old" {
	legacy
	alone roots_port_by_legacy
}

@test "202 is waited out, with one key" {
	alone waits
}

@test "401, 403 and 410 end the machine at once" {
	alone refused
}

@test "409: somebody has used our claim: alarm, and the machine ends" {
	alone conflict
}

@test "a redirect to another host is not followed" {
	alone redirect
}

@test "a burstd with a certificate of another authority gets nothing" {
	alone rogue
}

@test "of several burstds the next one is asked" {
	alone rogue_and_right
}

@test "no proxy and no curlrc of the environment is used" {
	alone proxy
}

@test "an answer that is cut off is asked for again" {
	alone short
}

@test "a node-init with another hash than burstd said is not run" {
	alone changed
}

@test "node-init: one that burstd was given since it answered the claim is run" {
	alone renewed
}

@test "node-init comes from burstd and nowhere else" {
	alone path_elsewhere
}

@test "without burstd the machine ends when its time is over" {
	alone out_of_time
}

@test "a machine where there is no place for its files is powered off, too" {
	alone no_place
}

@test "without a firewall nothing is claimed" {
	alone no_firewall
}

@test "... nor with one that works for IPv4 or IPv6 alone" {
	alone half_a_firewall
}

@test "user-data read by a user's uid through the metadata service: refused" {
	alone user_data_is_roots
}

@test "... by iptables where there is no nft" {
	alone iptables_too
}

@test "... which waits for who else has its lock" {
	alone iptables_waits
}

@test "... at every address and port of every cloud, by TCP and UDP, from containers too; names and time are for all" {
	alone closed_by_nft
}

@test "... and by iptables" {
	alone closed_by_iptables
}

@test "... and by that of old" {
	legacy
	alone closed_by_legacy
}

@test "chrony, which is not root, has the time from there all the same" {
	chronyd=$(FIND_ONLY=yes "$BATS_TEST_DIRNAME/chronyd.sh") || skip "$chronyd"
	export chronyd
	alone chrony
}

@test "what a user's closed socket sends again, which has no owner, does not reach it" {
	alone nobodys_by_nft
}

@test "... nor by iptables" {
	alone nobodys_by_iptables
}

@test "... nor by that of old" {
	legacy
	alone nobodys_by_legacy
}

@test "the rules of stage0 are those of burst-imds.nft" {
	alone same_rules
}
