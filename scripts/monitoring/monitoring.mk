# Prometheus and Grafana for burstd: docs/monitoring.md.
.PHONY: monitoring monitoring-boards monitoring-record deps-monitoring

MONITORING := $(wildcard scripts/monitoring/rules/*.yml scripts/monitoring/boards/*.json scripts/monitoring/grafana/*.yml) scripts/monitoring/prometheus.yml
# Not below docdir, where packages compress what is large: Grafana and Prometheus read these.
monitoringdir := $(datarootdir)/burstd/monitoring
INSTALL_FILES += $(foreach f,$(MONITORING),644:$(f):$(f:scripts/monitoring/%=$(monitoringdir)/%))
INSTALL_DIRS := $(addprefix $(monitoringdir)/,rules boards grafana) $(monitoringdir) $(datarootdir)/burstd $(INSTALL_DIRS)

MONITORING_TESTS := tests/monitoring/names.py tests/monitoring/alerts.py tests/monitoring/boards.sh tests/monitoring/queries.py
COMPUTES += $(MONITORING_TESTS)
LONG += monitoring

# Debian's Prometheus has 100 MB: here, and not among what chroots for other tests need.  Two of apt-get do not go together.
deps-monitoring: deps
	@scripts/dev/deps.sh monitoring
test: deps-monitoring

monitoring: deps-monitoring all ## alerts, boards and their queries, on a real Prometheus; and one that scrapes burstd in a lab
	$(Q)$(prove) $(MONITORING_TESTS) tests/monitoring/scrape.sh

monitoring-boards: ## scripts/monitoring/boards, from boards.py
	@BUILD=$(BUILD) tests/monitoring/boards.sh --write

monitoring-record: deps all ## tests/monitoring/recorded.txt anew, from some busy minutes in a lab
	@BUILD=$(BUILD) tests/e2e/run.sh tests/monitoring/record.bats
	@tests/monitoring/record.py $(BUILD)/monitoring/pages >$(BUILD)/monitoring/recorded.txt
	@mv $(BUILD)/monitoring/recorded.txt tests/monitoring/recorded.txt
