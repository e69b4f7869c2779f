# The queue through which burstd hears of reclaims and retirements (docs/aws.md, "Notices"): what EventBridge puts into it,
# and that nobody else may.

terraform {
  required_version = ">= 1.6"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.60"
    }
  }
}

resource "aws_sqs_queue" "this" {
  name                      = var.name
  message_retention_seconds = 3600
  sqs_managed_sse_enabled   = true
  tags                      = var.tags
}

resource "aws_cloudwatch_event_rule" "this" {
  name          = var.name
  description   = "What EC2 will do to instances, for burstd"
  event_pattern = file("${path.module}/event-pattern.json")
  tags          = var.tags
}

resource "aws_cloudwatch_event_target" "this" {
  rule      = aws_cloudwatch_event_rule.this.name
  target_id = "burstd"
  arn       = aws_sqs_queue.this.arn
}

resource "aws_sqs_queue_policy" "this" {
  queue_url = aws_sqs_queue.this.url
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "EventBridge"
      Effect    = "Allow"
      Action    = "sqs:SendMessage"
      Principal = { Service = "events.amazonaws.com" }
      Resource  = aws_sqs_queue.this.arn
      Condition = { ArnEquals = { "aws:SourceArn" = aws_cloudwatch_event_rule.this.arn } }
    }]
  })
}
