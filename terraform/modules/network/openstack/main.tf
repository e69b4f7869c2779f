# Where burstd's servers live on OpenStack: a network, and security groups that let in what docs/bootstrap.md asks for
# ("Ports") and docs/slurm.md ("Nodes in another network"), and nothing else.

terraform {
  required_version = ">= 1.6"
  required_providers {
    openstack = {
      source  = "terraform-provider-openstack/openstack"
      version = ">= 2.0"
    }
  }
}

locals {
  port = jsondecode(file("${path.module}/../ports.json"))
  tags = sort(tolist(var.tags))
}

resource "openstack_networking_network_v2" "this" {
  name           = var.name
  admin_state_up = true
  tags           = local.tags
}

resource "openstack_networking_subnet_v2" "this" {
  name            = var.name
  network_id      = openstack_networking_network_v2.this.id
  cidr            = var.cidr
  ip_version      = 4
  dns_nameservers = var.dns
  tags            = local.tags
}

# To the project's other networks, and out of it.
resource "openstack_networking_router_v2" "this" {
  count               = var.external_network_id != null ? 1 : 0
  name                = var.name
  admin_state_up      = true
  external_network_id = var.external_network_id
  tags                = local.tags
}

resource "openstack_networking_router_interface_v2" "this" {
  count     = var.external_network_id != null ? 1 : 0
  router_id = openstack_networking_router_v2.this[0].id
  subnet_id = openstack_networking_subnet_v2.this.id
}

# "anti-affinity" keeps two nodes off one host: docs/providers/openstack.md.
resource "openstack_compute_servergroup_v2" "this" {
  count    = var.server_group_policy != null ? 1 : 0
  name     = var.name
  policies = [var.server_group_policy]
}
