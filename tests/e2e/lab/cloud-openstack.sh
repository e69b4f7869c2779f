# cloud-openstack.sh: Keystone and Nova, as simcloud speaks them.  Sourced by lab.sh (bash).
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # lab.sh's variables

# Password and secret are simcloud's token; every user, project and image exists.
lab_provider_openstack() {
	cat <<-C
		driver          = "openstack"
		url             = "$lab_url"
		credential_file = "/etc/burstd/sim.token"
		user            = "burstd"
		project         = "lab"
		region          = "eu-north-1"
		image           = "155d900f-4e14-4e4c-a73d-069cbf4541e6"
	C
}

# Nova has no prices.
lab_pool_openstack() {
	echo 'price = "10"'
}
