variable "name" {
  type    = string
  default = "burst-controller"
}

variable "image" {
  description = "AMI of Debian 12 or 13."
  type        = string
}

variable "type" {
  description = "4 GiB of memory or more: docs/operations.md."
  type        = string
  default     = "m6i.large"
}

variable "subnet_id" {
  type = string
}

variable "address" {
  description = "Private address, in that subnet: the same as of modules/controller/cloud-init."
  type        = string
}

variable "security_groups" {
  description = "[module.network.controller_group]"
  type        = list(string)
}

variable "instance_profile" {
  description = "Output of modules/iam/aws with burstd = \"instance\"."
  type        = string
}

variable "user_data" {
  description = "Output of modules/controller/cloud-init."
  type        = string
}

variable "key_name" {
  description = "SSH key pair."
  type        = string
  default     = null
}

variable "public_address" {
  description = "For admins, by admin_cidrs of modules/network/aws."
  type        = bool
  default     = false
}

variable "disk_gb" {
  type    = number
  default = 50
}

variable "tags" {
  type    = map(string)
  default = {}
}
