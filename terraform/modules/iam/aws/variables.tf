variable "name" {
  description = "Roles are NAME-burstd and NAME-node."
  type        = string
  default     = "burst"
}

variable "cluster_uuid" {
  description = "The cluster's uuid: /var/lib/burstd/uuid on burstd's host, or output `cluster_uuid` of modules/controller/cloud-init. burstd may terminate what has it in the tag burstd-cluster, and nothing else."
  type        = string
  validation {
    condition     = can(regex("^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", var.cluster_uuid))
    error_message = "A uuid in lower case, as in /var/lib/burstd/uuid."
  }
}

variable "burstd" {
  description = "Who has the policy: \"instance\", the role of an EC2 instance; \"role\", one that trusted_arns may assume (option `role` of the provider); \"user\", for a host that is not on EC2, whose key you make."
  type        = string
  default     = "instance"
  validation {
    condition     = contains(["instance", "role", "user"], var.burstd)
    error_message = "One of instance, role, user."
  }
}

variable "trusted_arns" {
  description = "With burstd = \"role\": who may assume it."
  type        = list(string)
  default     = []
}

variable "notices" {
  description = "burstd reads a queue of notices."
  type        = bool
  default     = false
}

variable "queue_arn" {
  description = "With notices: output `queue_arn` of modules/notices/aws."
  type        = string
  default     = null
}

variable "placement_groups" {
  description = "A pool or offer has a `fabric`: burstd makes placement groups, and drops its own."
  type        = bool
  default     = true
}

variable "node_role" {
  description = "Make a role and an instance profile for nodes. Most nodes need none."
  type        = bool
  default     = false
}

variable "node_policies" {
  description = "With node_role: ARNs of what jobs may do, such as reading a bucket. Never what reads the cluster's keys."
  type        = map(string)
  default     = {}
}

variable "node_role_arn" {
  description = "The role of an instance profile of yours, for nodes."
  type        = string
  default     = null
}

variable "tags" {
  type    = map(string)
  default = {}
}
