output "burstd_conf" {
  description = "The whole of /etc/burstd/burstd.conf. There is no secret in it."
  value       = join("\n", [for name in local.order : local.section[name]])
  precondition {
    condition     = !can(regex("\\\\|[$][{]", join("", values(local.section))))
    error_message = "An option has a backslash or a dollar sign and a brace: burstd does not read such text."
  }
}

output "sections" {
  description = "Each section alone, by its title, to be pasted into a burstd.conf that is there: sections[\"secrets\"]."
  value       = local.section
}

output "at_most_per_hour" {
  description = "What all pools together may cost per hour (max_rate), in the currency of burstd.conf."
  value       = sum(concat([0], [for p in values(var.pools) : tonumber(p.max_rate)]))
}
