mock_provider "aws" {
  mock_data "aws_caller_identity" {
    defaults = { account_id = "123456789012" }
  }
  mock_data "aws_partition" {
    defaults = { partition = "aws" }
  }
  mock_data "aws_iam_policy_document" {
    defaults = { json = "{}" }
  }
  mock_resource "aws_iam_policy" {
    defaults = { arn = "arn:aws:iam::123456789012:policy/burst" }
  }
  mock_resource "aws_iam_role" {
    defaults = { arn = "arn:aws:iam::123456789012:role/burst-node" }
  }
}

variables {
  cluster_uuid = "0a1b2c3d-0000-4000-8000-001122334455"
}

run "no_right_that_this_site_does_not_need" {
  variables {
    placement_groups = false
  }
  assert {
    condition     = [for s in jsondecode(output.policy).Statement : s.Sid] == ["Look", "Launch", "Tag", "Terminate", "Report", "Console"]
    error_message = output.policy
  }
}

run "all_rights" {
  variables {
    notices   = true
    queue_arn = "arn:aws:sqs:eu-west-1:123456789012:burstd"
    node_role = true
  }
  assert {
    condition     = length(jsondecode(output.policy).Statement) == 12
    error_message = output.policy
  }
  assert {
    condition     = [for s in jsondecode(output.policy).Statement : s.Condition.StringEquals["aws:ResourceTag/burstd-cluster"] if s.Sid == "Terminate"] == ["0a1b2c3d-0000-4000-8000-001122334455"]
    error_message = "burstd may end instances of others."
  }
  assert {
    condition     = [for s in jsondecode(output.policy).Statement : s.Resource if s.Sid == "NodeRole" || s.Sid == "Notices"] == ["arn:aws:sqs:eu-west-1:123456789012:burstd", "arn:aws:iam::123456789012:role/burst-node"]
    error_message = output.policy
  }
  assert {
    condition     = output.provider.instance_profile == "burst-node" && output.provider.account == "123456789012"
    error_message = jsonencode(output.provider)
  }
  assert {
    condition     = jsondecode(aws_iam_role_policy.node[0].policy).Statement[0].Effect == "Deny"
    error_message = "Nodes may read the cluster's keys."
  }
}

run "no_key_is_made" {
  variables {
    burstd = "user"
  }
  assert {
    condition     = output.user_name == "burst-burstd" && output.instance_profile == null
    error_message = "There is no user."
  }
}

run "a_role_is_somebody_s" {
  command = plan
  variables {
    burstd = "role"
  }
  expect_failures = [aws_iam_role.burstd]
}

run "a_uuid_is_a_uuid" {
  command = plan
  variables {
    cluster_uuid = "*"
  }
  expect_failures = [var.cluster_uuid]
}
