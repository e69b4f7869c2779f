# An image (AMI) of burstd's nodes for Amazon EC2, by scripts/images/provision.sh.  docs/images.md
#
#   packer build -var region=eu-north-1 -var base_name='debian-12-amd64-*' -var base_owner=136693071363 \
#     -var burst=burst-agent.deb scripts/images/packer/aws.pkr.hcl
#
# Packer takes credentials as the AWS tools do (environment, ~/.aws); none is in this file, and none gets into the image.

variable "region" {
  type = string
}

# Who publishes the base image: 136693071363 is Debian, 099720109477 Canonical, 792107900819 Rocky Linux.
variable "base_owner" {
  type = string
}

variable "base_name" {
  type = string
}

variable "ssh_username" {
  type    = string
  default = "admin"
}

# Of the driver the module is compiled: with GPUs take more than the smallest.  No GPU is needed to build.
variable "instance_type" {
  type    = string
  default = "m5.large"
}

variable "volume_gb" {
  type    = number
  default = 30
}

# Empty: the default VPC.
variable "subnet_id" {
  type    = string
  default = ""
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

source "amazon-ebs" "node" {
  region        = var.region
  instance_type = var.instance_type
  subnet_id     = var.subnet_id
  ssh_username  = var.ssh_username
  ami_name      = "${var.name}-${local.stamp}"

  source_ami_filter {
    filters = {
      name                = var.base_name
      root-device-type    = "ebs"
      virtualization-type = "hvm"
      architecture        = "x86_64"
    }
    owners      = [var.base_owner]
    most_recent = true
  }

  launch_block_device_mappings {
    device_name           = "/dev/xvda"
    volume_size           = var.volume_gb
    volume_type           = "gp3"
    iops                  = 3000
    throughput            = 125
    delete_on_termination = true
  }

  ena_support = true

  tags = {
    Name      = var.name
    burst-for = "nodes"
    base      = "{{ .SourceAMIName }}"
  }
}

build {
  sources = ["source.amazon-ebs.node"]

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
    environment_vars = concat(["BURST=/tmp/${local.file}", "DATASOURCE=Ec2"], var.provision)
  }
}
