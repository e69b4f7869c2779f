#!/usr/bin/env bats
# The node-facing listener is flooded for some seconds, and the hooks feel nothing of it: the real listener, the real control
# socket and the real hook, without a slurmctld (tests/bench/flood).  How fast in figures: make bench NAME=flood.

bats_require_minimum_version 1.5.0

setup_file() {
	[ -d /run/lab ] || {
		echo "run this file by tests/e2e/run.sh: it needs namespaces of its own" >&2
		return 1
	}
	export bin=${BIN:-build/bin} dir=/run/flood
	mkdir -p "$dir" /run/burstd /var/spool/burstd
	chmod 700 /run/burstd /var/spool/burstd
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=burstd \
		-keyout "$dir/key.pem" -out "$dir/cert.pem" 2>/dev/null
}

# hooks N: so many calls one after the other, each with its status and milliseconds
hooks() {
	local i from rc
	for ((i = 0; i < $1; i++)); do
		from=$(date +%s%N) rc=0
		env -i "$bin/burst-suspend" c1 || rc=$?
		echo "$rc $((($(date +%s%N) - from) / 1000000))"
		sleep 0.02
	done
}

@test "bad claims and new connections by the thousand cost the hooks no call and no time" {
	"$bin/flood" serve "$dir/cert.pem" "$dir/key.pem" >"$dir/said" 3>&- &
	serve=$!
	for _ in $(seq 100); do [ -s "$dir/said" ] || sleep 0.1; done
	port=$(head -1 "$dir/said")
	hooks 40 >"$dir/calm"
	nice -n 19 "$bin/flood" attack "$port" 10000 500 6 >"$dir/attack" 3>&- &
	attack=$!
	sleep 1
	"$bin/flood" claim "$port" 20 4 >"$dir/good" 3>&- &
	good=$!
	hooks 100 >"$dir/hooks"
	wait $attack $good
	kill $serve
	wait $serve
	cat "$dir/attack" "$dir/good" "$dir/said"
	# A flood it was, on however slow a machine; every claim was answered.
	jq -e '.claims_per_s > 1000 and .refused_per_s > 0.99 * .claims_per_s and .tried_per_s > 50' "$dir/attack"
	tail -1 "$dir/said" | jq -e '.loop == 20 and .over_rate > 0 and .refused > 5000 and .accepted < 3000'
	# Nodes that boot meanwhile get in, nearly all at the first attempt.
	jq -e '.in == 20 and .at_once > 10' "$dir/good"
	# Each call is durable; half of them within 10 ms, or where the machine does much else, four times what they took before.
	[ "$(grep -c '^0 ' "$dir/hooks")" = 100 ]
	median=$(sort -k2n "$dir/hooks" | sed -n '50s/.* //p')
	calm=$(sort -k2n "$dir/calm" | sed -n '20s/.* //p')
	[ "$median" -le 10 ] || [ "$median" -le $((4 * calm)) ]
}
