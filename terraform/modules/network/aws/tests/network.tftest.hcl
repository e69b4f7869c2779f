mock_provider "aws" {}

variables {
  region  = "eu-west-1"
  subnets = { eu-west-1a = "10.60.0.0/20", eu-west-1b = "10.60.16.0/20" }
}

run "a_controller_here_lets_in_what_nodes_need_and_nothing_else" {
  assert {
    condition = toset([for r in output.rules : "${r.at} ${r.peer} ${r.from}-${r.to}" if r.direction == "in"]) == toset([
      "nodes group 6818-6818",        # slurmctld to slurmd
      "nodes group 0-65535",          # among themselves
      "controller group 6817-6817",   # slurmd to slurmctld
      "controller group 8443-8443",   # claims
      "controller group 60001-63000", # srun
    ])
    error_message = jsonencode(output.rules)
  }
  assert {
    condition = toset([for r in output.rules : "${r.at} ${r.peer} ${r.from}-${r.to}" if r.direction == "out" && r.at == "nodes"]) == toset([
      "nodes group 6817-6817", "nodes group 8443-8443", "nodes group 60001-63000", "nodes group 0-65535",
      "nodes group 443-443", # S3
    ])
    error_message = jsonencode(output.rules)
  }
  assert {
    condition     = length(aws_vpc_security_group_ingress_rule.this) == length([for r in output.rules : r if r.direction == "in"])
    error_message = "A rule is not made, or made twice."
  }
  assert {
    condition     = { for k, r in aws_vpc_security_group_ingress_rule.this : k => "${r.ip_protocol} ${coalesce(r.from_port, 0)}" if contains(["nodes-nodes", "controller-burstd"], k) } == { nodes-nodes = "-1 0", controller-burstd = "tcp 8443" }
    error_message = "A rule is of another protocol."
  }
  assert {
    condition     = alltrue([for r in values(aws_vpc_security_group_ingress_rule.this) : r.cidr_ipv4 == null])
    error_message = "Somebody outside is let in."
  }
  assert {
    condition     = length(aws_internet_gateway.this) == 0 && length(aws_nat_gateway.this) == 0
    error_message = "There is a way out that nobody asked for."
  }
  assert {
    condition     = sum(values(output.billed)) == 0
    error_message = "Something bills that nobody asked for."
  }
}

run "the_subnets_are_burstd_s_option" {
  assert {
    condition     = output.provider.subnets == "eu-west-1a=${aws_subnet.private["eu-west-1a"].id},eu-west-1b=${aws_subnet.private["eu-west-1b"].id}"
    error_message = output.provider.subnets
  }
}

run "a_controller_at_the_site" {
  variables {
    controller_here  = false
    controller_cidrs = ["192.0.2.10/32"]
    submit_cidrs     = ["192.0.2.20/32"]
    vault_cidrs      = ["192.0.2.8/32"]
    site_cidrs       = ["192.0.2.0/24"]
  }
  assert {
    condition = toset([for r in output.rules : "${r.at} ${r.peer} ${r.from}-${r.to}" if r.direction == "in"]) == toset([
      "nodes 192.0.2.10/32 6818-6818", "nodes 192.0.2.20/32 6818-6818", "nodes group 0-65535",
    ])
    error_message = jsonencode(output.rules)
  }
  assert {
    condition = toset([for r in output.rules : "${r.at} ${r.peer} ${r.from}-${r.to}" if r.direction == "out"]) == toset([
      "nodes 192.0.2.10/32 6817-6817", "nodes 192.0.2.10/32 8443-8443", "nodes 192.0.2.10/32 60001-63000",
      "nodes 192.0.2.20/32 60001-63000", "nodes 192.0.2.8/32 8200-8200", "nodes group 0-65535", "nodes group 443-443",
    ])
    error_message = jsonencode(output.rules)
  }
  assert {
    condition     = aws_route.site["192.0.2.0/24"].gateway_id == output.vpn_gateway_id
    error_message = "There is no way to the site."
  }
  assert {
    condition     = length(aws_security_group.controller) == 0
    error_message = "There is no controller here."
  }
}

run "endpoints_bill_in_each_zone" {
  variables {
    endpoints = ["ec2", "sqs"]
  }
  assert {
    condition     = output.billed["interface endpoint, for one zone"] == 4
    error_message = jsonencode(output.billed)
  }
  assert {
    condition     = contains([for r in output.rules : "${r.at} ${r.from}" if r.direction == "in"], "endpoints 443")
    error_message = jsonencode(output.rules)
  }
}

run "all_at_once" {
  variables {
    public_subnet    = "10.60.255.0/24"
    nat              = true
    endpoints        = ["ec2"]
    admin_cidrs      = ["192.0.2.0/24"]
    submit_cidrs     = ["192.0.2.20/32"]
    vault_cidrs      = ["192.0.2.8/32"]
    egress_cidrs     = ["0.0.0.0/0"]
    placement_groups = ["tight"]
  }
  assert {
    condition     = contains([for r in output.rules : "${r.at} ${r.peer} ${r.from}" if r.direction == "in"], "controller 192.0.2.0/24 22")
    error_message = jsonencode(output.rules)
  }
  assert {
    condition     = length([for r in output.rules : r if r.direction == "in" && r.from == 22]) == 1
    error_message = jsonencode(output.rules)
  }
  assert {
    condition     = output.billed["NAT gateway"] == 1 && aws_placement_group.this["tight"].strategy == "cluster"
    error_message = jsonencode(output.billed)
  }
}

run "ssh_is_for_admins" {
  command = plan
  variables {
    admin_cidrs = ["0.0.0.0/0"]
  }
  expect_failures = [var.admin_cidrs]
}

run "a_gateway_needs_its_subnet" {
  command = plan
  variables {
    nat = true
  }
  expect_failures = [aws_nat_gateway.this]
}

run "burstd_s_tags_are_burstd_s" {
  command = plan
  variables {
    tags = { burstd-cluster = "x" }
  }
  expect_failures = [var.tags]
}
