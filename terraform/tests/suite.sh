#!/bin/bash
# suite.sh: terraform/ by Terraform and by OpenTofu, with providers, as TAP: `make terraform`.  What cannot be had is skipped, and
# says so.
#
#   TF_PLUGIN_DIR   directories with providers, besides those where the programs look by themselves
#   ONLY=terraform  one of the two programs
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit
BUILD=$(readlink -m "${BUILD:-build}")
BIN=$(readlink -m "${BIN:-$BUILD/bin}")
export BUILD BIN
# shellcheck source-path=SCRIPTDIR
source terraform/tests/lib.bash
# shellcheck source-path=SCRIPTDIR
source terraform/tests/tap.bash
work=$BUILD/terraform
mkdir -p "$work"

# --- what there is -----------------------------------------------------------------------------------------------------

tools() {
	terraform/tests/build.sh tofu >"$work/tofu.log" 2>&1 || true
	programs
	command -v tofu >/dev/null || [ ! -x "$work/bin/tofu" ] || echo "$work/bin/tofu"
}
mapfile -t all < <(tools | grep "/${ONLY:-}[a-z]*$")
[ ${#all[@]} -gt 0 ] || {
	echo "1..0 # SKIP neither terraform nor tofu is installed, nor Go, to build OpenTofu: $work/tofu.log"
	exit
}
terraform/tests/build.sh openstack >"$work/openstack.log" 2>&1 || true
plugins=$work/plugins
plugins_gather "$plugins"
places() { (cd terraform && find modules examples -name main.tf -printf '%h\n' | sort); }

tree=$work/copy/terraform
fresh() { copied "$work/copy"; }

validated() { init "$1" "$plugins" "$tree/$2" && "$1" -chdir="$tree/$2" validate -no-color; }
tested() { "$1" -chdir="$tree/$2" test -no-color; }
with() { # NAME PLACE COMMAND...: if its providers are there
	local name=$1 place=$2 missing
	shift 2
	if missing=$(lacks "$plugins" "$tree/$place"); then
		skip "$name" "the provider $missing is not here"
	else
		ok "$name" "$@"
	fi
}

# --- names, by the typings of other versions of the providers ------------------------------------------------------------

# The packages of npm are large, and have nothing else: no dependency of theirs is needed.
typings() {
	local d=$work/typings
	cmp -s terraform/tests/typings.json "$d/installed" || {
		rm -rf "$d" && mkdir -p "$d" && cp terraform/tests/typings.json "$d/package.json" &&
			(cd "$d" && timeout 300 npm install --ignore-scripts --no-package-lock --legacy-peer-deps --silent) &&
			cp terraform/tests/typings.json "$d/installed"
	}
}
named() { python3 terraform/tests/names.py "$work/typings/node_modules/@cdktf/provider-$1" "${@:2}"; }
misnamed() { # PROVIDER SED: notices what that changes
	rm -rf "$work/wrong"
	cp -r terraform/modules "$work/wrong"
	find "$work/wrong" -name '*.tf' -exec sed -i "$2" {} +
	! diff -rq terraform/modules "$work/wrong" >/dev/null || { echo "$2 changes nothing" && return 1; }
	not named "$1" "$work/wrong"
}

if ! command -v npm >/dev/null; then
	skip "names, by typings" "npm is not installed"
elif ! typings >"$work/typings.log" 2>&1; then
	skip "names, by typings" "npm's registry is out of reach: $work/typings.log"
else
	ok "every name of aws, by npm's typings" named aws terraform/modules terraform/examples
	ok "every name of vault, by npm's typings" named vault terraform/modules terraform/examples
	ok "a misspelled argument is noticed" misnamed aws 's/cidr_block  /cidr_bloc  /'
	ok "a misspelled argument of a block is noticed" misnamed aws 's/http_tokens /http_token /'
	ok "a misspelled block is noticed" misnamed aws 's/root_block_device {/root_block_devices {/'
	ok "a misspelled resource is noticed" misnamed aws 's/"aws_vpc_endpoint"/"aws_vpc_endpoints"/'
	ok "a misspelled attribute is noticed" misnamed aws 's/\.private_ip$/.private_addr/'
	ok "a misspelled argument of vault is noticed" misnamed vault 's/token_policies /policies /'
	ok "a misspelled attribute of vault is noticed" misnamed vault 's/\.role_id$/.roleid/'
fi

# --- each program --------------------------------------------------------------------------------------------------------

misspelled() { # PROGRAM PLACE SED: validate notices it
	fresh
	find "$tree/$2" -name '*.tf' -exec sed -i "$3" {} +
	! diff -rq terraform/modules "$tree/modules" >/dev/null || { echo "$3 changes nothing" && return 1; }
	not validated "$1" "$2"
}

for program in "${all[@]}"; do
	name=${program##*/}
	ok "format, by $name" "$program" fmt -check -diff -recursive terraform
	fresh
	for place in $(places); do
		with "$place is valid, by $name" "$place" validated "$program" "$place"
		[ ! -d "terraform/$place/tests" ] || with "tests of $place, by $name" "$place" tested "$program" "$place"
	done
	with "a misspelled argument of aws is noticed, by $name" modules/network/aws \
		misspelled "$program" modules/network/aws 's/availability_zone /availability_zon /'
	with "a misspelled argument of openstack is noticed, by $name" modules/network/openstack \
		misspelled "$program" modules/network/openstack 's/remote_ip_prefix /remote_prefix /'
	with "a misspelled argument of vault is noticed, by $name" modules/secrets/vault \
		misspelled "$program" modules/secrets/vault 's/token_policies /token_policy /'
done

# --- applied: to moto, and to OpenBao --------------------------------------------------------------------------------------

# The tests of another, as one of ours: each of its own results is in the log.
whole() { # COMMAND...
	local said rc=0
	said=$("$@" 2>&1) || rc=$?
	echo "$said"
	# shellcheck disable=SC2001
	sed 's/^/# /' <<<"$said" >&3
	[ $rc = 0 ] && ! grep -q '^not ok' <<<"$said" && grep -q '^ok' <<<"$said"
}
moto() { # PROGRAM
	fresh
	whole "$BUILD/contract/bin/python" terraform/tests/apply.py "$BIN/driver" "$1" "$plugins" "$tree"
}
openbao() { # PROGRAM
	fresh
	PROGRAM=$1 PLUGINS=$plugins WORK=$tree STORE=$BIN/store VAULT=$vault whole bats --tap terraform/tests/vault.bats
}
venv() ( # in a shell of its own: it ends that where there is none
	source tests/contract/venv.bash
	want_venv "$BUILD/contract" tests/contract/requirements.txt
	exit 77
)
exec 3>&1
for program in "${all[@]}"; do
	name=${program##*/}
	fresh
	why=$(venv)
	if [ $? = 77 ]; then
		with "aws-new-cluster is applied to moto and destroyed, aws-hybrid applied, by $name" examples/aws-new-cluster moto "$program"
	else
		skip "applied to moto, by $name" "${why#*SKIP }"
	fi
	if ! command -v bats >/dev/null; then
		skip "applied to OpenBao, by $name" "bats is not installed"
	elif ! vault=$(tests/contract/openbao/find.sh); then
		skip "applied to OpenBao, by $name" "$vault"
	else
		with "vault-only is applied to OpenBao and destroyed, by $name" examples/vault-only openbao "$program"
	fi
done

# The controller's first boot, in a chroot with a systemd of its own, by the first of the programs.
booted() { # what it said
	grep -v '^# [A-Z][a-z][a-z] [0-9]' <<<"$1"
	grep -q '^ok' <<<"$1" && ! grep -q '^not ok' <<<"$1"
}
name="the controller's first boot, one job, and nothing is left"
if ! said=$(scripts/dev/deps.sh matrix 2>&1); then
	skip "$name" "debootstrap cannot be had: ${said##*$'\n'}"
elif said=$(HARNESS_ACTIVE=1 terraform/tests/first-boot.sh "${all[0]}" 2>&1) && [[ $said == *'1..0 # SKIP'* ]]; then
	skip "$name" "${said##*# SKIP }"
else
	# shellcheck disable=SC2001
	sed 's/^/# /' <<<"$said"
	ok "$name" booted "$said"
fi

# --- what else looks at it -------------------------------------------------------------------------------------------------

linted() { (cd "$tree" && "$work/bin/tflint" --recursive); }
unused() {
	fresh
	printf 'variable "unused" {\n  type = string\n}\n' >>"$tree/modules/conf/variables.tf"
	not linted
}
if terraform/tests/build.sh tflint >"$work/tflint.log" 2>&1; then
	fresh
	ok "tflint" linted
	ok "tflint notices a variable that nothing uses" unused
else
	skip "tflint" "it cannot be built: $work/tflint.log"
fi
if command -v promtool >/dev/null; then
	ok "the alerts, by promtool" promtool check rules scripts/monitoring/rules/burstd-alerts.yml
else
	skip "the alerts, by promtool" "it is not installed"
fi
echo "1..$n"
