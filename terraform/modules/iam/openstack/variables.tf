variable "name" {
  description = "Of the application credential."
  type        = string
  default     = "burstd"
}

variable "role" {
  description = "Of the project, that it takes."
  type        = string
  default     = "member"
}

variable "project_in_path" {
  description = "The project's id, where Nova's endpoint in the catalog ends with it. Null: it does not."
  type        = string
  default     = null
}

variable "console" {
  description = "burstd may read the console of a server that does not boot. The same path allows other actions, too."
  type        = bool
  default     = true
}
