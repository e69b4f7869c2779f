# What burstd may do on OpenStack: access rules of an application credential, the text of docs/providers/openstack.md.  The
# credential itself is not made by this, since its secret would be in the state: the output `command` makes it.  No
# provider.

terraform {
  required_version = ">= 1.6"
}

locals {
  prefix = var.project_in_path == null ? "/v2.1" : "/v2.1/${var.project_in_path}"
  whole  = jsondecode(templatefile("${path.module}/access-rules.json.tftpl", { prefix = local.prefix }))
  rules  = [for r in local.whole : r if var.console || !endswith(r.path, "/action")]
}
