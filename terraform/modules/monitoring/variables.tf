variable "cluster" {
  description = "Label of all that is sent on."
  type        = string
}

variable "listen" {
  description = "burstd's `listen`: loopback and a port."
  type        = string
  default     = "127.0.0.1:9818"
}

variable "scrape_interval" {
  type    = string
  default = "15s"
}

variable "scrape_configs" {
  description = "More of them, such as that of a Slurm exporter."
  type        = any
  default     = []
}

variable "rules" {
  description = "More files of alert rules: name and text."
  type        = map(string)
  default     = {}
}

variable "alertmanagers" {
  description = "HOST:PORT of each."
  type        = list(string)
  default     = []
}

variable "remote_write" {
  description = "An entry of Prometheus's remote_write, such as { url = \"https://...\", sigv4 = { region = \"eu-west-1\" } }. A password belongs into password_file. Null: none."
  type        = any
  default     = null
}
