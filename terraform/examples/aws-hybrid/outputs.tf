output "cost_per_hour" {
  description = "USD, about: what is there without a single node, and what goes through the VPN besides."
  value       = { for what, n in merge({ "VPN connection" = 1 }, module.network.billed) : what => try(n * var.prices[what], null) if n > 0 }
}

output "burst_at_most_per_hour" {
  description = "The most that burstd may spend on nodes: the sum of max_rate."
  value       = module.conf.at_most_per_hour
}

output "burstd_conf" {
  description = "For /etc/burstd/burstd.conf of the controller."
  value       = module.conf.burstd_conf
}

output "sections" {
  description = "The same in parts, for a burstd.conf that has other clouds, too."
  value       = module.conf.sections
}

output "srun_port_range" {
  description = "For slurm.conf: SrunPortRange."
  value       = module.network.srun_port_range
}

output "make_key" {
  description = "burstd's key: into /etc/burstd/ec2.key on the controller, of burstd's user, mode 0600."
  value       = "aws iam create-access-key --user-name ${module.iam.user_name}"
}

output "vpn" {
  description = "Its configuration for the site's router."
  value       = "aws ec2 describe-vpn-connections --region ${var.region} --vpn-connection-ids ${aws_vpn_connection.site.id} --query 'VpnConnections[].CustomerGatewayConfiguration' --output text"
}

output "before_destroy" {
  description = "What `destroy` runs first."
  value       = module.guard.command
}
