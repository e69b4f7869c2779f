mock_provider "openstack" {}

run "a_controller_here_lets_in_what_nodes_need_and_nothing_else" {
  assert {
    condition = toset([for r in output.rules : "${r.at} ${r.peer} ${r.from}-${r.to}" if r.direction == "ingress"]) == toset([
      "nodes group 6818-6818", "nodes group 0-65535",
      "controller group 6817-6817", "controller group 8443-8443", "controller group 60001-63000",
    ])
    error_message = jsonencode(output.rules)
  }
  assert {
    condition     = length(openstack_networking_router_v2.this) == 0
    error_message = "There is a way out that nobody asked for."
  }
}

run "a_controller_elsewhere" {
  variables {
    controller_here  = false
    controller_cidrs = ["192.0.2.10/32"]
    vault_cidrs      = ["192.0.2.8/32"]
  }
  assert {
    condition     = toset([for r in output.rules : "${r.peer} ${r.from}-${r.to}" if r.direction == "ingress"]) == toset(["192.0.2.10/32 6818-6818", "group 0-65535"])
    error_message = jsonencode(output.rules)
  }
  assert {
    condition     = length([for r in output.rules : r if r.direction == "egress" && r.from == 8200]) == 1
    error_message = jsonencode(output.rules)
  }
}

run "all_at_once" {
  variables {
    external_network_id = "8d2b8b5a-0b5e-4a52-9b0f-4e0c3f1f6d01"
    server_group_policy = "soft-anti-affinity"
    admin_cidrs         = ["192.0.2.0/24"]
    submit_cidrs        = ["192.0.2.20/32"]
    vault_cidrs         = ["192.0.2.8/32"]
    egress_cidrs        = ["0.0.0.0/0"]
  }
  assert {
    condition     = length([for r in output.rules : r if r.direction == "ingress" && r.from == 22]) == 1
    error_message = jsonencode(output.rules)
  }
  assert {
    condition     = output.provider.server_group == openstack_compute_servergroup_v2.this[0].id && output.provider.security_groups == "burst-nodes"
    error_message = jsonencode(output.provider)
  }
}
