variable "cluster" {
  description = "ClusterName of slurm.conf; the name of all that is made."
  type        = string
  default     = "falcon"
}

variable "region" {
  type    = string
  default = "eu-west-1"
}

variable "cidr" {
  type    = string
  default = "10.60.0.0/16"
}

variable "subnets" {
  description = "Zones in which nodes are bought."
  type        = map(string)
  default     = { eu-west-1a = "10.60.0.0/20", eu-west-1b = "10.60.16.0/20" }
}

variable "public_subnet" {
  description = "Of the controller."
  type        = string
  default     = "10.60.255.0/24"
}

variable "nat" {
  description = "Jobs reach the internet."
  type        = bool
  default     = false
}

variable "admin_cidrs" {
  description = "From where you use ssh."
  type        = set(string)
}

variable "key_name" {
  description = "Your SSH key pair, for the controller."
  type        = string
  default     = null
}

variable "controller_image" {
  description = "AMI of Debian 12 or 13: https://wiki.debian.org/Cloud/AmazonEC2Image"
  type        = string
}

variable "controller_type" {
  type    = string
  default = "m6i.large"
}

variable "node_image" {
  description = "AMI of nodes: docs/bootstrap.md says what is in it."
  type        = string
}

variable "packages" {
  description = "burstd's, for the controller: the URL and SHA-256 of each."
  type        = list(object({ url = string, sha256 = string }))
}

variable "pools" {
  description = "Sections pool of burstd.conf by title, without provider and region. max_rate is the most that each may cost per hour."
  type        = any
}

variable "reach" {
  description = "modules/guard: how a command is run as root on the controller. Null: ssh admin@..., as on Debian's images."
  type        = string
  default     = null
}

variable "recovery_days" {
  description = "modules/secrets/aws."
  type        = number
  default     = 7
}

variable "prices" {
  description = "USD per hour: of the region, from AWS's price list. These are about those of eu-west-1 in 2025."
  type        = map(number)
  default = {
    "m6i.large"                        = 0.107
    "GB of gp3"                        = 0.00012
    "public IPv4 address"              = 0.005
    "NAT gateway"                      = 0.048
    "interface endpoint, for one zone" = 0.011
  }
}
