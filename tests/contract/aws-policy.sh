#!/bin/bash
# aws-policy.sh: burstd's driver on moto with exactly the rights that docs/aws.md gives it, and not one of them less, as TAP.
exec "$(dirname "$(readlink -f "$0")")/aws.sh" aws_policy.py
