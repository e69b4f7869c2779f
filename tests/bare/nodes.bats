#!/usr/bin/env bats
# The units of a node under a systemd that runs: the host becomes a node by node-init's steps, and then burst-agent, what it has
# systemd start (burst-keys, burst-mounts) and munged do all that they are for, with all that their units take from them.

# shellcheck disable=SC2154  # status, output and lines, of bats
load host

setup_file() {
	own_host || return
	echo 'APT::Install-Recommends "false";' >"$BARE_ROOT/etc/apt/apt.conf.d/recommends"
	built_here
	{ host useradd --system slurm && host apt-get -qq install -y munge curl psmisc python3 && follow 1 && image && burstd_is_there && claimed; } \
		>"$BARE_ROOT/root/setup.log" 2>&1 || {
		tail -n 40 "$BARE_ROOT/root/setup.log"
		return 1
	}
}

# docs/bootstrap.md, step 1.
image() {
	host systemctl disable --now munge
	host cp -r /usr/share/doc/burstd/node/systemd/. /etc/systemd/system/
	cat >"$BARE_ROOT/etc/systemd/system/slurmd.service" <<-'U'
		[Unit]
		After=munge.service
		[Service]
		ExecStart=/bin/sleep infinity
	U
	host mkdir -p /etc/burstd /data /far || return
	# As fstab's with _netdev: systemd unmounts it before the network goes, and after burst-mounts.
	cat >"$BARE_ROOT/etc/systemd/system/data.mount" <<-'U'
		[Mount]
		What=data
		Where=/data
		Type=tmpfs
		Options=_netdev
	U
	# slurmd's drop-in asks node-init, which has not done all of its steps here.
	rm "$BARE_ROOT/etc/systemd/system/slurmd.service.d/burst.conf"
	cat >"$BARE_ROOT/etc/burstd/node-init.conf" <<-'C'
		require_mount = /data
		require_mount = /far
		unmount_timeout = 1
		agent_line = heartbeat = 1s
		agent_line = health = 1s
		agent_line = health_command = /usr/bin/touch /run/burst/looked
	C
	host systemctl daemon-reload
}

fake=/root/burstd
burstd_is_there() {
	host mkdir -p $fake
	host systemd-run --quiet --unit=burstd-of-nodes python3 -B /home/admin/burstd/tests/bare/nodes_burstd.py $fake
	within 20 host bash -c ': </dev/tcp/127.0.0.1/8443'
}

new_key() { head -c 128 /dev/urandom | base64 -w0; }

# As stage0 leaves the machine.
claimed() {
	host install -d -m 711 /run/burst
	host install -d -m 700 /run/burst/s
	host cp $fake/ca.pem /run/burst/ca.pem
	host cp $fake/n1.pem /run/burst/cert.pem
	host cp $fake/n1.key /run/burst/s/key.pem
	printf '%s\n' provider=none cloud=none claim_id=batch-1 urls=https://127.0.0.1:8443 url=https://127.0.0.1:8443 v=1 node=n1 \
		generation=3 cert=QUJD version=7 conf_server=127.0.0.1:6817 auth=munge burst_uid=0 release=inline deadman=3600 \
		"munge_key=$(new_key)" end=1 >"$BARE_ROOT/root/claim.conf"
	host cp /root/claim.conf /run/burst/s/claim.conf
}

passes() { # STEP of node-init
	run host timeout 60 /usr/libexec/burstd/node-init --only "$1"
	echo "$output"
	[[ $output == "node-init: $1: ok"* ]]
}

# The next heartbeats are answered so.
answer() {
	cat >"$BARE_ROOT$fake/beat.new"
	mv "$BARE_ROOT$fake/beat.new" "$BARE_ROOT$fake/beat"
}
# asked REGEX: it came from now on; `listen` before.
listen() { : >"$BARE_ROOT$fake/asked"; }
asked() { grep -qE "$1" "$BARE_ROOT$fake/asked"; }

# confined UNIT CAPABILITIES: its main process has no more of root's than these (as a number), and its calls are filtered.
confined() {
	local pid
	pid=$(property "$1" MainPID)
	# shellcheck disable=SC2016  # awk's
	host awk -v caps="$2" '/^CapBnd:/ { bnd = $2 } /^NoNewPrivs:/ { nnp = $2 } /^Seccomp:/ { sec = $2 }
		END { print bnd, nnp, sec; exit !(bnd ~ "^0*" caps "$" && nnp == 1 && sec == 2) }' "/proc/$pid/status"
}

in_munge() { printf %s "$1" >"$BARE_ROOT/root/cred" && host sh -c 'unmunge </root/cred' >/dev/null; }

