variable "name" {
  description = "Of queue and rule. Each cluster needs its own: a message has one reader."
  type        = string
  default     = "burstd"
}

variable "tags" {
  type    = map(string)
  default = {}
}
