# world.sh: a machine that has just been booted, in namespaces of its own; sourced by the tests of tests/node.
#
#   alone TEST    run the function TEST in a new world, which ends with it; no process and no mount is left
#   world         in there: network, /run and /etc of its own, and the clouds (clouds.py)
# shellcheck shell=bash

here=$(readlink -f "${BASH_SOURCE[0]%/*}")
top=$(readlink -f "$here/../..")
SECRET=00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff

alone() {
	run unshare -n -m -p -u -f --kill-child --mount-proc bash -c '
		source "$1/world.sh"; source "$2"; set -eE; trap '\''echo "line $LINENO: $BASH_COMMAND" >&2; leave'\'' ERR
		world; "$3"' sh "$here" "$BATS_TEST_DIRNAME/${BATS_TEST_FILENAME##*/}.sh" "$1"
	echo "$output"
	[ "$status" = 0 ]
}

# From here on whoever writes to the console waits, as with flow control.
mute_console() {
	[ -e /dev/console ] || return 0
	mkfifo $W/mute
	mount --bind $W/mute /dev/console
}

# What there is to read when something went wrong.
leave() {
	local f
	for f in "$W"/log "$W"/clouds.err "$W"/out /run/burst/stage0.log /run/burst/node-init.log; do
		[ ! -e "$f" ] || { echo "== $f"; tail -n 40 "$f"; }
	done
	exit 1
}

certificate() { # NAME CA
	openssl ecparam -name prime256v1 -genkey -noout -out "$W/$1.key"
	openssl req -new -key "$W/$1.key" -subj "/CN=$1" | openssl x509 -req -CA "$W/$2.pem" -CAkey "$W/$2.key" -CAcreateserial \
		-days 2 -extfile <(echo subjectAltName=IP:127.0.0.1) -out "$W/$1.pem" 2>/dev/null
}
authority() { # NAME
	openssl ecparam -name prime256v1 -genkey -noout -out "$W/$1.key"
	openssl req -x509 -key "$W/$1.key" -subj "/CN=burst $1" -days 3 -out "$W/$1.pem"
}
# believed NAME: that authority is one of the machine's own, as those that its distribution came with are, whatever a curl
# may ask for them; and a curl that is told nothing else does believe it.
believed() {
	cp "$W/$1.pem" "/etc/ssl/certs/$(openssl x509 -noout -hash -in "$W/$1.pem").0"
	cat "$W/$1.pem" >>/etc/ssl/certs/ca-certificates.crt
	mkdir -p $W/store
	cp /etc/ssl/certs/*.0 $W/store/
	export SSL_CERT_DIR=$W/store SSL_CERT_FILE=$W/$1.pem CURL_CA_BUNDLE=$W/$1.pem CURL_HOME=$W HOME=$W
	printf '%s\n' "cacert = $W/$1.pem" "capath = $W/store" >$W/.curlrc
}
believes() { # URL: the system's curl does, without the environment of ours
	env -i PATH="$PATH" curl -qsS -o /dev/null "$1"
}

world() {
	# /etc first: what is in it is the machine's, and what is written to it is ours.
	mkdir -p /tmp/world
	mount -t tmpfs -o mode=755 world /tmp/world
	W=/tmp/world/w
	mkdir $W
	cp -a /etc /tmp/world/etc
	rm -rf /tmp/world/etc/munge/* /tmp/world/etc/burstd
	mkdir -p /tmp/world/etc/burstd
	mount --bind /tmp/world/etc /etc
	mount -t tmpfs -o mode=755 world /run
	mkdir $W/cloud $W/bin
	chmod 755 $W $W/bin
	hostname machine
	ip link set lo up
	ip addr add 169.254.169.254/32 dev lo
	printf %s $SECRET >$W/secret
	: >$W/answer
	: >$W/log
	authority ca
	certificate server ca
	certificate vault ca
	cp "$top/scripts/node/node-init" $W/node-init
	cat >/etc/burstd/node-init.conf <<-CONF
		path = $W/bin:/usr/sbin:/usr/bin:/sbin:/bin
		poweroff = echo off >>$W/power
		patience = 0
		metadata = http://169.254.169.254
		cloud_init = $W/cloud
		cloud_init_run = $W/cloud-run
		procfs = $W/proc
		sysfs = $W/sys
	CONF
	mkdir -p $W/proc/sys/fs
	echo 'Filename Type Size Used Priority' >$W/proc/swaps
	echo 0 >$W/proc/sys/fs/suid_dumpable
}

clouds() {
	python3 "$here/clouds.py" $W 2>$W/clouds.err &
	until [ -e $W/up ]; do sleep 0.05; done
}
modes() { echo "$*" >$W/modes; }
# tool NAME [LINE...]: a program of the machine; what it is given is in $W/NAME.args.
tool() {
	local name=$1
	shift
	{
		echo '#!/bin/sh'
		echo "echo \"\$*\" >>$W/$name.args"
		printf '%s\n' "$@"
	} >$W/bin/"$name"
	chmod 755 $W/bin/"$name"
}
configure() { printf '%s\n' "$@" >>/etc/burstd/node-init.conf; }
# answers LINE...: burstd's answer has these instead.
answers() { printf '%s\n' "$@" >>$W/answer; }

# user_data [KEY=VALUE...]: as burstd/core/userdata.c fills it in.
user_data() {
	local PROVIDER=none NODE='' NODE_INIT=/nowhere PORTS='' TIMEOUT=60 URLS=https://127.0.0.1:8443 CLAIM_ID=batch-1 one f
	local CA_PEM CLAIM_SECRET=$SECRET
	CA_PEM=$(cat $W/ca.pem)
	for one; do eval "${one%%=*}=\${one#*=}"; done
	sed '2,$ { /^[ 	]*#/d }; s/^[ 	]*//' "$top/scripts/node/stage0.sh.in" >$W/user-data
	for f in URLS CLAIM_ID CLAIM_SECRET PROVIDER NODE NODE_INIT PORTS TIMEOUT CA_PEM; do
		F=$f V=${!f} perl -0pi -e 's/\@$ENV{F}\@/$ENV{V}/g' $W/user-data
	done
}
# stage0 [KEY=VALUE...]: run it, as cloud-init does; node-init is one that says "begun".
stage0() {
	rc=0
	user_data "$@"
	sh $W/user-data >$W/out 2>&1 || rc=$?
}
logged() { grep -qE -- "$1" $W/log; }
times() { grep -cE -- "$1" $W/log || :; }
# not COMMAND...: "!" is lost on set -e.
not() { if "$@"; then return 1; fi; }

