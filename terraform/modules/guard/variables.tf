variable "reach" {
  description = <<-EOT
    How a command is run as root on burstd's host from where this is applied: "ssh admin@192.0.2.10 sudo", "sudo" on that
    host itself. The words are those of a shell. "none": nothing is terminated, and you see to it yourself.
  EOT
  type        = string
  nullable    = false
  validation {
    condition     = trimspace(var.reach) != ""
    error_message = "Say how burstd's host is reached, or \"none\": else machines that burstd has bought would run on."
  }
}

variable "wait" {
  description = "Seconds in which the last node must be gone."
  type        = number
  default     = 900
}
