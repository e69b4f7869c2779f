# cloud-lyceum.sh: Lyceum's API, as simcloud speaks it.  Sourced by lab.sh (bash).
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # lab.sh's variables

# It tells prices, in dollars.  It has no regions, and takes a machine from whichever has room, so there is one.
LAB_CURRENCY=USD
LAB_SIM_CONFIG='{"offers": [{"type": "gpu_8x_h100", "region": "eu-north-1", "zone": "eu-north-1a", "price": "29.52"}]}'
LAB_TYPE=h100.8x
# An account's limit is its credit, and without credit a create is denied.
lab_says_quota=denied

lab_provider_lyceum() {
	cat <<-C
		driver          = "lyceum"
		url             = "$lab_url"
		credential_file = "/etc/burstd/sim.token"
		bootstrap       = "image"
		ssh_public_key  = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"
	C
}

lab_pool_lyceum() {
	:
}
