# Packages.  What is needed to make them: scripts/dev/deps.sh package.

export REVISION MAINTAINER KEY

dist: ## the sources of this commit, build/dist/burstd-VERSION.tar.gz; the same bytes each time
	@BUILD=$(BUILD) scripts/pkg/dist.sh

deb: dist ## Debian packages for the release that this machine runs, SBOM and checksums, in build/deb: REVISION= MAINTAINER= KEY=
	@BUILD=$(BUILD) scripts/pkg/deb.sh

checksums: ## SHA256SUMS of build/dist, build/deb and build/rpm, signed by gpg's key KEY=
	@scripts/pkg/checksums.sh $(BUILD)/dist $(BUILD)/deb $(BUILD)/rpm

packages: ## packages are built for bookworm and trixie, twice; installed, upgraded, removed on hosts with systemd, in chroots
	@scripts/dev/deps.sh matrix
	@tests/packages/run.sh

COMPUTES += scripts/pkg/check-packages.sh
LONG     += packages

.PHONY: dist deb checksums packages
