variable "cluster" {
  type    = string
  default = "falcon"
}

variable "address" {
  description = "https://HOST:PORT of each server, as nodes and burstd reach them."
  type        = list(string)
}

variable "ca_file" {
  description = "On burstd's host."
  type        = string
  default     = "/etc/burstd/vault-ca.pem"
}

variable "mount" {
  type    = string
  default = "kv"
}

variable "make_mount" {
  type    = bool
  default = true
}

variable "make_auth" {
  type    = bool
  default = true
}

variable "secret" {
  type    = string
  default = "slurm/prod/node"
}

variable "release" {
  type    = string
  default = "wrap"
}

variable "burstd_cidrs" {
  description = "Addresses of burstd's host."
  type        = set(string)
}
