variable "name" {
  description = "Of all that is made here."
  type        = string
  default     = "burst"
}

variable "cidr" {
  description = "Of the network's subnet. It must not overlap with the site's networks."
  type        = string
  default     = "10.61.0.0/20"
}

variable "dns" {
  description = "Resolvers. Empty: the cloud's."
  type        = list(string)
  default     = []
}

variable "external_network_id" {
  description = "The external network that a router leads to. Null: no router, and no way out."
  type        = string
  default     = null
}

variable "server_group_policy" {
  description = "A server group for all nodes: anti-affinity, soft-anti-affinity. Null: none."
  type        = string
  default     = null
}

variable "controller_here" {
  description = "slurmctld and burstd are in this project, in the security group that is made for them. False: they are at controller_cidrs."
  type        = bool
  default     = true
}

variable "controller_cidrs" {
  description = "Addresses of slurmctld and burstd elsewhere."
  type        = set(string)
  default     = []
}

variable "submit_cidrs" {
  description = "Hosts on which users call srun and salloc, besides the controllers."
  type        = set(string)
  default     = []
}

variable "admin_cidrs" {
  description = "From where admins reach the controller by ssh. Empty: from nowhere."
  type        = set(string)
  default     = []
  validation {
    condition     = !contains(var.admin_cidrs, "0.0.0.0/0")
    error_message = "ssh for the whole internet is not let in: name your own addresses."
  }
}

variable "vault_cidrs" {
  description = "Addresses of Vault or OpenBao, which nodes ask with release = \"wrap\" and \"user-data\"."
  type        = set(string)
  default     = []
}

variable "egress_cidrs" {
  description = "What jobs may reach besides: file systems, [\"0.0.0.0/0\"] for the internet."
  type        = set(string)
  default     = []
}

variable "burstd_port" {
  description = "Of `listen` in section nodes of burstd.conf."
  type        = number
  default     = 8443
}

variable "srun_ports" {
  description = "SrunPortRange of slurm.conf: where srun and salloc listen for their steps."
  type        = object({ from = number, to = number })
  default     = { from = 60001, to = 63000 }
}

variable "tags" {
  description = "Neutron's, words."
  type        = set(string)
  default     = []
}
