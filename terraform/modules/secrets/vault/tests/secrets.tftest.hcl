mock_provider "vault" {
  mock_resource "vault_approle_auth_backend_role" {
    defaults = { role_id = "1098b2ba-9479-5b5a-662d-19b6810b9b91" }
  }
}

variables {
  address      = ["https://v1.example.com:8200", "https://v2.example.com:8200"]
  burstd_cidrs = ["192.0.2.10/32"]
}

run "wrap_forbids_to_read_the_keys" {
  assert {
    condition     = strcontains(output.policy, "path \"kv/data/slurm/prod/node\"     { capabilities = [\"read\"] min_wrapping_ttl = \"15s\"")
    error_message = output.policy
  }
  assert {
    condition     = !strcontains(output.policy, "lookup-accessor") && !strcontains(output.policy, "update\", \"")
    error_message = output.policy
  }
  assert {
    condition     = output.secrets.address == "https://v1.example.com:8200,https://v2.example.com:8200" && output.secrets.role_id == "1098b2ba-9479-5b5a-662d-19b6810b9b91"
    error_message = jsonencode(output.secrets)
  }
  assert {
    condition     = vault_approle_auth_backend_role.burstd.token_bound_cidrs == toset(["192.0.2.10/32"])
    error_message = "Its credential is good elsewhere."
  }
}

run "user_data_looks_tokens_up" {
  variables {
    release = "user-data"
    mount   = "slurm"
    secret  = "prod"
  }
  assert {
    condition     = strcontains(output.policy, "lookup-accessor") && strcontains(output.policy, "path \"slurm/data/prod\"")
    error_message = output.policy
  }
}

run "plain_http_is_refused" {
  command = plan
  variables {
    address = ["http://v1.example.com:8200"]
  }
  expect_failures = [var.address]
}
