# chroot.bash: roots of Debian, made by debootstrap and used in namespaces.  To be sourced (bash), in the repository's root.
#
# The script that sources it sets before:
#   self     its own path, for it is run again: as root, and in namespaces
#   what     the beginning of each sentence that says why it cannot run, such as "other Slurm versions are tested"
#   keep     names of the variables that reach it as root
# and has afterwards  chroots  (the directory of all roots), MIRROR and  namespaces  (a command: what it runs stays mounted or
# running no longer than itself).

: "${BUILD:=build}" "${MIRROR:=http://deb.debian.org/debian}"
# shellcheck disable=SC2034  # for who sources it
chroots=$(readlink -m "$BUILD")/chroot
namespaces=(unshare --pid --fork --kill-child --mount --mount-proc --propagation private)

# One sentence, and status 77; to prove, a plan that says so.
refuse() {
	[ -z "${HARNESS_ACTIVE-}" ] || {
		echo "1..0 # SKIP $1"
		exit 0
	}
	echo "$1" >&2
	exit 77
}

fail() {
	echo "$1" >&2
	exit 1
}

# become_root ARG...: run $self --as-root ARG...  Root is asked for once, by sudo.  Where that, the namespaces or debootstrap
# are missing: one sentence, status 77.
become_root() {
	local sudo=() vars=() v ask=-n
	[ -x /usr/sbin/debootstrap ] ||
		refuse "$what in chroots made by debootstrap, which \`scripts/dev/deps.sh matrix\` installs."
	if [ "$(id -u)" != 0 ]; then
		command -v sudo >/dev/null || refuse "$what in chroots, which need root, and there is no sudo here."
		[ ! -t 2 ] || ask=--
		sudo=(sudo "$ask")
		"${sudo[@]}" true || refuse "$what in chroots, which need root, and sudo refused it."
	fi
	"${sudo[@]}" "${namespaces[@]}" true 2>/dev/null ||
		refuse "$what in namespaces (unshare --pid --mount), and this machine refuses them."
	for v in $keep; do
		[ -z "${!v-}" ] || vars+=("$v=${!v}")
	done
	# shellcheck disable=SC2154
	exec "${sudo[@]}" setpriv --pdeathsig KILL env PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 "${vars[@]}" \
		"$self" --as-root "$@"
}

# The files as they are now, as a tar; one may have been deleted and git not told.
tree() {
	git ls-files -co --exclude-standard -z | while IFS= read -r -d '' f; do
		[ ! -e "$f" ] || printf '%s\0' "$f"
	done | tar -c --null -T -
}

# make_root SUITE DIR [OPTION...]: anew, by debootstrap with Debian's signatures checked; DIR appears when it is whole.
make_root() {
	local suite=$1 dir=$2
	shift 2
	rm -rf --one-file-system "$dir" "$dir.new"
	echo "# making $dir (minutes, once)"
	debootstrap --variant=minbase --force-check-gpg "$@" "$suite" "$dir.new" "$MIRROR" </dev/null |
		{ grep -v '^I: ' || true; }
	# Not worth an fsync per file.
	echo force-unsafe-io >"$dir.new/etc/dpkg/dpkg.cfg.d/unsafe-io"
	mv "$dir.new" "$dir"
}
