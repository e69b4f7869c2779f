# bootstrap.sh: for LAB_BOOTSTRAP: instances are machines that have nothing but their user-data.  Sourced by lab.sh (bash).
#
# They run it as cloud-init would, claim at burstd's listener, and have their own munged, slurmd and burst-agent, started by
# node-init alone; nothing of the lab's /etc, /run and /var is there (scripts/node/sim-boot, image).  The keys are in a file,
# or in a real OpenBao (LAB_BOOTSTRAP=vault).
#
#   on NODE CMD...       as root of the machine that is NODE now; machine NODE: its directory
#   image FILE           standard input becomes this file below /etc/burstd of machines that boot from now on
#   image_believes PEM   they have it among the authorities of their distribution; without PEM: no more
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # lab.sh's variables

LAB_METADATA=yes
lab_programs='munged keys mariadbd slurmdbd slurmctld simcloud burstd'
[ "$LAB_AUTH" = munge ] || lab_programs=${lab_programs/munged/jwks}
[ "$LAB_BOOTSTRAP" != vault ] || lab_programs="vault $lab_programs"
lab_vault_root=$(cat /run/lab/vault/root 2>/dev/null) || :
lab_door=https://10.77.0.1:8443
: "${LAB_CLAIM_TTL:=60s}" "${LAB_DEADMAN:=1h}"
: "${LAB_RELEASE:=wrap}" # of vault; user-data: there is no listener, and machines have node-init

# --- the image --------------------------------------------------------------------------------

image() {
	mkdir -p "$lab_dir/image/etc/burstd/bin"
	cat >"$lab_dir/image/etc/burstd/$1"
	chmod 755 "$lab_dir/image/etc/burstd/$1"
}

image_believes() {
	local store=$lab_dir/image/etc/ssl
	rm -rf "$store"
	[ $# = 0 ] || {
		mkdir -p "$store/certs"
		cp "$1" "$store/certs/$(openssl x509 -noout -hash -in "$1").0"
		cat /etc/ssl/certs/ca-certificates.crt "$1" >"$store/certs/ca-certificates.crt"
	}
}

# Eight GPUs, that are files; no DCGM.  What of /proc is not the machine's own is made up.
lab_image() {
	local i
	install -m 755 "$lab_repo/scripts/node/node-init" "$lab_dir/bin/node-init"
	[ "$LAB_RELEASE" != user-data ] || install -D -m 755 "$lab_repo/scripts/node/node-init" "$lab_dir/image/usr/libexec/burstd/node-init"
	image node-init.conf <<-C
		path = /etc/burstd/bin:$lab_dir/bin:/usr/sbin:/usr/bin:/sbin:/bin
		poweroff = kill -TERM 1
		procfs = /etc/burstd/proc
		gpu_command = cat /etc/burstd/gpus
		dcgm = off
		agent_line = heartbeat = 1s
	C
	for i in 0 1 2 3 4 5 6 7; do echo 'NVIDIA H100 80GB HBM3'; done | image gpus
	mkdir -p "$lab_dir/image/etc/burstd/proc/sys/fs" "$lab_dir/image/var/log/slurm"
	ln -sfn /proc/self "$lab_dir/image/etc/burstd/proc/self"
	echo 'Filename Type Size Used Priority' | image proc/swaps
	echo 0 | image proc/sys/fs/suid_dumpable
	cat >/etc/simcloud/boot.conf <<-C
		image=$lab_dir/image
		keep='$lab_dir/bin $lab_dir/dev $lab_dir/home'
	C
	[ "$LAB_CLOUD" != aws ] || lab_identity
}

# What simcloud signs documents with, which it would make itself, and burstd has to know before it starts: of each region.
lab_identity() {
	local region
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj '/CN=the metadata service' -keyout /etc/simcloud/identity.pem.key \
		-out /etc/simcloud/identity.pem 2>/dev/null
	for region in eu-north-1 $LAB_REGIONS; do
		echo "[$region]"
		cat /etc/simcloud/identity.pem
	done >/etc/burstd/identity.pem
}

# --- burstd.conf ------------------------------------------------------------------------------

lab_sections() {
	cat <<-C
		nodes {
			$([ "$LAB_RELEASE" = user-data ] || printf '%s\n' 'listen = "10.77.0.1:8443"' "url = {\"$lab_door\"}")
			conf_server = {"10.77.0.1:6817"}
			claim_ttl   = "$LAB_CLAIM_TTL"
			deadman     = "$LAB_DEADMAN"
			node_init   = "$lab_dir/bin/node-init"
			auth        = "$LAB_AUTH"
		}
	C
	"lab_secrets_$LAB_BOOTSTRAP"
}

