# init.bats.sh: the tests of init.bats, as they run inside a world.
# shellcheck shell=bash

answer_is_judged() {
	claimed
	passes claim
	claimed 'node='
	fails claim 'has no node'
	claimed end=-
	fails claim 'cut off'
	for odd in "node=c1'; reboot; '" 'node=c1"' 'node=$(reboot)' 'node=`reboot`' 'node=c1\' 'node=c1;reboot' 'node=c1|x' 'Node=c1' 'x'; do
		claimed
		printf '%s\n' "$odd" >>/run/burst/s/claim.conf
		fails claim 'malformed line: 17 '
	done
	claimed gpus=8x
	fails claim 'odd gpus'
	claimed generation=1234567890123
	fails claim 'odd generation'
	# Who reads one looks again.
	claimed 'node=c1;x'
	fails names 'odd node'
	rm /run/burst/s/claim.conf
	fails claim 'cut off'
}

imds_open() {
	claimed
	clouds
	cloud=$!
	fails imds 'can be reached by users'
	nft -f "$top/scripts/node/burst-imds.nft"
	passes imds
	# Those of other clouds are tried, too.
	sed -i '/^metadata/d' /etc/burstd/node-init.conf
	nft delete table inet burst
	ip addr del 169.254.169.254/32 dev lo
	for address in 169.254.42.42/32 100.100.100.200/32; do
		ip addr add $address dev lo
		python3 -m http.server -b ${address%/*} -d $W/cloud 80 >/dev/null 2>&1 3>&- &
		until curl -qs -m 1 -o /dev/null http://${address%/*}/; do sleep 0.1; done
		fails imds "${address%/*} can be reached by users"
		ip addr del $address dev lo
	done
	# Google's answers by TLS, too; whatever is behind it, it was reached.  Port 80 is tried first, and must be nobody's.
	kill $cloud
	wait $cloud || :
	ip addr add 169.254.169.254/32 dev lo
	passes imds
	for at in 443=https://169.254.169.254 8080=http://169.254.169.254:8080 988=http://169.254.169.254:988; do
		port=${at%%=*}
		python3 -c 'import socket, sys
s = socket.create_server(("169.254.169.254", int(sys.argv[1])))
while True: s.accept()[0].close()' $port 3>&- &
		until bash -c ": </dev/tcp/169.254.169.254/$port" 2>/dev/null; do sleep 0.1; done
		fails imds "${at#*=} can be reached by users"
		kill %%
		wait %% || :
	done
	ip addr del 169.254.169.254/32 dev lo
	# One that keeps who asks waiting was reached.
	ip addr add 168.63.129.16/32 dev lo
	python3 -c 'import socket, time; s = socket.create_server(("168.63.129.16", 32526)); time.sleep(60)' 3>&- &
	until bash -c ': </dev/tcp/168.63.129.16/32526' 2>/dev/null; do sleep 0.1; done
	fails imds '168.63.129.16:32526 can be reached by users'
	ip addr del 168.63.129.16/32 dev lo
	ip addr add 169.254.169.254/32 dev lo
	rm $W/up
	clouds
	configure 'metadata = http://169.254.169.254'
	fails imds 'http://169.254.169.254 can be reached by users'
	nft -f "$top/scripts/node/burst-imds.nft"
	passes imds
	# Nobody to answer is fine; nobody to ask with is not.
	mount --bind /dev/null "$(command -v setpriv)"
	fails imds 'cannot be proved|setpriv is not installed'
}

time_is_burstds() {
	# Any kind of address: here, the first of them is burstd.
	ip -6 addr add ::1/128 dev lo 2>/dev/null || :
	claimed 'url=https://[::1]:8443' 'urls=https://[::1]:8443 https://127.0.0.1:8443'
	passes claim
	fails time 'does not tell'
	claimed
	fails time 'does not tell'
	clouds
	passes time
	# Not by the address that answered the claim, but by another.
	claimed url=https://127.0.0.1:8445 'urls=https://127.0.0.1:8445 https://127.0.0.1:8443'
	passes time
	claimed
	modes clock-20
	passes time
	modes clock33
	fails time 'the clock is 3[2-4] s off'
	modes clock-40
	fails time 'the clock is (39|40|41) s off'
	tool chronyc "echo clock0 >$W/modes"
	passes time
	grep -q makestep $W/chronyc.args
}

munge_versions() {
	claimed
	tool munged
	while read -r version verdict; do
		tool dpkg-query "echo '$version'"
		"$verdict" munge_version CVE
	done <<-'END'
		0.5.18-1 passes
		0.5.18 passes
		0.6.0-1 passes
		0.5.17-1 fails
		0.5.15-2 fails
		0.5.15-2+deb12u1 passes
		0.5.15-2+deb12u2 passes
		0.5.15-3 fails
		0.5.16-1 fails
		0.5.16-1.1~deb13u1 passes
		0.5.16-1.1~deb13u0 fails
		0.5.16-4.el9 fails
	END
	configure 'munge_ok = 0.5.16-4.el9 0.5.16-5.el9'
	passes munge_version
	# From source, beside a package manager that knows of none.
	tool dpkg-query 'exit 1'
	tool rpm 'echo package munge is not installed; exit 1'
	tool munged 'echo "munge-0.5.18 (2026-02-10)"'
	passes munge_version
	tool munged 'echo "munge-0.5.15 (2022-06-22)"'
	fails munge_version 'munge 0.5.15 has CVE'
	tool rpm 'echo 0.5.18-1.el9'
	passes munge_version
	claimed auth=slurm
	skips munge_version
}

key_inline() {
	claimed
	key=$(sed -n 's/^munge_key=//p' /run/burst/s/claim.conf)
	passes key
	[ "$(stat -c '%a %U' /run/burst/munge/munge.key)" = '400 munge' ]
	[ "$(stat -c '%a %U' /run/burst/munge)" = '700 munge' ]
	grep -q ' /run/burst/munge tmpfs ' /proc/mounts
	[ "$(base64 -w0 </run/burst/munge/munge.key)" = "$key" ]
	[ "$(cat /run/burst/key-version)" = 7 ]
	# Once is enough.
	not grep -q "$key" /run/burst/s/claim.conf
	claimed munge_key=-
	fails key 'no munge key'
	# Before there is one, for a tmpfs is swapped.
	clouds
	wrapped
	tool swapoff
	echo '/dev/sda2 partition 1 0 -2' >>$W/proc/swaps
	fails key 'swap on a disk'
	not logged vault
	tool swapoff "sed -i /sda/d $W/proc/swaps"
	passes key
	[ "$(sort -u $W/swapoff.args)" = -a ]
	claimed munge_key=QUJD
	fails key 'less than 32'
	claimed munge_key=A
	fails key 'not base64'
	claimed release=-
	fails key 'how the keys come'
}

# docs/bootstrap.md has that file "if wanted".
key_no_conf() {
	claimed
	rm /etc/burstd/node-init.conf
	mount --bind $W/proc/swaps /proc/swaps
	passes key
	[ "$(stat -c '%a %U' /run/burst/munge/munge.key)" = '400 munge' ]
	step agent
	[[ $said != *skipped* ]]
}

key_slurm() {
	claimed auth=slurm munge_key=- "slurm_key=$(head -c 64 /dev/urandom | base64 -w0)" "slurm_jwks=$(echo '{"keys":[]}' | base64 -w0)"
	passes key
	[ "$(stat -c %a /run/burst/slurm/slurm.key)" = 600 ]
	[ "$(cat /run/burst/slurm/slurm.jwks)" = '{"keys":[]}' ]
	[ ! -e /run/burst/munge/munge.key ]
	claimed auth=slurm munge_key=-
	fails key 'no key for auth/slurm'
	clouds
	modes authslurm
	claimed auth=slurm
	echo 7 >/run/burst/key-version
	passes confirm
	skips munge
}

wrapped() {
	claimed munge_key=- release=wrap vault=https://127.0.0.1:8200 wrap_token=hvs.CAES-x_y creation_path=kv/data/slurm/prod/node \
		"vault_ca=$(base64 -w0 <$W/ca.pem)" "$@"
}
key_wrapped() {
	# Vault is asked directly, whatever the environment says.
	export https_proxy=http://127.0.0.1:1 ALL_PROXY=http://127.0.0.1:1
	clouds
	wrapped
	passes key
	[ "$(wc -c </run/burst/munge/munge.key)" = 128 ]
	[ "$(grep -o 'wrapping/[a-z]* - [0-9]*' $W/log | tr '\n' ,)" = 'wrapping/lookup - 200,wrapping/unwrap - 200,' ]
	# The token is no argument of any program, and is not kept.
	not grep -rq hvs.CAES /run/burst
	# The first of them does not answer, the other does.
	wrapped 'vault=https://127.0.0.1:8201 https://127.0.0.1:8200'
	passes key
}
key_unwrap_lost() {
	modes lost
	clouds
	wrapped
	passes key
	# Looked at before it was sent again.
	[ "$(grep -o 'wrapping/[a-z]* - [0-9]*' $W/log | tr '\n' ,)" = \
		'wrapping/lookup - 200,wrapping/unwrap - 502,wrapping/lookup - 200,wrapping/unwrap - 200,' ]
}
key_unwrap_used() {
	clouds
	modes used busy.v1.alarm
	wrapped
	fails key 'does not unwrap'
	grep -q '"reason":"unwrap_failed"' $W/last.v1.alarm
	logged 'POST /v1/alarm c1 200'
	rm $W/last.v1.alarm
	modes expired
	wrapped
	fails key 'used, expired or false'
	grep -q '"reason":"unwrap_failed"' $W/last.v1.alarm
	rm $W/last.v1.alarm
	# burstd is restarted just then.
	nft 'add table inet away; add chain inet away o { type filter hook output priority 0; }; add rule inet away o tcp dport 8443 reject'
	(sleep 2; nft delete table inet away) &
	wrapped
	fails key 'used, expired or false'
	grep -q '"reason":"unwrap_failed"' $W/last.v1.alarm
}
# Used, but perhaps by ourselves; gone, but perhaps by time: nobody is called a thief.
key_unwrap_sealed() {
	clouds
	modes sealedused
	wrapped
	fails key 'used, expired or false'
	grep -q '"reason":"unwrap_lost"' $W/last.v1.alarm
	[ "$(grep -o 'wrapping/[a-z]* - [0-9]*' $W/log | tr '\n' ,)" = \
		'wrapping/lookup - 200,wrapping/unwrap - 503,wrapping/lookup - 400,' ]
}
key_unwrap_unsure() {
	local up
	clouds
	modes lostused
	wrapped "vault=https://127.0.0.1:8200 https://127.0.0.1:8202"
	fails key 'used, expired or false'
	grep -q '"reason":"unwrap_lost"' $W/last.v1.alarm
	# The other Vault was not asked to unwrap what this one may have.
	[ "$(grep -o 'wrapping/[a-z]* - [0-9]*' $W/log | tr '\n' ,)" = \
		'wrapping/lookup - 200,wrapping/unwrap - 502,wrapping/lookup - 400,' ]
	rm $W/last.v1.alarm
	modes expired
	up=$(cut -d. -f1 /proc/uptime)
	wrapped wrap_ttl=60 answered=$((up - 58))
	fails key 'used, expired or false'
	grep -q '"reason":"unwrap_late"' $W/last.v1.alarm
	wrapped wrap_ttl=60 "answered=$up"
	fails key 'used, expired or false'
	grep -q '"reason":"unwrap_failed"' $W/last.v1.alarm
}
key_other_path() {
	modes otherpath
	clouds
	wrapped
	fails key 'another path'
	grep -q '"reason":"creation_path"' $W/last.v1.alarm
	not logged unwrap
	modes
	wrapped creation_path=kv/data/slurm/prod
	fails key 'another path'
	wrapped creation_path=-
	fails key 'no wrapping token'
}
key_rogue_vault() {
	authority rogue
	certificate vault rogue
	clouds
	wrapped
	fails key 'no Vault answers'
	not logged vault
	# Nor if the image believes it; and no other step asks it.
	believed rogue
	believes https://127.0.0.1:8200/
	: >$W/log
	fails key 'no Vault answers'
	not logged vault
	claimed burstd=none vault=https://127.0.0.1:8200 "vault_ca=$(base64 -w0 <$W/ca.pem)"
	fails time 'Vault does not tell'
	not logged vault
}
# What a node tells burstd, and is told by it, with its certificate.
rogue_burstd() {
	authority rogue
	certificate server rogue
	clouds
	believed rogue
	believes https://127.0.0.1:8443/
	claimed auth=slurm
	: >$W/log
	mkdir -p /run/burst
	echo 7 >/run/burst/key-version
	fails time 'burstd does not tell'
	fails confirm 'credential: 000'
	not sh "$top/scripts/node/node-init" --keys stage 2>$W/said
	grep -q 'gives no keys: 000' $W/said
	not logged burstd
}
key_redirected() {
	modes vaultredirect
	clouds
	wrapped
	fails key 'no Vault answers'
	not logged elsewhere
	modes sealed
	fails key 'no Vault answers'
}
# patience N: seconds that it waits; a world has none otherwise.
patience() { sed -i "s/^patience = .*/patience = $1/" /etc/burstd/node-init.conf; }
# Sealed, a standby, away, or behind a proxy: it is waited for, and the token is used once.
key_vault_waits() {
	patience 60
	modes troubled
	wrapped
	(
		sleep 3
		clouds
	) 3>&- &
	passes key
	[ "$(grep -o '[a-z]* - [0-9]*' $W/log | tr '\n' ,)" = "$(printf '%s,' 'lookup - 503' 'lookup - 307' 'lookup - 403' \
		'lookup - 200' 'unwrap - 503' 'lookup - 200' 'unwrap - 503' 'lookup - 200' 'unwrap - 503' 'lookup - 200' 'unwrap - 200')" ]
	[ "$(wc -c </run/burst/munge/munge.key)" = 128 ]
}
# No longer than the token lives, for then it would look like one that was used.
key_vault_too_long() {
	local began
	patience 60
	modes sealed
	clouds
	up=$(cut -d. -f1 /proc/uptime)
	wrapped wrap_ttl=60 answered=$((up - 45))
	began=$SECONDS
	fails key 'no Vault answers: 503'
	[ $((SECONDS - began)) -ge 5 ]
	[ $((SECONDS - began)) -lt 20 ]
	not logged alarm
	# Used, while nobody could look: that is an alarm at once.
	(
		sleep 3
		modes expired
	) 3>&- &
	wrapped wrap_ttl=60 "answered=$(cut -d. -f1 /proc/uptime)"
	began=$SECONDS
	fails key 'used, expired or false'
	[ $((SECONDS - began)) -lt 20 ]
	grep -q '"reason":"unwrap_failed"' $W/last.v1.alarm
}
# The word of a proxy says nothing of the token.
key_proxys_no() {
	clouds
	modes proxy
	wrapped
	fails key 'no Vault answers: 403'
	not logged alarm
}
key_old() {
	modes old
	clouds
	wrapped
	fails key 'has version 6 of the keys, burstd wants 7'
}

munge_runs() {
	claimed
	passes key
	passes munge
	clouds
	passes confirm
	modes othernonce
	fails confirm 'not for us'
	grep -q munge_mismatch $W/last.v1.alarm
	modes otherkey
	fails confirm 'not of our key'
	# Whom the first address does not know; and one of IPv6, which has colons of its own.
	modes
	claimed 'url=https://[::1]:8443' 'urls=https://[::1]:8443 https://127.0.0.1:8443'
	echo 7 >/run/burst/key-version
	passes confirm
	logged 'confirm c1 200'
	claimed
	# A credential that burstd has seen already, as it says: with another it does.
	modes replayed
	passes confirm
	claimed node=c2
	fails confirm 'does not take our credential: 401'
}
# A version of a store that has no numbers is one of 18 digits.
long_version() {
	claimed version=576460752303423487
	passes claim
	passes key
	passes munge
	clouds
	passes confirm
	claimed version=57646075230342348711
	fails claim 'odd version'
	claimed version=7d3f
	fails claim 'odd version'
}
# burstd, or its munged, is restarted just now: that costs no machine.
burstd_restarts() {
	claimed
	passes key
	passes munge
	clouds
	patience 30
	modes busy.v1.node.confirm
	passes confirm
	[ "$(times 'confirm c1 503')" = 3 ]
	logged 'confirm c1 200'
	# "Not so often" is no no.
	modes often.v1.node.confirm
	passes confirm
	[ "$(times 'confirm c1 429')" = 2 ]
	# No is no, at once.
	claimed node=c2
	timeout 10 sh "$top/scripts/node/node-init" --only confirm >$W/said || [ $? = 1 ]
	grep -q 'credential: 401' $W/said
}
munge_dead() {
	claimed
	configure 'munged_start = false'
	passes key
	fails munge 'does not start'
	configure
	sed -i '/munged_start/d' /etc/burstd/node-init.conf
	configure 'munged_start = true'
	fails munge 'does not take its own'
}

names() {
	claimed "hosts=$(printf '10.0.0.1 c1\n10.0.0.2 c2 c2.example.org\nfd00::3 c3\n' | base64 -w0)"
	passes names
	[ "$(hostname)" = c1 ]
	getent hosts c2 | grep -q 10.0.0.2
	getent hosts c2.example.org | grep -q 10.0.0.2
	grep -q localhost /etc/hosts
	# Twice is once, and what is gone goes.
	claimed "hosts=$(echo 10.0.0.9 c9 | base64 -w0)"
	passes names
	[ "$(grep -c '^# burst: begin' /etc/hosts)" = 1 ]
	not grep -q c2 /etc/hosts
	grep -q '10.0.0.9 c9' /etc/hosts
	for odd in '10.0.0.1 localhost' '10.0.0.1 c1 LocalHost' '10.0.0.1' 'x c1' '10.0.0.1 c1;x'; do
		claimed "hosts=$(echo "$odd" | base64 -w0)"
		fails names 'malformed line'
	done
	grep -q '10.0.0.9 c9' /etc/hosts
	# A begin without an end takes nothing with it but itself.
	sed -i '/^# burst: end/d' /etc/hosts
	echo '10.1.1.1 theirs' >>/etc/hosts
	claimed "hosts=$(echo 10.0.0.8 c8 | base64 -w0)"
	passes names
	grep -q '10.1.1.1 theirs' /etc/hosts
	[ "$(grep -c '^# burst: ' /etc/hosts)" = 2 ]
	[ "$(sed -n '/^# burst: begin/,/^# burst: end/p' /etc/hosts | wc -l)" = 3 ]
	claimed
	touch $W/libnss_slurm.so.2
	configure "nss_slurm = $W/libnss_slurm.so.2"
	echo 'hosts: files dns' >/etc/nsswitch.conf
	passes names
	passes names
	[ "$(cat /etc/nsswitch.conf)" = 'hosts: files slurm dns' ]
}

route() {
	claimed conf_server=127.0.0.1:6999,127.0.0.1:8443
	fails route 'no slurmctld can be reached: 127.0.0.1:6999 127.0.0.1:8443'
	clouds
	passes route
}
# slurmctld is restarted just now.
route_waits() {
	claimed conf_server=127.0.0.1:6999,127.0.0.1:8443
	patience 30
	(
		sleep 3
		clouds
	) 3>&- &
	passes route
	until [ -e $W/up ]; do sleep 0.05; done # it listens a moment before it says so
}

gpus() {
	claimed
	skips gpu
	claimed gpus=8 gpu_type=h100
	# No tool is no GPU.
	fails gpu 'cannot be counted'
	tool nvidia-smi 'for i in 1 2 3 4 5 6 7 8; do echo "NVIDIA H100 80GB HBM3"; done'
	passes gpu
	claimed gpus=8 gpu_type=a100
	fails gpu 'a GPU is no a100: NVIDIA H100'
	tool nvidia-smi 'for i in 1 2 3 4 5 6 7; do echo "NVIDIA H100 80GB HBM3"; done'
	claimed gpus=8
	fails gpu '7 GPUs, 8 expected'
	claimed gpus=4 # another type than was bought, and slurmd would say so
	fails gpu '7 GPUs, 4 expected'
	tool nvidia-smi 'echo x; exit 9'
	claimed gpus=1
	fails gpu 'cannot be counted'
	tool count 'echo one'
	tool well 'echo "GPU 0: row remap pending"; exit 1'
	configure 'gpu_command = count' 'gpu_check = well'
	fails gpu 'not well: GPU 0: row remap pending'
	tool well
	passes gpu
}

gpu_rows() {
	claimed gpus=2
	tool nvidia-smi 'case $1 in *remapped*) cat '$W'/rows ;; *) echo NVIDIA H100; echo NVIDIA H100 ;; esac'
	printf '%s\n' '00000000:0F:00.0, 0, 0' '00000000:1F:00.0, 0, 0' >$W/rows
	passes gpu
	printf '%s\n' '00000000:0F:00.0, 0, 0' '00000000:1F:00.0, 1, 0' >$W/rows
	fails gpu 'row remapping is pending: 00000000:1F:00.0'
	printf '%s\n' '00000000:0F:00.0, No, Yes' '00000000:1F:00.0, Yes, No' >$W/rows
	fails gpu 'row remapping has failed: 00000000:0F:00.0'
	# One that has no such thing, and a tool that does not know the question.
	printf '%s\n' '00000000:0F:00.0, [N/A], [N/A]' '00000000:1F:00.0, [N/A], [N/A]' >$W/rows
	passes gpu
	tool nvidia-smi 'case $1 in *remapped*) echo "1, 1, 1"; exit 2 ;; *) echo NVIDIA H100; echo NVIDIA H100 ;; esac'
	passes gpu
}

# Parts of GPUs (MIG): how many the machine has nobody says.
gpu_parts() {
	smi() { # MODE...
		printf '%s\n' "$@" >$W/mig
		tool nvidia-smi 'case $1 in *mig.mode*) cat '$W'/mig ;; *remapped*) sed s/.*/x,0,0/ '$W'/mig ;; -q) ;; *) sed s/.*/NVIDIA/ '$W'/mig ;; esac'
	}
	claimed gpu_mig=all
	passes claim
	fails gpu 'cannot be counted'
	tool nvidia-smi
	fails gpu 'no GPU, and parts of some'
	smi Enabled Enabled
	passes gpu
	smi Enabled Disabled
	fails gpu 'MIG mode is on for 1 of 2 GPUs, all expected'
	smi '[N/A]'
	fails gpu 'MIG mode is on for 0 of 1 GPUs'
	claimed gpu_mig=some
	smi Enabled Disabled
	passes gpu
	smi Disabled Disabled
	fails gpu 'MIG mode is on for 0 of 2 GPUs, some expected'
	tool nvidia-smi 'case $1 in *mig.mode*) exit 1 ;; *) echo NVIDIA ;; esac'
	fails gpu 'MIG mode of the GPUs is not known'
	# It has a fabric manager, where there is a switch, and NCCL's environment, as others.
	skips fabric_manager
	mkdir -p $W/proc/driver/nvidia-nvswitch/devices
	configure 'fabric_manager_check = fm'
	fails fabric_manager 'does not run'
	tool fm
	smi Enabled
	passes fabric_manager
	passes nccl
	# DCGM refuses the lot where one of them is in that mode.
	tool dcgmi "echo \"GPU 0's MIG configuration is incompatible with the diagnostic because it prevents access to the entire GPU.\"" 'exit 226'
	skips dcgm
	claimed gpu_mig=all
	skips dcgm
	claimed gpus=1
	fails dcgm 'says nothing'
	claimed gpu_mig=x
	fails claim 'odd gpu_mig'
}

fabric_manager() {
	claimed
	skips fabric_manager
	claimed gpus=2
	skips fabric_manager
	mkdir -p $W/proc/driver/nvidia-nvswitch/devices
	configure 'fabric_manager_check = fm'
	fails fabric_manager 'does not run'
	tool fm
	tool nvidia-smi "printf '    Fabric\n        State                             : Completed\n        Status                            : Success\n%.0s' 1 2"
	passes fabric_manager
	tool nvidia-smi "printf '    Fabric\n        State                             : Completed\n        Status                            : Success\n'" \
		"printf '    Fabric\n        State                             : In Progress\n        Status                            : N/A\n'"
	fails fabric_manager 'not joined'
	tool nvidia-smi
	fails fabric_manager 'not joined'
	# An A100 has such a switch, and says nothing of the fabric; no other GPU beside it is better for that.
	tool nvidia-smi "printf '    Fabric\n        State                             : N/A\n        Status                            : N/A\n%.0s' 1 2"
	passes fabric_manager
	tool nvidia-smi "printf '    Fabric\n        State                             : N/A\n        Status                            : N/A\n'" \
		"printf '    Fabric\n        State                             : Not Started\n        Status                            : N/A\n'"
	fails fabric_manager 'not joined'
	tool nvidia-smi "printf '    Fabric\n        State                             : Completed\n        Status                            : N/A\n'"
	fails fabric_manager 'not joined'
}

port() { # DEVICE LAYER STATE RATE [DRIVER]
	local dir=$W/sys/class/infiniband/$1/ports/1
	mkdir -p "$dir" "$W/sys/class/infiniband/$1/device"
	echo "$2" >"$dir/link_layer"
	echo "$3" >"$dir/state"
	[[ $3 == *ACTIVE ]] && echo '5: LinkUp' >"$dir/phys_state" || echo '3: Disabled' >"$dir/phys_state"
	echo "$4 Gb/sec (4X NDR)" >"$dir/rate"
	ln -sfn "/x/${5:-mlx5_core}" "$W/sys/class/infiniband/$1/device/driver"
}
fabric() {
	claimed
	skips fabric
	claimed fabric=ib fabric_ports=2 fabric_rate=400
	fails fabric '0 ports of ib are up, 2 expected'
	port mlx5_0 InfiniBand '4: ACTIVE' 400
	port mlx5_1 InfiniBand '4: ACTIVE' 400
	passes fabric
	port mlx5_1 InfiniBand '4: ACTIVE' 200
	fails fabric '1 ports of ib'
	port mlx5_1 InfiniBand '1: DOWN' 400
	fails fabric '1 ports of ib'
	# Linked, and no subnet manager has seen it; or the other way round.
	echo '5: LinkUp' >$W/sys/class/infiniband/mlx5_1/ports/1/phys_state
	echo '2: INIT' >$W/sys/class/infiniband/mlx5_1/ports/1/state
	fails fabric '1 ports of ib'
	echo '2: Polling' >$W/sys/class/infiniband/mlx5_1/ports/1/phys_state
	echo '4: ACTIVE' >$W/sys/class/infiniband/mlx5_1/ports/1/state
	fails fabric '1 ports of ib'
	port mlx5_1 Ethernet '4: ACTIVE' 400
	fails fabric '1 ports of ib'
	claimed fabric=roce
	passes fabric
	claimed fabric=efa fabric_ports=1
	fails fabric '0 ports of efa'
	port rdmap0 Unspecified '4: ACTIVE' 100 efa
	passes fabric
	tool fi_info 'exit 1'
	fails fabric 'libfabric finds no EFA'
	claimed fabric=token
	fails fabric 'no such fabric'
}

dcgm() {
	claimed
	skips dcgm
	claimed gpus=8
	fails dcgm 'dcgmi is not installed'
	tool dcgmi "echo '{\"DCGM Diagnostic\":{\"test\":{\"status\":\"Pass\"}}}'"
	passes dcgm
	[ "$(cat $W/dcgmi.args)" = 'diag -r 1 -j' ]
	tool dcgmi "echo '{\"test\":{\"status\":\"Fail\"}}'"
	fails dcgm 'finds a fault'
	tool dcgmi "echo '{\"test\":{\"status\":\"Pass\"}}'" 'exit 3'
	fails dcgm 'status 3'
	tool dcgmi
	fails dcgm 'says nothing'
	configure 'dcgm_timeout = 1'
	tool dcgmi 'sleep 60'
	fails dcgm 'says nothing \(status 124\)'
	configure 'dcgm = off'
	skips dcgm
}

mounts_here() {
	claimed
	skips mounts
	configure 'mount_timeout = 1'
	configure "mount = tmpfs $W/data tmpfs size=1m" "mount = tmpfs $W/home tmpfs" 'mount_write = yes' "mount = tmpfs $W/deep/down tmpfs"
	passes mounts
	[ "$(stat -c %a $W/deep)" = 755 ]
	grep -q " $W/data tmpfs" /proc/mounts
	grep -q " $W/home tmpfs" /proc/mounts
	passes mounts
	[ "$(grep -c " $W/data tmpfs" /proc/mounts)" = 1 ]
	mount -o remount,ro $W/home
	fails mounts "$W/home cannot be written"
	mount -o remount,rw $W/home
	configure "mount = nowhere:/x $W/nfs nosuchfs"
	fails mounts "$W/nfs cannot be mounted: .*nowhere:/x"
	tool mount 'sleep 60'
	fails mounts "$W/nfs cannot be mounted"
	tool stat 'sleep 60'
	tool timeout '[ "$1" != -k ] || shift 2; shift; exec /usr/bin/timeout 1 "$@"'
	fails mounts "$W/data does not answer"
}

# Its server is restarted just now, and that must not cost every machine that boots.
mounts_wait() {
	claimed
	configure 'mount_timeout = 20' "mount = tmpfs $W/data tmpfs"
	tool mount "[ \$(wc -l <$W/mount.args) -ge 3 ] || { echo 'mount.nfs: Connection refused' >&2; exit 32; }" 'exec /bin/mount "$@"'
	passes mounts
	grep -q " $W/data tmpfs" /proc/mounts
	rm $W/bin/mount
	# Somebody else's is waited for, and must be of its type.
	mkdir $W/shared $W/late
	configure "require_mount = $W/shared" "require_mount = $W/late tmpfs"
	(
		sleep 1
		mount -t tmpfs x $W/shared
		sleep 1
		mount --bind $W/shared $W/late
	) &
	passes mounts
	wait $!
	sed -i 's/^mount_timeout.*/mount_timeout = 1/' /etc/burstd/node-init.conf
	configure "require_mount = $W/late nfs"
	fails mounts "nothing of type nfs is mounted at $W/late after 1 s"
	configure "require_mount = $W/nowhere"
	umount $W/shared
	fails mounts "nothing is mounted at $W/shared after 1 s"
}

# A server that takes the question and never answers: who asked cannot be killed, and node-init goes on.
mounts_hung() {
	claimed
	mkdir $W/hung
	python3 "$here/hungfs.py" $W/hung &
	until grep -q " $W/hung fuse" /proc/mounts; do sleep 0.05; done
	configure "require_mount = $W/hung fuse"
	fails mounts "$W/hung does not answer"
	kill -KILL $!
}

# mounted DIRECTORY
mounted() { grep -q " $1 " /proc/self/mountinfo; }
unmounts() {
	rc=0
	# Not by a pipe, which what cannot be killed would keep open.
	timeout -k 1 40 sh "$top/scripts/node/node-init" --unmount >$W/unmount.said 2>&1 || rc=$?
	said=$(cat $W/unmount.said)
}

unmount_in_order() {
	claimed
	mkdir -p "$W/far" "$W/own"
	configure "mount = tmpfs $W/first tmpfs" "mount = tmpfs $W/second tmpfs" "require_mount = $W/far" "mount = tmpfs $W/first/in tmpfs" \
		"slurmd_stop = echo stop >>$W/order"
	mount -t tmpfs x "$W/far"
	mount -t tmpfs x "$W/own"
	passes mounts
	mkdir "$W/second/with blank"
	mount -t tmpfs x "$W/second/with blank"
	: >/run/burst/passed
	tool umount "echo \"\$2\" >>$W/order" 'exec /bin/umount "$@"'
	unmounts
	[ $rc = 0 ]
	[[ $said == 'node-init: unmount: done' ]]
	[ "$(cat $W/order)" = "$(printf '%s\n' stop "$W/second/with blank" "$W/first/in" "$W/second" "$W/first" "$W/far")" ]
	for one in first second far first/in; do not mounted "$W/$one"; done
	mounted "$W/own"
	not sh "$top/scripts/node/node-init" --gate
	# Again: nothing is left.
	unmounts
	[ $rc = 0 ]
}

# Two over each other, and one that a process uses: it is killed, for the jobs have had their time.
unmount_busy() {
	claimed
	configure "mount = tmpfs $W/data tmpfs" "slurmd_stop = true"
	passes mounts
	mount -t tmpfs x $W/data
	(cd $W/data && exec sleep 1000) &
	until [ "$(readlink /proc/$!/cwd)" = $W/data ]; do sleep 0.05; done
	unmounts
	[ $rc = 0 ]
	not mounted $W/data
	not kill -0 $!
	# Where nobody can kill it, lazily, and so it is said.
	passes mounts
	configure 'unmount_timeout = 1'
	tool fuser 'exit 1'
	tool logger
	(cd $W/data && exec sleep 1000) &
	until [ "$(readlink /proc/$!/cwd)" = $W/data ]; do sleep 0.05; done
	unmounts
	[ $rc = 1 ]
	not mounted $W/data
	kill -0 $!
	[[ $said == "node-init: unmount: $W/data: unmounted lazily; what still uses it keeps it" ]]
	grep -q "daemon.warning $W/data: unmounted lazily" $W/logger.args
	grep -q 'unmounted lazily' /run/burst/node-init.log
	kill $!
}

# One hangs, and what waits for it cannot be killed: it costs the others nothing but its own time.
unmount_hung() {
	claimed
	mkdir $W/hung $W/elsewhere
	configure "mount = tmpfs $W/before tmpfs" 'unmount_timeout = 1' "slurmd_stop = true"
	passes mounts
	python3 "$here/hungfs.py" $W/hung &
	local server=$!
	until mounted $W/hung; do sleep 0.05; done
	mount --bind $W/hung $W/elsewhere # a job's own view of it
	configure "require_mount = $W/hung fuse" "mount = tmpfs $W/after tmpfs"
	mkdir $W/after
	mount -t tmpfs x $W/after
	stat $W/hung/file &
	local asks=$!
	until grep -q request_wait /proc/$asks/wchan; do sleep 0.05; done
	local began=$SECONDS
	unmounts
	[ $((SECONDS - began)) -lt 15 ]
	for one in before hung elsewhere after; do not mounted $W/$one; done
	[[ $said == *"$W/elsewhere: unmounted"* || $said == *"$W/hung: unmounted"* ]]
	[[ $said != *"$W/before"* && $said != *"$W/after"* ]]
	[ $rc = 1 ]
	kill -KILL $server $asks 2>/dev/null || :
	# An umount that nobody can kill: the next step comes all the same.
	mkdir $W/data
	mount -t tmpfs x $W/data
	configure "require_mount = $W/data"
	tool umount "[ \"\$2\" != $W/data ] || { trap '' TERM; while :; do sleep 1; done; }" 'exec /bin/umount "$@"'
	began=$SECONDS
	unmounts
	[ $((SECONDS - began)) -lt 20 ]
	not mounted $W/data
	[[ $said == *"$W/data: unmounted by force" ]]
}

# in_own: a process with mounts of its own, as a container has them; $own
in_own() {
	unshare -m --propagation private sleep 1000 &
	own=$!
	until [ "$(cat /proc/$own/comm)" = sleep ]; do sleep 0.05; done
}
# F42: a client of Lustre or NFS is at its server as long as anybody has it mounted, in whatever namespace.
unmount_containers() {
	claimed
	mkdir $W/far $W/near
	configure "require_mount = $W/far fuse" "require_mount = $W/near" 'slurmd_stop = true' 'unmount_timeout = 1'
	local own without container near other
	in_own
	without=$own
	mount -t tmpfs x $W/near
	in_own
	near=$own
	python3 "$here/hungfs.py" $W/far &
	until mounted $W/far; do sleep 0.05; done
	in_own
	container=$own
	sleep 1000 &
	other=$!
	# Where it cannot be unmounted here, services have it as well.
	tool umount 'exit 1'
	unmounts
	[ $rc = 1 ]
	kill -0 $container
	rm $W/bin/umount
	# One with mounts of its own unmounts those alone: the machine, process 1 there, has it still.
	unshare --pid --fork --kill-child --mount-proc bash -c 'sleep 1000 & unshare -m --propagation private sh "$1" --unmount && kill -0 $!' \
		bash "$top/scripts/node/node-init" >/dev/null 2>&1
	kill -0 $container
	unmounts
	[ $rc = 0 ]
	[[ $said == 'node-init: unmount: done' ]]
	not mounted $W/far
	not kill -0 $container
	for one in $without $near $other; do kill $one; done
	[ ! -e /run/burst/s/far ]
	# Nobody can kill it: it is said, and nothing waits for it.
	python3 "$here/hungfs.py" $W/far &
	until mounted $W/far; do sleep 0.05; done
	in_own
	nsenter -t $own -m stat $W/far/file &
	until grep -q request_wait /proc/$!/wchan; do sleep 0.05; done
	unmounts
	[ $rc = 1 ]
	[[ $said == *'what runs in a container still has file system '* ]]
	not kill -0 $own
	kill -KILL %python3 2>/dev/null || :
}

# slurmd first, within its time; its own pid file, and what the image has instead.
unmount_slurmd() {
	claimed
	configure "mount = tmpfs $W/data tmpfs" "slurmd_pid_file = $W/slurmd.pid" 'slurmd_stop_timeout = 1'
	passes mounts
	printf '#!/bin/bash\ntrap "mountpoint -q %s/data && echo there >%s/at-stop; exit" TERM\nwhile :; do sleep 0.1; done\n' $W $W >$W/slurmd
	bash $W/slurmd &
	echo $! >$W/slurmd.pid
	sleep 0.5
	unmounts
	[ $rc = 0 ]
	[ "$(cat $W/at-stop)" = there ]
	not kill -0 $!
	# One that does not end is killed.
	passes mounts
	bash -c 'trap "" TERM; while :; do sleep 0.1; done' &
	echo $! >$W/slurmd.pid
	sleep 0.5
	unmounts
	[ $rc = 0 ]
	[[ $said == *'slurmd: not stopped in time, killed'* ]]
	sleep 0.2
	not kill -0 $!
	not mounted $W/data
}

# A machine that will be no node gives its mounts back, after burstd was told.
unmount_at_failure() {
	claimed
	configure "mount = tmpfs $W/data tmpfs" 'gpu_command = echo'
	clouds
	claimed gpus=8
	tool umount "grep -c failed $W/log >>$W/told" 'exec /bin/umount "$@"'
	tool slurmd
	sed 's/^steps() {/&\nprintf "%s\\n" "mounts F no m" "gpu F yes g"; return\n/' "$top/scripts/node/node-init" >$W/node-init
	rc=0
	sh $W/node-init || rc=$?
	[ $rc = 1 ]
	not mounted $W/data
	grep -qx '[1-9]' $W/told
	[ "$(cat $W/power)" = off ]
}

scratch() {
	claimed
	skips scratch
	mkdir $W/local
	mount -t tmpfs -o size=20m x $W/local
	configure "scratch = $W/local"
	claimed tmp_mb=20
	passes scratch
	claimed tmp_mb=21
	fails scratch 'has 20 MB, 21 expected'
}

hardware() {
	claimed cpus=8 memory_mb=16000
	tool slurmd 'echo "NodeName=c1 CPUs=8 Boards=1 SocketsPerBoard=1 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=16000"; echo UpTime=0-00:01:00'
	passes hardware
	claimed cpus=9
	fails hardware 'CPUs=8, 9 expected'
	claimed memory_mb=16001
	fails hardware 'RealMemory=16000, 16001 expected'
	tool slurmd 'exit 1'
	fails hardware 'slurmd -C fails'
	tool slurmd
	fails hardware 'RealMemory=0, 16001 expected'
}

container() {
	claimed
	skips container
	configure 'enroot = yes'
	fails container 'enroot does not run'
	tool enroot 'echo 3.5.0'
	mkdir -m 755 $W/images
	configure "job_scratch = $W/images"
	passes container
	# As enroot reads it: key, value, and eval as the user.
	[ "$(setpriv --reuid=1000 --clear-groups bash -c 'while IFS=$'"' \t='"' read -r k v; do echo "$k=$(eval echo "$v")"; done </etc/enroot/enroot.conf.d/50-burst.conf')" = \
		"$(printf 'ENROOT_%s_PATH=%s\n' RUNTIME $W/images/enroot/1000/runtime CACHE $W/images/enroot/1000/cache DATA $W/images/enroot/1000/data TEMP $W/images/enroot/1000)" ]
	[ "$(stat -c '%u %a' $W/images/enroot)" = '0 755' ]
	configure 'pyxis = yes' "pyxis_plugin = $W/*/spank_pyxis.so"
	fails container 'nowhere'
	touch $W/bin/spank_pyxis.so
	passes container
}

limits() {
	claimed
	mkdir $W/proc/self
	printf 'Max open files            1024                 4096                 files\nMax locked memory         unlimited            unlimited            bytes\n' >$W/proc/self/limits
	fails limits 'open files: 1024'
	sed -i 's/1024 /65536/' $W/proc/self/limits
	passes limits
	sed -i 's/unlimited/8388608  /' $W/proc/self/limits
	fails limits 'memory that can be locked: 8388608 bytes'
}

hygiene() {
	claimed
	mkdir -p $W/cloud/instances/i-1/scripts $W/cloud-run
	ln -s instances/i-1 $W/cloud/instance
	mkdir -p $W/cloud/seed/nocloud
	echo batch-1 >$W/cloud/seed/nocloud/user-data
	for f in user-data.txt user-data.txt.i scripts/part-001 obj.pkl cloud-config.txt; do echo batch-1 >$W/cloud/instances/i-1/$f; done
	echo batch-1 >$W/cloud-run/instance-data-sensitive.json
	passes hygiene
	not grep -rq batch-1 $W/cloud $W/cloud-run
	echo batch-1 >$W/cloud/instances/i-1/elsewhere
	fails hygiene 'still in .*elsewhere'
	rm $W/cloud/instances/i-1/elsewhere
	echo batch-1 >$W/cloud-run/elsewhere
	fails hygiene 'still in .*cloud-run/elsewhere'
	rm $W/cloud-run/elsewhere
	echo '/dev/zram0 partition 1 0 -2' >>$W/proc/swaps
	passes hygiene
	tool swapoff
	echo '/dev/sda2 partition 1 0 -2' >>$W/proc/swaps
	fails hygiene 'swap on a disk'
	[ "$(cat $W/swapoff.args)" = -a ]
	tool swapoff "sed -i /sda/d $W/proc/swaps"
	passes hygiene
	echo 1 >$W/proc/sys/fs/suid_dumpable
	passes hygiene
	[ "$(cat $W/proc/sys/fs/suid_dumpable)" = 0 ]
}

nccl() {
	claimed
	skips nccl
	claimed gpus=8 fabric=efa
	configure 'nccl = NCCL_DEBUG=WARN' 'nccl = FI_PROVIDER=efa;reboot' 'nccl = NCCL_SOCKET_IFNAME=eth0'
	passes nccl
	# A shell takes it, a user's own value stays, the image's comes last, and what is no assignment stays out.
	[ "$(env -i sh -c '. /etc/profile.d/burst-nccl.sh; echo "$FI_PROVIDER $NCCL_DEBUG $NCCL_SOCKET_IFNAME"')" = 'efa WARN eth0' ]
	[ "$(env -i FI_PROVIDER=tcp sh -c '. /etc/profile.d/burst-nccl.sh; echo $FI_PROVIDER')" = tcp ]
	env -i /etc/burstd/task-prolog | grep -qx 'export FI_PROVIDER=efa'
	env -i FI_PROVIDER=tcp /etc/burstd/task-prolog >$W/said
	not grep -q FI_PROVIDER $W/said
	not grep -rq reboot /etc/profile.d/burst-nccl.sh /etc/burstd/task-prolog
	# A user reads it.
	setpriv --reuid=65534 --clear-groups cat /etc/profile.d/burst-nccl.sh >/dev/null
	# Which network there is nobody said: NCCL looks for itself.
	claimed gpus=8
	configure 'nccl = NCCL_DEBUG=WARN'
	passes nccl
	not grep -q NCCL_IB /etc/burstd/task-prolog
	while read -r provider fabric line; do
		claimed gpus=8 "cloud=$provider" "fabric=$fabric"
		passes nccl
		env -i /etc/burstd/task-prolog | grep -qx "export $line"
	done <<-'END'
		aws none NCCL_IB_DISABLE=1
		oci roce NCCL_IB_GID_INDEX=3
		azure ib UCX_TLS=rc
		other ib NCCL_IB_HCA=mlx5
		gcp gib NCCL_NET=gIB
	END
}

# What Google's images say in scripts of theirs comes after what the image and the user say.
nccl_scripts() {
	local shown
	mkdir -p $W/gib $W/tcpxo
	chmod 755 $W/gib $W/tcpxo
	printf '%s\n' 'declare -A x; x[a]=Ring,Tree' 'export NCCL_ALGO=${x[a]} NCCL_DEBUG=INFO NCCL_MIN_NCHANNELS=4' \
		'export NCCL_ODD="a b;touch /run/pwned" PATH=/nowhere:$PATH LD_PRELOAD=' 'echo noise' >$W/gib/set_nccl_env.sh
	echo 'export NCCL_PLUGIN=$NCCL_LIB_DIR/libnccl-net.so' >$W/tcpxo/nccl-env-profile.sh
	claimed gpus=8 cloud=gcp fabric=gib
	configure 'nccl = NCCL_DEBUG=WARN' "nccl_script = $W/gib/set_nccl_env.sh $W/tcpxo/nccl-env-profile.sh $W/none"
	passes nccl
	shown=$(env -i PATH="$PATH" NCCL_MIN_NCHANNELS=8 sh -c '. /etc/profile.d/burst-nccl.sh; env' | grep -E '^(NCCL|burst)' | sort)
	[ "$shown" = "$(printf '%s\n' NCCL_ALGO=Ring,Tree NCCL_DEBUG=WARN NCCL_MIN_NCHANNELS=8 NCCL_NET=gIB \
		NCCL_PLUGIN=$W/tcpxo/libnccl-net.so)" ]
	shown=$(env -i PATH="$PATH" NCCL_MIN_NCHANNELS=8 /etc/burstd/task-prolog | sort)
	[ "$shown" = "$(printf 'export %s\n' NCCL_ALGO=Ring,Tree NCCL_DEBUG=WARN NCCL_NET=gIB NCCL_PLUGIN=$W/tcpxo/libnccl-net.so)" ]
	[ ! -e /run/pwned ]
	# They are Google's; and p4d has to be told of its RDMA.
	sed -i '/^nccl_script/d' /etc/burstd/node-init.conf
	passes nccl
	grep -q '/usr/local/gib/scripts/set_nccl_env.sh' /etc/burstd/task-prolog
	claimed gpus=8 fabric=efa instance_type=p5.48xlarge
	passes nccl
	not grep -qE 'gib|FI_EFA_USE_DEVICE_RDMA' /etc/burstd/task-prolog
	for type in p4d.24xlarge p4de.24xlarge; do
		claimed gpus=8 fabric=efa instance_type=$type
		passes nccl
		env -i /etc/burstd/task-prolog | grep -qx 'export FI_EFA_USE_DEVICE_RDMA=1'
	done
}

agent() {
	claimed gpus=8 deadman=900 'urls=https://127.0.0.1:8443 https://127.0.0.2:8443'
	fails agent 'burst-agent is not installed'
	tool burst-agent
	configure "agent_start = echo started >>$W/started" 'agent_line = health_command = /usr/bin/well' 'agent_line = notice_file = /run/take'
	passes agent
	[ "$(cat $W/started)" = started ]
	for line in 'url = https://127.0.0.2:8443' 'node = c1' 'generation = 3' 'gpus = 8' 'deadman = 900s' 'provider = aws' \
		'health_command = /usr/bin/well' 'notice_file = /run/take' 'key = /run/burst/s/key.pem'; do
		grep -qxF "$line" /run/burst/agent.conf
	done
	[ "$(stat -c %a /run/burst/agent.conf)" = 600 ]
	claimed gpus=8 deadman=0
	passes agent
	grep -qxF 'deadman = 0s' /run/burst/agent.conf
	# The dead-man's switch ends the machine as the image says.
	sed -i '/^poweroff/d' /etc/burstd/node-init.conf
	passes agent
	not grep -q '^poweroff' /run/burst/agent.conf
	configure "agent_start = true" "poweroff = echo off \"now\" >$W/off; true"
	passes agent
	sh -c "$(sed -n 's/^poweroff = //p' /run/burst/agent.conf)"
	[ "$(cat $W/off)" = 'off now' ]
	configure "agent_start = true" 'poweroff = false' 'agent_line = poweroff = /sbin/halt'
	passes agent
	[ "$(grep '^poweroff' /run/burst/agent.conf)" = 'poweroff = /sbin/halt' ]
	# It counts GPUs as we did: it has no shell, and another PATH.
	tool count 'echo one; echo two'
	configure 'gpu_command = count | grep -v "t w o"; echo "thr  ee" | tr -d " "'
	passes agent
	# shellcheck disable=SC2046  # words
	[ "$(env -i PATH=/usr/bin:/bin $(sed -n 's/^gpu_command = //p' /run/burst/agent.conf) | tr '\n' ,)" = one,two,three, ]
	configure 'agent_line = gpu_command = /bin/true'
	passes agent
	[ "$(grep '^gpu_command' /run/burst/agent.conf)" = 'gpu_command = /bin/true' ]
	# What signs for it is another word; of an older burstd it is all there is.
	claimed cloud=oci provider=none
	passes agent
	grep -qxF 'provider = oci' /run/burst/agent.conf
	claimed cloud=- provider=aws
	passes agent
	grep -qxF 'provider = aws' /run/burst/agent.conf
	# Who unmounts before the machine goes, where something is mounted.
	not grep -q '^unmount' /run/burst/agent.conf
	configure "require_mount = $W/data"
	passes agent
	grep -qxF 'unmount_command = /bin/sh /run/burst/node-init --conf /etc/burstd/node-init.conf --unmount' /run/burst/agent.conf
	configure 'unmount_command = /sbin/leave'
	passes agent
	[ "$(grep '^unmount' /run/burst/agent.conf)" = 'unmount_command = /sbin/leave' ]
	configure 'agent_line = unmount_command = /sbin/other'
	passes agent
	[ "$(grep '^unmount' /run/burst/agent.conf)" = 'unmount_command = /sbin/other' ]
	tool burst-agent 'exit 1'
	fails agent 'does not take its configuration'
	configure 'agent = no'
	skips agent
}

slurmd() {
	claimed conf_server=ctl1:6817,ctl2:6817 instance_id=i-1 instance_type=p5.48xlarge 'slurmd_opts=--extra x'
	configure "slurmd_spool = $W/spool" "slurmd_start = echo \"\$SLURMD_OPTIONS\" >$W/started"
	tool slurmd 'echo "slurm-wlm 22.05.8"'
	passes slurmd
	[ "$(cat $W/started)" = '--conf-server ctl1:6817,ctl2:6817 -N c1 -b --extra x' ]
	sh "$top/scripts/node/node-init" --gate
	tool slurmd 'echo "slurm 23.11.4"'
	touch /run/burst/slurm.x
	mkdir -p /run/burst/slurm
	touch /run/burst/slurm/slurm.jwks
	passes slurmd
	[ "$(cat $W/started)" = '--conf-server ctl1:6817,ctl2:6817 -N c1 --instance-id=i-1 --instance-type=p5.48xlarge -b --extra x' ]
	grep -qx SLURM_SACK_JWKS=/run/burst/slurm/slurm.jwks /run/burst/slurmd.env
	sed -i '/slurmd_start/d' /etc/burstd/node-init.conf
	configure 'slurmd_start = false'
	fails slurmd 'does not start'
	not sh "$top/scripts/node/node-init" --gate
	# Without systemd it is started here.
	sed -i '/slurmd_start/d' /etc/burstd/node-init.conf
	rmdir $W/spool
	tool slurmd "[ \"\$1\" != -V ] || echo slurm 22.05.8; echo \"\$SLURM_SACK_JWKS\" >$W/sack; umask >$W/umask"
	passes slurmd
	# A job's user goes through its spool, and has its umask.
	[ "$(stat -c %a $W/spool) $(cat $W/umask)" = '755 0022' ]
	grep -qx -- '--conf-server ctl1:6817,ctl2:6817 -N c1 -b --extra x' $W/slurmd.args
	[ "$(cat $W/sack)" = /run/burst/slurm/slurm.jwks ]
}

# A machine that has all of it: the real munged, stage0 and node-init; slurmd and the tools of GPUs are not there.
whole_machine() {
	tool slurmd '[ "$1" != -C ] || echo "NodeName=c1 CPUs=8 SocketsPerBoard=1 Gres=gpu:h100:8 RealMemory=16000"' '[ "$1" != -V ] || echo slurm 22.05.8'
	tool burst-agent
	tool nvidia-smi 'echo NVIDIA H100' 'echo NVIDIA H100'
	tool dcgmi "echo '{\"status\":\"Pass\"}'"
	tool dpkg-query 'echo 0.5.15-2+deb12u1'
	answers gpus=2 gpu_type=H100 tmp_mb=999999999 cpus=8
	configure "slurmd_start = echo slurmd >>$W/started" 'agent_start = true' "slurmd_spool = $W/spool"
	clouds
}
all_of_it() {
	whole_machine
	tool dcgmi 'sleep 0.4' "echo '{\"status\":\"Pass\"}'"
	[ $# = 0 ] || modes "$@"
	stage0 PROVIDER=aws
	cat $W/out
	[ $rc = 0 ]
	[ "$(cat $W/started)" = slurmd ]
	[ ! -e $W/power ]
	logged 'POST /v1/node/confirm burst 200'
	logged 'POST /v1/node/ready burst 200'
	python3 - $W/last.v1.node.ready <<-'PY'
		import json, sys
		j = json.load(open(sys.argv[1]))
		steps = {s['name']: s for s in j['steps']}
		assert j['node'] == 'c1' and j['generation'] == 3 and len(steps) == 22, j
		assert all(isinstance(s['ms'], int) for s in j['steps']), j
		assert steps['munge']['result'] == 'ok' and steps['mounts']['result'] == 'skipped', j
		assert steps['scratch']['result'] == 'warning' and 'MB, 999999999 expected' in steps['scratch']['why'], j
		assert 400 <= steps['dcgm']['ms'] < 10000 and steps['mounts']['ms'] < steps['dcgm']['ms'], j
		assert j['hardware'] == 'CPUs=8 SocketsPerBoard=1 RealMemory=16000', j
		assert j['total_ms'] >= sum(s['ms'] for s in j['steps']), j
	PY
	[ -e /run/burst/ready ]
	sh "$top/scripts/node/node-init" --gate
	# The real munged has the key that burstd gave.
	[ "$(wc -c </run/burst/munge/munge.key)" = 128 ]
	not timeout 5 setpriv --reuid=65534 --clear-groups cat /run/burst/munge/munge.key 2>/dev/null
	not timeout 5 setpriv --reuid=65534 --clear-groups ls /run/burst/s 2>/dev/null
	not grep -rqE "$SECRET|AAECAwQFBgcI" /run/burst
}
all_wrapped() { all_of_it wrap; }

# It is ready, and jobs may run: burst-agent ends it if burstd stays away.
unheard() {
	whole_machine
	modes busy.v1.node.ready
	stage0 PROVIDER=aws
	[ $rc = 0 ]
	[ ! -e $W/power ]
	logged 'POST /v1/node/ready burst 503'
	grep -q 'burstd does not answer' /run/burst/node-init.log
	sh "$top/scripts/node/node-init" --gate
}
unwanted() {
	whole_machine
	modes no.v1.node.ready
	stage0 PROVIDER=aws
	[ $rc != 0 ]
	[ "$(cat $W/power)" = off ]
	# Who sends it elsewhere has not taken the report either.
	claimed
	modes moved.v1.alarm
	wrapped creation_path=kv/data/slurm/prod
	fails key 'another path'
	logged 'POST /v1/alarm c1 307'
	grep -q 'nobody took it' /run/burst/node-init.log
}

step_fails() {
	whole_machine
	answers gpus=4
	tool nvidia-smi 'echo "NVIDIA \"H100\""; echo x; echo y'
	answers gpu_type='H100'
	stage0 PROVIDER=aws
	[ $rc != 0 ]
	[ ! -e $W/started ]
	[ "$(cat $W/power)" = off ]
	not logged ready
	python3 - $W/last.v1.node.failed <<-'PY'
		import json, sys
		j = json.load(open(sys.argv[1]))
		assert j['step'] == 'gpu' and j['why'] == '3 GPUs, 4 expected', j
		assert j['steps'][-1]['name'] == 'gpu' and j['steps'][-1]['result'] == 'failed', j
		assert 'slurmd' not in [s['name'] for s in j['steps']]
	PY
	not sh "$top/scripts/node/node-init" --gate
	# Its keys are gone.
	[ ! -e /run/burst/munge/munge.key ]
	[ ! -e /run/burst/s/key.pem ]
}

no_firewall_no_slurmd() {
	whole_machine
	claimed
	sh "$top/scripts/node/node-init" >$W/out 2>&1 && return 1
	[ ! -e $W/started ]
	[ "$(cat $W/power)" = off ]
	grep -q '"step":"imds"' $W/last.v1.node.failed
	[ ! -e /run/burst/munge/munge.key ]
}

hostile_answer() {
	whole_machine
	printf '%s\n' 'slurmd_opts=$(touch /run/pwned)' >$W/odd
	stage0 PROVIDER=aws
	[ $rc != 0 ]
	grep -q '"step":"claim"' $W/last.v1.node.failed
	rm $W/odd $W/power
	for line in "node=c1'; touch /run/pwned; '" 'conf_server=a:1 -x;touch /run/pwned' 'hosts=`touch /run/pwned`' 'node=c1"x'; do
		: >$W/answer
		answers "$line"
		stage0 PROVIDER=aws
		[ $rc != 0 ]
	done
	[ ! -e /run/pwned ]
	[ ! -e $W/started ]
}

command_line() {
	local init="$top/scripts/node/node-init"
	[ "$(sh "$init" --list | wc -l)" = 22 ]
	sh "$init" --list | grep -qE '^scratch +W '
	sh "$init" --help | grep -q -- --dry-run
	for args in --nonsense --only --conf '--only nosuch'; do
		rc=0
		# shellcheck disable=SC2086  # words
		sh "$init" $args >$W/said 2>&1 || rc=$?
		[ $rc = 2 ]
	done
	claimed gpus=2
	echo 'path = /usr/sbin:/usr/bin:/sbin:/bin' >$W/other.conf
	sh "$init" --conf $W/other.conf --only dcgm >$W/said || :
	grep -q 'dcgmi is not installed' $W/said
	# A dry run changes nothing, and tells nobody.
	rc=0
	sh "$init" --dry-run >$W/said || rc=$?
	[ $rc = 1 ]
	grep -q 'key: would be done' $W/said
	grep -q 'gpu: failed' $W/said
	[ ! -e /run/burst/munge/munge.key ]
	[ "$(hostname)" = machine ]
	[ ! -e $W/power ]
}
