locals {
  billed = flatten([for part in [module.network.billed, module.controller.billed] : [for what, n in part : { what = what, n = n } if n > 0]])
}

output "cost_per_hour" {
  description = "USD, about: what is there without a single node. What has no price in `prices` is null."
  value       = { for what in distinct(local.billed[*].what) : what => try(sum([for b in local.billed : b.n if b.what == what]) * var.prices[what], null) }
}

output "burst_at_most_per_hour" {
  description = "The most that burstd may spend on nodes: the sum of max_rate."
  value       = module.conf.at_most_per_hour
}

output "controller" {
  value = module.controller.public_ip
}

output "burstd_conf" {
  description = "/etc/burstd/burstd.conf of the controller."
  value       = module.conf.burstd_conf
}

output "put_keys" {
  description = "Once, when the controller is up: the cluster's keys into Secrets Manager."
  value       = "ssh admin@${module.controller.public_ip} sudo burst-bundle | ${module.secrets.put}"
}

output "before_destroy" {
  description = "What `destroy` runs first."
  value       = module.guard.command
}
