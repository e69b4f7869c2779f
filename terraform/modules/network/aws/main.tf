# Where burstd's instances live on EC2: private subnets, one for each zone, and security groups that let in what
# docs/bootstrap.md asks for ("Ports") and docs/slurm.md ("Nodes in another network"), and nothing else.

terraform {
  required_version = ">= 1.6"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.60"
    }
  }
}

locals {
  port   = jsondecode(file("${path.module}/../ports.json"))
  own    = var.vpc_id == null
  vpc_id = local.own ? aws_vpc.this[0].id : var.vpc_id
  tags   = merge(var.tags, { Name = var.name })
  zones  = sort(keys(var.subnets))
  public = var.public_subnet != null
}

resource "aws_vpc" "this" {
  count                = local.own ? 1 : 0
  cidr_block           = var.cidr
  enable_dns_support   = true
  enable_dns_hostnames = true
  tags                 = local.tags
}

# What has no group of its own is let through nowhere.
resource "aws_default_security_group" "closed" {
  count  = local.own ? 1 : 0
  vpc_id = local.vpc_id
  tags   = local.tags
}

resource "aws_subnet" "private" {
  for_each          = var.subnets
  vpc_id            = local.vpc_id
  availability_zone = each.key
  cidr_block        = each.value
  tags              = merge(local.tags, { Name = "${var.name}-${each.key}" })
}

resource "aws_route_table" "private" {
  vpc_id = local.vpc_id
  tags   = merge(local.tags, { Name = "${var.name}-private" })
}

resource "aws_route_table_association" "private" {
  for_each       = var.subnets
  subnet_id      = aws_subnet.private[each.key].id
  route_table_id = aws_route_table.private.id
}

# The site, behind a VPN whose connection is your own: examples/aws-hybrid.
resource "aws_vpn_gateway" "site" {
  count  = length(var.site_cidrs) > 0 ? 1 : 0
  vpc_id = local.vpc_id
  tags   = local.tags
}

resource "aws_route" "site" {
  for_each               = var.site_cidrs
  route_table_id         = aws_route_table.private.id
  destination_cidr_block = each.value
  gateway_id             = aws_vpn_gateway.site[0].id
}

# --- a way out, if there is to be one --------------------------------------------------------------------------------

resource "aws_internet_gateway" "this" {
  count  = local.public ? 1 : 0
  vpc_id = local.vpc_id
  tags   = local.tags
}

resource "aws_subnet" "public" {
  count             = local.public ? 1 : 0
  vpc_id            = local.vpc_id
  availability_zone = local.zones[0]
  cidr_block        = var.public_subnet
  tags              = merge(local.tags, { Name = "${var.name}-public" })
}

resource "aws_route_table" "public" {
  count  = local.public ? 1 : 0
  vpc_id = local.vpc_id
  tags   = merge(local.tags, { Name = "${var.name}-public" })
}

resource "aws_route" "public" {
  count                  = local.public ? 1 : 0
  route_table_id         = aws_route_table.public[0].id
  destination_cidr_block = "0.0.0.0/0"
  gateway_id             = aws_internet_gateway.this[0].id
}

resource "aws_route_table_association" "public" {
  count          = local.public ? 1 : 0
  subnet_id      = aws_subnet.public[0].id
  route_table_id = aws_route_table.public[0].id
}

resource "aws_eip" "nat" {
  count  = var.nat ? 1 : 0
  domain = "vpc"
  tags   = local.tags
}

resource "aws_nat_gateway" "this" {
  count         = var.nat ? 1 : 0
  allocation_id = aws_eip.nat[0].id
  subnet_id     = aws_subnet.public[0].id
  tags          = local.tags
  depends_on    = [aws_internet_gateway.this]
  lifecycle {
    precondition {
      condition     = local.public
      error_message = "nat = true needs a public_subnet for the gateway."
    }
  }
}

resource "aws_route" "nat" {
  count                  = var.nat ? 1 : 0
  route_table_id         = aws_route_table.private.id
  destination_cidr_block = "0.0.0.0/0"
  nat_gateway_id         = aws_nat_gateway.this[0].id
}

# --- AWS's services without a way out --------------------------------------------------------------------------------

resource "aws_vpc_endpoint" "interface" {
  for_each            = var.endpoints
  vpc_id              = local.vpc_id
  service_name        = "com.amazonaws.${var.region}.${each.value}"
  vpc_endpoint_type   = "Interface"
  subnet_ids          = [for z in local.zones : aws_subnet.private[z].id]
  security_group_ids  = [aws_security_group.endpoints[0].id]
  private_dns_enabled = true
  tags                = merge(local.tags, { Name = "${var.name}-${each.value}" })
}

# Costs nothing.
resource "aws_vpc_endpoint" "s3" {
  count             = var.s3_endpoint ? 1 : 0
  vpc_id            = local.vpc_id
  service_name      = "com.amazonaws.${var.region}.s3"
  vpc_endpoint_type = "Gateway"
  route_table_ids   = [aws_route_table.private.id]
  tags              = merge(local.tags, { Name = "${var.name}-s3" })
}

# --- groups of your own, for pools whose `fabric` names one ----------------------------------------------------------

resource "aws_placement_group" "this" {
  for_each = var.placement_groups
  name     = each.value
  strategy = "cluster"
  tags     = local.tags
}
