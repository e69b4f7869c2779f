locals {
  controllers = merge(
    { for k in ["here"] : k => { group = one(openstack_networking_secgroup_v2.controller[*].id) } if var.controller_here },
    { for cidr in var.controller_cidrs : cidr => { cidr = cidr } if !var.controller_here },
  )
  nodes  = { group = openstack_networking_secgroup_v2.nodes.id }
  submit = { for cidr in var.submit_cidrs : cidr => { cidr = cidr } }
  srun   = [var.srun_ports.from, var.srun_ports.to]

  rules = merge(
    { for k, peer in local.controllers : "nodes-slurmd-${k}" => { at = "nodes", way = "ingress", peer = peer, ports = [local.port.slurmd, local.port.slurmd], why = "slurmctld to slurmd" } },
    { for k, peer in local.submit : "nodes-slurmd-${k}" => { at = "nodes", way = "ingress", peer = peer, ports = [local.port.slurmd, local.port.slurmd], why = "srun to slurmd" } },
    { "nodes-from-nodes" = { at = "nodes", way = "ingress", peer = local.nodes, ports = null, why = "nodes among themselves" } },
    { "nodes-to-nodes" = { at = "nodes", way = "egress", peer = local.nodes, ports = null, why = "nodes among themselves" } },
    { for k, peer in local.controllers : "nodes-slurmctld-${k}" => { at = "nodes", way = "egress", peer = peer, ports = [local.port.slurmctld, local.port.slurmctld], why = "slurmd to slurmctld" } },
    { for k, peer in local.controllers : "nodes-burstd-${k}" => { at = "nodes", way = "egress", peer = peer, ports = [var.burstd_port, var.burstd_port], why = "nodes claim their keys from burstd" } },
    { for k, peer in merge(local.controllers, local.submit) : "nodes-srun-${k}" => { at = "nodes", way = "egress", peer = peer, ports = local.srun, why = "steps to srun" } },
    { for cidr in var.vault_cidrs : "nodes-vault-${cidr}" => { at = "nodes", way = "egress", peer = { cidr = cidr }, ports = [local.port.vault, local.port.vault], why = "release = wrap: nodes read their keys from Vault" } },
    { for cidr in var.egress_cidrs : "nodes-${cidr}" => { at = "nodes", way = "egress", peer = { cidr = cidr }, ports = null, why = "what jobs need" } },
    # Neutron filters these, which EC2 does not: names, addresses, user-data.
    { for k, p in { dns-udp = ["udp", 53], dns-tcp = ["tcp", 53], dhcp = ["udp", 67], ntp = ["udp", 123] } : "nodes-${k}" => { at = "nodes", way = "egress", peer = { cidr = "0.0.0.0/0" }, ports = [p[1], p[1]], protocol = p[0], why = "names, addresses and time" } },
    { "nodes-metadata" = { at = "nodes", way = "egress", peer = { cidr = "169.254.169.254/32" }, ports = [80, 80], why = "user-data" } },
    { for k, rule in merge(
      {
        "controller-slurmctld" = { at = "controller", way = "ingress", peer = local.nodes, ports = [local.port.slurmctld, local.port.slurmctld], why = "slurmd to slurmctld" }
        "controller-burstd"    = { at = "controller", way = "ingress", peer = local.nodes, ports = [var.burstd_port, var.burstd_port], why = "nodes claim their keys from burstd" }
        "controller-srun"      = { at = "controller", way = "ingress", peer = local.nodes, ports = local.srun, why = "steps to srun on the controller" }
        "controller-all"       = { at = "controller", way = "egress", peer = { cidr = "0.0.0.0/0" }, ports = null, why = "the cloud's API, packages, nodes" }
      },
      { for k, peer in local.submit : "controller-slurmctld-${k}" => { at = "controller", way = "ingress", peer = peer, ports = [local.port.slurmctld, local.port.slurmctld], why = "users' commands to slurmctld" } },
      { for cidr in var.admin_cidrs : "controller-ssh-${cidr}" => { at = "controller", way = "ingress", peer = { cidr = cidr }, ports = [22, 22], why = "admins" } },
    ) : k => rule if var.controller_here },
  )

  group = {
    nodes      = openstack_networking_secgroup_v2.nodes.id
    controller = one(openstack_networking_secgroup_v2.controller[*].id)
  }
}

resource "openstack_networking_secgroup_v2" "nodes" {
  name                 = "${var.name}-nodes"
  description          = "Nodes that burstd buys"
  delete_default_rules = true
  tags                 = local.tags
}

resource "openstack_networking_secgroup_v2" "controller" {
  count                = var.controller_here ? 1 : 0
  name                 = "${var.name}-controller"
  description          = "slurmctld and burstd"
  delete_default_rules = true
  tags                 = local.tags
}

resource "openstack_networking_secgroup_rule_v2" "this" {
  for_each          = local.rules
  security_group_id = local.group[each.value.at]
  description       = each.value.why
  direction         = each.value.way
  ethertype         = "IPv4"
  protocol          = each.value.ports == null ? "" : try(each.value.protocol, "tcp")
  port_range_min    = try(each.value.ports[0], null)
  port_range_max    = try(each.value.ports[1], null)
  remote_ip_prefix  = try(each.value.peer.cidr, null)
  remote_group_id   = try(each.value.peer.group, null)
}
