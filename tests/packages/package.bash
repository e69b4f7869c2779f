# package.bash: what the tests of packages share.  run.sh of this directory has built the packages.
#
# shellcheck disable=SC2154  # status and output, of bats

load ../bare/host
packages=$(readlink -m "${BUILD:-build}")/packages

# bring WHICH: the packages of $packages/WHICH are where the admin works, and no others.
bring() {
	rm -f "$BARE_ROOT"/home/admin/burstd/*.deb
	cp "$packages/$1"/burst*.deb "$BARE_ROOT/home/admin/burstd/"
	rm -f "$BARE_ROOT"/home/admin/burstd/*-dbgsym_*
	host chown -R admin: /home/admin/burstd
}

# install_ PACKAGE...: of those that were brought
install_() {
	local names
	names=$(printf ' ./%s_*.deb' "$@")
	admin "sudo apt-get -qq install -y --allow-downgrades $names"
}

version_of() { # PACKAGE
	host dpkg-query -W -f '${Version}' "$1"
}

active() {
	[ "$(host systemctl is-active "$1")" = active ]
}

# As the journal's header says when burstd has been stopped.
schema() {
	od -An -tu1 -j63 -N1 "$BARE_ROOT/var/lib/burstd/journal.db" | tr -d ' '
}

# known_to WHICH: the schema of the journal that its burstd knows
known_to() {
	dpkg-deb --fsys-tarfile "$packages/$1"/burstd_*.deb | tar -xO ./usr/share/burstd/schemas | sed -n 's/^journal //p'
}

# Every instance in the cloud's meter, those that have ended too: "NAME ID alive|ended", a line each.
meter() {
	nsenter --target "$BARE_PID" --net curl -sf http://127.0.0.1:8900/admin/meter |
		jq -r '.rows[] | "\(.name) \(.id) \(if .end_ms == null then "alive" else "ended" end)"'
}

# The reader's way up to a slurmctld that bursts, by burstctl's slurm.conf.
cluster() {
	cloud && follow 11 && follow 3 && machines && follow 4 && follow 5
}
