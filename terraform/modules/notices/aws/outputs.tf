output "provider" {
  description = "Options of a section provider of burstd.conf, driver aws."
  value       = { notice_queue = aws_sqs_queue.this.url }
}

output "queue_arn" {
  description = "For modules/iam/aws."
  value       = aws_sqs_queue.this.arn
}
