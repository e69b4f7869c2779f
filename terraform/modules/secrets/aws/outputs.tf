output "secrets" {
  description = "Section secrets of burstd.conf."
  value = {
    driver  = "aws"
    region  = var.region
    name    = aws_secretsmanager_secret.this.arn
    release = "broker"
  }
}

output "rotate_policy_arn" {
  description = "For whoever rotates the keys."
  value       = aws_iam_policy.rotate.arn
}

output "policy" {
  value = local.text.secrets
}

output "put" {
  description = "Puts the keys there, read from standard input: run it where the admin's credentials are."
  value       = "aws secretsmanager put-secret-value --region ${var.region} --secret-id ${aws_secretsmanager_secret.this.arn} --secret-binary fileb:///dev/stdin"
}
