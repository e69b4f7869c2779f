# An image of burstd's nodes for OpenStack, by scripts/images/provision.sh.  docs/images.md
#
#   packer build -var base_image=debian-12 -var flavor=m1.medium -var network=... -var burst=burst-agent.deb \
#     scripts/images/packer/openstack.pkr.hcl
#
# Packer takes credentials from OS_* in the environment, or from clouds.yaml by OS_CLOUD.

# Empty: that of OS_REGION_NAME.
variable "region" {
  type    = string
  default = ""
}

variable "base_image" {
  type = string
}

variable "flavor" {
  type = string
}

variable "network" {
  type = string
}

# Where Packer does not reach that network: the pool of floating addresses.
variable "floating_ip_network" {
  type    = string
  default = ""
}

variable "ssh_username" {
  type    = string
  default = "debian"
}

# Of a volume, where the flavor has no disk of its own; 0: the flavor's.
variable "volume_gb" {
  type    = number
  default = 0
}

variable "name" {
  type    = string
  default = "burst-node"
}

# The package burst-agent, or a tar of make install DESTDIR=.
variable "burst" {
  type = string
}

# More of provision.sh's variables, each "NAME=value".
variable "provision" {
  type    = list(string)
  default = []
}

locals {
  stamp = formatdate("YYYYMMDD-hhmmss", timestamp())
  file  = basename(var.burst)
}

source "openstack" "node" {
  region                  = var.region
  source_image_name       = var.base_image
  flavor                  = var.flavor
  networks                = [var.network]
  floating_ip_network     = var.floating_ip_network
  use_blockstorage_volume = var.volume_gb > 0
  volume_size             = var.volume_gb
  ssh_username            = var.ssh_username
  image_name              = "${var.name}-${local.stamp}"
  image_visibility        = "private"

  metadata = {
    burst_for = "nodes"
  }
}

build {
  sources = ["source.openstack.node"]

  provisioner "file" {
    source      = var.burst
    destination = "/tmp/${local.file}"
  }

  # Until cloud-init has ended, it may hold the lock of the packages.
  provisioner "shell" {
    inline = ["cloud-init status --wait >/dev/null || true"]
  }

  provisioner "shell" {
    script           = "${path.root}/../provision.sh"
    execute_command  = "sudo env {{ .Vars }} bash {{ .Path }}"
    environment_vars = concat(["BURST=/tmp/${local.file}", "DATASOURCE=OpenStack"], var.provision)
  }
}
