output "access_rules" {
  value = jsonencode(local.rules)
}

output "command" {
  description = "Makes the credential, with the project's openrc loaded; prints its id, for burstd.conf, and its secret, for credential_file."
  value       = "openstack application credential create ${var.name} --role ${var.role} --access-rules '${jsonencode(local.rules)}' -f value -c id -c secret"
}
