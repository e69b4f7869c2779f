variable "cluster" {
  description = "ClusterName of slurm.conf, the same as in burstd.conf."
  type        = string
}

variable "hostname" {
  type    = string
  default = "ctl"
}

variable "address" {
  description = "Of this machine, as nodes reach it. It must be known before the machine is made, for burstd.conf has it: give the machine this address."
  type        = string
}

variable "packages" {
  description = "burstd's packages, each with its SHA-256: https://..., or the path of a file in the image. Empty: the image has burstd."
  type        = list(object({ url = string, sha256 = string }))
  validation {
    condition     = alltrue([for p in var.packages : can(regex("^(https://|/)[^' ]+[.]deb$", p.url)) && can(regex("^[0-9a-f]{64}$", p.sha256))])
    error_message = "Each with url (https://....deb, or an absolute path) and sha256 (64 hexadecimal digits)."
  }
}

variable "debian_packages" {
  description = "More packages of Debian's: output `debian_packages` of modules/monitoring."
  type        = list(string)
  default     = []
}

variable "files" {
  description = "More files, path and text: output `files` of modules/monitoring."
  type        = map(string)
  default     = {}
}

variable "burstd_conf" {
  description = "Output `burstd_conf` of modules/conf."
  type        = string
}

variable "cluster_uuid" {
  description = "Of a cluster that has had a burstd before: /var/lib/burstd/uuid. Null: a new one."
  type        = string
  default     = null
}

variable "accounting" {
  description = "slurmdbd and MariaDB on this machine."
  type        = bool
  default     = true
}

variable "metadata_service" {
  description = "burstd has the role of this machine, and must reach the cloud's metadata service."
  type        = bool
  default     = false
}

variable "srun_port_range" {
  description = "Output of modules/network/*."
  type        = string
  default     = "60001-63000"
}

variable "burstd_port" {
  description = "Where nodes claim their keys."
  type        = number
  default     = 8443
}