@test "munged has the key that is on a tmpfs, and no more than a socket, its log and its seed" {
	passes key
	passes munge
	confined munge 0
	[ "$(host stat -fc %T /run/burst/munge)" = tmpfs ]
	run ! writes munge /etc/written
	run ! writes munge /run/burst/written
	in_munge "$(host munge -n)"
}

@test "burst-agent: heartbeats, the hardware and the jobs are looked at, with two of root's capabilities" {
	listen
	passes agent
	within 10 asked '^/v1/node/heartbeat .*"key_version":"7"'
	confined burst-agent 480000 # CAP_SYS_PTRACE, CAP_SYS_BOOT
	within 10 host test -e /run/burst/looked
	run ! writes burst-agent /usr/written
	run ! writes burst-agent /var/written
	run ! writes burst-agent /run/written
	writes burst-agent /run/burst/written
	[ "$(property burst-agent NRestarts)" = 0 ]
}

# Where /proc has hidepid, root's processes are hidden from a root with fewer capabilities that is not in its group.
@test "burst-agent sees that a job runs, even if /proc hides processes" {
	host mount -o remount,hidepid=2,gid=65534 /proc
	host systemctl restart burst-agent
	host cp /bin/sleep /usr/local/bin/slurmstepd
	host systemd-run --quiet --unit=step bash -c 'exec -a "slurmstepd: [4711.batch]" /usr/local/bin/slurmstepd 600'
	listen
	within 10 asked '"busy":true,"jobs":\[4711\]'
	host systemctl stop step
	within 10 asked '"busy":false'
	host mount -o remount,hidepid=0,gid=0 /proc
}

@test "burst-agent writes the certificate and the list of hosts" {
	local before
	before=$(host stat -c %i /run/burst/cert.pem)
	echo '192.0.2.7 n7' >"$BARE_ROOT$fake/hosts"
	listen
	answer <<<'{"renew": true, "hosts": "v1"}'
	within 20 asked '^/v1/node/renew'
	answer <<<'{"hosts": "v1"}'
	within 20 host grep -q '^192.0.2.7 n7' /etc/hosts
	[ "$(host stat -c %i /run/burst/cert.pem)" != "$before" ]
	listen
	within 10 asked '^/v1/node/heartbeat' # with the new one
}

@test "burst-agent is started again when it was killed, and when it hangs" {
	local before
	before=$(property burst-agent MainPID)
	host systemctl kill --kill-who=main -s KILL burst-agent
	within 20 is_another burst-agent "$before"
	listen
	within 10 asked '^/v1/node/heartbeat'
	drop_in burst-agent.service <<<$'[Service]\nWatchdogSec=3'
	host systemctl restart burst-agent
	before=$(property burst-agent MainPID)
	sleep 7 # more than twice the time: it is fed
	[ "$(property burst-agent MainPID)" = "$before" ]
	host systemctl kill --kill-who=main -s STOP burst-agent
	within 20 is_another burst-agent "$before"
	host journalctl -q -u burst-agent --no-pager | grep -q 'Watchdog timeout'
	undo burst-agent.service
	host systemctl restart burst-agent
}

@test "burst-keys: other keys are staged, and munged is started with them, by burst-agent's order" {
	local new before
	new=$(new_key)
	before=$(property munge MainPID)
	late=$(host munge -n)
	printf '%s\n' release=inline version=8 "munge_key=$(host base64 -w0 /run/burst/munge/munge.key)" "munge_key_next=$new" switch=no \
		end=1 >"$BARE_ROOT$fake/keys"
	listen
	answer <<<'{"keys": {"version": "8"}}'
	within 30 asked '^/v1/node/heartbeat .*"key_version":"8"'
	[ "$(host base64 -w0 /run/burst/munge/munge.key.next)" = "$new" ]
	[ "$(host stat -c '%a %U' /run/burst/munge/munge.key.next)" = '400 munge' ]
	[ "$(property burst-keys@stage Result)" = success ]
	[ "$(property munge MainPID)" = "$before" ]
	answer <<<"{\"keys\": {\"version\": \"8\", \"switch_ms\": $(date +%s000)}}"
	within 30 host sh -c "[ \"\$(base64 -w0 /run/burst/munge/munge.key)\" = '$new' ]"
	within 30 is_another munge "$before"
	within 10 host sh -c '! systemctl is-active --quiet burst-keys@switch'
	[ "$(property burst-keys@switch Result)" = success ]
	in_munge "$(host munge -n)"
	run ! in_munge "$late"
	[ ! -e "/proc/$BARE_PID/root/run/burst/munge/munge.key.old" ]
	host sh -c '! grep -i "denied\|read-only\|not permitted" /run/burst/node-init.log'
}

