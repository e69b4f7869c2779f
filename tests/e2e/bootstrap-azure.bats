#!/usr/bin/env bats
# On a cloud that signs as Azure does: a machine with nothing but its user-data becomes a node by its attested document, which is
# made with a nonce of burstd's; and documents that do not say which machine it is, or with whose nonce, are refused.

# Variables from the helper; scripts for the machine to expand.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154
bats_require_minimum_version 1.5.0
LAB_BOOTSTRAP='file' LAB_CLAIM_TTL=120s LAB_CLOUD=azure
load helper
# shellcheck source=tests/e2e/lab/hostile.sh
. "$lab_here/hostile.sh"

setup() {
	hostile_begin
	nonce=''
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || lab_logs
	hostile_again
}

# meta NODE PATH: what the metadata service tells that machine's root
meta() {
	on "$1" curl -sSf -m 5 -H Metadata:true "http://169.254.169.254/metadata/$2"
}

vm_id() {
	meta "$1" 'instance/compute/vmId?api-version=2021-02-01&format=text'
}

# signature NODE NONCE: its document, as stage0 takes it out of the answer
signature() {
	meta "$1" "attested/document?api-version=2021-02-01&nonce=$2" | jq -r 'select(.encoding == "pkcs7") | .signature'
}

# ask_nonce [CLAIM]: burstd's for it, for that of the machine that was bought last
ask_nonce() {
	local claim=${1:-$(claim_id)}
	nonce=$(curl -sSf -m 5 --cacert <(sed -n '/^-----BEGIN CERT/,/^-----END CERT/p' "$dir/user-data") "$lab_door/v1/claim/$claim/nonce")
	[[ $nonce =~ ^[0-9a-f]{32}$ ]]
}

claim_id() {
	sed -n "s/.* ID='\([^']*\)'.*/\1/p" "$dir/user-data"
}

# shows [DIR]: with the nonce that was asked for last
shows() {
	shown azure-attested "${1:-one}" NONCE="$nonce"
}

own() {
	ask_nonce
	signature "$node" "$nonce"
}

# content: of a document, without a look at who signed it
content() {
	base64 -d | openssl smime -verify -inform DER -noverify 2>/dev/null
}

