#!/bin/bash
# aws-secrets.sh: burstd's session with AWS Secrets Manager, on moto, as TAP.
exec "$(dirname "$(readlink -f "$0")")/aws.sh" aws_secrets.py store
