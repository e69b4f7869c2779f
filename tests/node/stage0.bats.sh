# stage0.bats.sh: the tests of stage0.bats, as they run inside a world.
# shellcheck shell=bash

begun() { printf '#!/bin/sh\necho begun >>%s/begun\n' $W >$W/node-init; }

claims_and_begins() {
	begun
	clouds
	stage0
	[ $rc = 0 ]
	[ -e $W/begun ]
	grep -q '^node=c1$' /run/burst/s/claim.conf
	grep -q '^end=1$' /run/burst/s/claim.conf
	grep -qE '^answered=[0-9]+$' /run/burst/s/claim.conf
	openssl verify -CAfile $W/ca.pem /run/burst/cert.pem
	# Fetched with the certificate.
	logged 'burstd GET /v1/node/stage1 burst 200'
	[ ! -e $W/power ]
	# A secret is in no file any more but in what the hygiene step removes, and nobody else can read the rest.
	not grep -rlq $SECRET /run/burst
	[ "$(stat -c %a /run/burst/s)" = 700 ]
	grep -q ' /run/burst/s tmpfs ' /proc/mounts
	[ "$(stat -c %a /run/burst/s/key.pem)" = 600 ]
	python3 - $W/body.1 <<-'PY'
		import json, sys
		j = json.load(open(sys.argv[1]))
		assert j['claim_id'] == 'batch-1' and j['attest']['type'] == 'none' and j['facts']['cpus'] > 0, j
	PY
}

image_is_used() {
	begun
	clouds
	stage0 NODE_INIT=$W/node-init
	[ $rc = 0 ]
	[ -e $W/begun ]
	not logged stage1
}

other_image_is_fetched() {
	begun
	clouds
	echo 'echo old >>$W/begun' >$W/old
	stage0 NODE_INIT=$W/old
	[ $rc = 0 ]
	[ "$(cat $W/begun)" = begun ]
	logged stage1
}

noexec_run() {
	begun
	mount -o remount,noexec /run
	clouds
	stage0
	[ $rc = 0 ]
	[ -e $W/begun ]
}

aws_identity() {
	begun
	modes noidentity
	clouds
	stage0 PROVIDER=aws
	[ $rc = 0 ]
	python3 - $W/body.1 <<-'PY'
		import base64, json, sys
		j = json.load(open(sys.argv[1]))
		assert j['attest']['type'] == 'aws-rsa2048' and j['instance_id'] == 'i-0123456789abcdef0', j
		assert base64.b64decode(j['attest']['doc']) == b'AWSDOC\nLINE2', j
	PY
}

gcp_identity() {
	begun
	clouds
	stage0 PROVIDER=gcp
	[ $rc = 0 ]
	python3 - $W/body.1 <<-'PY'
		import base64, json, sys
		j = json.load(open(sys.argv[1]))
		assert base64.b64decode(j['attest']['doc']) == b'jwt.burst:batch-1' and j['instance_id'] == '4242', j
	PY
}

azure_identity() {
	begun
	clouds
	stage0 PROVIDER=azure
	[ $rc = 0 ]
	python3 - $W/body.1 <<-'PY'
		import base64, json, sys
		j = json.load(open(sys.argv[1]))['attest']
		assert j['nonce'] == 'Nonce0123456789abcdef0123456789A', j
		assert base64.b64decode(j['doc']).decode() == 'QVpVUkU=' + j['nonce'], j
	PY
}

call_back() {
	begun
	modes callback
	clouds
	stage0 PORT=861
	[ $rc = 0 ]
	[ "$(cat $W/called-back)" = True ]
	not grep -q 'No such process' /run/burst/stage0.log
	# Nobody answers there any more.
	sleep 0.3
	not timeout 2 bash -c '</dev/tcp/127.0.0.1/861' 2>/dev/null
}

waits() {
	begun
	modes wait
	clouds
	stage0
	[ $rc = 0 ]
	[ "$(times 'POST /v1/claim - 202')" = 2 ]
	[ "$(times 'POST /v1/claim - 200')" = 1 ]
	# The same key each time, or it would be a second claim.
	[ "$(for f in 1 2 3; do python3 -c 'import json,sys,base64; sys.stdout.buffer.write(base64.b64decode(json.load(open(sys.argv[1]))["csr"]))' \
		$W/body.$f | openssl req -pubkey -noout | sha256sum; done | sort -u | wc -l)" = 1 ]
}

dies() {
	[ $rc != 0 ]
	[ ! -e $W/begun ]
	[ "$(cat $W/power)" = off ]
	not grep -rlq $SECRET /run/burst
}

refused() {
	begun
	clouds
	for status in 401 403 410; do
		rm -f $W/power
		modes $status
		stage0
		dies
		[ "$(times "POST /v1/claim - $status")" = 1 ]
	done
}

conflict() {
	begun
	modes 409 busy.v1.alarm
	clouds
	stage0
	dies
	# Who cannot take it just now is told again.
	[ "$(times 'POST /v1/alarm - 503')" = 3 ]
	logged 'POST /v1/alarm - 200'
	grep -q '"reason":"claim_used"' $W/last.v1.alarm
}

redirect() {
	begun
	modes redirect
	clouds
	stage0 TIMEOUT=3
	dies
	logged 'POST /v1/claim - 307'
	not logged elsewhere
}

rogue() {
	begun
	authority rogue
	certificate server rogue
	clouds
	stage0 TIMEOUT=3
	dies
	not logged burstd
	# One that the image believes is no better: the user-data's is, and nobody else.
	believed rogue
	believes https://127.0.0.1:8443/
	rm -f $W/power
	: >$W/log
	stage0 TIMEOUT=3
	dies
	not logged burstd
}

rogue_and_right() {
	begun
	clouds
	stage0 'URLS=https://127.0.0.2:8443 https://127.0.0.1:8443'
	[ $rc = 0 ]
}

proxy() {
	begun
	clouds
	export https_proxy=http://127.0.0.1:1 http_proxy=http://127.0.0.1:1 ALL_PROXY=http://127.0.0.1:1 HOME=$W
	echo 'insecure' >$W/.curlrc
	echo 'connect-to = "127.0.0.1:8443:127.0.0.1:1"' >>$W/.curlrc
	stage0
	[ $rc = 0 ]
}

short() {
	begun
	for mode in short cut; do
		rm -f $W/begun $W/log $W/up
		modes $mode
		clouds
		stage0
		kill %%
		wait %% || :
		[ $rc = 0 ]
		[ "$(times 'POST /v1/claim - 200')" = 2 ]
		grep -q '^end=1$' /run/burst/s/claim.conf
	done
}

changed() {
	begun
	modes changed
	clouds
	stage0
	dies
	grep -q 'node-init is not what burstd said' /run/burst/stage0.log
	[ "$(times 'GET /v1/node/stage1 burst 200')" = 3 ]
	rm $W/power
	modes changed hashless
	stage0
	dies
}

# burstd's configuration was reloaded since it answered the claim.
renewed() {
	begun
	answers "stage1_sha256=$(echo before | sha256sum | cut -d' ' -f1)"
	clouds
	stage0
	[ $rc = 0 ]
	[ "$(cat $W/begun)" = begun ]
	[ "$(times 'GET /v1/node/stage1 burst 200')" = 2 ]
}

path_elsewhere() {
	begun
	answers 'stage1_url=@127.0.0.1:8444/v1/node/stage1'
	clouds
	stage0
	dies
	not logged elsewhere
}

out_of_time() {
	begun
	stage0 TIMEOUT=3
	dies
}

no_place() {
	begun
	: >/run/burst
	stage0
	dies
	rm -r /run/burst $W/power
	mkdir -p /run/burst/stage0.log
	stage0
	dies
}

# A machine without nft and iptables: they cannot be hidden from stage0's PATH but by a file that cannot be run.
no_tool() {
	local tool
	for tool; do
		for d in /usr/sbin /usr/bin /sbin /bin; do
			[ ! -e $d/$tool ] || mount --bind /dev/null "$(readlink -f $d/$tool)" || :
		done
	done
}

no_firewall() {
	begun
	clouds
	no_tool nft iptables ip6tables
	stage0
	dies
	not logged claim
}

# One that works for addresses of the other kind alone.
half_a_firewall() {
	local tool
	begun
	clouds
	no_tool nft
	cp "$(readlink -f /usr/sbin/iptables)" $W/real
	for tool in iptables ip6tables; do
		printf '%s\n' '#!/bin/sh' "[ \"\${0##*/}\" != $tool ] || exit 3" "exec $W/real \"\${0##*/}\" \"\$@\"" >$W/half
		chmod 755 $W/half
		mount --bind $W/half "$(readlink -f /usr/sbin/iptables)"
		rm -f $W/power /run/burst/stage0.log
		stage0
		dies
		grep -q 'no firewall' /run/burst/stage0.log
		umount "$(readlink -f /usr/sbin/iptables)"
	done
	not logged claim
}

reaches() { # UID
	timeout 5 setpriv --reuid="$1" --clear-groups curl -qs -m 2 -H 'X-aws-ec2-metadata-token: token1' \
		http://169.254.169.254/latest/user-data | grep -q CLAIM_SECRET\\\|$SECRET
}

# gets UID URL
gets() { timeout 5 setpriv --reuid="$1" --clear-groups curl -qgsf -m 2 -o /dev/null "$2/"; }
# Metadata services of other clouds: those of Scaleway, Alibaba, Oracle, Linode.
elsewhere_too() {
	local address
	begun
	clouds
	ip addr add 169.254.42.42/32 dev lo
	ip addr add 100.100.100.200/32 dev lo
	for address in fd00:42::42 fd00:c1::a9fe:a9fe fd00:a9fe:a9fe::1; do
		ip -6 addr add $address/128 dev lo nodad
	done
	for address in 169.254.42.42 100.100.100.200 fd00:42::42 fd00:c1::a9fe:a9fe fd00:a9fe:a9fe::1; do
		python3 -m http.server -b $address -d $W/cloud 80 >/dev/null 2>&1 3>&- &
	done
	[ "$1" = nft ] || no_tool nft
	for address in 169.254.42.42 100.100.100.200 '[fd00:42::42]' '[fd00:c1::a9fe:a9fe]' '[fd00:a9fe:a9fe::1]'; do
		until gets 65534 "http://$address"; do sleep 0.1; done
	done
	stage0
	[ $rc = 0 ]
	for address in 169.254.42.42 100.100.100.200 '[fd00:42::42]' '[fd00:c1::a9fe:a9fe]' '[fd00:a9fe:a9fe::1]'; do
		not gets 65534 "http://$address"
		gets 0 "http://$address"
	done
}
elsewhere_by_nft() { elsewhere_too nft; }
elsewhere_by_iptables() { elsewhere_too iptables; }

user_data_is_roots() {
	begun
	clouds
	user_data
	# Before, anybody could.
	reaches 65534
	stage0
	[ $rc = 0 ]
	not reaches 65534
	reaches 0
	# Twice is once, and the same key: another one would be a thief's.
	key=$(sha256sum </run/burst/s/key.pem)
	stage0
	[ "$(sha256sum </run/burst/s/key.pem)" = "$key" ]
	[ "$(nft list table inet burst | grep -c 'meta skuid')" = 2 ]
}

iptables_too() {
	begun
	clouds
	no_tool nft
	user_data
	stage0
	[ $rc = 0 ]
	iptables -S OUTPUT | grep -q '169.254.169.254/32.*! --uid-owner 0'
	not reaches 65534
	reaches 0
}

# An older iptables that another program keeps from its lock just now: without -w it gives up.
iptables_waits() {
	begun
	clouds
	no_tool nft
	cp "$(readlink -f /usr/sbin/iptables)" $W/real
	printf '%s\n' '#!/bin/sh' "case \" \$* \" in *' -w '*) exec $W/real \"\${0##*/}\" \"\$@\" ;; esac" \
		'echo "Another app is currently holding the xtables lock. Perhaps you want to use the -w option?" >&2' 'exit 4' >$W/older
	chmod 755 $W/older
	mount --bind $W/older "$(readlink -f /usr/sbin/iptables)"
	stage0
	[ $rc = 0 ]
	not reaches 65534
	reaches 0
}

same_rules() {
	diff <(sed -n '/^table inet burst {$/,$p' "$top/scripts/node/burst-imds.nft") \
		<(sed -n "/<<'NFT'/,/^NFT\$/p" "$top/scripts/node/stage0.sh.in" | sed '1d;$d')
}
