# The collection for Ansible.

ansible: ## the Ansible collection: linted, then its roles on a Debian 12 with a systemd of its own; Ansible comes from PyPI
	@scripts/dev/deps.sh
	@scripts/dev/deps.sh matrix
	@BUILD=$(BUILD) prove -v $(PROVE) --exec '' tests/ansible/run.sh
LONG += ansible
.PHONY: ansible
