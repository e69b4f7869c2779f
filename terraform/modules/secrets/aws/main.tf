# A place for the cluster's keys in AWS Secrets Manager, and who may read it: docs/secrets.md.  The keys themselves are not
# put there by this, since they would be in the state: README.md has the command.

terraform {
  required_version = ">= 1.6"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.60"
    }
  }
}

locals {
  values = {
    arn     = aws_secretsmanager_secret.this.arn
    kms_key = coalesce(var.kms_key_arn, "none")
  }
  policy = {
    for name in ["secrets", "rotate"] : name => jsondecode(templatefile("${path.module}/${name}-policy.json.tftpl", local.values))
  }
  left_out = var.kms_key_arn == null ? ["Decrypt", "RotateEncrypt"] : []
  text = {
    for name, p in local.policy : name => jsonencode({
      Version   = p.Version
      Statement = [for s in p.Statement : s if !contains(local.left_out, s.Sid)]
    })
  }
}

resource "aws_secretsmanager_secret" "this" {
  name                    = var.secret
  description             = "Keys of the Slurm cluster, for nodes that burstd buys"
  kms_key_id              = var.kms_key_arn
  recovery_window_in_days = var.recovery_days
  tags                    = var.tags
}

resource "aws_iam_policy" "read" {
  name        = "${var.name}-keys"
  description = "burstd reads the keys of the cluster"
  policy      = local.text.secrets
  tags        = var.tags
}

resource "aws_iam_role_policy_attachment" "read" {
  count      = var.attach_to == "role" ? 1 : 0
  role       = var.role_name
  policy_arn = aws_iam_policy.read.arn
}

resource "aws_iam_user_policy_attachment" "read" {
  count      = var.attach_to == "user" ? 1 : 0
  user       = var.user_name
  policy_arn = aws_iam_policy.read.arn
}

# For the one whose credential is given to `burstctl secrets rotate --credential`, not for burstd.
resource "aws_iam_policy" "rotate" {
  name        = "${var.name}-keys-rotate"
  description = "For burstctl secrets rotate: replaces the keys of the cluster"
  policy      = local.text.rotate
  tags        = var.tags
}
