# Targets of terraform/: what is quick is in `make test`, all else in `make soak`.

COMPUTES += terraform/check.sh
LONG     += terraform

.PHONY: terraform
terraform: ## terraform/ by Terraform and OpenTofu: valid, tested, applied to moto and OpenBao; TF_PLUGIN_DIR=directories with providers
	@scripts/dev/deps.sh contract
	@$(MAKE) --no-print-directory -s all $(BIN)/driver $(BIN)/store
	@BUILD=$(BUILD) BIN=$(BIN) prove -v $(PROVE) --exec tests/unit/tap.sh terraform/tests/suite.sh
