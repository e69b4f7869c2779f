#!/bin/sh
# burst-bundle: prints the keys of this cluster as the secret store wants them (docs/secrets.md, "The bundle").  As root, and
# into a pipe to the store: it is all that a stranger needs to be a node.
set -eu
[ ! -t 1 ] || {
	echo "burst-bundle: not onto a terminal" >&2
	exit 2
}
printf '{"munge_key":"%s","kid":"%s"}' "$(base64 -w0 /etc/munge/munge.key)" "$(date -u +%Y-%m)"
