#!/bin/sh
# empty.sh [SECONDS]: burstd buys nothing more, terminates what it has, and the last of its nodes is gone.  As root on
# burstd's host.  It may be repeated.  Exit status 1: some are still there, or burstd does not answer.
set -u
left=${1:-900}

# burstd's own list has every node of its pools, also one that could not be deleted (quarantined).  Off are those that are
# gone, and those that never were (none); of one whose last machine is gone an older one may still be there.
none_left() {
	said=$(burstctl nodes --json) || return
	said=$(printf '%s' "$said" | tr -d ' \n')
	case $said in *'"nodes":['*) ;; *) return 1 ;; esac
	! printf '%s' "$said" | grep -o -e '"state":"[a-z]*"' -e '"older":[0-9]*' |
		grep -qv -e '"gone"' -e '"none"' -e '"older":0$' || return
	none_beside
}

# Instances of this cluster that are no node: tags that cannot be read, or a node that no pool names.  status has a sentence
# for each.  And a burstd whose journal was lost knows of none until the cloud has answered it once.
none_beside() {
	said=$(burstctl status --json) || return
	said=$(printf '%s' "$said" | tr -d ' \n')
	case $said in *'"problems":['*) ;; *) return 1 ;; esac
	case $said in *maybill* | *tagsthatcannotberead*) return 1 ;; esac
	said=${said#*'"providers":['}
	case ${said%%'"spool":'*} in *'"ok_ms":0,'*) return 1 ;; esac
}

if ! burstctl pause; then
	echo "burstd does not answer here. It must run, for nobody else knows all that it has bought." >&2
	exit 1
fi
burstctl terminate --all --yes || exit 1
until none_left; do
	if [ "$left" -le 0 ]; then
		burstctl nodes >&2
		echo "Nodes are still there, or instances of this cluster that are no node, or a cloud has not answered yet:" \
			"nothing else is destroyed. burstctl status says what is wrong." >&2
		exit 1
	fi
	sleep 5
	left=$((left - 5))
	# slurmctld may have started one more before it was told.
	burstctl terminate --all --yes >/dev/null || exit 1
done
echo "burstd has no node any more"
