#!/bin/bash
# check-deps.sh: what `make deps`, and `make demo` before it shows anything, do on machines that are not this one; and that
# all goes on, and says so, where something optional is missing.  Nothing is installed or fetched: the programs that would
# do it are others of their names, in a directory that comes first.
# shellcheck disable=SC2016  # texts of scripts
# shellcheck disable=SC2317  # functions that `want` runs
set -eu
cd "$(dirname "$(readlink -f "$0")")/../.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0
# `make test` above says nothing to a make below that is looked at.
unset MAKEFLAGS MAKELEVEL MFLAGS MUSL_GCC PKG_CFLAGS PKG_LIBS

want() { # WHAT COMMAND...
	local what=$1
	shift
	"$@" >"$tmp/log" 2>&1 || {
		echo "check-deps: $what"
		tail -5 "$tmp/log"
		failed=1
	}
}
not() { ! "$@"; }
# fake NAME: a program, its script on standard input
fake() {
	mkdir -p "$tmp/fake"
	{
		echo '#!/bin/sh'
		cat
	} >"$tmp/fake/$1"
	chmod 755 "$tmp/fake/$1"
}
# The system's programs, from where some can be taken away.
mkdir "$tmp/path"
for dir in /bin /usr/bin /usr/sbin; do ln -sf "$dir"/* "$tmp/path/"; done
# without PROGRAM... -- COMMAND...: as if they were not installed; what is told of it is in $tmp/said
without() {
	local missing=() p rc=0
	mkdir -p "$tmp/away"
	while [ "$1" != -- ]; do
		missing+=("$1")
		shift
	done
	shift
	for p in "${missing[@]}"; do [ ! -e "$tmp/path/$p" ] || mv "$tmp/path/$p" "$tmp/away"; done
	PATH=$tmp/fake:$tmp/path BUILD=$tmp/without XDG_CACHE_HOME=$tmp/cache "$@" >"$tmp/said" 2>&1 || rc=$?
	for p in "$tmp/away"/*; do [ ! -e "$p" ] || mv "$p" "$tmp/path"; done
	return "$rc"
}

# --- deps.sh ------------------------------------------------------------------------------------

scripts/dev/deps.sh --list build >"$tmp/build"
scripts/dev/deps.sh --list >"$tmp/all"
want "deps: what is needed to build is part of all" test -z "$(grep -vxFf "$tmp/all" "$tmp/build")"
want "deps: to build needs no daemon" not grep -E 'slurm|^munge|maria|mysql|server' "$tmp/build"

# Of what it wants $lacks is not installed, and apt knows all but $unknown: as apt-get does, it installs all or nothing.
fake sudo <<<'exec "$@"'
fake dpkg-query <<'F'
grep -qxF -- "$4" "$apt/installed" && echo installed && exit
case " $lacks " in *" $4 "*) exit 1 ;; esac
echo installed
F
fake apt-get <<'F'
[ "$unknown" != all ] || exit 100
case $* in *install*) ;; *) exit ;; esac
names='' n=0
for p; do
	case $p in -* | Dpkg::* | install) continue ;; esac
	case " $unknown " in *" $p "*) echo "E: Unable to locate package $p"; exit 100 ;; esac
	names="$names $p" n=$((n + 1))
done
echo "2 upgraded, $n newly installed, 0 to remove and 0 not upgraded."
i=0
for p in $names; do i=$((i + 1)); echo "Get:$i http://deb.debian.org/debian bookworm/main amd64 $p amd64 1 [2 kB]"; done
for p in $names; do echo "Unpacking $p (1) ..."; done
# Who waits for it has been told so far.
if [ -n "$slow" ]; then
	for t in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		! grep -q '66 %' "$apt/said" || break
		sleep 0.1
	done
	cp "$apt/said" "$apt/meanwhile"
fi
for p in $names; do echo "Setting up $p (1) ..."; echo "$p" >>"$apt/installed"; done
F
deps() { # LACKS [UNKNOWN [SLOW]]
	: >"$tmp/installed"
	apt=$tmp lacks=$1 unknown=${2-} slow=${3-} PATH=$tmp/fake:$PATH scripts/dev/deps.sh build >"$tmp/said" 2>&1
}
has_said() { grep -qx "deps: $1" "$tmp/said"; }

want "deps: all is there" deps '' all
want "deps: what is optional is done without" deps musl-tools all
want "deps: ... and it is said what is skipped" has_said '.* for is skipped: musl-tools'
want "deps: what is needed is not" not deps 'gcc musl-tools' all
want "deps: what is optional and unknown to apt keeps nothing else out" deps 'musl-tools libuv1-dev scdoc' musl-tools
want "deps: ... what is needed is installed" cmp "$tmp/installed" - <<<$'libuv1-dev\nscdoc'
want "deps: ... and it is said what is skipped" has_said '.* for is skipped: musl-tools'
want "deps: what is needed and unknown to apt fails" not deps 'musl-tools libuv1-dev' libuv1-dev
want "deps: ... in apt's words" grep -q 'Unable to locate package libuv1-dev' "$tmp/said"
want "deps: how far apt-get is" deps 'gcc make scdoc libuv1-dev' '' slow
want "deps: ... is told meanwhile" grep -qx 'deps: 66 %' "$tmp/meanwhile"
want "deps: ... to the end" has_said '100 %'

# --- make demo, make lab ------------------------------------------------------------------------

# The Makefile, one source, and in place of what they run, programs that write down that they were called.  The packages
# bring a COMPILER, which the first make has not seen; without musl-gcc the hook is the other one's.
fake nproc <<<'echo 3'
fake ar <<<': >"$2"'
fake cc <<'F'
echo "${0##*/} -j${MAKEFLAGS#*-j} $*" >>"$calls"
while [ $# -gt 1 ]; do [ "$1" != -o ] || : >"$2"; shift; done
F
in_a_tree() { # TARGET COMPILER
	local tree=$tmp/$1
	export calls=$tree/calls
	mkdir -p "$tree"/{slurm,scripts/dev,tests/e2e/lab}
	cp Makefile VERSION "$tree"
	: >"$tree/slurm/hook.c"
	printf '#!/bin/sh\necho "enter $*" >>"$calls"\n' >"$tree/tests/e2e/lab/enter"
	printf '#!/bin/sh\necho deps >>"$calls"; cp "${0%%/*}/cc" "${0%%/*}/%s" 2>&1; :\n' "$2" >"$tree/scripts/dev/deps.sh"
	cp "$tmp/fake/cc" "$tree/scripts/dev"
	printf '#!/bin/sh\necho shown >>"$calls"\n' | tee "$tree/scripts/demo.sh" >"$tree/tests/e2e/lab/shell"
	chmod 755 "$tree"/{scripts/demo.sh,scripts/dev/deps.sh,tests/e2e/lab/enter,tests/e2e/lab/shell}
	hook_of "$1" && echo again >>"$calls" && hook_of all
	sed -nE 's/^(cc|musl-gcc) (-j[0-9]*) .* -c -o [^ ]*hook\.o .*/\1 \2: hook.o/p; /^[^ ]*$/p; /^enter/p' "$calls" >"$tree/order"
}
hook_of() {
	without musl-gcc -- env PATH="$tree/scripts/dev:$tmp/fake:$tmp/path" \
		make -C "$tree" BUILD=build PROGRAMS=build/bin/burst-hook PAGES= "$1"
}
for target in 'demo musl-gcc' 'lab musl-gcc' 'demo cc'; do
	compiler=${target#* } target=${target% *}
	want "make $target" in_a_tree "$target" "$compiler"
	want "make $target: first what is possible, then packages, then the hook, once, by what they brought, on all cores: \
$(paste -sd, "$tmp/$target/order")" cmp "$tmp/$target/order" - <<-W
		enter --possible
		deps
		$compiler -j3: hook.o
		shown
		again
	W
	rm -r "${tmp:?}/$target"
done
rm "$tmp/fake/cc" "$tmp/fake/ar" "$tmp/fake/nproc"

# --- without what is optional -------------------------------------------------------------------

# skips WHY PROGRAM... -- COMMAND...: it succeeds, runs nothing, and says why
skips() {
	local why=$1
	shift
	without "$@" || return
	cat "$tmp/said"
	[[ $(cat "$tmp/said") == "1..0 # SKIP "*"$why"* ]]
}
rm "$tmp/fake"/*
mkdir -p "$tmp/without"
no_vault='neither bao nor vault nor Go 1.21 is installed'
want "no Go: OpenBao" skips "$no_vault" go bao vault -- tests/contract/vault.sh
want "no bats: OpenBao" skips 'bats is not installed' bats -- tests/contract/vault.sh
want "no C++: PyTorch" skips 'there is no c++' c++ -- tests/e2e/examples/real.sh
fake df <<<'echo 7G'
want "no room: PyTorch" skips 'less than 8 GB are free' -- tests/e2e/examples/real.sh
rm "$tmp/fake/df"
want "no Python: moto" skips 'there is no python3' python3 -- tests/contract/aws.sh
fake go <<<'[ "$1" != env ] || exec echo go1.24; echo "dial tcp: connection refused" >&2; exit 1'
want "Go, and no network: OpenBao" skips 'OpenBao cannot be built: ' bao vault -- tests/contract/vault.sh
want "no Python: Prism" skips 'there is no python3' python3 -- tests/contract/lambda.sh
want "no node: Prism" skips 'there is no node' node -- tests/contract/lambda.sh
fake npm <<<'echo "no network"; exit 1'
spec=../shared/specs/lambda.json
no_prism='Prism cannot be installed, see '
[ -f $spec ] || no_prism="there is no $spec"
want "no network, or no description: Prism" skips "$no_prism" -- tests/contract/lambda.sh
want "no network: Prism: nothing is left that counts" test ! -e "$tmp/without/prism/installed"
fake apt-get <<<'exit 100'
want "no network: chronyd" not without chronyd -- tests/node/chronyd.sh
want "no network: chronyd: said so" grep -qx 'there is no chronyd, and its package cannot be fetched' "$tmp/said"

make -s MODE=asan WERROR=1 build/asan/tests/unit/cli/test_complete.t >/dev/null
want "no zsh: the others pass" without zsh -- env CMOCKA_MESSAGE_OUTPUT=TAP \
	tests/unit/tap.sh build/asan/tests/unit/cli/test_complete.t
want "no zsh: it is skipped" grep -qx 'ok [0-9]* # SKIP test_zsh' "$tmp/said"
want "no zsh: ... and said why" grep -qx '# zsh is not installed' "$tmp/said"
want "no gcovr: make cover" not without gcovr -- scripts/dev/cover.sh build
want "no gcovr: said so" grep -q '^cover: gcovr is not installed' "$tmp/said"

# Python makes an environment with a pip that has no network, or that has.
fake python3 <<'F'
mkdir -p "$3/bin"
cat >"$3/bin/python" <<'P'
#!/bin/sh
env=${0%/bin/python}
case $* in
'-m pip --version') [ -e "$env/pip" ] ;;
'-m pip install '*) [ -n "$network" ] || { echo "no network"; exit 1; } ;;
*) echo "1..0 # ran" ;;
esac
P
chmod 755 "$3/bin/python"
: >"$3/pip"
F
half=$tmp/without/contract
ran() {
	without -- tests/contract/aws.sh
	grep -qx '1..0 # ran' "$tmp/said"
}
export network=''
want "no network: moto" skips 'no network' -- tests/contract/aws.sh
want "no network: moto: no environment is left that counts" test ! -e "$half/installed"
fake df <<<'echo 99G'
want "no network: PyTorch" skips 'no network' -- env PYTHON=python3 tests/e2e/examples/real.sh
want "no network: PyTorch: no environment is left that counts" test ! -e "$tmp/without/torch/installed"
want "no network: PyTorch: nothing is left half-way" test ! -e "$tmp/without/torch.tmp"
rm "$tmp/fake/df"
network=yes
rm -rf "$half" && mkdir -p "$half/bin"
printf '#!/bin/sh\nexit 1\n' >"$half/bin/python"
chmod 755 "$half/bin/python"
want "an environment that was stopped half-way is made anew" ran
network=''
want "an environment that is whole is taken" ran
rm -f "$half/pip"
network=yes
want "an environment of another Python is made anew" ran
want "... with its packages" test -e "$half/installed"
exit $failed
