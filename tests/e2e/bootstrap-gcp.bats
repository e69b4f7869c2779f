#!/usr/bin/env bats
# On a cloud that signs as Google does: a machine with nothing but its user-data becomes a node by its identity token, which is
# made for its claim alone; and tokens that do not say which machine it is, or for which claim, are refused.

# Variables from the helper; scripts for the machine to expand.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154
bats_require_minimum_version 1.5.0
LAB_BOOTSTRAP='file' LAB_CLAIM_TTL=120s LAB_CLOUD=gcp
load helper
# shellcheck source=tests/e2e/lab/hostile.sh
. "$lab_here/hostile.sh"

setup() {
	hostile_begin
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || lab_logs
	hostile_again
}

# meta NODE PATH: what the metadata service tells that machine's root
meta() {
	on "$1" curl -sSf -m 5 -H 'Metadata-Flavor: Google' "http://169.254.169.254/computeMetadata/v1/$2"
}

# token NODE AUDIENCE [FORMAT]
token() {
	meta "$1" "instance/service-accounts/default/identity?audience=$2&format=${3:-full}"
}

# The audience that burstd wants: the claim of the machine that was bought last
audience() {
	echo "burst:$(sed -n "s/.* ID='\([^']*\)'.*/\1/p" "$dir/user-data")"
}

url64() {
	base64 -w0 | tr '+/' '-_' | tr -d '='
}

