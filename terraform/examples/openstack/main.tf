# A cluster in an OpenStack project: a network, a controller in it, and burstd, which buys servers there for jobs.  The keys
# are in a file on the controller, which hands them to nodes; for Vault take the section of examples/vault-only.

terraform {
  required_version = ">= 1.6"
  required_providers {
    openstack = {
      source  = "terraform-provider-openstack/openstack"
      version = ">= 2.0"
    }
  }
}

# As your openrc says (OS_...), or OS_CLOUD.
provider "openstack" {}

locals {
  address = cidrhost(var.cidr, 10)
}

module "network" {
  source              = "../../modules/network/openstack"
  name                = var.cluster
  cidr                = var.cidr
  dns                 = var.dns
  external_network_id = var.external_network_id
  admin_cidrs         = var.admin_cidrs
  egress_cidrs        = var.egress_cidrs
}

module "rights" {
  source          = "../../modules/iam/openstack"
  name            = "${var.cluster}-burstd"
  project_in_path = var.project_in_path
}

module "monitoring" {
  source  = "../../modules/monitoring"
  cluster = var.cluster
}

module "conf" {
  source   = "../../modules/conf"
  cluster  = var.cluster
  currency = var.currency
  top      = module.monitoring.top
  secrets  = var.secrets
  nodes    = module.setup.nodes
  clouds = {
    cloud = merge({
      driver                 = "openstack"
      url                    = var.auth_url
      region                 = var.region
      application_credential = var.application_credential
      credential_file        = "/etc/burstd/openstack.secret"
      image                  = var.node_image
    }, module.network.provider)
  }
  pools = { for name, pool in var.pools : name => merge({ provider = "cloud", region = var.region }, pool) }
}

module "setup" {
  source          = "../../modules/controller/cloud-init"
  cluster         = var.cluster
  address         = local.address
  packages        = var.packages
  burstd_conf     = module.conf.burstd_conf
  debian_packages = module.monitoring.debian_packages
  files           = module.monitoring.files
  srun_port_range = module.network.srun_port_range
}

module "controller" {
  source             = "../../modules/controller/openstack"
  name               = "${var.cluster}-controller"
  image              = var.controller_image
  type               = var.controller_type
  network_id         = module.network.network_id
  subnet_id          = module.network.subnet_id
  address            = local.address
  security_group_ids = [module.network.controller_group_id]
  key_name           = var.key_name
  floating_pool      = var.floating_pool
  user_data          = module.setup.user_data
}

# Destroyed first: no node of burstd's is left.
module "guard" {
  source     = "../../modules/guard"
  reach      = coalesce(var.reach, "ssh debian@${coalesce(module.controller.floating_ip, local.address)} sudo")
  depends_on = [module.network, module.controller]
}
