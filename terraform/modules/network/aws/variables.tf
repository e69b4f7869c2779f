variable "name" {
  description = "Of all that is made here."
  type        = string
  default     = "burst"
}

variable "region" {
  description = "Region of the provider, for the names of AWS's services."
  type        = string
}

variable "vpc_id" {
  description = "A VPC that is there. Null: one is made, with `cidr`."
  type        = string
  default     = null
}

variable "cidr" {
  description = "Of the VPC that is made. It must not overlap with the site's networks."
  type        = string
  default     = "10.60.0.0/16"
}

variable "subnets" {
  description = "A private subnet for each zone in which burstd may buy: { eu-west-1a = \"10.60.0.0/20\" }. Each node takes an address, with EFA one for each card."
  type        = map(string)
  validation {
    condition     = length(var.subnets) > 0 && alltrue([for c in values(var.subnets) : can(cidrhost(c, 0))])
    error_message = "At least one zone, each with a subnet such as \"10.60.0.0/20\"."
  }
}

variable "public_subnet" {
  description = "Of a subnet with a way to the internet, in the first zone: for a NAT gateway, or a controller with a public address. Null: none."
  type        = string
  default     = null
}

variable "nat" {
  description = "A NAT gateway, by which nodes and controller reach the internet. It bills by the hour and by the gigabyte."
  type        = bool
  default     = false
}

variable "endpoints" {
  description = "AWS's services that are reached inside of the VPC, such as [\"ec2\", \"sqs\", \"sts\", \"secretsmanager\"] for a burstd that has no way out. Each bills by the hour in each zone."
  type        = set(string)
  default     = []
}

variable "s3_endpoint" {
  description = "S3 without a way out. It costs nothing."
  type        = bool
  default     = true
}

variable "placement_groups" {
  description = "Names of cluster placement groups of your own, which pools name in `fabric`. burstd makes those of fabric = \"job\" and \"unit\" itself."
  type        = set(string)
  default     = []
}

variable "controller_here" {
  description = "slurmctld and burstd are in this VPC, in the security group that is made for them. False: they are at controller_cidrs."
  type        = bool
  default     = true
}

variable "controller_cidrs" {
  description = "Addresses of slurmctld and burstd at the site: [\"192.0.2.10/32\"]."
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
  description = "Addresses of Vault or OpenBao, which nodes ask with release = \"wrap\" and \"user-data\", and burstd with each."
  type        = set(string)
  default     = []
}

variable "egress_cidrs" {
  description = "What jobs may reach besides: file systems, licence servers, [\"0.0.0.0/0\"] for the internet."
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

variable "site_cidrs" {
  description = "The site's networks, to which the private subnets get a route by a virtual private gateway. Empty: there is none."
  type        = set(string)
  default     = []
}

variable "tags" {
  description = "On all that is made. burstd's instances do not have them."
  type        = map(string)
  default     = {}
  validation {
    condition     = length([for k in keys(var.tags) : k if startswith(k, "burstd-")]) == 0
    error_message = "Tags that begin with burstd- are burstd's own: it deletes instances by them."
  }
}
