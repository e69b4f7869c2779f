# token.bats.sh: the tests of token.bats, as they run inside a world.
# shellcheck shell=bash

token_lines() { # [KEY=VALUE...]
	local one lines
	lines=$(printf '%s\n' claim_id=burst-c-c1-3 burstd=none node=c1 generation=3 cloud=aws auth=munge \
		conf_server=127.0.0.1:8200 instance_type=x release=wrap version=7 'vault=https://127.0.0.1:8201 https://127.0.0.1:8200' \
		"vault_ca=$(base64 -w0 <$W/ca.pem)" creation_path=kv/data/slurm/prod/node wrap_token=hvs.CAES-x_y end=1)
	for one; do lines=$(printf '%s\n' "$lines" | sed "s|^${one%%=*}=.*|$one|"); done
	printf '%s\n' "$lines"
}
# token_stage0 INIT SHA256 [KEY=VALUE...]: as burstd/core/userdata.c fills it in, and cloud-init runs it.
token_stage0() {
	local init=$1 sha=$2
	shift 2
	rc=0
	token_lines "$@" >$W/lines
	sed -e '2,$ { /^[ 	]*#/d }' -e 's/^[ 	]*//' -e "s|@NODE_INIT@|$init|; s|@SHA256@|$sha|" -e "/@LINES@/ {
		r $W/lines
		d
	}" "$top/scripts/node/stage0-token.sh.in" >$W/user-data
	sh $W/user-data >$W/out 2>&1 || rc=$?
}
begun() {
	printf '#!/bin/sh\necho begun >>%s/begun\n' $W >$W/node-init
	sha=$(openssl dgst -sha256 -r $W/node-init | cut -d' ' -f1)
}
reads_user_data() { # UID
	timeout 5 setpriv --reuid="$1" --clear-groups curl -qs -m 2 -H 'X-aws-ec2-metadata-token: token1' \
		http://169.254.169.254/latest/user-data | grep -q hvs.CAES
}
machine() {
	tool slurmd '[ "$1" != -C ] || echo "NodeName=c1 CPUs=8 RealMemory=16000"' '[ "$1" != -V ] || echo slurm 22.05.8'
	tool dpkg-query 'echo 0.5.15-2+deb12u1'
	configure "slurmd_start = echo slurmd >>$W/started" "slurmd_spool = $W/spool"
	clouds
}

token_all_of_it() {
	machine
	token_stage0 $W/node-init ''
	cat $W/out
	[ $rc = 0 ]
	[ "$(cat $W/started)" = slurmd ]
	[ ! -e $W/power ]
	sh "$top/scripts/node/node-init" --gate
	[ "$(wc -c </run/burst/munge/munge.key)" = 128 ]
	grep -q 'node-init: confirm: skipped' $W/out /run/burst/node-init.log
	grep -q 'node-init: agent: skipped' $W/out /run/burst/node-init.log
	not logged '^burstd'
	grep -q -- '--conf-server 127.0.0.1:8200 -N c1 -b' /run/burst/slurmd.env
	# It may be looked at later.
	passes claim
}

token_firewall() {
	begun
	clouds
	token_stage0 $W/node-init "$sha"
	[ $rc = 0 ]
	not reads_user_data 65534
	reads_user_data 0
}
token_same_rules() {
	local part
	for part in '/^R() {/,/T ip6tables/p' '/^# noswap/,/no tmpfs/p'; do
		diff <(sed -n "$part" "$top/scripts/node/stage0.sh.in" | sed '/No firewall/d') \
			<(sed -n "$part" "$top/scripts/node/stage0-token.sh.in" | sed '/No firewall/d')
	done
}

token_is_hidden() {
	begun
	echo "cp -p /run/burst/s/claim.conf $W/seen" >>$W/node-init
	clouds
	token_stage0 $W/node-init ''
	[ "$(stat -c %a $W/seen)" = 600 ]
	[ "$(stat -c %a /run/burst /run/burst/s | tr '\n' ,)" = 711,700, ]
	grep -q ' /run/burst/s tmpfs ' /proc/mounts
	grep -q '^wrap_token=hvs.CAES-x_y$' $W/seen
	cp "$top/scripts/node/node-init" $W/node-init
	passes key
	not grep -rq hvs.CAES /run/burst
}

token_image() {
	begun
	clouds
	token_stage0 $W/node-init "$sha"
	[ -e $W/begun ]
	rm $W/begun
	mute_console
	token_stage0 $W/node-init "$(printf %064d 0)"
	[ $rc != 0 ]
	[ "$(cat $W/power)" = off ]
	[ ! -e $W/begun ]
	[ ! -e /run/burst/s/claim.conf ]
	rm $W/power
	token_stage0 /nowhere ''
	[ $rc != 0 ]
	[ "$(cat $W/power)" = off ]
	grep -q 'there is no /nowhere' /run/burst/stage0.log
	rm $W/power
	mv /run/burst/stage0.log /run/burst/log
	mkdir /run/burst/stage0.log
	token_stage0 $W/node-init ''
	[ $rc != 0 ]
	[ "$(cat $W/power)" = off ]
}

token_used() {
	machine
	modes expired
	token_stage0 $W/node-init ''
	[ $rc != 0 ]
	[ "$(cat $W/power)" = off ]
	[ ! -e $W/started ]
	grep -q 'key: failed: Vault does not know the wrapping token' $W/out /run/burst/node-init.log
	not logged alarm
	[ ! -e /run/burst/s/claim.conf ]
}

token_clock() {
	begun
	clouds
	token_stage0 $W/node-init ''
	passes time
	modes vaultclock33
	fails time 'the clock is 3[2-4] s off'
	modes clock33
	passes time
	token_stage0 $W/node-init '' vault=https://127.0.0.1:8201
	fails time 'Vault does not tell'
	passes claim
	sed -i /^vault=/d /run/burst/s/claim.conf
	fails claim 'has no vault'
}

token_step_fails() {
	machine
	token_stage0 $W/node-init '' conf_server=127.0.0.1:1
	[ $rc != 0 ]
	[ "$(cat $W/power)" = off ]
	not logged '^burstd'
	grep -q 'route: failed' $W/out /run/burst/node-init.log
}
