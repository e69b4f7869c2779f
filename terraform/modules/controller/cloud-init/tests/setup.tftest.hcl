variables {
  cluster     = "falcon"
  address     = "10.60.255.10"
  burstd_conf = "cluster = \"falcon\"\n"
  packages    = [{ url = "https://p.example.com/burstd_0.1-1_amd64.deb", sha256 = "0000000000000000000000000000000000000000000000000000000000000000" }]
}

run "a_new_cluster_has_a_uuid_of_its_own" {
  assert {
    condition     = can(regex("^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", output.cluster_uuid))
    error_message = output.cluster_uuid
  }
}

# A new one would not be known in a plan.
run "and_keeps_it" {
  command = plan
  assert {
    condition     = can(regex("^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", output.cluster_uuid))
    error_message = "The next apply would have another uuid, and burstd's instances would be foreign."
  }
}

run "one_that_is_there_is_taken" {
  variables {
    cluster_uuid = "0a1b2c3d-0000-4000-8000-001122334455"
  }
  assert {
    condition     = output.cluster_uuid == "0a1b2c3d-0000-4000-8000-001122334455"
    error_message = output.cluster_uuid
  }
}

run "the_files_of_the_machine" {
  assert {
    condition     = contains([for f in yamldecode(output.user_data).write_files : f.content if f.path == "/etc/burstd/burstd.conf"], "cluster = \"falcon\"\n")
    error_message = output.user_data
  }
  assert {
    condition     = startswith(output.user_data, "#cloud-config\n") && length(output.user_data) < 12000
    error_message = "EC2 takes 16 KiB, and burstd.conf is to have some."
  }
  assert {
    condition     = output.nodes.url == ["https://10.60.255.10:8443"] && output.nodes.conf_server == ["10.60.255.10:6817"]
    error_message = jsonencode(output.nodes)
  }
}

run "a_package_has_its_sum" {
  command = plan
  variables {
    packages = [{ url = "https://p.example.com/burstd.deb", sha256 = "?" }]
  }
  expect_failures = [var.packages]
}

run "a_package_does_not_come_by_http" {
  command = plan
  variables {
    packages = [{ url = "http://p.example.com/burstd.deb", sha256 = "0000000000000000000000000000000000000000000000000000000000000000" }]
  }
  expect_failures = [var.packages]
}
