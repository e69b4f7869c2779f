# Machine images of nodes: what makes them is in this directory, the tests are in tests/images.

image_files   := provision.sh Dockerfile mkosi.conf mkosi.postinst packer/aws.pkr.hcl packer/openstack.pkr.hcl
INSTALL_FILES += $(foreach f,$(image_files),644:scripts/images/$(f):$(docdir)/images/$(f))
# Inner before outer.
INSTALL_DIRS  := $(docdir)/images/packer $(docdir)/images $(INSTALL_DIRS)

COMPUTES += tests/images/run.sh
LONG     += images

.PHONY: images
images: deps all ## images of nodes, made by scripts/images in chroots, and machines that boot them
	@scripts/dev/deps.sh matrix
	@scripts/dev/deps.sh images
	@BUILD=$(BUILD) BIN=$(BIN) prove -v $(PROVE) --exec tests/images/boot/run.sh tests/images/boot/provision.bats \
		tests/images/boot/boot.bats tests/images/boot/mkosi.bats tests/images/boot/docker.bats
