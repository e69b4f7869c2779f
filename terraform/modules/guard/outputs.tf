output "command" {
  description = "What `destroy` runs first; try it by hand, it may be repeated."
  value       = var.reach == "none" ? "" : "${var.reach} sh -s ${var.wait} <${abspath("${path.module}/empty.sh")}"
}
