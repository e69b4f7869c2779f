output "provider" {
  description = "Options of a section provider of burstd.conf, driver aws."
  value = {
    region          = var.region
    subnets         = join(",", [for z in local.zones : "${z}=${aws_subnet.private[z].id}"])
    security_groups = aws_security_group.nodes.id
  }
}

output "srun_port_range" {
  description = "For slurm.conf: SrunPortRange."
  value       = "${var.srun_ports.from}-${var.srun_ports.to}"
}

output "vpc_id" {
  value = local.vpc_id
}

output "subnet_ids" {
  description = "By zone."
  value       = { for z, s in aws_subnet.private : z => s.id }
}

output "public_subnet_id" {
  value = one(aws_subnet.public[*].id)
}

output "controller_group" {
  description = "Security group of the controller, if it is here."
  value       = one(aws_security_group.controller[*].id)
}

output "vpn_gateway_id" {
  value = one(aws_vpn_gateway.site[*].id)
}

output "rules" {
  description = "What is let in and out: group, direction, peer, ports."
  value = concat(
    [for r in values(local.in) : { at = r.at, direction = "in", peer = try(r.peer.cidr, "group"), from = try(r.ports[0], 0), to = try(r.ports[1], 65535) }],
    [for r in values(local.out) : { at = r.at, direction = "out", peer = try(r.peer.cidr, "group"), from = try(r.ports[0], 0), to = try(r.ports[1], 65535) }],
  )
}

output "billed" {
  description = "What bills by the hour, whether there are nodes or not: how many of it."
  value = {
    "NAT gateway"                      = var.nat ? 1 : 0
    "public IPv4 address"              = var.nat ? 1 : 0
    "interface endpoint, for one zone" = length(var.endpoints) * length(var.subnets)
  }
}
