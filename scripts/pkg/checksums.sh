#!/bin/sh
# checksums.sh DIR...: SHA256SUMS of what is in each to be published (`make checksums`); with KEY=, the id of one of gpg's keys,
# it is signed, as SHA256SUMS.asc.  docs/packages.md says how they are checked.
set -eu
export LC_ALL=C
for dir; do
	[ -d "$dir" ] || continue
	(
		cd "$dir"
		rm -f SHA256SUMS SHA256SUMS.asc
		find . -type f ! -name log ! -name '.SHA*' | sed 's|^\./||' | sort | xargs sha256sum >.SHA256SUMS
		mv .SHA256SUMS SHA256SUMS
		if [ -n "${KEY-}" ]; then
			gpg --batch --yes --local-user "$KEY" --armor --detach-sign --output SHA256SUMS.asc SHA256SUMS
		else
			echo "checksums: $dir/SHA256SUMS is not signed; KEY=ID signs it" >&2
		fi
	)
done
