output "burstd_conf" {
  description = "Section secrets, for /etc/burstd/burstd.conf."
  value       = module.conf.sections["secrets"]
}

output "secrets" {
  description = "The same, for the variable `secrets` of examples/aws-hybrid and others."
  value       = module.secrets.secrets
}

output "put" {
  value = module.secrets.put
}

output "enroll" {
  value = module.secrets.enroll
}
