run "six_rules" {
  assert {
    condition     = length(jsondecode(output.access_rules)) == 6
    error_message = output.access_rules
  }
}

run "without_the_console_no_action" {
  variables {
    console = false
  }
  assert {
    condition     = length(jsondecode(output.access_rules)) == 5 && !strcontains(output.access_rules, "/action")
    error_message = output.access_rules
  }
}

run "where_the_project_is_in_the_path" {
  variables {
    project_in_path = "p1"
  }
  assert {
    condition     = alltrue([for r in jsondecode(output.access_rules) : startswith(r.path, "/v2.1/p1/")])
    error_message = output.access_rules
  }
}
