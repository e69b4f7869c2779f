# burstd - build, test, install.  `make help` lists the targets.
#
# One file, no recursion.  Each layer (docs/design.md) is an archive of its own and every program and test is
# linked with its layer and those below, so that the linker proves what check-layers.sh reads from #include.

.DEFAULT_GOAL := all
MODE    ?= release
BUILD   ?= build
B       := $(BUILD)/$(MODE)
BIN     := $(if $(filter release,$(MODE)),$(BUILD)/bin,$(B)/bin)
PREFIX  ?= /usr
DESTDIR ?=
VERSION := $(shell cat VERSION)
CLANG_FORMAT ?= clang-format

PKGS    := libuv libcurl jansson sqlite3 libcrypto libmicrohttpd libconfuse
WARN    := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes \
           -Wmissing-prototypes -Wold-style-definition -Wpointer-arith -Wcast-qual -Wwrite-strings \
           -Wvla -Wundef -Wformat=2 -Wnull-dereference -Wimplicit-fallthrough -Werror
ifeq ($(findstring clang,$(CC)),)
WARN    += -Wformat-signedness -Walloca -Wduplicated-cond -Wduplicated-branches -Wlogical-op
endif
# V=1 shows the commands.
Q := $(if $(V),,@)
# Cached: pkg-config costs more than a recompile.
ifndef PKG_CFLAGS
export PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
export PKG_LIBS   := $(shell pkg-config --libs $(PKGS) 2>/dev/null)
endif
CPPFLAGS += -Iburstd -I. -D_GNU_SOURCE -DBURSTD_VERSION='"$(VERSION)"' $(PKG_CFLAGS)
CFLAGS   += -std=c11 $(WARN) -g -ffile-prefix-map=$(CURDIR)=. -fno-strict-aliasing -fno-common
BANNED   := -include base/banned.h
LDLIBS   += $(PKG_LIBS)

ifeq ($(MODE),release)
CFLAGS  += -O2 -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fstack-clash-protection -fPIE
LDFLAGS += -pie -Wl,-z,relro,-z,now
else ifeq ($(MODE),asan)
CFLAGS  += -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
LDFLAGS += -fsanitize=address,undefined
else ifeq ($(MODE),cover)
CFLAGS  += -O0 --coverage
LDFLAGS += --coverage
else ifeq ($(MODE),analyze)
CFLAGS  += -O1 -fanalyzer
else ifeq ($(MODE),fuzz)
CFLAGS  += -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
LDFLAGS += -fsanitize=fuzzer,address,undefined
endif

# --- what is linked with what -----------------------------------------------------------------

