output "provider" {
  description = "Options of a section provider of burstd.conf, driver aws."
  value = {
    account          = data.aws_caller_identity.this.account_id
    instance_profile = one(aws_iam_instance_profile.node[*].name)
    role             = var.burstd == "role" ? aws_iam_role.burstd[0].arn : null
  }
}

output "policy" {
  description = "What burstd may do."
  value       = local.policy
}

output "instance_profile" {
  description = "With burstd = \"instance\": of burstd's host."
  value       = one(aws_iam_instance_profile.burstd[*].name)
}

output "role_name" {
  description = "To attach more to: modules/secrets/aws."
  value       = one(aws_iam_role.burstd[*].name)
}

output "user_name" {
  description = "With burstd = \"user\": whose key you make."
  value       = one(aws_iam_user.burstd[*].name)
}