# What the units take away, as systemd has understood them: `make check` looks at the files.
@test "exposure: burst-agent 2.4, burst-keys 2.2, burst-mounts 2.5, munged 1.6" {
	local one
	for one in burst-agent=24 burst-keys@stage=22 burst-mounts=25 munge=16; do
		host systemd-analyze security --no-pager --threshold="${one#*=}" "${one%=*}.service"
	done
}

# mounted DIRECTORY [UNIT]: the machine has it, or what runs in that unit with mounts of its own
mounted() {
	local pid=1
	[ $# = 1 ] || pid=$(property "$2" MainPID)
	host grep -qaF " $1 " "/proc/$pid/mountinfo"
}
gone() { ! mounted "$1"; }

# What the node is to have is there, slurmd runs, and burst-mounts waits for its end.
mounts() {
	host mount -t tmpfs far /far
	host systemctl start data.mount
	passes mounts
	host systemctl start slurmd
	[ "$(property burst-mounts ActiveState)" = active ]
}

# Its own mounts are copies (PrivateMounts and more): what it does must be seen outside.
@test "burst-mounts: what is mounted is unmounted for all, whatever its name, and who uses it ends" {
	local dir
	mounts
	# shellcheck disable=SC2016
	for dir in 'with blank' '$HOME ${PATH} %n %%' $'tab\tand\\40' $'not \xff utf-8' '-l'; do
		host mkdir "/data/$dir"
		host mount -t tmpfs inner "/data/$dir"
	done
	host systemd-run --quiet --unit=user --working-directory=/data/-l -p User=nobody sleep 600
	host systemd-run --quiet --unit=apart -p PrivateTmp=yes sleep 600
	mounted /data/-l
	mounted /data/-l apart
	host systemctl stop burst-mounts
	run host grep -aE ' /(data|far)' /proc/1/mountinfo "/proc/$(property apart MainPID)/mountinfo"
	echo "$output"
	[ -z "$output" ]
	run ! host systemctl is-active --quiet user
	host systemctl is-active --quiet apart burst-agent
	host systemctl stop apart
	[ "$(property slurmd ActiveState)" = inactive ]
	[ "$(property burst-mounts Result)" = success ]
	[ "$(host tail -n 1 /run/burst/node-init.log)" = 'node-init: unmount: done' ]
}

# F42.  Who waits for it cannot be killed, by whomever.
@test "burst-mounts: a server that does not answer costs the others nothing but its own time" {
	local began
	host mknod -m 666 /dev/fuse c 10 229
	host systemd-run --quiet --unit=hung python3 -B /home/admin/burstd/tests/node/hungfs.py /far
	within 10 mounted /far
	host systemctl start data.mount burst-mounts
	host systemd-run --quiet --unit=asks stat /far/file
	# shellcheck disable=SC2016  # the host's
	within 10 host sh -c 'grep -q request_wait /proc/$(systemctl show -p MainPID --value asks)/wchan'
	began=$SECONDS
	host systemctl stop burst-mounts
	[ $((SECONDS - began)) -lt 15 ]
	gone /data
	gone /far
	host grep -q 'unmount: /far: unmounted \(by force\|lazily\)' /run/burst/node-init.log
	run ! host grep -q 'unmount: /data' /run/burst/node-init.log
	# Their own end: what hung was cut off.
	within 10 host sh -c '! systemctl is-active --quiet hung asks'
}

@test "burst-agent has them unmounted when burstd has released the node" {
	mounts
	answer <<<410
	within 20 gone /data
	within 20 gone /far
	within 10 host sh -c '! systemctl is-active --quiet burst-mounts slurmd'
	answer <<<'{}'
}

# The host ends by this: it is the last test.
@test "burst-agent, whom nobody answers, powers off; file systems are unmounted on the way, before the network goes" {
	cat >"$BARE_ROOT/etc/systemd/system/witness.service" <<-'U'
		# It is stopped after burst-mounts.
		[Unit]
		Before=burst-mounts.service
		After=network-online.target
		[Service]
		Type=oneshot
		RemainAfterExit=yes
		ExecStart=/bin/true
		ExecStop=/bin/sh -c 'cat /proc/1/mountinfo >/root/mounts; cp /run/burst/node-init.log /root/node-init.log'
	U
	host systemctl daemon-reload
	host systemctl start witness
	mounts
	host sh -c ': >/run/burst/node-init.log'
	sed -i 's/^deadman=.*/deadman=4/' "/proc/$BARE_PID/root/run/burst/s/claim.conf"
	passes agent
	host systemctl stop burstd-of-nodes
	within 60 sh -c "! kill -0 $BARE_PID"
	tail -n 30 "$BARE_ROOT/root/node-init.log"
	grep -qx 'node-init: unmount: done' "$BARE_ROOT/root/node-init.log"
	run ! grep -E ' /(data|far) ' "$BARE_ROOT/root/mounts"
}
