# cloud-ironic.sh: Ironic's API, as simcloud speaks it.  Sourced by lab.sh (bash).
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # lab.sh's variables

# It knows no regions, so there is one; its machines are locked and cleaned for a moment only, and are more than the stories
# use while others are cleaned.
LAB_SIM_CONFIG='{"offers": [{"type": "gpu_8x_h100", "region": "eu-north-1", "zone": "eu-north-1a", "price": "29.52"}],
	"machine_lock": "100ms", "clean": "200ms", "machines": 40}'
# Nor quotas: simcloud's is a deployment that fails, in these words.
lab_says_quota='limit is reached'

# The first request of a create is an allocation, which costs nothing.
lab_buys_later=yes

lab_provider_ironic() {
	(umask 077 && echo "admin:$(cat /etc/burstd/sim.token)" >/etc/burstd/ironic.password)
	chown slurm /etc/burstd/ironic.password
	cat <<-C
		driver          = "ironic"
		url             = "$lab_url"
		credential_file = "/etc/burstd/ironic.password"
		address         = "properties.address"
	C
}

# It has no prices.
lab_pool_ironic() {
	echo 'price = "29.52"'
}
