# venv.bash: sourced by the contract tests that run on Python, to have a virtual environment with what PyPI has for
# them, or to say that there is none.  Set BUILD, and PYTHON if it must be another than python3, and be in the
# repository's root.

skip() {
	echo "1..0 # SKIP $1"
	exit 0
}

# What it was to have is written last; and a Python of another release does not find what this one's has put there.
is_whole() { # DIR LIST
	cmp -s "$2" "$1/installed" && "$1/bin/python" -m pip --version >/dev/null 2>&1
}

# uv installs in a quarter of pip's time, and keeps what it has fetched for the next clone; pip can do without it.
# ARG: for either of them.  VENV_SECONDS: what is large takes longer.
install_list() { # DIR LIST [ARG...]
	local env=$1 list=$2
	shift 2
	local pip=("$env/bin/python" -m pip install --quiet --no-compile --disable-pip-version-check --timeout 20 --retries 1)
	if timeout 120 "${pip[@]}" uv; then
		UV_HTTP_TIMEOUT=20 timeout "${VENV_SECONDS:-300}" "$env/bin/uv" pip install --quiet --python "$env/bin/python" "$@" -r "$list" &&
			return
	fi
	timeout "${VENV_SECONDS:-900}" "${pip[@]}" "$@" -r "$list"
}

# From nothing: what somebody stopped half-way is not gone on with.
make_venv() { # DIR LIST [ARG...]
	rm -rf "$1"
	"${PYTHON:-python3}" -m venv "$1" && install_list "$@" && cp "$2" "$1/installed"
}

# Let DIR have what is in LIST, or skip.  Several tests may want one DIR at the same time.
want_venv() { # DIR LIST [ARG...]
	mkdir -p "$BUILD"
	exec 9>"$1.lock"
	flock 9
	if ! is_whole "$1" "$2"; then
		command -v "${PYTHON:-python3}" >/dev/null || skip "there is no python3"
		make_venv "$@" >"$1.log" 2>&1 ||
			skip "no virtual environment, or no PyPI, see $1.log: $(tail -n 1 "$1.log" | cut -c1-160)"
	fi
	exec 9>&-
	# What is imported is compiled once, and not beside the sources.
	unset PYTHONDONTWRITEBYTECODE
	PYTHONPYCACHEPREFIX=$(readlink -f "$1")/pycache
	export PYTHONPYCACHEPREFIX
}
