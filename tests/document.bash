# document.bash: for tests that follow a document: docs/slurm-integration.md, unless they name another.  To be sourced (bash), in the
# repository's root.

# block N [FILE]: the Nth block of its commands; nothing if there is none
block() {
	awk -v n="$1" '/^```sh$/ { i++; inside = 1; next } /^```$/ { inside = 0 } inside && i == n' "${2:-docs/slurm-integration.md}"
}
