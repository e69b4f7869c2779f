# A cluster on EC2 from nothing: a VPC, a controller in it, and burstd, which buys nodes there for jobs.

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
  # In the public subnet, known beforehand: burstd.conf has it.
  address = cidrhost(var.public_subnet, 10)
}

module "network" {
  source        = "../../modules/network/aws"
  name          = var.cluster
  region        = var.region
  cidr          = var.cidr
  subnets       = var.subnets
  public_subnet = var.public_subnet
  nat           = var.nat
  admin_cidrs   = var.admin_cidrs
  egress_cidrs  = var.nat ? ["0.0.0.0/0"] : []
  tags          = local.tags
}

module "notices" {
  source = "../../modules/notices/aws"
  name   = "${var.cluster}-burstd"
  tags   = local.tags
}

module "iam" {
  source       = "../../modules/iam/aws"
  name         = var.cluster
  cluster_uuid = module.setup.cluster_uuid
  notices      = true
  queue_arn    = module.notices.queue_arn
  tags         = local.tags
}

module "secrets" {
  source        = "../../modules/secrets/aws"
  name          = var.cluster
  region        = var.region
  secret        = "slurm/${var.cluster}/node"
  role_name     = module.iam.role_name
  recovery_days = var.recovery_days
  tags          = local.tags
}

module "monitoring" {
  source  = "../../modules/monitoring"
  cluster = var.cluster
}

module "conf" {
  source  = "../../modules/conf"
  cluster = var.cluster
  top     = module.monitoring.top
  secrets = module.secrets.secrets
  nodes   = module.setup.nodes
  clouds = {
    ec2 = merge({ driver = "aws", image = var.node_image }, module.network.provider, module.iam.provider, module.notices.provider)
  }
  pools = { for name, pool in var.pools : name => merge({ provider = "ec2", region = var.region }, pool) }
}

module "setup" {
  source           = "../../modules/controller/cloud-init"
  cluster          = var.cluster
  address          = local.address
  packages         = var.packages
  burstd_conf      = module.conf.burstd_conf
  debian_packages  = module.monitoring.debian_packages
  files            = module.monitoring.files
  metadata_service = true
  srun_port_range  = module.network.srun_port_range
}

module "controller" {
  source           = "../../modules/controller/aws"
  name             = "${var.cluster}-controller"
  image            = var.controller_image
  type             = var.controller_type
  subnet_id        = module.network.public_subnet_id
  address          = local.address
  public_address   = true
  security_groups  = [module.network.controller_group]
  instance_profile = module.iam.instance_profile
  key_name         = var.key_name
  user_data        = module.setup.user_data
  tags             = local.tags
}

# Destroyed first: no node of burstd's is left.
module "guard" {
  source     = "../../modules/guard"
  reach      = coalesce(var.reach, "ssh admin@${module.controller.public_ip} sudo")
  depends_on = [module.network, module.notices, module.iam, module.secrets, module.controller]
}
