#!/usr/bin/env bats
# What image-check asks for is what a node's scripts call: by their text, as a shell reads it (called.py), each way.

# shellcheck disable=SC2154  # output, of bats
bats_require_minimum_version 1.5.0

# A program that none of them names as a word: stage0 has iptables in a variable where there is no nft, and poweroff in a default;
# of the two that ask a package's version one is enough, and image-check needs neither.
others='nft dpkg dpkg-query rpm'

wanted() { # SCRIPT: by image-check
	scripts/node/image-check --list | awk -v who="$1" '{ n = split($2, w, ","); for (i = 1; i <= n; i++) if (w[i] == who) print $1 }' | sort
}
called() { # FILE
	tests/images/called.py "$1" | cut -d' ' -f1 | grep -vxF "${others// /$'\n'}" | sort
}

setup_file() {
	command -v shfmt >/dev/null || skip 'shfmt is not installed'
}

@test "image-check asks for all that stage0, node-init and the job's scripts call, and for nothing else" {
	local one file n=0
	for one in stage0:scripts/node/stage0.sh.in stage0-token:scripts/node/stage0-token.sh.in node-init:scripts/node/node-init \
		gpu-health:slurm/gpu-health prolog:slurm/prolog epilog:slurm/epilog task-prolog:slurm/task-prolog; do
		file=${one#*:}
		diff <(called "$file") <(wanted "${one%%:*}")
		n=$((n + $(called "$file" | wc -l)))
	done
	[ $n -gt 100 ]
	# And of no other script.
	[ "$(scripts/node/image-check --list | cut -d' ' -f2 | tr , '\n' | sort -u | tr '\n' ' ')" = 'epilog gpu-health node-init prolog stage0 stage0-token ' ]
}

@test "what node-init looks for before it calls it is no error where it is missing" {
	local name
	for name in $(tests/images/called.py scripts/node/node-init | sed -n 's/ optional$//p'); do
		case $name in dpkg | nvidia-smi) continue ;; esac
		scripts/node/image-check --list | grep -E "^$name " | grep -qE ' (warning|advice)$'
	done
}

@test "called.py is not deceived" {
	cat >"$BATS_TEST_TMPDIR/script" <<-'S'
		# none of a comment
		f() { inner "$(deep "`old`")" | piped; }
		have maybe && maybe
		need must
		echo 'quoted; not-a-call' >out
		if cond; then f; fi
		timeout -k 5 10 timed one
		x=$(sub arg) || ! negated
		unshare -m --propagation private sh -c 'in_string; a-string' sh
		sh -c "by-shell and"
		cat <<EOF
		no-word $(here)
		EOF
	S
	run -0 tests/images/called.py "$BATS_TEST_TMPDIR/script"
	diff <(echo "$output") - <<-W
		a-string needed
		by-shell needed
		cat needed
		cond needed
		deep needed
		here needed
		in_string needed
		inner needed
		maybe optional
		must needed
		negated needed
		old needed
		piped needed
		sh needed
		sub needed
		timed needed
		timeout needed
		unshare needed
	W
}

@test "image-check believes the versions of munge that node-init believes" {
	local f
	for f in version_ge munge_safe; do
		diff <(sed -n "/^$f() {/,/^}/p" scripts/node/node-init) <(sed -n "/^$f() {/,/^}/p" scripts/node/image-check)
		[ "$(sed -n "/^$f() {/,/^}/p" scripts/node/image-check | wc -l)" -gt 5 ]
	done
}

@test "the addresses, drop-ins and files that it looks for are those of node-init and of the units" {
	local line
	for line in EnvironmentFile=-/run/burst/slurmd.env LimitMEMLOCK=infinity 'node-init --gate'; do
		grep -qF -- "$line" scripts/node/systemd/slurmd.service.d/burst.conf
		grep -qF -- "$line" scripts/node/image-check
	done
	grep -qx EnvironmentFile=-/run/burst/munge.env scripts/node/systemd/munge.service.d/burst.conf
	grep -qF "/munge.env" scripts/node/node-init
	grep -qF "/slurmd.env" scripts/node/node-init
	# Where units may be: a package puts them elsewhere than who copies them by hand.
	line=$(sed -n "s/^unit_dirs='\(.*\)'/\1/p" scripts/node/image-check)
	[[ $line == */usr/lib/systemd/system* ]]
	grep -qF -- "for unit_dir in $line; do" scripts/node/node-init
	# Pyxis' places, where node-init.conf names none.
	line=$(sed -n "s/.*conf pyxis_plugin '\([^']*\)'.*/\1/p" scripts/node/node-init)
	[ -n "$line" ]
	grep -qF -- "conf pyxis_plugin '$line'" scripts/node/image-check
}
