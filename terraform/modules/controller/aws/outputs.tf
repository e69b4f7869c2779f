output "id" {
  value = aws_instance.this.id
}

output "public_ip" {
  value = aws_instance.this.public_ip
}

output "address" {
  value = aws_instance.this.private_ip
}

output "billed" {
  description = "What bills by the hour, whether there are nodes or not: how many of it."
  value = {
    (var.type)            = 1
    "GB of gp3"           = var.disk_gb
    "public IPv4 address" = var.public_address ? 1 : 0
  }
}
