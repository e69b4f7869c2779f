# cloud-lambda.sh: Lambda's API, as simcloud speaks it.  Sourced by lab.sh (bash).
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # lab.sh's variables

# It tells prices, in dollars; that it took a machine it shows afterwards, and machines that are gone not for long.
LAB_CURRENCY=USD
LAB_SIM_CONFIG='{"ended_keep": "3s"}'
lab_shows_reclaim=yes
# Without the rate below burstd keeps to these.
lab_documented='{"buckets": {"create": {"rate": 0.084, "burst": 1}, "any": {"rate": 1, "burst": 1}}}'

# Without a rate of its own a launch would have to wait 12 s for the one before, as the API's limit is documented.
lab_provider_lambda() {
	cat <<-C
		driver          = "lambda"
		url             = "$lab_url"
		credential_file = "/etc/burstd/sim.token"
		ssh_key         = "lab"
		rate            = 50
	C
}

lab_pool_lambda() {
	:
}
