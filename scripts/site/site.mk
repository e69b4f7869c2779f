# The documents as a site: `make site`, read from build/site/index.html or by any web server.

SITE_MADE := $(BIN)/burstctl $(BIN)/burstd $(PAGES)

site: $(SITE_MADE) ## the documents as a site by reader, with search, in build/site; by mkdocs (Debian's)
	@scripts/dev/deps.sh site
	@scripts/site/build.sh $(BUILD)

site-test: $(SITE_MADE) $(BIN)/focus ## the site, with its checks: links, what it loads, search, on screens and phones; and the commands of docs/first-node-on-ec2.md on moto
	@scripts/dev/deps.sh site
	@BUILD=$(BUILD) BIN=$(BIN) $(prove) scripts/site/test.sh scripts/site/ec2_page.sh

pictures: $(BIN)/focus ## the pictures of docs/pictures, by Chromium
	@BIN=$(BIN) scripts/site/pictures.sh

LONG     += site-test
COMPUTES += scripts/site/quick.sh

.PHONY: site site-test pictures
