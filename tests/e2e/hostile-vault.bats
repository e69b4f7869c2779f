#!/usr/bin/env bats
# Who comes between a machine and Vault: thieves of its wrapping token, forgers of one, and servers that are not Vault.  A
# real OpenBao and real machines (lab/bootstrap.sh).  run.sh finds or builds the server, or these say that they are skipped.

# Variables from the helper; scripts for the machine to expand.
# shellcheck disable=SC2016,SC2034,SC2154
bats_require_minimum_version 1.5.0
LAB_BOOTSTRAP='vault'
load helper

setup() {
	[ -n "${VAULT-}" ] || skip 'there is no Vault here, and no Go to build one'
	before=$(sim_rows)
	events=$(burstctl events --json --tail 1000 | wc -l)
}

teardown() {
	# shellcheck disable=SC2086  # pids
	[ -z "${rogue-}" ] || kill $rogue 2>/dev/null || :
	[ -n "${BATS_TEST_COMPLETED-}" ] || {
		tail -n 20 "$lab_dir"/*.log "$lab_dir"/rogue/log
		lab_logs
	}
}

# event TYPE [WORDS]: one of this test
event() {
	burstctl events --json --tail 1000 | tail -n +$((events + 1)) | grep "\"$1\"" | grep -q -- "${2-}"
}

# first SCRIPT: what somebody does who is root on the machine that boots next, when it has burstd's answer and before it
# unwraps.  $T is its wrapping token, V asks Vault.
first() {
	{
		cat <<-'S'
			#!/bin/sh
			S=/run/burst/s
			T=$(sed -n s/^wrap_token=//p $S/claim.conf)
			V() { curl -sS --max-time 10 --cacert /etc/burstd/vault.pem "$@"; }
		S
		cat
		echo 'exec /usr/bin/dpkg-query "$@"'
	} | image bin/dpkg-query
	image vault.pem <"$lab_dir/vault/ca.pem"
}

# victim: a job whose machine boots: $id, $node, $dir
victim() {
	id=$(job --gres=gpu:8 --wrap true)
	node='' dir='' # by one look: the next may come when the machine is gone
	within 40 eval 'node=$(job_nodes $id) && dir=$(machine "$node") && [ -s "$dir/pid" ]'
}

# another: the machine is ended, it never passed, and the job runs on one that was bought in its place, which nobody is
# first on.  (Two that come up wrong in a row would close the pool.)
another() {
	rm -f "$lab_dir/image/etc/burstd/bin/dpkg-query"
	within 20 eval '[ ! -d "/proc/$(cat "$dir/pid")" ]'
	[ ! -e "$dir/burst/passed" ]
	# That is in half a minute otherwise.
	within 10 event job-postponed
	within 10 scontrol update jobid="$id" starttime=now
	within 60 job_is "$id" COMPLETED
	[ "$(sim_rows)" -gt $((before + 1)) ]
}

no_more() {
	rm -f "$lab_dir/image/etc/burstd/bin/dpkg-query"
	scancel -u researcher
	# A node that was misused rests for a minute, for as long as this burstd lives.
	lab_stop burstd
	lab_start burstd
	calm
}

@test "unwrap already used: the node raises an alarm, gets no keys, and goes" {
	first <<-'S'
		V -X POST -H "X-Vault-Token: $T" https://10.77.0.1:8200/v1/sys/wrapping/unwrap >/run/burst/stolen
	S
	victim
	within 40 event breach "$node"
	# The thief has the keys; who has them is on record, and the machine has not.
	grep -q munge_key "$dir/burst/stolen"
	burstctl audit | grep breach | grep -q "$node"
	another
	no_more
}

@test "wrong creation_path: a token that somebody wrapped anew is not believed" {
	first <<-S
		K=\$(V -X POST -H "X-Vault-Token: \$T" https://10.77.0.1:8200/v1/sys/wrapping/unwrap)
		N=\$(echo "\$K" | V -X POST -H 'X-Vault-Token: $lab_vault_root' -H 'X-Vault-Wrap-TTL: 60s' -d @- \
			https://10.77.0.1:8200/v1/sys/wrapping/wrap | tr , '\n' | sed -n 's/.*"token":"\([^"]*\)".*/\1/p')
		sed -i "s/^wrap_token=.*/wrap_token=\$N/" \$S/claim.conf
		echo "\$N" >/run/burst/forged
	S
	victim
	within 40 event breach "$node"
	[ -s "$dir/burst/forged" ]
	grep -rqs 'another path of Vault' "$dir/burst"
	another
	# It was looked at and not unwrapped: it is whole.
	vault POST sys/wrapping/lookup -d "{\"token\":\"$(cat "$dir/burst/forged")\"}" -o /dev/null
	no_more
}

@test "rogue Vault certificate: it is told nothing, and the machine goes" {
	mkdir -p "$lab_dir/rogue"
	# By another name than ours: OpenSSL looks no further than to the first of a name.
	lab_authority "$lab_dir/rogue" rogue-ca
	lab_certificate "$lab_dir/rogue" server rogue-ca
	"$lab_here/elsewhere" 8301 "$lab_dir/rogue" 3>&- >"$lab_dir/rogue/log" 2>&1 &
	rogue=$!
	within 10 eval '[ "$(ss -Hltn "sport = 8301" | wc -l)" = 1 ]'
	# The image itself believes its authority, as it does those of its distribution.
	image_believes "$lab_dir/rogue/rogue-ca.pem"
	echo 'patience = 8' >>"$lab_dir/image/etc/burstd/node-init.conf"
	first <<-'S'
		# Its console takes nothing either: who writes there waits.
		mkfifo /run/burst/mute
		mount --bind /run/burst/mute /dev/console
		curl -qsS -o /dev/null https://10.77.0.1:8301/as-the-system-believes
		sed -i 's/^vault=.*/vault=https:\/\/10.77.0.1:8301/' $S/claim.conf
	S
	victim
	within 60 event boot-failed 'no Vault answers'
	image_believes
	sed -i '/^patience/d' "$lab_dir/image/etc/burstd/node-init.conf"
	# It was asked, and told nothing: neither the token, nor what was wanted of it.
	grep -q 'GET /as-the-system-believes' "$lab_dir/rogue/log"
	grep -q '^refused:' "$lab_dir/rogue/log"
	run ! grep -q 'sys/wrapping' "$lab_dir/rogue/log"
	another
	no_more
}

@test "redirect to another host: followed by neither burstd nor a node" {
	# One of our addresses, with a good certificate, says that Vault is elsewhere; so does a server there, which nobody asks.
	"$lab_here/elsewhere" 8301 "$lab_dir/vault" https://10.77.0.1:8302 3>&- >"$lab_dir/one.log" 2>&1 &
	one=$!
	"$lab_here/elsewhere" 8302 "$lab_dir/vault" 3>&- >"$lab_dir/evil.log" 2>&1 &
	rogue="$one $!"
	within 10 eval '[ "$(ss -Hltn "sport = 8301 or sport = 8302" | wc -l)" = 2 ]'
	lab_stop burstd
	sed -i 's|^\( *address *= *\)"https://10.77.0.1:8200"|\1"https://10.77.0.1:8301,https://10.77.0.1:8200"|' /etc/burstd/burstd.conf
	lab_start burstd
	within 20 event secrets-redirect 10.77.0.1:8301
	first <<-'S'
		sed -i 's/^vault=.*/vault=https:\/\/10.77.0.1:8301 https:\/\/10.77.0.1:8200/' $S/claim.conf
	S
	id=$(job --gres=gpu:8 --wrap true)
	within 60 job_is "$id" COMPLETED
	# The node was sent there, too, by what does not know its token now.
	grep -q 'POST /v1/sys/wrapping/lookup' "$lab_dir/one.log"
	[ ! -s "$lab_dir/evil.log" ]
	run ! grep -qF "$(cat /var/lib/burstd/vault-secret-id)" "$lab_dir/one.log"
	run ! eval 'grep -F X-Vault-Token "$lab_dir/one.log" | grep -qv "^POST /v1/sys/wrapping/unwrap "'
	no_more
}