# claimed [KEY=VALUE...]: as stage0 leaves it, with these in the answer ("-": not there).
claimed() {
	local one
	mkdir -p /run/burst/s
	chmod 711 /run/burst
	[ -e $W/c1.pem ] || certificate c1 ca
	cp $W/ca.pem /run/burst/ca.pem
	cp $W/c1.pem /run/burst/cert.pem
	cp $W/c1.key /run/burst/s/key.pem
	printf '%s\n' provider=none cloud=aws claim_id=batch-1 urls=https://127.0.0.1:8443 url=https://127.0.0.1:8443 v=1 node=c1 generation=3 \
		cert=QUJD version=7 conf_server=127.0.0.1:8443 auth=munge burst_uid=0 release=inline \
		"munge_key=$(head -c 128 /dev/urandom | base64 -w0)" end=1 >/run/burst/s/claim.conf
	for one; do
		sed -i "/^${one%%=*}=/d" /run/burst/s/claim.conf
		[ "${one#*=}" = - ] || sed -i "1i $one" /run/burst/s/claim.conf
	done
}
# step NAME: only that one; what it said is in $said.
step() {
	rc=0
	said=$(sh "$top/scripts/node/node-init" --only "$1" 2>&1) || rc=$?
}
# passes|skips STEP, and fails STEP REGEX: what the reason says.
passes() {
	step "$1"
	[[ $said == "node-init: $1: ok"* ]] || { echo "$said" >&2; return 1; }
}
skips() {
	step "$1"
	[[ $rc == 0 && $said == "node-init: $1: skipped: "* ]] || { echo "$said" >&2; return 1; }
}
fails() {
	step "$1"
	[[ $rc == 1 && $said =~ ^"node-init: $1: failed: ".*$2 ]] || { echo "$said" >&2; return 1; }
}
