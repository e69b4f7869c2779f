# The head node on OpenStack: a server that modules/controller/cloud-init makes a controller.

terraform {
  required_version = ">= 1.6"
  required_providers {
    openstack = {
      source  = "terraform-provider-openstack/openstack"
      version = ">= 2.0"
    }
  }
}

resource "openstack_networking_port_v2" "this" {
  name               = var.name
  network_id         = var.network_id
  admin_state_up     = true
  security_group_ids = var.security_group_ids
  fixed_ip {
    subnet_id  = var.subnet_id
    ip_address = var.address
  }
}

resource "openstack_compute_instance_v2" "this" {
  name        = var.name
  image_id    = var.image
  flavor_name = var.type
  key_pair    = var.key_name
  user_data   = var.user_data
  network {
    port = openstack_networking_port_v2.this.id
  }
  lifecycle {
    # Its disk has burstd's journal and Slurm's state: a newer image, or another burstd.conf, must not make it anew.
    ignore_changes = [image_id, user_data]
  }
}

resource "openstack_networking_floatingip_v2" "this" {
  count = var.floating_pool != null ? 1 : 0
  pool  = var.floating_pool
}

resource "openstack_networking_floatingip_associate_v2" "this" {
  count       = var.floating_pool != null ? 1 : 0
  floating_ip = openstack_networking_floatingip_v2.this[0].address
  port_id     = openstack_networking_port_v2.this.id
}