objs     = $(patsubst %.c,$(B)/%.o,$(sort $(wildcard $(1))))
BASE    := $(call objs,burstd/base/*.c)
CORE    := $(call objs,burstd/core/*.c)
STORE   := $(call objs,burstd/store/*.c)
IO      := $(call objs,burstd/io/*.c)
ENGINE  := $(call objs,burstd/engine/*.c burstd/engine/*/*.c)
API     := $(call objs,burstd/api/*.c)
CLI     := $(call objs,burstd/cli/*.c)
DRIVERS := $(call objs,providers/*.c providers/common/*.c)
SIMCLOUD := $(call objs,providers/simcloud/*.c)
SIM     := $(call objs,tests/sim/*.c)

libbase    := $(B)/libbase.a
libcore    := $(B)/libcore.a $(libbase)
libstore   := $(B)/libstore.a $(libcore)
libio      := $(B)/libio.a $(libstore)
libengine  := $(B)/libengine.a $(libio)
libapi     := $(B)/libapi.a $(libengine)
libcli     := $(B)/libcli.a $(B)/libio.a $(libcore)
libdrivers := $(B)/libdrivers.a $(libcore)
libslurm   := $(libbase)
libproviders := $(B)/libsimcloud.a $(libdrivers) $(B)/libio.a

$(B)/libbase.a: $(BASE)
$(B)/libcore.a: $(CORE)
$(B)/libstore.a: $(STORE)
$(B)/libio.a: $(IO)
$(B)/libengine.a: $(ENGINE)
$(B)/libapi.a: $(API)
$(B)/libcli.a: $(filter-out %/burstctl.o,$(CLI))
$(B)/libdrivers.a: $(DRIVERS)
$(B)/libsimcloud.a: $(filter-out %/main.o,$(SIMCLOUD))
$(B)/lib%.a:
	@rm -f $@
	$(Q)$(AR) rcsD $@ $^

PROGRAMS := $(BIN)/burstd $(BIN)/burstctl $(BIN)/burst-hook $(BIN)/simcloud
HOOKS    := burst-resume burst-suspend burst-resume-fail

all: $(PROGRAMS) ## build every program into build/bin

$(BIN)/burstd: $(B)/burstd/main.o $(libapi) $(libdrivers)
$(BIN)/burstctl: $(B)/burstd/cli/burstctl.o $(libcli)
$(BIN)/simcloud: $(B)/providers/simcloud/main.o $(B)/libsimcloud.a $(B)/libio.a $(libbase)
$(BIN)/burstd $(BIN)/burstctl $(BIN)/simcloud:
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LD    $@")
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# Static: slurmctld waits for the hook to exit, and the dynamic loader would be half of its life.
$(BIN)/burst-hook: $(B)/slurm/burst-hook.o $(libbase)
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LD    $@")
	$(Q)$(CC) $(filter-out -pie,$(LDFLAGS)) $(if $(filter release,$(MODE)),-static) -o $@ $^
	@for h in $(HOOKS); do ln -sf burst-hook $(@D)/$$h; done

$(B)/%.o: %.c Makefile
	@mkdir -p $(@D)
	@$(if $(V),,echo "  CC    $<")
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(if $(filter tests/%,$<),,$(BANNED)) -MMD -MP -c -o $@ $<

# --- tests ------------------------------------------------------------------------------------

UNIT := $(patsubst %.c,$(B)/%.t,$(sort $(wildcard tests/unit/*/test_*.c)))

