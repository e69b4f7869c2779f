# The cluster's keys in Vault or OpenBao, for a cluster that is there: engine, policies, roles, and burstd.conf's section.

terraform {
  required_version = ">= 1.6"
  required_providers {
    vault = {
      source  = "hashicorp/vault"
      version = ">= 4.0"
    }
  }
}

# VAULT_ADDR, VAULT_TOKEN and VAULT_CACERT say which one, and who you are.
provider "vault" {}

module "secrets" {
  source       = "../../modules/secrets/vault"
  address      = var.address
  ca_file      = var.ca_file
  mount        = var.mount
  make_mount   = var.make_mount
  make_auth    = var.make_auth
  secret       = var.secret
  release      = var.release
  burstd_cidrs = var.burstd_cidrs
}

module "conf" {
  source  = "../../modules/conf"
  cluster = var.cluster
  secrets = module.secrets.secrets
}
