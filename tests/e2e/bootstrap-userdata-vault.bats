#!/usr/bin/env bats
# Machines that reach a real OpenBao and slurmctld, and not burstd: the token for their keys is in their user-data.  Whoever
# reads that first has the keys, and burstd finds out.  run.sh finds or builds the server, or these say that they are skipped.

# Variables from the helper; scripts for the machine to expand.
# shellcheck disable=SC2016,SC2034,SC2154
bats_require_minimum_version 1.5.0
LAB_BOOTSTRAP='vault' LAB_RELEASE=user-data LAB_RESUME_TIMEOUT=120
load helper

setup() {
	[ -n "${VAULT-}" ] || skip 'there is no Vault here, and no Go to build one'
	sed -i '/^cloud_init=/d' /etc/simcloud/boot.conf
}

event() {
	burstctl events --json | grep "\"$1\"" | grep -q -- "${2-}"
}

# The token of a machine, as whoever reads its user-data has it.
token_of() {
	sed -n 's/^wrap_token=//p' "$(machine "$1")/user-data"
}

unwrap() {
	curl -sS -o /dev/null -w '%{http_code}' --cacert "$lab_dir/vault/ca.pem" -X POST -H "X-Vault-Token: $1" \
		https://10.77.0.1:8200/v1/sys/wrapping/unwrap
}

@test "a node has its keys by the token in its user-data, and burstd has no listener" {
	run ! curl -sk --max-time 2 "$lab_door/v1/node/time"
	id=$(job -N2 --gres=gpu:8 --wrap 'srun hostname; srun sh -c "munge -n | unmunge | grep STATUS"; '"$until_over")
	within 60 job_is "$id" RUNNING
	for node in $(scontrol show hostnames "$(job_nodes "$id")"); do
		tokens="${tokens-} $(token_of "$node")"
		[ "$(burstctl node show "$node" --json | jq -r .boot.attest)" = none ]
		[ "$(burstctl node show "$node" --json | jq -r .boot.claim)" = spent ]
		on "$node" cmp /run/burst/munge/munge.key /dev/stdin </etc/munge/munge.key
		run ! on "$node" grep -rq wrap_token /run/burst /var/lib/cloud
		run ! on "$node" setpriv --reuid=65534 --clear-groups curl -qs -m 2 http://169.254.169.254/metadata/v1/user-data
	done
	over "$id"
	within 60 job_is "$id" COMPLETED
	[ "$(grep -c 'STATUS: *Success' "$lab_dir/home/job-$id.out")" = 2 ]
	# One machine, one token; used up, and nowhere that people look.
	[ "$(xargs -n1 <<<"$tokens" | sort -u | wc -l)" = 2 ]
	for token in $tokens; do
		[ "$(unwrap "$token")" = 400 ]
		run ! grep -rqF "$token" /var/log "$lab_dir/home"
		run ! grep -qF "$token" <(burstctl events --json; burstctl audit --json; burstctl status --json; burstctl nodes --json)
	done
	run -1 event breach
	key=$(base64 -w0 /etc/munge/munge.key)
	run ! grep -rqaF "$key" /var/lib/burstd /var/log
	within 30 all_down
	within 20 alive 0
}

@test "a thief who unwraps first is an alarm, and the machine ends" {
	echo cloud_init=no >>/etc/simcloud/boot.conf
	id=$(job -w c1 --gres=gpu:8 --wrap true)
	within 30 eval '[ -s "$(machine c1)/pid" ]'
	within 10 on c1 true
	dir=$(machine c1)
	[ "$(unwrap "$(token_of c1)")" = 200 ]
	cp "$dir/user-data" "$dir/burst/user-data"
	on c1 sh -c 'setsid sh /run/burst/user-data >/dev/null 2>&1 </dev/null &'
	within 60 event breach c1
	[ ! -d "/proc/$(cat "$dir/pid")" ]
	burstctl audit --json | grep '"breach"' | grep -q c1
	burstctl status | grep -q 'claim of keys was misused, the last one .*burstctl secrets rotate --munge$'
	grep -q 'key: failed: Vault does not know the wrapping token' "$dir/burst/node-init.log" "$dir/burst/stage0.log"
	scancel "$id"
	sed -i '/^cloud_init=/d' /etc/simcloud/boot.conf
	# c1 rests now, as a node does that did not come up.
	within 30 no_jobs
	within 20 alive 0
}

@test "of a machine that is given back before it used its token nobody else can" {
	echo cloud_init=no >>/etc/simcloud/boot.conf
	id=$(job -w c2 --gres=gpu:8 --wrap true)
	within 30 eval '[ -s "$(machine c2)/pid" ]'
	token=$(token_of c2)
	scancel "$id"
	within 30 alive 0
	# To look at it does not use it up.
	within 10 eval '! vault POST sys/wrapping/lookup -d "{\"token\":\"$token\"}" -o /dev/null 2>/dev/null'
	[ "$(unwrap "$token")" = 400 ]
	run -1 event breach c2
}

@test "while Vault is sealed nothing is bought, and it is said why" {
	vault PUT sys/seal
	id=$(job -w c3 --gres=gpu:8 --wrap hostname)
	within 30 eval 'burstctl node show c3 | grep -q "once there is a token for its keys"'
	sleep 3
	alive 0
	lab_unseal
	within 90 job_is "$id" COMPLETED
	within 30 powered_down c3
	within 20 alive 0
}
