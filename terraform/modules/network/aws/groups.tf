# Security groups.  A rule is one line of `in` or `out`: which group, from or to whom, which ports, why.  `for ... if` in place
# of conditions: both sides of a condition must be of one type.

locals {
  # slurmctld and burstd: the controller of this VPC, or those of the site.
  controllers = merge(
    { for k in ["here"] : k => local.controller if var.controller_here },
    { for cidr in var.controller_cidrs : cidr => { cidr = cidr } if !var.controller_here },
  )
  nodes      = { group = aws_security_group.nodes.id }
  controller = { group = one(aws_security_group.controller[*].id) }
  submit     = { for cidr in var.submit_cidrs : cidr => { cidr = cidr } }
  # Where srun listens: docs/slurm-integration.md, "What you need".
  srun = [var.srun_ports.from, var.srun_ports.to]

  in = merge(
    { for k, peer in local.controllers : "nodes-slurmd-${k}" => { at = "nodes", peer = peer, ports = [local.port.slurmd, local.port.slurmd], why = "slurmctld to slurmd" } },
    { for k, peer in local.submit : "nodes-slurmd-${k}" => { at = "nodes", peer = peer, ports = [local.port.slurmd, local.port.slurmd], why = "srun to slurmd" } },
    # MPI, NCCL and EFA, which wants all traffic of the group with itself, both ways.
    { "nodes-nodes" = { at = "nodes", peer = local.nodes, ports = null, why = "nodes among themselves" } },
    { for k, rule in merge(
      {
        "controller-slurmctld" = { at = "controller", peer = local.nodes, ports = [local.port.slurmctld, local.port.slurmctld], why = "slurmd to slurmctld" }
        "controller-burstd"    = { at = "controller", peer = local.nodes, ports = [var.burstd_port, var.burstd_port], why = "nodes claim their keys from burstd" }
        "controller-srun"      = { at = "controller", peer = local.nodes, ports = local.srun, why = "steps to srun on the controller" }
      },
      { for k, peer in local.submit : "controller-slurmctld-${k}" => { at = "controller", peer = peer, ports = [local.port.slurmctld, local.port.slurmctld], why = "users' commands to slurmctld" } },
      { for cidr in var.admin_cidrs : "controller-ssh-${cidr}" => { at = "controller", peer = { cidr = cidr }, ports = [22, 22], why = "admins" } },
    ) : k => rule if var.controller_here },
    { for k, peer in merge(local.controllers, { nodes = local.nodes }) : "endpoints-${k}" => { at = "endpoints", peer = peer, ports = [443, 443], why = "AWS's services" } if length(var.endpoints) > 0 },
  )

  out = merge(
    { for k, peer in local.controllers : "nodes-slurmctld-${k}" => { at = "nodes", peer = peer, ports = [local.port.slurmctld, local.port.slurmctld], why = "slurmd to slurmctld" } },
    { for k, peer in local.controllers : "nodes-burstd-${k}" => { at = "nodes", peer = peer, ports = [var.burstd_port, var.burstd_port], why = "nodes claim their keys from burstd" } },
    { for k, peer in local.controllers : "nodes-srun-${k}" => { at = "nodes", peer = peer, ports = local.srun, why = "steps to srun" } },
    { for k, peer in local.submit : "nodes-srun-${k}" => { at = "nodes", peer = peer, ports = local.srun, why = "steps to srun" } },
    { for cidr in var.vault_cidrs : "nodes-vault-${cidr}" => { at = "nodes", peer = { cidr = cidr }, ports = [local.port.vault, local.port.vault], why = "release = wrap: nodes read their keys from Vault" } },
    { "nodes-nodes" = { at = "nodes", peer = local.nodes, ports = null, why = "nodes among themselves" } },
    { for cidr in var.egress_cidrs : "nodes-${cidr}" => { at = "nodes", peer = { cidr = cidr }, ports = null, why = "what jobs need" } },
    { for k, list in { endpoints = { group = one(aws_security_group.endpoints[*].id) } } : "nodes-${k}" => { at = "nodes", peer = list, ports = [443, 443], why = "AWS's services" } if length(var.endpoints) > 0 },
    { for k, list in { s3 = { list = one(aws_vpc_endpoint.s3[*].prefix_list_id) } } : "nodes-${k}" => { at = "nodes", peer = list, ports = [443, 443], why = "S3 by its gateway" } if var.s3_endpoint },
    { for k, rule in merge(
      {
        "controller-slurmd" = { at = "controller", peer = local.nodes, ports = [local.port.slurmd, local.port.slurmd], why = "slurmctld to slurmd" }
        "controller-https"  = { at = "controller", peer = { cidr = "0.0.0.0/0" }, ports = [443, 443], why = "the cloud's API, packages" }
        "controller-http"   = { at = "controller", peer = { cidr = "0.0.0.0/0" }, ports = [80, 80], why = "packages" }
      },
      { for cidr in var.vault_cidrs : "controller-vault-${cidr}" => { at = "controller", peer = { cidr = cidr }, ports = [local.port.vault, local.port.vault], why = "burstd to Vault" } },
    ) : k => rule if var.controller_here },
  )

  group = {
    nodes      = aws_security_group.nodes.id
    controller = one(aws_security_group.controller[*].id)
    endpoints  = one(aws_security_group.endpoints[*].id)
  }
}

resource "aws_security_group" "nodes" {
  name        = "${var.name}-nodes"
  description = "Nodes that burstd buys"
  vpc_id      = local.vpc_id
  tags        = merge(local.tags, { Name = "${var.name}-nodes" })
}

resource "aws_security_group" "controller" {
  count       = var.controller_here ? 1 : 0
  name        = "${var.name}-controller"
  description = "slurmctld and burstd"
  vpc_id      = local.vpc_id
  tags        = merge(local.tags, { Name = "${var.name}-controller" })
}

resource "aws_security_group" "endpoints" {
  count       = length(var.endpoints) > 0 ? 1 : 0
  name        = "${var.name}-endpoints"
  description = "AWS services in this VPC"
  vpc_id      = local.vpc_id
  tags        = merge(local.tags, { Name = "${var.name}-endpoints" })
}

resource "aws_vpc_security_group_ingress_rule" "this" {
  for_each                     = local.in
  security_group_id            = local.group[each.value.at]
  description                  = each.value.why
  ip_protocol                  = each.value.ports == null ? "-1" : "tcp"
  from_port                    = try(each.value.ports[0], null)
  to_port                      = try(each.value.ports[1], null)
  cidr_ipv4                    = try(each.value.peer.cidr, null)
  referenced_security_group_id = try(each.value.peer.group, null)
  tags                         = merge(var.tags, { Name = each.key })
}

resource "aws_vpc_security_group_egress_rule" "this" {
  for_each                     = local.out
  security_group_id            = local.group[each.value.at]
  description                  = each.value.why
  ip_protocol                  = each.value.ports == null ? "-1" : "tcp"
  from_port                    = try(each.value.ports[0], null)
  to_port                      = try(each.value.ports[1], null)
  cidr_ipv4                    = try(each.value.peer.cidr, null)
  referenced_security_group_id = try(each.value.peer.group, null)
  prefix_list_id               = try(each.value.peer.list, null)
  tags                         = merge(var.tags, { Name = each.key })
}
