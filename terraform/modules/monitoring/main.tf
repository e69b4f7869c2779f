# Prometheus beside burstd: what it scrapes, and the alerts of docs/monitoring.md.  burstd's /metrics listens on loopback
# only, so this Prometheus runs on burstd's host; it can send on what it has to one of yours (remote_write).  No provider.

terraform {
  required_version = ">= 1.6"
}

locals {
  rules = merge({
    for name in ["burstd-alerts.yml", "burstd-recording.yml"] : name => file("${path.module}/../../../scripts/monitoring/rules/${name}")
  }, var.rules)
  config = yamlencode(merge(
    {
      global         = { scrape_interval = var.scrape_interval, external_labels = { cluster = var.cluster } }
      rule_files     = [for name in keys(local.rules) : "/etc/prometheus/rules/${name}"]
      scrape_configs = concat([{ job_name = "burstd", static_configs = [{ targets = [var.listen] }] }], var.scrape_configs)
    },
    var.remote_write == null ? {} : { remote_write = [var.remote_write] },
    length(var.alertmanagers) == 0 ? {} : { alerting = { alertmanagers = [{ static_configs = [{ targets = var.alertmanagers }] }] } },
  ))
}
