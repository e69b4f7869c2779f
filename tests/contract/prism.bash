# prism.bash: what the tests share that let Prism check a face of simcloud, and a driver, against what the vendor
# publishes about its API.  Prism (npm) is pinned by prism/package-lock.json and installed into build/ once.
# shellcheck shell=bash

skip() {
	echo "1..0 # SKIP $1"
	exit 0
}

# Without --ignore-scripts any of 200 packages could run what it likes.
prism_install() { # HOME
	rm -rf "$1"
	mkdir -p "$1" && cp tests/contract/prism/package.json tests/contract/prism/package-lock.json "$1" || return
	(cd "$1" && timeout 300 npm ci --ignore-scripts --no-audit --no-fund --fetch-timeout=20000 --fetch-retries=1) || return
	cp tests/contract/prism/package-lock.json "$1/installed"
}

# prism_get SPEC: sets PRISM, the program; skips the whole test where that, or SPEC, cannot be had.
prism_get() {
	local home=$BUILD/prism p
	for p in python3 node npm; do command -v $p >/dev/null || skip "there is no $p"; done
	[ -f "$1" ] || skip "there is no $1: vendors' descriptions are not in this repository"
	mkdir -p "$BUILD"
	exec 9>"$BUILD/prism.lock"
	flock 9
	if ! cmp -s tests/contract/prism/package-lock.json "$home/installed"; then
		prism_install "$home" >"$BUILD/prism.log" 2>&1 ||
			skip "Prism cannot be installed, see $BUILD/prism.log: $(tail -n 1 "$BUILD/prism.log" | cut -c1-160)"
	fi
	exec 9>&-
	PRISM=$home/node_modules/.bin/prism
	"$PRISM" --version >/dev/null 2>&1 || skip "Prism does not run on node $(node --version)"
}
