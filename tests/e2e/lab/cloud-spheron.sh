# cloud-spheron.sh: Spheron's API, as simcloud speaks it.  Sourced by lab.sh (bash).
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # lab.sh's variables

# It tells prices, in dollars; that a machine was taken it shows afterwards, and machines that are gone not for long.  An
# account's limit is its credit, and without credit a create is denied.
LAB_CURRENCY=USD
LAB_SIM_CONFIG='{"ended_keep": "3s"}'
lab_shows_reclaim=yes
lab_says_quota=denied

# Without a rate of its own the eleventh create in 15 minutes would have to wait, as the API's limit is documented.
lab_provider_spheron() {
	cat <<-C
		driver           = "spheron"
		url              = "$lab_url"
		credential_file  = "/etc/burstd/sim.token"
		team             = "team-simcloud"
		ssh_key          = "key-00000000"
		operating_system = "Ubuntu Server 22.04"
		rate             = 50
	C
}

# The key of that id.
lab_begin_spheron() {
	curl -fsS -o /dev/null -A lab -H "Authorization: Bearer $SIM_TOKEN" -d '{"name": "lab", "publicKey": "ssh-ed25519 A"}' \
		"$lab_url/api/ssh-keys"
}

# A place is one offer.
LAB_OFFERS='offer "a" { provider = "sim" type = "gpu_8x_h100_eu-north-1a" region = "eu-north-1" zone = "spheron-ai:8xH100" market = "on-demand" }'

lab_pool_spheron() {
	:
}
