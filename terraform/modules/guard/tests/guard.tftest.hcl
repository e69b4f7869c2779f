run "who_says_nothing_is_asked" {
  command = plan
  variables {
    reach = " "
  }
  expect_failures = [var.reach]
}

run "the_command_is_shown" {
  command = plan
  variables {
    reach = "ssh ctl sudo"
  }
  assert {
    condition     = startswith(output.command, "ssh ctl sudo sh -s 900 </") && endswith(output.command, "/guard/empty.sh")
    error_message = output.command
  }
}

run "none_is_none" {
  variables {
    reach = "none"
  }
  assert {
    condition     = output.command == ""
    error_message = output.command
  }
}
