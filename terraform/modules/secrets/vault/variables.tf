variable "address" {
  description = "https://HOST:PORT of each server, as nodes and burstd reach them."
  type        = list(string)
  validation {
    condition     = length(var.address) > 0 && alltrue([for a in var.address : startswith(a, "https://")])
    error_message = "At least one, each with https://."
  }
}

variable "ca_file" {
  description = "On burstd's host: the certificates by which burstd and nodes know these servers."
  type        = string
  default     = "/etc/burstd/vault-ca.pem"
}

variable "namespace" {
  description = "Of Vault Enterprise or OpenBao, the provider's. Null: none."
  type        = string
  default     = null
}

variable "mount" {
  description = "Where the KV engine, version 2, is mounted."
  type        = string
  default     = "kv"
}

variable "make_mount" {
  description = "Mount it. False: it is there."
  type        = bool
  default     = true
}

variable "auth_mount" {
  description = "Where AppRole is mounted."
  type        = string
  default     = "approle"
}

variable "make_auth" {
  description = "Enable AppRole. False: it is there."
  type        = bool
  default     = true
}

variable "secret" {
  description = "Path of the keys in the engine."
  type        = string
  default     = "slurm/prod/node"
}

variable "release" {
  description = "How nodes get the keys: wrap, broker or user-data."
  type        = string
  default     = "wrap"
  validation {
    condition     = contains(["wrap", "broker", "user-data"], var.release)
    error_message = "One of wrap, broker, user-data."
  }
}

variable "role" {
  description = "Name of burstd's policy and AppRole."
  type        = string
  default     = "burstd"
}

variable "burstd_cidrs" {
  description = "Addresses of burstd's host: only from there its credential is good. Empty: from anywhere."
  type        = set(string)
}

variable "secret_id_days" {
  description = "After so many days burstd must be enrolled again."
  type        = number
  default     = 90
}

variable "credential_file" {
  description = "Where burstd keeps its secret_id."
  type        = string
  default     = "/var/lib/burstd/vault-secret-id"
}

variable "rotation" {
  description = "A second role, which may replace the keys: for `burstctl secrets rotate`."
  type        = bool
  default     = true
}
