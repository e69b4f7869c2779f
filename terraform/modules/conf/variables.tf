variable "cluster" {
  description = "ClusterName of slurm.conf."
  type        = string
}

variable "currency" {
  description = "Of every amount in burstd.conf, as in ISO 4217. EC2's prices of spot instances are in USD."
  type        = string
  default     = "USD"
}

variable "top" {
  description = "Options outside of all sections, such as { listen = \"127.0.0.1:9818\" }."
  type        = any
  default     = {}
}

variable "slurm" {
  description = "Section slurm."
  type        = any
  default     = {}
}

variable "secrets" {
  description = "Section secrets: output `secrets` of modules/secrets/*."
  type        = any
  default     = {}
}

variable "nodes" {
  description = "Section nodes: output `nodes` of modules/controller/*, or your own."
  type        = any
  default     = {}
}

variable "clouds" {
  description = "Sections provider of burstd.conf by title: merge({ driver = ..., image = ... }, module.network.provider, module.iam.provider)."
  type        = any
  default     = {}
}

variable "pools" {
  description = "Sections pool by title. Each needs max_nodes and max_rate, the most that it may cost per hour."
  type        = any
  default     = {}
  validation {
    condition     = alltrue([for p in values(var.pools) : can(tonumber(p.max_rate)) && can(tonumber(p.max_nodes))])
    error_message = "Each pool needs max_nodes, and max_rate in numbers: it is what a mistake can cost per hour."
  }
}
