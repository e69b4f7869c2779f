# What makes a fresh Debian 12 or 13 the head node of a cluster: slurmctld, slurmdbd, munge and burstd, by cloud-init, for any
# cloud.  No provider.  There is no secret in it: munge's key and the database's password are made on the machine.

terraform {
  required_version = ">= 1.6"
}

# Made once, and the same from then on: burstd finds its instances by it.
resource "terraform_data" "uuid" {
  input = uuid()
  lifecycle {
    ignore_changes = [input]
  }
}

locals {
  uuid = var.cluster_uuid != null ? var.cluster_uuid : terraform_data.uuid.output
  slurm_conf = templatefile("${path.module}/slurm.conf.tftpl", {
    cluster    = var.cluster
    host       = var.hostname
    address    = var.address
    srun_ports = var.srun_port_range
    accounting = var.accounting
  })
  setup = templatefile("${path.module}/setup.sh.tftpl", {
    packages   = var.packages
    debian     = join(" ", concat(["slurmctld", "slurm-client", "munge", "ca-certificates"], anytrue([for p in var.packages : startswith(p.url, "https:")]) ? ["curl"] : [], var.accounting ? ["slurmdbd", "mariadb-server"] : [], var.debian_packages))
    cluster    = var.cluster
    accounting = var.accounting
    metadata   = var.metadata_service
  })
  files = merge({
    "/etc/burstd/burstd.conf"      = { content = var.burstd_conf, mode = "0644" }
    "/etc/burst-setup/slurm.conf"  = { content = local.slurm_conf, mode = "0644" }
    "/etc/burst-setup/uuid"        = { content = "${local.uuid}\n", mode = "0644" }
    "/usr/local/sbin/burst-setup"  = { content = local.setup, mode = "0755" }
    "/usr/local/sbin/burst-bundle" = { content = file("${path.module}/bundle.sh"), mode = "0755" }
  }, { for path, text in var.files : path => { content = text, mode = "0644" } })
}

locals {
  # Of the address alone, since burstd.conf is made of it.
  nodes = {
    listen      = "0.0.0.0:${var.burstd_port}"
    url         = ["https://${var.address}:${var.burstd_port}"]
    conf_server = ["${var.address}:6817"]
  }
}
