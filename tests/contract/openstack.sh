#!/bin/bash
# openstack.sh: simcloud's OpenStack beside a real Nova and a real Keystone, from PyPI, as TAP.
exec "$(dirname "$(readlink -f "$0")")/aws.sh" openstack.py simcloud openstack
