variables {
  cluster = "falcon"
}

run "burstd_is_scraped_on_loopback_and_has_its_alerts" {
  assert {
    condition     = yamldecode(output.files["/etc/prometheus/prometheus.yml"]).scrape_configs[0].static_configs[0].targets[0] == output.top.listen
    error_message = "It scrapes another address than burstd listens on."
  }
  assert {
    condition     = contains(flatten([for g in yamldecode(output.files["/etc/prometheus/rules/burstd-alerts.yml"]).groups : [for r in g.rules : r.alert]]), "BurstdPoolClosed")
    error_message = "An alert is missing."
  }
  assert {
    condition     = !contains(keys(yamldecode(output.files["/etc/prometheus/prometheus.yml"])), "remote_write")
    error_message = "It sends to nobody, unless it is told."
  }
}

run "more_is_sent_on_and_judged" {
  variables {
    remote_write  = { url = "https://metrics.example.com/api/v1/write" }
    alertmanagers = ["alerts.example.com:9093"]
    rules         = { "site.yml" = "groups: []\n" }
  }
  assert {
    condition     = yamldecode(output.files["/etc/prometheus/prometheus.yml"]).remote_write[0].url == "https://metrics.example.com/api/v1/write"
    error_message = "remote_write"
  }
  assert {
    condition     = yamldecode(output.files["/etc/prometheus/prometheus.yml"]).rule_files == ["/etc/prometheus/rules/burstd-alerts.yml", "/etc/prometheus/rules/burstd-recording.yml", "/etc/prometheus/rules/site.yml"]
    error_message = "rule_files"
  }
}
