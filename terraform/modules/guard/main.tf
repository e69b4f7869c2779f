# What burstd has bought is not in any state file: `destroy` would leave it, or hang for the subnets that it is in.  So this
# is destroyed before all else (depends_on of every other module), and has burstd terminate its nodes first.  Until the
# last one is gone nothing else is destroyed.  No provider.

terraform {
  required_version = ">= 1.6"
}

resource "terraform_data" "nodes" {
  # A destroy-time provisioner sees nothing but what is in here.
  input = {
    reach  = var.reach
    script = abspath("${path.module}/empty.sh")
    wait   = var.wait
  }

  provisioner "local-exec" {
    when       = destroy
    on_failure = fail
    command    = self.input.reach == "none" ? "true" : "${self.input.reach} sh -s ${self.input.wait} <${self.input.script}"
  }
}