lab_secrets_file() {
	cat <<-C
		secrets {
			driver  = "file"
			dir     = "/var/lib/burstd/keys"
			name    = "bundle"
			release = "broker"
			$([ "$LAB_AUTH" = munge ] || echo "switch_command = {\"$lab_dir/bin/switch\"}")
		}
	C
}

# EC2 signs documents; the neutral API signs nothing, unless its metadata service is another's: then with keys of its own,
# which it has written down before burstd starts.
lab_attest() {
	case $LAB_CLOUD in
	aws)
		cat <<-C
			account        = "000000000000"
			attest_ca_file = "/etc/burstd/identity.pem"
		C
		;;
	gcp)
		cat <<-C
			attest         = "gcp"
			account        = "simcloud"
			attest_ca_file = "/etc/simcloud/identity.pem"
		C
		;;
	azure)
		cat <<-C
			attest         = "azure"
			account        = "00000000-0000-0000-0000-000000000000"
			attest_ca_file = "/etc/simcloud/identity.pem"
		C
		;;
	esac
}

# --- the keys ---------------------------------------------------------------------------------

lab_bundle() {
	if [ "$LAB_AUTH" = munge ]; then
		printf '{"munge_key":"%s","kid":"lab"}' "$(base64 -w0 /etc/munge/munge.key)"
	else
		printf '{"slurm_jwks":"%s","kid":"lab"}' "$(base64 -w0 /etc/slurm/slurm.jwks)"
	fi
}

# In munged's place: slurmctld reads its keys itself.  The command is what an admin has for other keys.
lab_start_jwks() {
	lab_dirs slurm 755 /run/slurmctld /run/slurmdbd
	(umask 077 && jq -n --arg k "$(head -c 32 /dev/urandom | base64 -w0)" \
		'{keys: [{alg: "HS256", kty: "oct", kid: "first", k: $k, use: "default"}]}' >/etc/slurm/slurm.jwks)
	chown slurm /etc/slurm/slurm.jwks
	cat >"$lab_dir/bin/switch" <<-'C'
		#!/bin/sh -e
		echo "$@" >>/var/log/slurm/switch.log
		[ "$1" = jwks ] || exit 0
		jq -r .slurm_jwks /var/lib/burstd/keys/bundle | base64 -d >/etc/slurm/slurm.jwks
	C
	chmod 755 "$lab_dir/bin/switch"
}

# lab_start_keys: puts what munged has to where nodes get it from
lab_start_keys() {
	"lab_keys_$LAB_BOOTSTRAP"
}

lab_keys_file() {
	lab_dirs slurm 700 /var/lib/burstd/keys
	(umask 077 && lab_bundle >/var/lib/burstd/keys/bundle)
	chown slurm /var/lib/burstd/keys/bundle
}

# --- machines ---------------------------------------------------------------------------------

machine() {
	local id
	id=$(sim_of /admin/instances "[.instances[] | select(.name == \"$1\" and .state != \"ended\")] | last | .id // empty")
	[ -n "$id" ] || {
		echo "there is no machine $1" >&2
		return 1
	}
	echo "$lab_dir/sim/$id"
}

on() {
	local dir pid
	dir=$(machine "$1") && pid=$(cat "$dir/pid") || return
	# What simcloud started waits for the first process of its namespaces.
	read -r pid _ <"/proc/$pid/task/$pid/children" || [ -n "$pid" ] || return
	# It has an address before it has files of its own: until then this would be done to the controller's.
	grep -q ' /run/burst ' "/proc/$pid/mountinfo" || return
	shift
	nsenter -t "$pid" -m -u -i -n -p -r -w env -i PATH="$lab_dir/bin:/usr/sbin:/usr/bin:/sbin:/bin" HOME=/root LC_ALL=C.UTF-8 "$@"
}

lab_machines_logs() {
	local dir log
	for dir in "$lab_dir"/sim/sim-* "$lab_dir"/sim/i-*; do
		for log in "$dir"/console.log "$dir"/burst/{stage0,node-init,agent}.log; do
			[ ! -s "$log" ] || {
				echo "--- $log"
				tail -n 12 "$log"
			}
		done
	done
}

# --- OpenBao ----------------------------------------------------------------------------------

