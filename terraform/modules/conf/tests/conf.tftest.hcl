variables {
  cluster = "falcon"
  clouds  = { ec2 = { driver = "aws", region = "eu-west-1", image = "ami-1", instance_profile = null, concurrency = 8, check_address = false } }
  pools = {
    a = { nodes = "a-[1-4]", provider = "ec2", type = "t", region = "eu-west-1", max_nodes = 4, max_rate = "12.5" }
    b = { nodes = "b-[1-4]", provider = "ec2", type = "t", region = "eu-west-1", max_nodes = 4, max_rate = 20 }
  }
}

run "options_of_each_kind_are_written_as_burstd_reads_them" {
  variables {
    nodes = { listen = "0.0.0.0:8443", url = ["https://a:8443", "https://b:8443"], conf_server = ["a:6817"] }
  }
  assert {
    condition     = strcontains(output.burstd_conf, "cluster = \"falcon\"\n") && strcontains(output.burstd_conf, "currency = \"USD\"\n")
    error_message = "The top is not there."
  }
  assert {
    condition     = output.sections["nodes"] == "nodes {\n\tconf_server = {\"a:6817\"}\n\tlisten = \"0.0.0.0:8443\"\n\turl = {\"https://a:8443\", \"https://b:8443\"}\n}\n"
    error_message = output.sections["nodes"]
  }
  assert {
    condition     = output.sections["provider \"ec2\""] == "provider \"ec2\" {\n\tcheck_address = false\n\tconcurrency = 8\n\tdriver = \"aws\"\n\timage = \"ami-1\"\n\tregion = \"eu-west-1\"\n}\n"
    error_message = output.sections["provider \"ec2\""]
  }
  assert {
    condition     = output.at_most_per_hour == 32.5
    error_message = "max_rate of all pools is not added up."
  }
}

run "what_is_not_given_has_no_section" {
  assert {
    condition     = !strcontains(output.burstd_conf, "secrets {") && !strcontains(output.burstd_conf, "nodes {")
    error_message = output.burstd_conf
  }
}

run "a_pool_without_a_limit_of_money_is_refused" {
  command = plan
  variables {
    pools = { a = { nodes = "a", provider = "ec2", type = "t", region = "r", max_nodes = 4 } }
  }
  expect_failures = [var.pools]
}

run "what_burstd_would_expand_is_refused" {
  command = plan
  variables {
    top = { log_level = "$${HOME}" }
  }
  expect_failures = [output.burstd_conf]
}