# tests/unit/LAYER/test_x.c is linked with what is beside it, LAYER and the layers below it.
beside = $(filter-out $(B)/$(1)/test_%,$(call objs,$(1)/*.c))
.SECONDEXPANSION:
$(B)/tests/unit/%.t: $(B)/tests/unit/%.o $$(call beside,tests/unit/$$(patsubst %/,%,$$(dir $$*))) $$(lib$$(firstword $$(subst /, ,$$*)))
	@$(if $(V),,echo "  LD    $@")
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS) -lcmocka

# Tests of programs run the programs.
$(filter $(B)/tests/unit/slurm/%,$(UNIT)): | $(BIN)/burst-hook
$(filter $(B)/tests/unit/cli/%,$(UNIT)): | $(BIN)/burstctl
$(filter $(B)/tests/unit/providers/%,$(UNIT)): | $(BIN)/simcloud

# The simulator: the real core, engine and driver on a world of its own; neither io/ nor store/ is linked.
$(BIN)/sim: $(SIM) $(B)/libengine.a $(libdrivers)
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LD    $@")
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(shell pkg-config --libs jansson)

unit: $(UNIT) $(PROGRAMS) ## unit tests (cmocka)
	CMOCKA_MESSAGE_OUTPUT=TAP prove $(PROVE) --exec tests/unit/tap.sh $(UNIT)

SEEDS ?= 10000
STEPS ?= 2000
FIRST ?= 1
sim: $(BIN)/sim ## the simulator: SEEDS=n STEPS=n FIRST=seed TRACE=1
	$(BIN)/sim --seeds $(SEEDS) --steps $(STEPS) --first $(FIRST) $(if $(TRACE),--trace)

e2e: deps all ## end-to-end tests on a private real Slurm
	prove $(PROVE) --exec '' tests/e2e/run.sh

check: deps ## compilers, sanitizers, analysers, layers, format, shellcheck
	prove $(PROVE) --exec '' scripts/dev/check.sh

# Everything, in one run of prove; deps first, so that pkg-config finds what it installs.
test: deps ## every test, unit to end-to-end
	@$(MAKE) --no-print-directory test-all
test-all: all $(UNIT) $(BIN)/sim
	CMOCKA_MESSAGE_OUTPUT=TAP prove $(PROVE) --exec tests/unit/tap.sh $(UNIT) tests/sim/run.sh \
		scripts/dev/check.sh tests/e2e/run.sh

demo: deps ## the main job on a private real Slurm and simcloud, in less than a minute
	@$(MAKE) --no-print-directory -s all
	@scripts/demo.sh

deps: ## install the Debian packages that are needed; starts no service
	@scripts/dev/deps.sh

FUZZERS := $(patsubst %.c,$(B)/%.fuzz,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
SECONDS ?= 60
$(B)/tests/fuzz/%.fuzz: $(B)/tests/fuzz/%.o $(libio)
	@echo "  LD    $@"
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)
fuzzers: $(FUZZERS)
fuzz: deps ## libFuzzer harnesses, SECONDS=n each
	@$(MAKE) --no-print-directory CC=clang MODE=fuzz PKG_CFLAGS= fuzzers
	@for f in $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c)); do \
		echo "== $$f: $(SECONDS) s"; mkdir -p $(BUILD)/corpus/$$f; \
		$(BUILD)/fuzz/tests/fuzz/$$f.fuzz -max_total_time=$(SECONDS) -timeout=5 -rss_limit_mb=512 \
			-print_final_stats=1 $(BUILD)/corpus/$$f $$(ls -d tests/fuzz/corpus/$$f 2>/dev/null) 2>&1 | tail -n 12 || exit 1; \
	done

bench: deps all ## figures as JSON lines in build/bench.json and as a table; NAME=hook
	@tests/bench/run.sh $(NAME)

install: all ## install below $(DESTDIR)$(PREFIX)
	install -d $(DESTDIR)$(PREFIX)/sbin $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/libexec/burstd \
		$(DESTDIR)/etc/burstd $(DESTDIR)$(PREFIX)/lib/systemd/system $(DESTDIR)$(PREFIX)/lib/tmpfiles.d
	install -m 755 $(BIN)/burstd $(DESTDIR)$(PREFIX)/sbin/
	install -m 755 $(BIN)/burstctl $(BIN)/simcloud $(DESTDIR)$(PREFIX)/bin/
	install -m 755 $(BIN)/burst-hook $(DESTDIR)$(PREFIX)/libexec/burstd/
	for h in $(HOOKS); do ln -sf burst-hook $(DESTDIR)$(PREFIX)/libexec/burstd/$$h; done
	install -d $(DESTDIR)$(PREFIX)/share/doc/burstd
	install -m 644 README.md docs/*.md slurm/burst.conf $(DESTDIR)$(PREFIX)/share/doc/burstd/
	install -m 644 scripts/pkg/burstd.service $(DESTDIR)$(PREFIX)/lib/systemd/system/
	install -m 644 scripts/pkg/burstd.tmpfiles $(DESTDIR)$(PREFIX)/lib/tmpfiles.d/burstd.conf
	install -d $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/man/man5 $(DESTDIR)$(PREFIX)/share/man/man8
	for m in docs/man/*.scd; do p=$${m##*/}; p=$${p%.scd}; scdoc <$$m >$(DESTDIR)$(PREFIX)/share/man/man$${p##*.}/$$p; done
	[ -e $(DESTDIR)/etc/burstd/burstd.conf ] || install -m 644 scripts/pkg/burstd.conf $(DESTDIR)/etc/burstd/

clean: ## remove build/
	rm -rf $(BUILD)

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

-include $(shell find $(B) -name '*.d' 2>/dev/null)

.PHONY: all help deps demo test test-all unit e2e check sim bench fuzz fuzzers install clean
.SECONDARY:
.DELETE_ON_ERROR:
