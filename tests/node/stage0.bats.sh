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
	[ "$(stat -c %a /run/burst /run/burst/stage0.log /run/burst/cert.pem | tr '\n' ,)" = 711,600,600, ]
	logged 'POST /v1/claim self 200'
	[ ! -e /run/burst/s/self.pem ]
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
	modes noidentity
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

# F30: a claim without the document would be refused for good.
azure_hiccups() {
	begun
	modes hiccups
	clouds
	stage0 PROVIDER=azure
	[ $rc = 0 ]
	[ "$(times 'GET /metadata/attested/document')" = 3 ]
	[ "$(times 'POST /v1/claim')" = 1 ]
	python3 - $W/body.1 <<-'PY'
		import base64, json, sys
		j = json.load(open(sys.argv[1]))['attest']
		assert base64.b64decode(j['doc']).decode() == 'QVpVUkU=' + j['nonce'], j
	PY
}

# Three times within what a closed connection keeps its port for.
roots_port() {
	local ports
	begun
	modes wait
	clouds
	stage0 PORTS=800-863
	[ $rc = 0 ]
	[ "$(times 'POST /v1/claim self 202')" = 2 ]
	[ "$(times 'POST /v1/claim self 200')" = 1 ]
	ports=$(sed -n 's,^/v1/claim ,,p' $W/ports)
	for p in $ports; do
		[ "$p" -ge 800 ]
		[ "$p" -le 863 ]
	done
	# A single one would not have done.
	[ "$(sort -u <<<"$ports" | wc -l)" = 3 ]
}

# connects UID PORT TO-PORT [NETNS...]: does who has that port reach burstd's machine?  A user who may have any.
connects() {
	local uid=$1 port=$2 to=$3
	shift 3
	"$@" setpriv --reuid="$uid" --clear-groups --inh-caps=+net_bind_service --ambient-caps=+net_bind_service python3 -c '
import socket, sys
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("", int(sys.argv[1])))
print("bound")
s.settimeout(1)
s.connect(("10.1.0.2", int(sys.argv[2])))
print("there")' "$port" "$to" 2>/dev/null >$W/connects || :
	grep -q bound $W/connects || exit 1
	grep -q there $W/connects
}
# burstd is elsewhere, behind this one's link; the container's packets get this machine's address.
roots_port_is_kept() {
	begun
	clouds
	with "$1"
	stage0 PORTS=800-863 'URLS=https://127.0.0.1:8443 https://burst.example.org'
	[ $rc = 0 ]
	far
	$cloud python3 -m http.server -b 10.1.0.2 -d $W/cloud 8443 >/dev/null 2>&1 3>&- &
	$cloud python3 -m http.server -b 10.1.0.2 -d $W/cloud 443 >/dev/null 2>&1 3>&- &
	$cloud python3 -m http.server -b 10.1.0.2 -d $W/cloud 2049 >/dev/null 2>&1 3>&- &
	until connects 0 40000 8443 && connects 0 40001 2049 && connects 0 40004 443; do sleep 0.1; done
	connects 0 861 8443
	# What root has closed is closed: the last word of that has no owner, and gets there.
	sleep 0.5
	[ -z "$($cloud ss -Htan state last-ack)" ]
	connects 65534 40002 8443
	not connects 65534 862 8443
	not connects 65534 900 8443
	# The other burstd's port is not said.
	not connects 65534 864 443
	connects 0 40003 8443 $box
	not connects 0 863 8443 $box
	not connects 0 700 8443 $box
	# Nobody else is hindered: such as the kernel's NFS.
	connects 65534 855 2049
	connects 0 856 2049 $box
}
roots_port_by_nft() { roots_port_is_kept nft; }
roots_port_by_iptables() { roots_port_is_kept iptables; }
roots_port_by_legacy() { roots_port_is_kept legacy; }

waits() {
	begun
	modes wait
	clouds
	stage0
	[ $rc = 0 ]
	[ "$(times 'POST /v1/claim self 202')" = 2 ]
	[ "$(times 'POST /v1/claim self 200')" = 1 ]
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
	mute_console
	clouds
	for status in 401 403 410; do
		rm -f $W/power
		modes $status
		stage0
		dies
		[ "$(times "POST /v1/claim self $status")" = 1 ]
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
	logged 'POST /v1/claim self 307'
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
		[ "$(times 'POST /v1/claim self 200')" = 2 ]
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
	local from
	begun
	from=$(cut -d. -f1 /proc/uptime)
	stage0 TIMEOUT=3
	dies
	# Not by what it would have waited next.
	[ $(($(cut -d. -f1 /proc/uptime) - from)) -le 8 ]
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

# far: the metadata addresses of all clouds are on another machine ($cloud), behind this one's link; and there is a container
# on a bridge ($box), whose packets are forwarded.
v4='169.254.169.254 168.63.129.16 169.254.42.42 100.100.100.200'
v6='fd00:ec2::254 fd20:ce::254 fd00:42::42 fd00:c1::a9fe:a9fe fd00:a9fe:a9fe::1'
far() {
	local a
	cloud='ip netns exec cloud' box='ip netns exec box'
	ip addr del 169.254.169.254/32 dev lo
	for a in cloud box; do
		ip netns add $a
		ip link add $a type veth peer name eth0 netns $a
		ip link set $a up
		ip -n $a link set lo up
		ip -n $a link set eth0 up
	done
	echo 1 >/proc/sys/net/ipv4/ip_forward
	echo 1 >/proc/sys/net/ipv6/conf/all/forwarding
	# A no may come at once each time.
	echo 0 >/proc/sys/net/ipv4/icmp_ratelimit
	echo 0 >/proc/sys/net/ipv6/icmp/ratelimit
	ip addr add 10.1.0.1/24 dev cloud
	ip addr add 10.2.0.1/24 dev box
	ip -n cloud addr add 10.1.0.2/24 dev eth0
	ip -n box addr add 10.2.0.2/24 dev eth0
	ip addr add fd00:1::1/64 dev cloud nodad
	ip addr add fd00:2::1/64 dev box nodad
	ip -n cloud addr add fd00:1::2/64 dev eth0 nodad
	ip -n box addr add fd00:2::2/64 dev eth0 nodad
	ip -n cloud addr add fe80::a9fe:a9fe/64 dev eth0 nodad
	for a in $v4; do ip -n cloud addr add $a/32 dev lo && ip route add $a/32 via 10.1.0.2; done
	for a in $v6; do ip -n cloud addr add $a/128 dev lo nodad && ip route add $a/128 via fd00:1::2; done
	ip -n box route add default via 10.2.0.1
	ip -n box route add default via fd00:2::1
	ip -n cloud route add default via 10.1.0.1
	ip -n cloud route add default via fd00:1::1
	$cloud python3 "$here/reach.py" serve $v4 $v6 fe80::a9fe:a9fe%eth0 >$W/served 3>&- &
	until grep -q up $W/served; do sleep 0.05; done
}
ask() { python3 "$here/reach.py" ask "$@"; }
# What remains for users: names and time.
names_and_time() {
	local a
	for a; do printf '%s\n' "$a tcp 53" "$a udp 53" "$a udp 123"; done
}
# with nft, nft-iptables or legacy: the firewall that this machine has.
with() {
	local t
	[ "$1" != nft ] || return 0
	no_tool nft
	[ "$1" = legacy ] || return 0
	for t in iptables ip6tables; do ln -sf /usr/sbin/$t-legacy /etc/alternatives/$t; done
}

# Every port of every address, of all clouds: but names and time, which others than root ask there, too (chrony, a resolver).
closed() {
	begun
	clouds
	with "$1"
	stage0
	[ $rc = 0 ]
	far
	ask 0 $v4 $v6 fe80::a9fe:a9fe%cloud >$W/root
	[ "$(wc -l <$W/root)" = $((10 * 14)) ]
	diff <(names_and_time $v4 $v6 fe80::a9fe:a9fe%cloud) <(ask 65534 $v4 $v6 fe80::a9fe:a9fe%cloud)
	# A container's root is nobody here.
	diff <(names_and_time $v4 $v6) <($box python3 "$here/reach.py" ask 0 $v4 $v6)
}
closed_by_nft() { closed nft; }
closed_by_iptables() { closed iptables; }
closed_by_legacy() { closed legacy; }

chrony() {
	ip netns add cloud
	ip link add cloud type veth peer name eth0 netns cloud
	ip link set cloud up
	ip addr del 169.254.169.254/32 dev lo
	ip addr add 10.1.0.1/24 dev cloud
	ip route add 169.254.169.254/32 via 10.1.0.2
	ip -n cloud link set eth0 up
	ip -n cloud link set lo up
	ip -n cloud addr add 10.1.0.2/24 dev eth0
	ip -n cloud addr add 169.254.169.254/32 dev lo
	nft -f "$top/scripts/node/burst-imds.nft"
	mkdir -m 700 /run/far /run/near
	chown nobody /run/near
	printf '%s\n' 'local stratum 3' allow 'cmdport 0' 'bindcmdaddress /' 'pidfile /run/far/pid' >$W/far.conf
	printf '%s\n' 'server 169.254.169.254 iburst maxsamples 1' 'cmdport 0' 'bindcmdaddress /' 'pidfile /run/near/pid' >$W/near.conf
	: >$W/far.log
	ip netns exec cloud "$chronyd" -x -d -u root -f $W/far.conf >$W/far.log 2>&1 3>&- &
	until grep -q 'control of system clock' $W/far.log; do sleep 0.05; done
	"$chronyd" -x -d -u nobody -Q -t 10 -f $W/near.conf
}

# What a user's closed socket sends again has no owner: that is not root's either.
nobodys() {
	begun
	clouds
	far
	local to held=()
	mkfifo $W/go4 $W/go6
	python3 "$here/reach.py" hold 65534 169.254.169.254 8080 <$W/go4 >$W/held4 3>&- &
	held+=($!)
	python3 "$here/reach.py" hold 65534 fd00:ec2::254 443 <$W/go6 >$W/held6 3>&- &
	held+=($!)
	exec 4>$W/go4 5>$W/go6
	for to in 4 6; do until grep -q up $W/held$to; do sleep 0.05; done; done
	# The cloud is deaf for a while, so that it is sent again.
	cp "$(readlink -f "$(command -v nft)")" $W/nft
	$cloud $W/nft 'add table inet deaf; add chain inet deaf i { type filter hook input priority 0; }; add rule inet deaf i tcp dport { 443, 8080 } drop'
	echo >&4
	echo >&5
	exec 4>&- 5>&-
	wait "${held[@]}"
	with "$1"
	stage0
	[ $rc = 0 ]
	$cloud $W/nft delete table inet deaf
	# The next one comes after 0.2, 0.4, 0.8 s and so on.
	sleep 5
	not grep -q late $W/served
}
nobodys_by_nft() { nobodys nft; }
nobodys_by_iptables() { nobodys iptables; }
nobodys_by_legacy() { nobodys legacy; }

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
	[ "$(nft list table inet burst | grep -c 'meta skuid 0 return')" = 1 ]
}

iptables_too() {
	begun
	clouds
	no_tool nft
	user_data
	stage0
	[ $rc = 0 ]
	iptables -S burst-o | grep -q -- '--uid-owner 0 -j RETURN'
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
	diff <(sed '/^#/d' "$top/scripts/node/burst-imds.nft") \
		<(sed -n "/<<'NFT'/,/^NFT\$/p" "$top/scripts/node/stage0.sh.in" | sed '1d;$d')
}
