# The cluster's keys in Vault or OpenBao: engine, policies and roles as docs/secrets.md has them.  Neither the keys nor a
# secret_id are made by this, since they would be in the state: the outputs `put` and `enroll` are the commands.

terraform {
  required_version = ">= 1.6"
  required_providers {
    vault = {
      source  = "hashicorp/vault"
      version = ">= 4.0"
    }
  }
}

locals {
  values = { mount = var.mount, name = var.secret }
  bound  = length(var.burstd_cidrs) > 0 ? tolist(var.burstd_cidrs) : null
}

resource "vault_mount" "kv" {
  count       = var.make_mount ? 1 : 0
  path        = var.mount
  type        = "kv"
  options     = { version = "2" }
  description = "Keys of Slurm clusters"
}

resource "vault_auth_backend" "approle" {
  count = var.make_auth ? 1 : 0
  type  = "approle"
  path  = var.auth_mount
}

resource "vault_policy" "burstd" {
  name   = var.role
  policy = templatefile("${path.module}/policy-${var.release}.hcl.tftpl", local.values)
}

resource "vault_approle_auth_backend_role" "burstd" {
  backend               = var.auth_mount
  role_name             = var.role
  token_policies        = [vault_policy.burstd.name]
  token_period          = 3600
  secret_id_ttl         = var.secret_id_days * 86400
  secret_id_bound_cidrs = local.bound
  token_bound_cidrs     = local.bound
  depends_on            = [vault_auth_backend.approle]
}

# --- for `burstctl secrets rotate` -----------------------------------------------------------------------------------

resource "vault_policy" "rotate" {
  count  = var.rotation ? 1 : 0
  name   = "${var.role}-rotate"
  policy = templatefile("${path.module}/policy-rotate.hcl.tftpl", local.values)
}

resource "vault_approle_auth_backend_role" "rotate" {
  count                 = var.rotation ? 1 : 0
  backend               = var.auth_mount
  role_name             = "${var.role}-rotate"
  token_policies        = [vault_policy.rotate[0].name]
  token_ttl             = 900
  secret_id_ttl         = 86400
  secret_id_bound_cidrs = local.bound
  token_bound_cidrs     = local.bound
  depends_on            = [vault_auth_backend.approle]
}

# Who writes must say which version he has read. Nothing is deleted with it.
resource "vault_generic_endpoint" "cas" {
  count                = var.rotation ? 1 : 0
  path                 = "${var.mount}/metadata/${var.secret}"
  data_json            = jsonencode({ cas_required = true })
  disable_read         = true
  disable_delete       = true
  ignore_absent_fields = true
  depends_on           = [vault_mount.kv]
}
