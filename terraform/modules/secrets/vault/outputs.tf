output "secrets" {
  description = "Section secrets of burstd.conf."
  value = {
    driver          = "vault"
    address         = join(",", var.address)
    ca_file         = var.ca_file
    namespace       = var.namespace
    mount           = var.mount
    name            = var.secret
    auth_mount      = var.auth_mount
    role_id         = vault_approle_auth_backend_role.burstd.role_id
    role_name       = vault_approle_auth_backend_role.burstd.role_name
    credential_file = var.credential_file
    release         = var.release
    rotate_role_id  = one(vault_approle_auth_backend_role.rotate[*].role_id)

    rotate_role_name = one(vault_approle_auth_backend_role.rotate[*].role_name)
  }
}

output "policy" {
  description = "burstd's."
  value       = vault_policy.burstd.policy
}

output "put" {
  description = "Puts the keys there, from /run/bundle.json (docs/secrets.md, \"The bundle\"), if none are there yet."
  value       = "bao kv put -mount=${var.mount} -cas=0 ${var.secret} @/run/bundle.json && shred -u /run/bundle.json"
}

output "enroll" {
  description = "Gives burstd its secret_id."
  value       = "bao write -wrap-ttl=10m -f -field=wrapping_token auth/${var.auth_mount}/role/${var.role}/secret-id | burstctl secrets enroll"
}
