# The head node on EC2: an instance that modules/controller/cloud-init makes a controller.

terraform {
  required_version = ">= 1.6"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.60"
    }
  }
}

resource "aws_instance" "this" {
  ami                         = var.image
  instance_type               = var.type
  subnet_id                   = var.subnet_id
  private_ip                  = var.address
  vpc_security_group_ids      = var.security_groups
  iam_instance_profile        = var.instance_profile
  key_name                    = var.key_name
  associate_public_ip_address = var.public_address
  user_data                   = var.user_data
  disable_api_termination     = false

  metadata_options {
    http_endpoint               = "enabled"
    http_tokens                 = "required"
    http_put_response_hop_limit = 1
  }

  root_block_device {
    volume_type           = "gp3"
    volume_size           = var.disk_gb
    encrypted             = true
    delete_on_termination = true
    tags                  = merge(var.tags, { Name = var.name })
  }

  tags = merge(var.tags, { Name = var.name })

  lifecycle {
    # Its disk has burstd's journal and Slurm's state: a newer image, or another burstd.conf, must not make it anew.
    ignore_changes = [ami, user_data]
    precondition {
      condition     = length(var.user_data) <= 16384
      error_message = "EC2 takes 16 KiB of user-data: put larger files into the image."
    }
  }
}
