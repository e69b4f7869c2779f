variable "cluster" {
  description = "ClusterName of slurm.conf; the name of all that is made."
  type        = string
  default     = "falcon"
}

variable "cluster_uuid" {
  description = "/var/lib/burstd/uuid on the controller. burstd makes it when it is started for the first time."
  type        = string
}

variable "region" {
  type    = string
  default = "eu-west-1"
}

variable "cidr" {
  description = "It must not overlap with the site's networks."
  type        = string
  default     = "10.60.0.0/16"
}

variable "subnets" {
  description = "Zones in which nodes are bought."
  type        = map(string)
  default     = { eu-west-1a = "10.60.0.0/20", eu-west-1b = "10.60.16.0/20" }
}

variable "controller_cidrs" {
  description = "slurmctld and burstd: [\"192.0.2.10/32\"]."
  type        = set(string)
}

variable "submit_cidrs" {
  description = "Hosts on which users call srun and salloc."
  type        = set(string)
  default     = []
}

variable "vault_cidrs" {
  type    = set(string)
  default = []
}

variable "egress_cidrs" {
  description = "What jobs may reach besides: the site's file systems."
  type        = set(string)
  default     = []
}

variable "srun_ports" {
  description = "SrunPortRange of your slurm.conf."
  type        = object({ from = number, to = number })
  default     = { from = 60001, to = 63000 }
}

variable "site_gateway" {
  description = "Public address of the site's end of the VPN."
  type        = string
}

variable "site_asn" {
  type    = number
  default = 65000
}

variable "site_cidrs" {
  description = "The site's networks that nodes must reach: controllers, login hosts, Vault, file systems."
  type        = set(string)
}

variable "node_image" {
  description = "AMI of nodes: docs/bootstrap.md says what is in it."
  type        = string
}

variable "secrets" {
  description = "Section secrets of burstd.conf: that of examples/vault-only."
  type        = any
  default     = {}
}

variable "nodes" {
  description = "Section nodes of burstd.conf."
  type        = any
  default     = {}
}

variable "pools" {
  description = "Sections pool of burstd.conf by title, without provider and region. max_rate is the most that each may cost per hour."
  type        = any
}

variable "reach" {
  description = "modules/guard: how a command is run as root on the controller, such as \"ssh ctl sudo\"."
  type        = string
}

variable "prices" {
  description = "USD per hour: of the region, from AWS's price list. These are about those of eu-west-1 in 2025."
  type        = map(number)
  default = {
    "VPN connection"                   = 0.05
    "NAT gateway"                      = 0.048
    "interface endpoint, for one zone" = 0.011
  }
}
