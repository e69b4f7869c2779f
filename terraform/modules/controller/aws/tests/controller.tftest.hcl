mock_provider "aws" {}

variables {
  image            = "ami-1"
  subnet_id        = "subnet-1"
  address          = "10.60.255.10"
  security_groups  = ["sg-1"]
  instance_profile = "falcon-burstd"
  user_data        = "#cloud-config\n"
}

run "its_role_is_for_its_own_processes" {
  assert {
    condition     = aws_instance.this.metadata_options[0].http_tokens == "required" && aws_instance.this.metadata_options[0].http_put_response_hop_limit == 1
    error_message = "The metadata service answers others."
  }
  assert {
    condition     = aws_instance.this.root_block_device[0].encrypted
    error_message = "munge's key is on a disk that is not encrypted."
  }
}

run "another_burstd_conf_does_not_make_it_anew" {
  variables {
    user_data = "#cloud-config\nhostname: x\n"
    image     = "ami-2"
  }
  assert {
    condition     = aws_instance.this.ami == "ami-1" && aws_instance.this.user_data != "#cloud-config\nhostname: x\n"
    error_message = "The journal would be gone."
  }
}

run "user_data_that_ec2_refuses_is_refused_before" {
  command = plan
  variables {
    user_data = join("", [for k in range(1000) : "01234567890123456789"])
  }
  expect_failures = [aws_instance.this]
}
