# RPM packages, and Enterprise Linux 9, for which they are.

export RPM_RELEASE

# `make dist` is a target of the packages for Debian.
ifeq ($(wildcard scripts/pkg/package.mk),)
dist:
	@mkdir -p $(BUILD)/dist
	@if [ -e .git ]; then git archive HEAD; else tar -c --exclude=./$(BUILD) --exclude=./build .; fi >$(BUILD)/dist/tar
	@rm -rf $(BUILD)/dist/burstd-$(VERSION) && mkdir $(BUILD)/dist/burstd-$(VERSION)
	@tar -x -C $(BUILD)/dist/burstd-$(VERSION) -f $(BUILD)/dist/tar
	@tar -c -C $(BUILD)/dist --sort=name --mtime=@$(SOURCE_DATE_EPOCH) --owner=0 --group=0 --numeric-owner burstd-$(VERSION) | \
		gzip -9n >$(BUILD)/dist/burstd-$(VERSION).tar.gz
.PHONY: dist
endif

rpm: dist ## RPM packages by this machine's rpmbuild in build/rpm, from the archive of `make dist`: RPM_RELEASE=.el9
	@scripts/dev/deps.sh rpm
	@BUILD=$(BUILD) scripts/pkg/rpm/rpm.sh

el9: deps ## compiled, unit-tested and packaged with libraries as old as EL9's, in a chroot; then end to end: FILES=
	@scripts/dev/deps.sh matrix
	@FILES='$(FILES)' prove -v $(PROVE) --exec tests/unit/tap.sh tests/el9/run.sh

# What `make install` installs, for who sorts it into packages.
install-list:
	@printf '%s\n' $(foreach i,$(INSTALL_FILES),$(lastword $(subst :, ,$(i)))) $(addprefix $(libexecdir)/burstd/,$(HOOKS))

LONG     += el9
COMPUTES += scripts/pkg/rpm/check.py

.PHONY: rpm el9 install-list
