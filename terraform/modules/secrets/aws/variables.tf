variable "name" {
  description = "Policies are NAME-keys and NAME-keys-rotate."
  type        = string
  default     = "burst"
}

variable "region" {
  type = string
}

variable "secret" {
  description = "Name of the secret."
  type        = string
  default     = "slurm/prod/node"
}

variable "kms_key_arn" {
  description = "A KMS key of your own. Null: the account's for Secrets Manager."
  type        = string
  default     = null
}

variable "recovery_days" {
  description = "So long AWS keeps a secret that was destroyed; 0: not at all, and the name is free at once."
  type        = number
  default     = 7
}

variable "attach_to" {
  description = "Who reads the keys: \"role\" (role_name), \"user\" (user_name) or \"none\"."
  type        = string
  default     = "role"
  validation {
    condition     = contains(["role", "user", "none"], var.attach_to)
    error_message = "One of role, user, none."
  }
}

variable "role_name" {
  type    = string
  default = null
}

variable "user_name" {
  type    = string
  default = null
}

variable "tags" {
  type    = map(string)
  default = {}
}
