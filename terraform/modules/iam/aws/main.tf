# Who burstd is on EC2, and who its nodes are.  The policy is burstd-policy.json.tftpl, the text of docs/aws.md, without the
# statements that this site does not need.  No key is made: a key would be in the state.

terraform {
  required_version = ">= 1.6"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.60"
    }
  }
}

data "aws_caller_identity" "this" {}

data "aws_partition" "this" {}

locals {
  queue     = var.queue_arn != null ? var.queue_arn : ""
  node_role = var.node_role ? aws_iam_role.node[0].arn : coalesce(var.node_role_arn, "none")
  whole = jsondecode(templatefile("${path.module}/burstd-policy.json.tftpl", {
    account   = data.aws_caller_identity.this.account_id
    partition = data.aws_partition.this.partition
    uuid      = var.cluster_uuid
    queue     = local.queue
    node_role = local.node_role
  }))
  # Sids of what is not wanted.
  left_out = concat(
    var.notices ? [] : ["Notices"],
    var.node_role || var.node_role_arn != null ? [] : ["NodeRole"],
    var.placement_groups ? [] : ["GroupLook", "GroupMake", "GroupTag", "GroupDrop"],
  )
  policy = jsonencode({
    Version   = local.whole.Version
    Statement = [for s in local.whole.Statement : s if !contains(local.left_out, s.Sid)]
  })
}

# --- burstd ----------------------------------------------------------------------------------------------------------

resource "aws_iam_policy" "burstd" {
  name        = "${var.name}-burstd"
  description = "What burstd may do, and no more"
  policy      = local.policy
  tags        = var.tags
}

data "aws_iam_policy_document" "trust" {
  count = var.burstd == "instance" || var.burstd == "role" ? 1 : 0
  statement {
    actions = ["sts:AssumeRole"]
    principals {
      type        = var.burstd == "instance" ? "Service" : "AWS"
      identifiers = var.burstd == "instance" ? ["ec2.amazonaws.com"] : var.trusted_arns
    }
  }
}

resource "aws_iam_role" "burstd" {
  count              = var.burstd == "user" ? 0 : 1
  name               = "${var.name}-burstd"
  assume_role_policy = data.aws_iam_policy_document.trust[0].json
  tags               = var.tags
  lifecycle {
    precondition {
      condition     = var.burstd == "instance" || length(var.trusted_arns) > 0
      error_message = "burstd = \"role\" needs trusted_arns: who may assume it."
    }
  }
}

resource "aws_iam_role_policy_attachment" "burstd" {
  count      = var.burstd == "user" ? 0 : 1
  role       = aws_iam_role.burstd[0].name
  policy_arn = aws_iam_policy.burstd.arn
}

resource "aws_iam_instance_profile" "burstd" {
  count = var.burstd == "instance" ? 1 : 0
  name  = "${var.name}-burstd"
  role  = aws_iam_role.burstd[0].name
  tags  = var.tags
}

# A host that is not on EC2 needs a key. Make it yourself: `aws iam create-access-key --user-name ...`.
resource "aws_iam_user" "burstd" {
  count = var.burstd == "user" ? 1 : 0
  name  = "${var.name}-burstd"
  tags  = var.tags
  # The key, which is not in the state.
  force_destroy = true
}

resource "aws_iam_user_policy_attachment" "burstd" {
  count      = var.burstd == "user" ? 1 : 0
  user       = aws_iam_user.burstd[0].name
  policy_arn = aws_iam_policy.burstd.arn
}

# --- nodes -----------------------------------------------------------------------------------------------------------
# Every job on a node can have what its role may do: nothing, unless node_policies says more.  It needs no right for
# claiming its keys.

data "aws_iam_policy_document" "node" {
  count = var.node_role ? 1 : 0
  statement {
    actions = ["sts:AssumeRole"]
    principals {
      type        = "Service"
      identifiers = ["ec2.amazonaws.com"]
    }
  }
}

resource "aws_iam_role" "node" {
  count              = var.node_role ? 1 : 0
  name               = "${var.name}-node"
  assume_role_policy = data.aws_iam_policy_document.node[0].json
  tags               = var.tags
}

# Whatever else it is given: the cluster's keys are not for nodes to take.
resource "aws_iam_role_policy" "node" {
  count = var.node_role ? 1 : 0
  name  = "no-keys"
  role  = aws_iam_role.node[0].name
  policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Sid = "NoKeys", Effect = "Deny", Action = ["secretsmanager:GetSecretValue", "secretsmanager:BatchGetSecretValue"], Resource = "*" }]
  })
}

resource "aws_iam_role_policy_attachment" "node" {
  for_each   = var.node_role ? var.node_policies : {}
  role       = aws_iam_role.node[0].name
  policy_arn = each.value
}

resource "aws_iam_instance_profile" "node" {
  count = var.node_role ? 1 : 0
  name  = "${var.name}-node"
  role  = aws_iam_role.node[0].name
  tags  = var.tags
}
