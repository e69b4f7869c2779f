mock_provider "aws" {
  mock_resource "aws_secretsmanager_secret" {
    defaults = { arn = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:slurm/prod/node-a1b2c3" }
  }
  mock_resource "aws_iam_policy" {
    defaults = { arn = "arn:aws:iam::123456789012:policy/burst" }
  }
}

variables {
  region    = "eu-west-1"
  role_name = "falcon-burstd"
}

run "burstd_reads_this_secret_and_writes_nothing" {
  assert {
    condition     = jsondecode(output.policy).Statement == [{ Sid = "Keys", Effect = "Allow", Resource = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:slurm/prod/node-a1b2c3", Action = ["secretsmanager:GetSecretValue", "secretsmanager:DescribeSecret"] }]
    error_message = output.policy
  }
  assert {
    condition     = output.secrets.name == "arn:aws:secretsmanager:eu-west-1:123456789012:secret:slurm/prod/node-a1b2c3" && output.secrets.release == "broker"
    error_message = jsonencode(output.secrets)
  }
}

run "with_a_key_of_kms" {
  variables {
    kms_key_arn = "arn:aws:kms:eu-west-1:123456789012:key/k"
  }
  assert {
    condition     = [for s in jsondecode(output.policy).Statement : s.Resource if s.Sid == "Decrypt"] == ["arn:aws:kms:eu-west-1:123456789012:key/k"]
    error_message = output.policy
  }
}
