variable "cluster" {
  description = "ClusterName of slurm.conf; the name of all that is made."
  type        = string
  default     = "falcon"
}

variable "auth_url" {
  description = "Keystone's, https: $OS_AUTH_URL."
  type        = string
}

variable "region" {
  type    = string
  default = "RegionOne"
}

variable "currency" {
  description = "Of the prices in `pools`: Nova has none."
  type        = string
  default     = "EUR"
}

variable "application_credential" {
  description = "Its id: output `make_credential` makes it, and you put its secret into /etc/burstd/openstack.secret on the controller."
  type        = string
}

variable "project_in_path" {
  description = "modules/iam/openstack."
  type        = string
  default     = null
}

variable "cidr" {
  type    = string
  default = "10.61.0.0/20"
}

variable "dns" {
  type    = list(string)
  default = []
}

variable "external_network_id" {
  type    = string
  default = null
}

variable "floating_pool" {
  description = "Name of the external network, for the controller's address. Null: none."
  type        = string
  default     = null
}

variable "admin_cidrs" {
  type = set(string)
}

variable "egress_cidrs" {
  description = "What jobs may reach besides."
  type        = set(string)
  default     = []
}

variable "key_name" {
  type    = string
  default = null
}

variable "controller_image" {
  description = "Id of an image of Debian 12 or 13."
  type        = string
}

variable "controller_type" {
  description = "A flavor's name."
  type        = string
}

variable "node_image" {
  description = "Id of the nodes' image: docs/bootstrap.md says what is in it."
  type        = string
}

variable "packages" {
  description = "burstd's, for the controller: the URL and SHA-256 of each."
  type        = list(object({ url = string, sha256 = string }))
}

variable "secrets" {
  description = "Section secrets of burstd.conf."
  type        = any
  default     = { driver = "file", dir = "/var/lib/burstd/keys", name = "bundle", release = "broker" }
}

variable "pools" {
  description = "Sections pool of burstd.conf by title, without provider and region; each with its price."
  type        = any
}

variable "reach" {
  description = "modules/guard: how a command is run as root on the controller. Null: ssh debian@..., as on Debian's images."
  type        = string
  default     = null
}
