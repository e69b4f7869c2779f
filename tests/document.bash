# document.bash: docs/slurm-integration.md, and others, for tests that follow them.  To be sourced (bash), in the repository's root.

# block N [DOCUMENT]: the Nth block of its commands; nothing if there is none
block() {
	awk -v n="$1" '/^```sh$/ { i++; inside = 1; next } /^```$/ { inside = 0 } inside && i == n' "docs/${2-slurm-integration}.md"
}
