# keys.bats.sh: the tests of keys.bats, as they run inside a world.
# shellcheck shell=bash

new_key() { head -c 128 /dev/urandom | base64 -w0; }
# gives LINE...: what burstd answers to /v1/node/keys, with end=1.
gives() { printf '%s\n' "$@" end=1 >$W/keys; }
# keys stage|switch: what it says is in $said.  As root with no more than its unit leaves it, but what starts munged as
# munge's user, which is systemd's there.
keys() {
	rc=0
	caps=$(sed -n 's/^CapabilityBoundingSet=//p' "$top/scripts/node/systemd/burst-keys@.service" | sed 's/CAP_/,+/g; s/ //g' | tr '[:upper:]' '[:lower:]')
	[ -n "$caps" ] || return
	said=$(setpriv --no-new-privs --bounding-set="-all$caps,+setuid,+setgid" --inh-caps=-all sh "$top/scripts/node/node-init" --keys "$1" 2>&1) || rc=$?
}
follows() {
	keys "$1"
	[ $rc = 0 ] || { echo "$said" >&2; return 1; }
}
does_not() { # WORD REGEX
	keys "$1"
	[[ $rc != 0 && $said =~ $2 ]] || { echo "$said" >&2; return 1; }
}
key_in_use() { [ "$(base64 -w0 </run/burst/munge/munge.key)" = "$1" ]; }
# up: a node that runs munged, with the key $old; burstd is there.
up() {
	old=$(new_key) new=$(new_key)
	claimed munge_key="$old" "$@"
	clouds
	passes key
	if [ "$(sed -n 's/^auth=//p' /run/burst/s/claim.conf)" = munge ]; then passes munge; fi
}
decodes() { unmunge <<<"$1" >/dev/null 2>&1; }

stage() {
	up
	pid=$(cat /run/munge/munged.pid)
	gives release=inline version=8 "munge_key=$old" "munge_key_next=$new" switch=no
	follows stage
	key_in_use "$old"
	[ "$(base64 -w0 </run/burst/munge/munge.key.next)" = "$new" ]
	[ "$(stat -c '%a %U' /run/burst/munge/munge.key.next)" = '400 munge' ]
	[ "$(cat /run/burst/key-version)" = 8 ]
	[ "$(cat /run/munge/munged.pid)" = "$pid" ]
	follows stage
	# Aborted: the new one goes.
	gives release=inline version=9 "munge_key=$old" switch=no
	follows stage
	[ ! -e /run/burst/munge/munge.key.next ]
	[ "$(cat /run/burst/key-version)" = 9 ]
	follows switch # nothing was staged: nothing is done
	key_in_use "$old"
	not grep -rq "$new" /run/burst/s /run/burst/node-init.log
}

switch() {
	up
	cred=$(munge -n)
	decodes "$cred"
	gives release=inline version=8 "munge_key=$old" "munge_key_next=$new" switch=no
	follows stage
	late=$(munge -n)
	follows switch
	key_in_use "$new"
	[ ! -e /run/burst/munge/munge.key.next ]
	[ ! -e /run/burst/munge/munge.key.old ]
	decodes "$(munge -n)"
	not decodes "$late"
	# Ordered again, it is done; the next version of the bundle has it as the key.
	follows switch
	gives release=inline version=9 "munge_key=$new" switch=yes
	follows stage
	[ "$(cat /run/burst/key-version)" = 9 ]
	key_in_use "$new"
}

bad_key() {
	up
	short=$(head -c 20 /dev/urandom | base64 -w0)
	gives release=inline version=8 "munge_key=$old" "munge_key_next=$short" switch=no
	follows stage
	for _ in 1 2; do # again is no other answer: it is not done
		does_not switch 'does not run with its new key'
		key_in_use "$old"
		decodes "$(munge -n)"
	done
	[ "$(cat /run/burst/key-version)" = 8 ]
}

# It was killed when munged was to be started anew: the key is there, and munged has the other.
broken_off() {
	for word in stage switch; do
		up
		chmod u+w /run/burst/munge/munge.key
		cp -p /run/burst/munge/munge.key /run/burst/munge/munge.key.old
		base64 -d <<<"$new" >/run/burst/munge/munge.key
		late=$(munge -n)
		gives release=inline version=9 "munge_key=$new" switch=yes
		follows $word
		key_in_use "$new"
		not decodes "$late"
		decodes "$(munge -n)"
		[ ! -e /run/burst/munge/munge.key.old ]
		pid=$(cat /run/munge/munged.pid)
		follows $word
		[ "$(cat /run/munge/munged.pid)" = "$pid" ]
		[ $word = switch ] || { munged --stop; kill %%; wait %% || :; rm $W/up; }
	done
}

late() {
	up
	late=$(munge -n)
	gives release=inline version=9 "munge_key=$new" switch=no
	does_not stage 'burstd says nothing of a switch'
	key_in_use "$old"
	[ "$(cat /run/burst/key-version)" = 7 ]
	[ ! -e /run/burst/munge/munge.key.now ]
	gives release=inline version=9 "munge_key=$new" switch=yes
	follows stage
	key_in_use "$new"
	not decodes "$late"
	[ "$(cat /run/burst/key-version)" = 9 ]
	# It was away for so long that the next one is there already: it has both, as it says.
	third=$(new_key) fourth=$(new_key)
	gives release=inline version=12 "munge_key=$third" "munge_key_next=$fourth" switch=yes
	follows stage
	key_in_use "$third"
	[ "$(cat /run/burst/key-version)" = 12 ]
	follows switch
	key_in_use "$fourth"
	decodes "$(munge -n)"
}

jwks() {
	up auth=slurm munge_key=- slurm_jwks=eyJrZXlzIjpbMV19
	gives release=inline version=8 slurm_jwks=eyJrZXlzIjpbMSwyXX0= switch=no
	follows stage
	[ "$(cat /run/burst/slurm/slurm.jwks)" = '{"keys":[1,2]}' ]
	[ "$(stat -c %a /run/burst/slurm/slurm.jwks)" = 600 ]
	[ "$(cat /run/burst/key-version)" = 8 ]
	does_not switch 'needs no switch'
}

wrapped() {
	up
	gives release=wrap version=7 vault=https://127.0.0.1:8200 "vault_ca=$(base64 -w0 $W/ca.pem)" wrap_token=hvs.CAES-x_y \
		creation_path=kv/data/slurm/prod/node switch=yes
	follows stage
	not key_in_use "$old" # Vault has another one
	[ "$(cat /run/burst/key-version)" = 7 ]
	not grep -rq hvs.CAES /run/burst
	modes used
	does_not stage 'does not unwrap'
}

refused() {
	up
	for odd in "munge_key=$new'; reboot; '" 'munge_key=$(reboot)' 'Munge_key=x'; do
		gives release=inline version=8 "$odd"
		does_not stage 'malformed line'
	done
	printf '%s\n' release=inline version=8 "munge_key=$new" >$W/keys
	does_not stage 'cut off'
	gives release=inline version=8
	sed -i '/^munge_key=/d' /run/burst/s/claim.conf
	does_not stage 'no munge key'
	modes often
	does_not stage '429 error=too many requests'
	key_in_use "$old"
	[ "$(cat /run/burst/key-version)" = 7 ]
	keys turn
	[ $rc = 2 ]
}