# unurl64: the reverse
unurl64() {
	local text
	text=$(tr -- '-_' '+/')
	while [ $((${#text} % 4)) != 0 ]; do text+='='; done
	printf %s "$text" | base64 -d
}

claims_of() {
	cut -d. -f2 "$1" | unurl64
}

shows() {
	shown gcp-jwt "$@"
}

own() {
	token "$node" "$(audience)"
}

@test "gcp: user-data alone makes a node of a machine, by its identity token, and a job runs there" {
	id=$(job --gres=gpu:8 --wrap 'hostname; for p in metadata/v1/user-data computeMetadata/v1/instance/attributes/user-data; do
		curl -sS -m 3 -o body -H "Metadata-Flavor: Google" http://169.254.169.254/$p; echo "said $?"; done
		echo ran; until [ -e looked ]; do sleep 0.2; done')
	out=$lab_dir/home/job-$id.out
	within 60 grep -q '^ran$' "$out"
	node=$(job_nodes "$id") dir=$(machine "$node")
	[ "$(grep -cx "$node" "$out")" = 1 ]
	event claimed 'by its identity document'
	run -1 event claimed 'by its address'
	run ! grep -q weak <(burstctl nodes)
	burstctl node show "$node" --json | jq -e '.. | .boot? // empty | .claim == "confirmed" and .attest == ""'
	# A job reads neither its machine's token nor its user-data; root does, who says Google's word.
	[ "$(grep -c '^said 7' "$out")" = 2 ]
	[ ! -e "$lab_dir/home/body" ]
	meta "$node" instance/attributes/user-data | cmp - "$dir/user-data"
	[ "$(on "$node" curl -sS -m 5 -o /dev/null -w '%{http_code}' http://169.254.169.254/computeMetadata/v1/instance/id)" = 403 ]
	[ "$(meta "$node" instance/id)" = "${dir##*/}" ]
	# The token by other eyes than ours: RS256, by the key that is written down.
	token "$node" "$(audience)" >"$lab_dir/document"
	claims_of "$lab_dir/document" >"$lab_dir/claims"
	jq -e --arg i "${dir##*/}" --arg a "$(audience)" '.aud == $a and .google.compute_engine.instance_id == $i and .exp - .iat == 3600' \
		"$lab_dir/claims"
	[ "$(cut -d. -f1 "$lab_dir/document" | unurl64 | jq -r .kid)" = "$(jq -r '.keys[0].kid' /etc/simcloud/identity.pem)" ]
	cut -d. -f3 "$lab_dir/document" | unurl64 >"$lab_dir/signature"
	cut -d. -f1,2 "$lab_dir/document" | tr -d '\n' | openssl dgst -sha256 -signature "$lab_dir/signature" \
		-verify <(openssl pkey -in /etc/simcloud/identity.pem.key -pubout)
	touch "$lab_dir/home/looked"
	within 30 job_is "$id" COMPLETED
	rm "$lab_dir/home/looked"
	within 30 all_down
	within 20 alive 0
	audit
}

@test "gcp: a node hears of its preemption from its metadata server, and burstd from the node" {
	id=$(job --requeue --gres=gpu:8 --wrap 'sleep 300')
	within 60 job_is "$id" RUNNING
	node=$(job_nodes "$id") dir=$(machine "$node")
	[ "$(meta "$node" instance/preempted)" = FALSE ]
	run ! grep -q 'does not answer as it should' "$dir/burst/agent.log"
	# Nobody else tells it: the question that the cloud still holds goes, and others fail.
	lab_stop burstd
	sim POST /admin/faults '{"op": "notices", "action": "error", "code": "internal"}' >/dev/null
	sim POST /admin/faults '{"op": "list", "action": "error", "code": "internal"}' >/dev/null
	lab_start burstd
	# A second after its first question its agent asks what hangs until the answer is another.
	sleep 2
	sim_reclaim "$node" 30000
	within 10 event notice 'instance is preempted'
	grep -q 'instance is preempted' "$dir/burst/agent.log"
}

@test "gcp: a token for another claim: refused, and a breach" {
	bought
	theirs=$(audience | tr 0-9 1-90)
	token "$node" "$theirs" | document
	refused "the identity document is of nonce '$theirs'"
	ended
}

@test "gcp: a token of another instance, made for this very claim: refused, and a breach" {
	bought
	other=$node other_id=$(meta "$node" instance/id)
	bought
	token "$other" "$(audience)" | document
	refused "its identity document is of another instance, $other_id"
	ended
}

@test "gcp: a token tampered: refused, and a breach" {
	bought
	other=$node other_id=$(meta "$node" instance/id)
	bought
	# One that a thief has, of a machine of his, says after it that it is this one.
	token "$other" "$(audience)" >"$lab_dir/his"
	claims_of "$lab_dir/his" | sed "s/$other_id/$(meta "$node" instance/id)/" | url64 >"$lab_dir/claims"
	paste -d. <(cut -d. -f1 "$lab_dir/his") <(awk 1 "$lab_dir/claims") <(cut -d. -f3 "$lab_dir/his" | awk 1) | tr -d '\n' | document
	refused 'signature'
	ended
}

@test "gcp: a token signed by somebody who is not the cloud, in its name: refused, and a breach" {
	bought
	token "$node" "$(audience)" | cut -d. -f1,2 | tr -d '\n' >"$lab_dir/signed"
	openssl genrsa -out "$lab_dir/thief.key" 2048
	(cat "$lab_dir/signed" && printf . && openssl dgst -sha256 -sign "$lab_dir/thief.key" "$lab_dir/signed" | url64) | document
	refused 'signature'
	ended
}

@test "gcp: a token signed with a key that the cloud does not have: refused, and a breach" {
	bought
	token "$node" "$(audience)" | cut -d. -f2 | tr -d '\n' >"$lab_dir/claims"
	printf '{"alg":"RS256","kid":"thief","typ":"JWT"}' | url64 | tr -d '\n' >"$lab_dir/signed"
	(printf . && cat "$lab_dir/claims") >>"$lab_dir/signed"
	openssl genrsa -out "$lab_dir/thief.key" 2048
	(cat "$lab_dir/signed" && printf . && openssl dgst -sha256 -sign "$lab_dir/thief.key" "$lab_dir/signed" | url64) | document
	refused "the key 'thief' is not known"
	ended
}
