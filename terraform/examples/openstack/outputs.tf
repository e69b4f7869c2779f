output "burst_at_most_per_hour" {
  description = "The most that burstd may spend on nodes: the sum of max_rate. The controller is a server of its flavor besides."
  value       = module.conf.at_most_per_hour
}

output "controller" {
  value = module.controller.floating_ip
}

output "burstd_conf" {
  description = "/etc/burstd/burstd.conf of the controller."
  value       = module.conf.burstd_conf
}

output "make_credential" {
  description = "burstd's application credential, which may do no more than burstd needs."
  value       = module.rights.command
}

output "before_destroy" {
  description = "What `destroy` runs first."
  value       = module.guard.command
}
