#!/bin/bash
# vault-rotate.sh: One key is replaced by another in a real OpenBao, as TAP.
exec "$(dirname "$(readlink -f "$0")")/vault.sh" vault-rotate
