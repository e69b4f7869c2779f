# document.bash: docs/slurm-integration.md for tests that follow it.  To be sourced (bash), in the repository's root.

# block N: the Nth block of its commands; nothing if there is none
block() {
	awk -v n="$1" '/^```sh$/ { i++; inside = 1; next } /^```$/ { inside = 0 } inside && i == n' docs/slurm-integration.md
}