@test "azure: user-data alone makes a node of a machine, by its attested document, and a job runs there" {
	id=$(job --gres=gpu:8 --wrap 'hostname; for p in metadata/v1/user-data metadata/attested/document?api-version=2021-02-01; do
		curl -sS -m 3 -o body -H Metadata:true "http://169.254.169.254/$p"; echo "said $?"; done
		echo ran; until [ -e looked ]; do sleep 0.2; done')
	out=$lab_dir/home/job-$id.out
	within 60 grep -q '^ran$' "$out"
	node=$(job_nodes "$id") dir=$(machine "$node")
	[ "$(grep -cx "$node" "$out")" = 1 ]
	event claimed 'by its identity document'
	run -1 event claimed 'by its address'
	run ! grep -q weak <(burstctl nodes)
	burstctl node show "$node" --json | jq -e '.. | .boot? // empty | .claim == "confirmed" and .attest == ""'
	# A job reads neither its machine's document nor its user-data; root does, who says Azure's word.
	[ "$(grep -c '^said 7' "$out")" = 2 ]
	[ ! -e "$lab_dir/home/body" ]
	meta "$node" 'instance/compute/userData?api-version=2021-02-01&format=text' | base64 -d | cmp - "$dir/user-data"
	[ "$(on "$node" curl -sS -m 5 -o /dev/null -w '%{http_code}' 'http://169.254.169.254/metadata/instance?api-version=2021-02-01')" = 400 ]
	# The document by other eyes than ours: a leaf for metadata.azure.com below the root that is written down.
	signature "$node" 0123456789abcdef | base64 -d >"$lab_dir/document"
	openssl smime -verify -inform DER -in "$lab_dir/document" -CAfile /etc/simcloud/identity.pem -purpose sslserver \
		-signer "$lab_dir/signer" -out "$lab_dir/content"
	openssl x509 -in "$lab_dir/signer" -noout -checkhost metadata.azure.com | grep -q 'does match'
	jq -e --arg i "${dir##*/}" '.nonce == "0123456789abcdef" and .vmId == $i' "$lab_dir/content"
	touch "$lab_dir/home/looked"
	within 30 job_is "$id" COMPLETED
	rm "$lab_dir/home/looked"
	within 30 all_down
	within 20 alive 0
	audit
}

@test "azure: a node hears of its preemption from its scheduled events, and burstd from the node" {
	id=$(job --requeue --gres=gpu:8 --wrap 'sleep 300')
	within 60 job_is "$id" RUNNING
	node=$(job_nodes "$id") dir=$(machine "$node")
	run ! grep -q 'does not answer as it should' "$dir/burst/agent.log"
	# Nobody else tells it: the question that the cloud still holds goes, and others fail.
	lab_stop burstd
	sim POST /admin/faults '{"op": "notices", "action": "error", "code": "internal"}' >/dev/null
	sim POST /admin/faults '{"op": "list", "action": "error", "code": "internal"}' >/dev/null
	lab_start burstd
	sim_reclaim "$node" 30000
	within 10 event notice 'Preempt not before'
	grep -q 'Preempt not before' "$dir/burst/agent.log"
}

@test "azure: a document with a nonce that burstd made for another claim: no keys; with its own: once" {
	bought
	theirs=$(claim_id)
	bought
	steal
	ask_nonce "$theirs"
	signature "$node" "$nonce" | document
	[ "$(shows)" = 202 ]
	run ! has_keys "$dir/burst/one/answer"
	# One that nobody made is no better.
	nonce=0123456789abcdef0123456789abcdef
	signature "$node" "$nonce" | document
	[ "$(shows)" = 202 ]
	run ! has_keys "$dir/burst/one/answer"
	own_claimed() {
		own >"$lab_dir/own"
		document <"$lab_dir/own"
		[ "$(shows)" = 200 ]
	}
	within 20 own_claimed
	has_keys "$dir/burst/one/answer"
	within 10 event claimed 'by its identity document'
	# A copy of it opens nothing; and another key with a new one, which only root of the machine gets, is one too many.
	[ "$(shows two)" = 202 ]
	run ! has_keys "$dir/burst/two/answer"
	own >"$lab_dir/own"
	document <"$lab_dir/own"
	lingers
	[ "$(shows two)" = 409 ]
	run ! has_keys "$dir/burst/two/answer"
	breach
}

@test "azure: a document of another nonce than is said: refused, and a breach" {
	bought
	ask_nonce
	signature "$node" 0123456789abcdef0123456789abcdef | document
	refused "of nonce '0123456789abcdef0123456789abcdef', not '$nonce'"
	ended
}

@test "azure: a document of another instance, with a nonce for this very claim: refused, and a breach" {
	bought
	other=$node other_id=$(vm_id "$node")
	bought
	ask_nonce
	signature "$other" "$nonce" | document
	refused "its identity document is of another instance, $other_id"
	ended
}

@test "azure: a document tampered: refused, and a breach" {
	bought
	other=$node other_id=$(vm_id "$node")
	bought
	ask_nonce
	signature "$other" "$nonce" | base64 -d | LC_ALL=C sed "s/$other_id/$(vm_id "$node")/" | base64 -w0 | document
	[ "$(content <"$lab_dir/document" | jq -r .vmId)" = "$(vm_id "$node")" ]
	refused 'its signature is not good'
	ended
}

@test "azure: a document signed by somebody else's metadata.azure.com: refused, and a breach" {
	bought
	ask_nonce
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=metadata.azure.com -addext subjectAltName=DNS:metadata.azure.com \
		-keyout "$lab_dir/thief.key" -out "$lab_dir/thief.pem"
	signature "$node" "$nonce" | content >"$lab_dir/content"
	openssl smime -sign -binary -nodetach -md sha256 -signer "$lab_dir/thief.pem" -inkey "$lab_dir/thief.key" -in "$lab_dir/content" \
		-outform DER | base64 -w0 | document
	refused 'its signer is not trusted'
	ended
}

@test "azure: a document whose signer leads to no root that anybody knows: refused, and a breach" {
	bought
	ask_nonce
	lab_authority "$lab_dir" 'an authority'
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=metadata.azure.com -addext subjectAltName=DNS:metadata.azure.com \
		-CA "$lab_dir/an authority.pem" -CAkey "$lab_dir/an authority.key" -keyout "$lab_dir/thief.key" -out "$lab_dir/thief.pem"
	signature "$node" "$nonce" | content >"$lab_dir/content"
	openssl smime -sign -binary -nodetach -md sha256 -signer "$lab_dir/thief.pem" -inkey "$lab_dir/thief.key" -in "$lab_dir/content" \
		-outform DER | base64 -w0 | document
	refused 'unable to'
	ended
}
