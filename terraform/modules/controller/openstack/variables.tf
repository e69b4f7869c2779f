variable "name" {
  type    = string
  default = "burst-controller"
}

variable "image" {
  description = "Id of an image of Debian 12 or 13, with cloud-init."
  type        = string
}

variable "type" {
  description = "A flavor's name, with 4 GiB of memory or more."
  type        = string
}

variable "network_id" {
  type = string
}

variable "subnet_id" {
  type = string
}

variable "address" {
  description = "In that subnet: the same as of modules/controller/cloud-init."
  type        = string
}

variable "security_group_ids" {
  description = "[module.network.controller_group_id]"
  type        = list(string)
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

variable "floating_pool" {
  description = "The external network that a floating address is of. Null: none."
  type        = string
  default     = null
}