# vault METHOD PATH [CURL ARG...]: as its root
vault() {
	local method=$1 path=$2
	shift 2
	curl -sSf --max-time 10 --cacert "$lab_dir/vault/ca.pem" -X "$method" \
		${lab_vault_root:+-H "X-Vault-Token: $lab_vault_root"} "https://10.77.0.1:8200/v1/$path" "$@"
}

# lab_authority DIR NAME, lab_certificate DIR NAME CA: a self-signed one; one of DIR/CA for 10.77.0.1
lab_authority() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$2" -keyout "$1/$2.key" \
		-out "$1/$2.pem" 2>/dev/null
}

lab_certificate() {
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$2" -keyout "$1/$2.key" 2>/dev/null |
		openssl x509 -req -days 2 -CA "$1/$3.pem" -CAkey "$1/$3.key" -CAcreateserial \
			-extfile <(echo subjectAltName=IP:10.77.0.1) -out "$1/$2.pem" 2>/dev/null
}

# As a site has it: TLS, sealed at its start, an audit log, the policies of docs/secrets.md.
lab_start_vault() {
	local dir=$lab_dir/vault
	mkdir -p "$dir"
	lab_authority "$dir" ca
	lab_certificate "$dir" server ca
	cat >"$dir/server.hcl" <<-C
		storage "inmem" {}
		listener "tcp" {
			address       = "10.77.0.1:8200"
			tls_cert_file = "$dir/server.pem"
			tls_key_file  = "$dir/server.key"
		}
		api_addr      = "https://10.77.0.1:8200"
		disable_mlock = true
	C
	lab_spawn vault root "$VAULT" server -config="$dir/server.hcl"
	lab_vault_root=''
	lab_wait 30 vault GET sys/seal-status || return
	(umask 077 && vault PUT sys/init -d '{"secret_shares":1,"secret_threshold":1}' >"$dir/init")
	lab_vault_root=$(jq -r .root_token "$dir/init")
	(umask 077 && echo "$lab_vault_root" >"$dir/root")
	lab_unseal && lab_vault_setup
}

lab_unseal() {
	vault PUT sys/unseal -o /dev/null -d "{\"key\":\"$(jq -r '.keys[0]' "$lab_dir/vault/init")\"}" && lab_wait 10 vault GET sys/leader
}

lab_vault_setup() {
	local policy='path "kv/data/slurm/lab/node" { capabilities=["read"] min_wrapping_ttl="15s" max_wrapping_ttl="30m" }
		path "kv/metadata/slurm/lab/node" { capabilities=["read"] }
		path "auth/token/revoke-accessor" { capabilities=["update"] }
		path "auth/token/lookup-accessor" { capabilities=["update"] }'
	local rotate='path "kv/data/slurm/lab/node" { capabilities=["read", "update"] }'
	vault POST sys/mounts/kv -d '{"type":"kv","options":{"version":"2"}}' &&
		vault POST sys/auth/approle -d '{"type":"approle"}' &&
		lab_wait 10 vault POST kv/config -d '{"max_versions":5}' &&
		jq -n --arg p "$policy" '{policy: $p}' | vault PUT sys/policies/acl/burstd -d @- &&
		vault POST auth/approle/role/burstd -d '{"token_policies":["burstd"],"token_period":"1h"}' &&
		vault POST auth/approle/role/burstd/role-id -d '{"role_id":"lab-burstd"}' &&
		jq -n --arg p "$rotate" '{policy: $p}' | vault PUT sys/policies/acl/burst-rotate -d @- &&
		vault POST auth/approle/role/burst-rotate -d '{"token_policies":["burst-rotate"],"token_ttl":"15m"}' &&
		vault POST auth/approle/role/burst-rotate/role-id -d '{"role_id":"lab-rotate"}' || return
	(umask 077 && vault POST auth/approle/role/burstd/secret-id | jq -r .data.secret_id >/var/lib/burstd/vault-secret-id)
	chown slurm /var/lib/burstd/vault-secret-id
}

lab_keys_vault() {
	lab_bundle | jq '{data: .}' | vault POST kv/data/slurm/lab/node -o /dev/null -d @-
}

lab_secrets_vault() {
	cat <<-C
		secrets {
			driver          = "vault"
			release         = "$LAB_RELEASE"
			address         = "https://10.77.0.1:8200"
			ca_file         = "$lab_dir/vault/ca.pem"
			name            = "slurm/lab/node"
			role_id         = "lab-burstd"
			role_name       = "burstd"
			rotate_role_id   = "lab-rotate"
			rotate_role_name = "burst-rotate"
			credential_file = "/var/lib/burstd/vault-secret-id"
		}
	C
}
