# lib.bash: what check.sh and the tests here share: the programs, and providers where they may be.  In the repository's
# root, with BUILD and BIN set.
# shellcheck shell=bash

# Terraform and OpenTofu as they are, without what this machine has set for them.
unset TF_CLI_CONFIG_FILE TF_CLI_ARGS TF_CLI_ARGS_init TF_CLI_ARGS_apply TF_CLI_ARGS_plan TF_DATA_DIR TF_LOG TF_WORKSPACE
export TF_IN_AUTOMATION=1 TF_INPUT=0 CHECKPOINT_DISABLE=1

# The programs in PATH: both, one, or none.
programs() {
	command -v terraform
	command -v tofu
}

# Where providers may be, in the layout of a file system mirror: HOST/OWNER/NAME/VERSION/OS_ARCH/.
plugin_places() {
	local d
	for d in ${TF_PLUGIN_DIR-} "$HOME/.terraform.d/plugins" /usr/local/share/terraform/plugins /usr/share/terraform/plugins \
		"$BUILD/terraform/built"; do
		[ ! -d "$d" ] || echo "$d"
	done
}

# plugins_gather OUT: all of them, under the registry of each program: OpenTofu asks another one.  The programs follow links to
# files, not to directories.
plugins_gather() {
	local place host f to
	rm -rf "$1"
	mkdir -p "$1"
	for place in $(plugin_places); do
		(cd "$place" && find -L . -mindepth 6 -type f -printf '%P\n') | while read -r f; do
			for host in registry.terraform.io registry.opentofu.org; do
				to=$1/$host/${f#*/}
				[ -e "$to" ] || { mkdir -p "${to%/*}" && ln -s "$(readlink -f "$place/$f")" "$to"; }
			done
		done
	done
}

# wants DIR: the providers, OWNER/NAME, of a module or example, and of the modules that it uses.
wants() {
	local d
	grep -ohE 'source += "[a-z-]+/[a-z-]+"' "$1"/*.tf | sed 's/.*"\(.*\)"/\1/' | sort -u
	for d in $(sed -nE 's|.*source += "(\.\./[^"]*)".*|\1|p' "$1"/*.tf | sort -u); do
		wants "$1/$d"
	done
}

# lacks PLUGINS DIR: the first provider that is not there, if there is one.
lacks() {
	local p
	for p in $(wants "$2" | sort -u); do
		[ -d "$1/registry.terraform.io/$p" ] || { echo "$p" && return 0; }
	done
	return 1
}

# init PROGRAM PLUGINS DIR: without asking any registry.
init() {
	"$1" -chdir="$3" init -no-color -input=false -plugin-dir="$2" >/dev/null
}

# copied TO: modules and examples, in which the programs may leave what they like, and beside them what modules read, as here.
copied() {
	rm -rf "$1"
	mkdir -p "$1/terraform" "$1/scripts/monitoring"
	cp -r terraform/modules terraform/examples "$1/terraform/"
	cp -r scripts/monitoring/rules "$1/scripts/monitoring/"
}

# burstd_takes FILE: it is a burstd.conf.  A machine without burstd has no spool, which is said last, when all else is right.
burstd_takes() {
	local said
	said=$("$BIN/burstctl" config check "$1" 2>&1) ||
		[[ $said != *$'\n'* && $said == *": the spool, where hooks leave their calls: "* ]] || {
		echo "$said"
		return 1
	}
}
