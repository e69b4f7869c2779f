# Your own cluster, whose burstd buys nodes on EC2: a VPC with a VPN to the site, and no controller in it.  slurmctld and
# nodes reach each other by their private addresses through the VPN.

terraform {
  required_version = ">= 1.6"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.60"
    }
  }
}

provider "aws" {
  region = var.region
}

locals {
  tags = { cluster = var.cluster }
}

module "network" {
  source           = "../../modules/network/aws"
  name             = var.cluster
  region           = var.region
  cidr             = var.cidr
  subnets          = var.subnets
  controller_here  = false
  controller_cidrs = var.controller_cidrs
  submit_cidrs     = var.submit_cidrs
  vault_cidrs      = var.vault_cidrs
  egress_cidrs     = var.egress_cidrs
  srun_ports       = var.srun_ports
  site_cidrs       = var.site_cidrs
  tags             = local.tags
}

# Its pre-shared keys are AWS's, and in the state: keep that where your other secrets are.
resource "aws_customer_gateway" "site" {
  type       = "ipsec.1"
  ip_address = var.site_gateway
  bgp_asn    = var.site_asn
  tags       = local.tags
}

resource "aws_vpn_connection" "site" {
  vpn_gateway_id      = module.network.vpn_gateway_id
  customer_gateway_id = aws_customer_gateway.site.id
  type                = "ipsec.1"
  static_routes_only  = true
  tags                = local.tags
}

resource "aws_vpn_connection_route" "site" {
  for_each               = var.site_cidrs
  destination_cidr_block = each.value
  vpn_connection_id      = aws_vpn_connection.site.id
}

module "notices" {
  source = "../../modules/notices/aws"
  name   = "${var.cluster}-burstd"
  tags   = local.tags
}

module "iam" {
  source       = "../../modules/iam/aws"
  name         = var.cluster
  burstd       = "user"
  cluster_uuid = var.cluster_uuid
  notices      = true
  queue_arn    = module.notices.queue_arn
  tags         = local.tags
}

module "conf" {
  source  = "../../modules/conf"
  cluster = var.cluster
  secrets = var.secrets
  nodes   = var.nodes
  clouds = {
    ec2 = merge({ driver = "aws", image = var.node_image, credential_file = "/etc/burstd/ec2.key" },
    module.network.provider, module.iam.provider, module.notices.provider)
  }
  pools = { for name, pool in var.pools : name => merge({ provider = "ec2", region = var.region }, pool) }
}

# Destroyed first: no node of burstd's is left.
module "guard" {
  source     = "../../modules/guard"
  reach      = var.reach
  depends_on = [module.network, module.notices, module.iam, aws_vpn_connection.site]
}
