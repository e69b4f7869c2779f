#!/bin/sh
# quick.sh: that each document has its place in the site, as TAP; needs Python alone.
cd "$(dirname "$0")/../.." || exit
export PYTHONDONTWRITEBYTECODE=1
failed=0
ok() { # NUMBER NAME PROGRAM ARGUMENT...
	number=$1 name=$2
	shift 2
	if said=$("$@" 2>&1); then
		echo "ok $number - $name"
	else
		echo "not ok $number - $name"
		echo "$said" | sed 's/^/# /'
		failed=1
	fi
}
echo 1..2
ok 1 'each document has one place in nav.conf, and each place a document' python3 scripts/site/nav.py
ok 2 'Markdown as GitHub reads it becomes what mkdocs reads alike' python3 scripts/site/test_stage.py
exit $failed
