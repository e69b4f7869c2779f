output "provider" {
  description = "Options of a section provider of burstd.conf, driver openstack."
  value = {
    networks        = openstack_networking_network_v2.this.id
    security_groups = openstack_networking_secgroup_v2.nodes.name
    server_group    = one(openstack_compute_servergroup_v2.this[*].id)
  }
}

output "srun_port_range" {
  description = "For slurm.conf: SrunPortRange."
  value       = "${var.srun_ports.from}-${var.srun_ports.to}"
}

output "network_id" {
  value = openstack_networking_network_v2.this.id
}

output "subnet_id" {
  description = "Once a router leads out of it, if there is one."
  value       = openstack_networking_subnet_v2.this.id
  depends_on  = [openstack_networking_router_interface_v2.this]
}

output "controller_group_id" {
  value = one(openstack_networking_secgroup_v2.controller[*].id)
}

output "rules" {
  description = "What is let in and out: group, direction, peer, ports."
  value       = [for r in values(local.rules) : { at = r.at, direction = r.way, peer = try(r.peer.cidr, "group"), from = try(r.ports[0], 0), to = try(r.ports[1], 65535) }]
}
