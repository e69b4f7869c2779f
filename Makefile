# burstd - build, test, install.  `make help` lists the targets.
#
# One file, no recursion.  Each layer (docs/design.md) is an archive of its own and every program and test is
# linked with its layer and those below, so that the linker proves what check-layers.sh reads from #include.

.DEFAULT_GOAL := all
MODE    ?= release
BUILD   ?= build
B       := $(BUILD)/$(MODE)
BIN     := $(if $(filter release,$(MODE)),$(BUILD)/bin,$(B)/bin)
VERSION := $(shell cat VERSION)
# 1: warnings are errors, as in `make check` and `make test`; not by default, since newer compilers warn of more.
WERROR  ?=
# The date in the manual pages: that of the commit or of the tree, never that of the build.
ifndef SOURCE_DATE_EPOCH
export SOURCE_DATE_EPOCH := $(or $(shell [ ! -e .git ] || git log -1 --format=%ct 2>/dev/null),$(shell stat -c %Y VERSION))
endif

# Where things go, by the names of the GNU conventions.  Configuration and state do not move with PREFIX: slurmctld
# gives the hooks neither environment nor argument, so burstd/base/paths.h has /etc/burstd, /run/burstd,
# /var/lib/burstd and /var/spool/burstd compiled in.
PREFIX         ?= /usr
DESTDIR        ?=
prefix         := $(PREFIX)
exec_prefix    := $(prefix)
bindir         := $(exec_prefix)/bin
sbindir        := $(exec_prefix)/sbin
libexecdir     := $(exec_prefix)/libexec
datarootdir    := $(prefix)/share
docdir         := $(datarootdir)/doc/burstd
mandir         := $(datarootdir)/man
sysconfdir     := /etc
# systemd looks below /usr and /usr/local, and nowhere else but in /etc.
systemddir     := $(if $(filter /usr /usr/local,$(prefix)),$(prefix)/lib,/etc)
bashdir        := $(datarootdir)/bash-completion/completions
zshdir         := $(datarootdir)/zsh/site-functions
unitdir        := $(systemddir)/systemd/system
tmpfilesdir    := $(systemddir)/tmpfiles.d
ifneq ($(sysconfdir),/etc)
$(error sysconfdir=$(sysconfdir): the configuration is always in /etc/burstd, see burstd/base/paths.h)
endif
CLANG_FORMAT ?= clang-format

PKGS    := libuv libcurl jansson sqlite3 libcrypto libmicrohttpd gnutls libconfuse expat munge
WARN    := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes \
           -Wmissing-prototypes -Wold-style-definition -Wpointer-arith -Wcast-qual -Wwrite-strings \
           -Wvla -Wundef -Wformat=2 -Wnull-dereference -Wimplicit-fallthrough -Werror=implicit \
           -Werror=incompatible-pointer-types -Werror=int-conversion $(if $(filter-out 0,$(WERROR)),-Werror)
ifeq ($(findstring clang,$(CC)),)
WARN    += -Wformat-signedness -Walloca -Wduplicated-cond -Wduplicated-branches -Wlogical-op
endif
# For burst-ledger alone.  Debian sid's xlsxwriter.pc asks for a minizip.pc that no package has.
ledger_libs = $(or $(shell pkg-config --libs xlsxwriter 2>/dev/null),-lxlsxwriter)
# V=1 shows the commands.
Q := $(if $(V),,@)
# Cached: pkg-config costs more than a recompile.
ifndef PKG_CFLAGS
export PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
export PKG_LIBS   := $(shell pkg-config --libs $(PKGS) 2>/dev/null)
endif
# CPPFLAGS, CFLAGS and LDFLAGS are the user's, and come last; these are ours.
cppflags := -Iburstd -I. -D_GNU_SOURCE -DBURSTD_VERSION='"$(VERSION)"' $(PKG_CFLAGS)
# Debug information has the sources by their paths from here, to be the same wherever it is made.  rpmbuild puts the sources into
# a package, and looks for them by whole paths.
PREFIX_MAP ?= -ffile-prefix-map=$(CURDIR)=.
cflags   := -std=c11 $(WARN) -g $(PREFIX_MAP) -fno-strict-aliasing -fno-common
BANNED   := -include base/banned.h
ldlibs    = $(PKG_LIBS) $(LDLIBS)
ldflags  :=

# Hardening of a release, as far as the compiler has it: _FORTIFY_SOURCE=3 needs gcc 12 or clang 12, control-flow
# protection x86, zeroed locals gcc 12 or clang 16.  Each make asks its own compiler.  A distribution's flags may set
# _FORTIFY_SOURCE themselves.
guards := -D_FORTIFY_SOURCE=3 -fcf-protection -ftrivial-auto-var-init=zero
fortify = $(if $(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS)),,$(or $(filter -D_FORTIFY%,$(GUARDS)),-D_FORTIFY_SOURCE=2))
takes = $(shell echo 'int main(void) { return 0; }' | $(1) -O2 -Werror $(2) -x c -o /dev/null - 2>/dev/null && echo '$(2)')
ifeq ($(MODE),release)
both   = $(if $(HOOK_CC),$(if $(call takes,$(HOOK_CC),$(1)),$(call takes,$(CC),$(1))),$(call takes,$(CC),$(1)))
GUARDS := $(foreach f,$(guards),$(call both,$(f)))
cflags  += -O2 $(fortify) $(filter-out -D_FORTIFY%,$(GUARDS)) \
           -fstack-protector-strong -fstack-clash-protection -fPIE
ldflags += -pie -Wl,-z,relro,-z,now
else ifeq ($(MODE),asan)
# -g1: reports name the line, and a seventh of the time to compile is saved; CFLAGS=-g shows a debugger the variables too.
cflags  += -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
# Links in half the time of ld, which counts for 330 tests.
ldflags += -fsanitize=address,undefined $(call takes,$(CC),-fuse-ld=gold)
else ifeq ($(MODE),tsan)
cflags  += -O1 -fsanitize=thread -fno-omit-frame-pointer
ldflags += -fsanitize=thread
else ifeq ($(MODE),cover)
cflags  += -O0 --coverage
ldflags += --coverage
else ifeq ($(MODE),analyze)
cflags  += -O1 -fanalyzer
else ifeq ($(MODE),fuzz)
cflags  += -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
ldflags += -fsanitize=fuzzer,address,undefined
endif

# --- what is linked with what -----------------------------------------------------------------

, := ,
objs     = $(patsubst %.c,$(B)/%.o,$(sort $(wildcard $(1))))
BASE    := $(call objs,burstd/base/*.c)
CORE    := $(call objs,burstd/core/*.c)
STORE   := $(call objs,burstd/store/*.c)
IO      := $(call objs,burstd/io/*.c)
SLURM   := $(call objs,burstd/slurm/*.c)
ENGINE  := $(call objs,burstd/engine/*.c)
API     := $(call objs,burstd/api/*.c)
CLI     := $(call objs,burstd/cli/*.c)
AGENT   := $(call objs,burstd/agent/*.c)
LEDGER  := $(call objs,burstd/ledger/*.c)
DRIVERS := $(call objs,providers/*.c providers/common/*.c providers/attest/*.c providers/secrets/*.c)
SIMCLOUD := $(call objs,providers/simcloud/*.c)
# The simulator links the listener's real check, which has neither threads nor sockets.
SIM     := $(call objs,tests/sim/*.c) $(call objs,burstd/io/node_claims.c)

libbase    := $(B)/libbase.a
libcore    := $(B)/libcore.a $(libbase)
libstore   := $(B)/libstore.a $(libcore)
libio      := $(B)/libio.a $(libstore)
libslurm   := $(B)/libslurm.a $(libio)
libslurmconf := $(B)/libslurmconf.a $(B)/libslurm.a $(libcore)
libengine  := $(B)/libengine.a $(libslurm)
libcloud   := $(B)/libcloud.a $(libengine)
libjobs    := $(B)/libjobs.a $(libcloud)
libkeys    := $(B)/libkeys.a $(libjobs)
libmoney   := $(B)/libmoney.a $(libkeys)
libbuy     := $(B)/libbuy.a $(libmoney)
libdiff    := $(B)/libdiff.a $(libbuy)
libparts   := $(B)/libparts.a $(libdiff)
libapi     := $(B)/libapi.a $(libparts)
libcli     := $(B)/libcli.a $(B)/libio.a $(B)/libdrivers.a $(libslurmconf)
libagent   := $(B)/libagent.a $(B)/burstd/io/sd.o $(libbase)
libledger  := $(B)/libledger.a $(B)/libio.a $(B)/libdrivers.a $(libstore)
libdrivers := $(B)/libdrivers.a $(libcore)
libhook    := $(libbase)
libdaemon  := $(B)/libio.a $(libcore)
# The engine with all its parts, without io and store: the simulator has its own.
libpure    := $(foreach a,parts diff buy money keys jobs cloud engine slurm,$(B)/lib$(a).a)
libproviders := $(B)/libsimcloud.a $(B)/libio.a $(libdrivers)

# The objects of each archive: `make mutate` replaces one of them.
objects_base     := $(BASE)
objects_core     := $(CORE)
objects_store    := $(STORE)
objects_io       := $(IO)
objects_slurm    := $(SLURM)
objects_slurmconf := $(call objs,burstd/slurmconf/*.c)
objects_engine   := $(ENGINE)
objects_cloud    := $(call objs,burstd/cloud/*.c)
objects_jobs     := $(call objs,burstd/jobs/*.c)
objects_keys     := $(call objs,burstd/keys/*.c)
objects_money    := $(call objs,burstd/money/*.c)
objects_buy      := $(call objs,burstd/buy/*.c)
objects_diff     := $(call objs,burstd/diff/*.c)
objects_parts    := $(call objs,burstd/parts/*.c)
objects_api      := $(API)
objects_cli      := $(filter-out %/burstctl.o,$(CLI))
objects_agent    := $(filter-out %/burst-agent.o,$(AGENT))
objects_ledger   := $(filter-out %/burst-ledger.o,$(LEDGER))
objects_drivers  := $(DRIVERS)
objects_simcloud := $(filter-out %/main.o,$(SIMCLOUD))
ARCHIVES         := base core store io slurm slurmconf engine cloud jobs keys money buy diff parts api cli agent ledger drivers simcloud
$(foreach a,$(ARCHIVES),$(eval $(B)/lib$(a).a: $(objects_$(a))))
$(B)/lib%.a:
	@rm -f $@
	$(Q)$(AR) rcsD $@ $^

PROGRAMS := $(BIN)/burstd $(BIN)/burstctl $(BIN)/burst-hook $(BIN)/simcloud $(BIN)/burst-agent $(BIN)/burst-ledger
HOOKS    := burst-resume burst-suspend burst-resume-fail burst-prolog

PAGES    := $(patsubst docs/man/%.scd,$(BUILD)/man/%,$(wildcard docs/man/*.scd))

all: $(PROGRAMS) $(PAGES) ## build every program into build/bin, the manual pages into build/man

parts_burstd := $(patsubst %,$(B)/burstd/%.o,main reload house failure check check_provider check_cloud check_cloud_ask check_slurm listener scrape) $(libapi) $(libdrivers)
$(BIN)/burstd: $(parts_burstd)
$(BIN)/burstctl: $(B)/burstd/cli/burstctl.o $(libcli)
$(BIN)/burst-ledger: $(B)/burstd/ledger/burst-ledger.o $(libledger)
$(BIN)/burst-ledger $(BIN)/focus: ldlibs += $(ledger_libs)
# simcloud uses nothing of the drivers but their signatures (check-layers.sh).
$(BIN)/simcloud: $(B)/providers/simcloud/main.o $(B)/libsimcloud.a $(B)/libdrivers.a $(B)/libio.a $(libbase)
link_burstd = $(CC) $(ldflags) $(LDFLAGS) $(parts_burstd) $(ldlibs)
$(BIN)/burstd $(BIN)/burstctl $(BIN)/simcloud $(BIN)/burst-ledger:
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LD    $@")
	$(Q)$(CC) $(ldflags) $(LDFLAGS) -o $@ $^ $(ldlibs)

# burst-agent runs on every node: it needs only OpenSSL, and jansson for escapes in JSON (ADR 12).
link_burst-agent = $(CC) $(ldflags) $(LDFLAGS) $(B)/burstd/agent/burst-agent.o $(libagent) $(shell pkg-config --libs libssl libcrypto jansson)
$(BIN)/burst-agent: $(B)/burstd/agent/burst-agent.o $(libagent)
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LD    $@")
	$(Q)$(link_burst-agent) -o $@

# The hook is static, with musl if that is installed: slurmctld waits for it to exit, and the dynamic loader, or the
# start of a static glibc, would take half of its run time (ADR 16).
# No musl when cross-compiling, with a compiler of the user's choice, or when it cannot link.
# MUSL_GCC is empty if there is none: a sub-make, after `deps` has installed it, looks again.
ifndef MUSL_GCC
export MUSL_GCC := $(shell echo 'int main(void) { return 0; }' | \
	musl-gcc -static -x c -o /dev/null - 2>/dev/null && echo musl-gcc)
endif
hook_cc := $(or $(HOOK_CC),$(if $(filter-out release,$(MODE))$(filter-out cc gcc,$(CC)),,$(MUSL_GCC)),$(CC))
# The hook is static-pie, at another address at each start, if it can be linked so: that costs 8 us with musl, 20
# with glibc.  musl-gcc cannot link static-pie by itself; musl_pie has the flags.
musl_crt  = $(patsubst %/Scrt1.o,%,$(shell $(hook_cc) -static -\#\#\# -x c /dev/null 2>&1 | grep -o '[^ ]*/Scrt1\.o' | head -n 1))
musl_pie  = -static -nostartfiles -Wl,-pie,--no-dynamic-linker,-z,text $(addprefix $(musl_crt)/,rcrt1.o crti.o crtn.o)
hook_pie := $(if $(filter release,$(MODE)),$(or $(call takes,$(hook_cc) -fPIE,$(if $(filter musl-gcc,$(hook_cc)),$(musl_pie),-static-pie)),-static))
# The hook needs none of the libraries in the user's flags, and musl must not see their headers.
hookflags = $(if $(filter musl-gcc,$(hook_cc)),$(filter-out -I% -L%,$(1)),$(1))
# All of base but the file that uses jansson.
hooksrc := $(wildcard slurm/*.c) $(filter-out %/jpull.c,$(wildcard burstd/base/*.c))
parts_burst-hook := $(patsubst %.c,$(B)/hook/%.o,$(hooksrc))
link_burst-hook = $(hook_cc) $(filter-out -pie,$(ldflags) $(call hookflags,$(LDFLAGS))) $(hook_pie) -Wl,--build-id $(parts_burst-hook)
$(BIN)/burst-hook: $(parts_burst-hook)
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LD    $@")
	$(Q)$(link_burst-hook) -o $@
	@for h in $(HOOKS); do ln -sf burst-hook $(@D)/$$h; done

$(B)/hook/cc: FORCE
	@mkdir -p $(@D)
	@echo '$(hook_cc) $(hook_pie)' | cmp -s - $@ || echo '$(hook_cc) $(hook_pie)' >$@
.PHONY: FORCE

compile_hook = $(hook_cc) $(filter-out $(PKG_CFLAGS),$(cppflags)) $(cflags) $(BANNED) $(call hookflags,$(CPPFLAGS) $(CFLAGS))
$(B)/hook/%.o: %.c Makefile $(B)/hook/cc
	@mkdir -p $(@D)
	@$(if $(V),,echo "  CC    $< (hook)")
	$(Q)$(compile_hook) -MMD -MP -c -o $@ $<

$(B)/%.o: %.c Makefile
	@mkdir -p $(@D)
	@$(if $(V),,echo "  CC    $<")
	$(Q)$(CC) $(cppflags) $(cflags) $(if $(filter tests/%,$<),,$(BANNED)) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# aws_identity.c has the certificates in it (.incbin).
$(B)/providers/attest/aws_identity.o: providers/attest/aws-identity.pem
# userdata.c has the templates in it (.incbin), which -MMD does not see.
$(B)/burstd/core/userdata.o: scripts/node/stage0.sh.in scripts/node/stage0-token.sh.in

# A title of "name(1)" alone gets our version for the foot of the page.  man renders the tables of a page that says it has some.
$(BUILD)/man/%: docs/man/%.scd VERSION Makefile
	@mkdir -p $(@D)
	@$(if $(V),,echo "  MAN   $@")
	@command -v scdoc >/dev/null || { echo "scdoc is not installed; \`make deps-build\` installs it" >&2; exit 1; }
	$(Q)sed -e '1s/^\([a-z.-]*([1-8])\) *$$/\1 "burstd $(VERSION)"/' -e 's/@VERSION@/$(VERSION)/g' $< | scdoc >$@
	$(Q)! grep -q '^\.TS' $@ || sed -i "1i '\\\\\" t" $@

# --- tests ------------------------------------------------------------------------------------

UNIT := $(patsubst %.c,$(B)/%.t,$(sort $(wildcard tests/unit/*/test_*.c)))

# Sanitized tests are compiled in half the time like this; what they test is not.
ifeq ($(MODE),asan)
$(B)/tests/unit/%.o: cflags += -O0 -g1
endif

# tests/unit/LAYER/test_x.c is linked with what is beside it, LAYER and the layers below it.
beside = $(filter-out $(B)/$(1)/test_%,$(call objs,$(1)/*.c))
.SECONDEXPANSION:
$(B)/tests/unit/%.t: $(B)/tests/unit/%.o $$(call beside,tests/unit/$$(patsubst %/,%,$$(dir $$*))) $$(lib$$(firstword $$(subst /, ,$$*)))
	@$(if $(V),,echo "  LD    $@")
	$(Q)$(CC) $(ldflags) $(LDFLAGS) -o $@ $^ $(ldlibs) -lcmocka

$(filter $(B)/tests/unit/agent/%,$(UNIT)): ldlibs += -lssl
$(filter $(B)/tests/unit/ledger/%,$(UNIT)): ldlibs += $(ledger_libs)

# Of the drivers these need the tables of options alone.
$(filter $(B)/tests/unit/io/%,$(UNIT)): $(B)/libdrivers.a

# Tests of programs run the programs.
$(filter $(B)/tests/unit/hook/%,$(UNIT)): | $(BIN)/burst-hook
$(filter $(B)/tests/unit/cli/%,$(UNIT)): | $(BIN)/burstctl
$(filter $(B)/tests/unit/daemon/%,$(UNIT)): | $(BIN)/burstd
$(filter $(B)/tests/unit/providers/%,$(UNIT)): | $(BIN)/simcloud

# The simulator: the real core, engine and driver on a world of its own; neither io/ nor store/ is linked.
$(BIN)/sim: $(SIM) $(libpure) $(libdrivers)
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LD    $@")
	$(Q)$(CC) $(ldflags) $(LDFLAGS) -o $@ $^ $(shell pkg-config --libs jansson libcrypto expat)

# A simulator with one mistake in it: what the patch touches is compiled anew and linked before the archives.
$(BUILD)/museum/%/sim: tests/museum/%.patch $(SIM) $(libpure) $(libdrivers)
	@rm -rf $(@D)/src && mkdir -p $(@D)/src
	@for f in $$(sed -n 's|^+++ b/||p' $<); do mkdir -p $(@D)/src/$$(dirname $$f) && cp $$f $(@D)/src/$$f || exit 1; done
	@patch -s -F0 -p1 -d $(@D)/src <$<
	$(Q)for f in $$(sed -n 's|^+++ b/||p' $<); do \
		$(CC) $(cppflags) $(cflags) -w $(BANNED) $(CPPFLAGS) $(CFLAGS) -c -o $(@D)/src/$${f%.c}.o $(@D)/src/$$f || exit 1; done
	$(Q)$(CC) $(ldflags) $(LDFLAGS) -o $@ $$(find $(@D)/src -name '*.o') $(filter-out %.patch,$^) $(shell pkg-config --libs jansson libcrypto expat)

museum: $(BIN)/sim ## the simulator finds mistakes that others made: NAME= JOBS= SEEDS= STEPS= LIMIT=
	@MAKEFLAGS= OVERRIDES='$(filter CC=% MODE=% BUILD=%,$(MAKEOVERRIDES))' BUILD=$(BUILD) JOBS=$(JOBS) SEEDS=$(SEEDS) STEPS=$(STEPS) LIMIT=$(LIMIT) \
		SIM=$(BIN)/sim tests/museum/run.sh $(NAME)

museum-page: ## docs/museum.md, from the last `make museum`
	@BUILD=$(BUILD) tests/museum/run.sh --page >$(BUILD)/museum/page
	@sed '/^|/,$$d' docs/museum.md >$(BUILD)/museum/head
	@cat $(BUILD)/museum/head $(BUILD)/museum/page >docs/museum.md

# `make mutate` makes one small change to a file and replaces its object in the archive of its layer.  Then it runs the
# tests of the layer and those that run its program; for a part of the engine also tests/unit/parts.  The simulator has
# neither io/ nor store/, and nothing above the parts.
mutate_parts   := engine cloud jobs keys money buy diff parts
mutate_file    := $(firstword $(FILE) $(wildcard burstd/core/*.c))
mutate_path    := $(subst /, ,$(mutate_file))
mutate_layer   := $(if $(filter providers/% slurm/%,$(mutate_file)),$(patsubst slurm,hook,$(word 1,$(mutate_path))),$(if $(word 3,$(mutate_path)),$(word 2,$(mutate_path)),daemon))
mutate_archive := $(if $(filter providers/simcloud/%,$(mutate_file)),simcloud,$(patsubst providers,drivers,$(mutate_layer)))
mutate_tests   := $(filter $(B)/tests/unit/$(mutate_layer)/% $(if $(filter $(mutate_parts),$(mutate_layer)),$(B)/tests/unit/parts/%),$(UNIT))
mutate_program := $(patsubst hook,burst-hook,$(patsubst agent,burst-agent,$(patsubst daemon,burstd,$(filter hook agent daemon,$(mutate_layer)))))
mutate_runs     = $(if $(mutate_program),$(if $(filter agent,$(mutate_layer)),$(AGENT_TESTS),$(mutate_tests)))
mutate_cc       = $(if $(filter hook,$(mutate_layer)),$(compile_hook),$(CC) $(cppflags) $(cflags) $(BANNED) $(CPPFLAGS) $(CFLAGS))
mutate_seeds   := $(if $(filter base core slurm $(mutate_parts) drivers,$(mutate_archive)),$(if $(filter command line,$(origin SEEDS)),$(SEEDS),300),0)
mutate: $(mutate_tests) $(PROGRAMS) $(BIN)/sim ## small mistakes that tests must find: FILE="burstd/engine/x.c ..." (of one layer; core) COUNT= SAMPLE= SEEDS=
	@MUTATE_CC='$(subst ','\'',$(filter-out -g,$(mutate_cc)) -w)' \
		MUTATE_TESTS='$(mutate_tests:.t=.o)' MUTATE_ARCHIVE='$(B)/lib$(mutate_archive).a' \
		MUTATE_OBJECTS='$(objects_$(mutate_archive))' MUTATE_OBJECT_OF='$(B)/$(if $(filter hook,$(mutate_layer)),hook/)%.o' \
		MUTATE_UNIT='$(CC) $(ldflags) $(LDFLAGS) @TEST@ $(call beside,tests/unit/$(mutate_layer)) $(if $(filter $(mutate_parts),$(mutate_layer)),$(libparts),$(lib$(mutate_layer))) $(ldlibs) -lcmocka $(if $(filter agent,$(mutate_layer)),-lssl) $(if $(filter ledger,$(mutate_layer)),$(ledger_libs))' \
		MUTATE_PROGRAM='$(mutate_program)' MUTATE_LINK='$(link_$(mutate_program))' MUTATE_BIN='$(BIN)' MUTATE_RUNS='$(mutate_runs)' \
		MUTATE_SIM='$(CC) $(ldflags) $(LDFLAGS) $(SIM) $(libpure) $(libdrivers) $(shell pkg-config --libs jansson libcrypto expat)' \
		scripts/dev/mutate.py --build $(BUILD) $(if $(COUNT),--count $(COUNT)) $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(ONLY),--only $(ONLY)) \
		--seeds $(mutate_seeds) $(if $(JOBS),--jobs $(JOBS)) $(or $(FILE),$(wildcard burstd/core/*.c))

# Death at every write: the simulator on the real store/ and the hook's spool.  The linker (--wrap) redirects their calls
# of libc, and the calls between them and the simulator, to tests/crash.
CRASH_WRAP := open openat close read pread write pwrite ftruncate fsync mkdir renameat renameat2 unlinkat faccessat stat lstat \
	fstat fstatat statvfs fdopendir readdir closedir flock getpid getrandom clock_wall_ms clock_boot_ms life_end world_alive \
	world_fault intake_take $(addprefix journal_,begin put_node del_node put_batch \
	del_batch put_event put_audit put_usage put_life put_machine put_buyer put_job_said put_hold del_hold put_spent del_spent \
	put_budget put_budget_steps put_budget_end put_ending del_ending put_drained del_drained del_budgets put_override put_alert del_alert put_alert_message del_alert_message put_price put_number put_refusal del_refusal \
	put_rescue del_rescue put_pool put_roll put_claim del_claim put_voucher del_voucher commit abandon load \
	get_number usage_of last_event look)
$(BIN)/crash: $(call objs,tests/crash/*.c) $(filter-out %/main.o %/sim_journal.o %/sim_tx.o %/sim_spool.o,$(SIM)) \
		$(B)/burstd/io/spool.o $(B)/burstd/io/spool_former.o $(B)/burstd/io/spool_check.o $(B)/slurm/hook.o $(B)/slurm/burst-prolog.o \
		$(libpure) $(B)/libdrivers.a $(libstore)
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LD    $@")
	$(Q)$(CC) $(ldflags) $(LDFLAGS) $(addprefix -Wl$(,)--wrap=,$(CRASH_WRAP)) -o $@ $^ \
		$(shell pkg-config --libs jansson sqlite3 libcrypto expat)

# JOBS test files run at once; JOBS=1: one after the other.  Tests that measure time come first, while nothing else
# runs; then end-to-end, chaos and node, which take longest and mostly wait; beside them, at the lowest priority, those
# that keep the processors busy.
JOBS  ?= $(shell echo $$(($$(nproc) * 2)))
prove  = CMOCKA_MESSAGE_OUTPUT=TAP prove -j$(JOBS) $(PROVE) --exec tests/unit/tap.sh
ASAN  := $(patsubst %.c,$(BUILD)/asan/%.t,$(sort $(wildcard tests/unit/*/test_*.c)))
# `make test` builds on all processors unless it is told how many (-j).
all_processors = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

# burst-agent against a fake burstd and fake metadata services: waits more than it works.
AGENT_TESTS := tests/agent/test_agent.py
unit: $(UNIT) $(PROGRAMS) ## unit tests (cmocka)
	$(Q)BIN=$(BIN) $(prove) $(UNIT) $(AGENT_TESTS)

quick: ## what a small change can break, in minutes: unit tests, 300 seeds, layers, objects, format, documents
	@$(MAKE) --no-print-directory $(all_processors) WERROR=1 $(UNIT) $(PROGRAMS) $(BIN)/sim
	$(Q)BIN=$(BIN) SEEDS=300 QUICK=1 $(prove) $(UNIT) $(AGENT_TESTS) tests/sim/run.sh scripts/dev/check.sh

SEEDS ?= 10000
STEPS ?= 2000
FIRST ?= 1
sim: $(BIN)/sim ## the simulator: SEEDS=n STEPS=n FIRST=seed TRACE=1
	$(BIN)/sim --table --seeds $(SEEDS) --steps $(STEPS) --first $(FIRST) $(if $(TRACE),--trace)

PAIRS ?= 2000
EVERY ?= 1
crash: $(BIN)/crash ## death at every write: EVERY=n PAIRS=n; one of them: FIRST=n MODEL=kill|lost|torn TRACE=1
	$(BIN)/crash $(if $(MODEL),--first $(FIRST) --model $(MODEL) $(if $(AGAIN),--again $(AGAIN)) \
		$(if $(MODEL_AGAIN),--model-again $(MODEL_AGAIN)) $(if $(LISTS),--lists) $(if $(TRACE),--trace),--every \
		$(EVERY) --pairs $(PAIRS))

# The small model: the real core, searched to the end; see tests/model/model.h.
$(BIN)/model: $(call objs,tests/model/*.c) $(libcore)
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LD    $@")
	$(Q)$(CC) $(ldflags) $(LDFLAGS) -o $@ $^ $(ldlibs)

model: $(BIN)/model ## every state of two nodes and two generations each
	$(BIN)/model

# A driver on its own, against services that are not ours; see tests/contract/driver.c.
$(BIN)/driver: $(call objs,tests/contract/*.c) $(libdrivers)
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LD    $@")
	$(Q)$(CC) $(ldflags) $(LDFLAGS) -o $@ $^ $(shell pkg-config --libs jansson libcrypto expat)

# The engine's side of a secret store, likewise.
$(BIN)/store: $(call objs,tests/contract/store/*.c) $(B)/burstd/base/jsonw.o $(B)/libdrivers.a $(libparts)
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LD    $@")
	$(Q)$(CC) $(ldflags) $(LDFLAGS) -o $@ $^ $(ldlibs)

# FOCUS data sets, for the checkers of that format.
$(BIN)/focus: $(call objs,tests/contract/focus/*.c) $(patsubst %,$(B)/tests/unit/ledger/%.o,charges statement_file) $(libledger)
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LD    $@")
	$(Q)$(CC) $(ldflags) $(LDFLAGS) -o $@ $^ $(ldlibs)

CONTRACTS := $(sort $(wildcard tests/contract/*.sh))
contract: ## drivers against services that are not ours: NAME=aws and NAME=aws-secrets (moto, from PyPI), NAME=vault, vault-ha, vault-rotate or vault-transcripts (OpenBao, by Go), NAME=ironic, openstack or lyceum, or one of these with -driver, NAME=ironic-keystone (PyPI), NAME=lambda and NAME=lambda-driver (Prism, from npm), NAME=focus (FOCUS data sets by focus-validator, PyPI), NAME=statement (Chromium)
	@scripts/dev/deps.sh contract
	@$(MAKE) --no-print-directory -s $(BIN)/driver $(BIN)/simcloud $(BIN)/store $(BIN)/focus $(BIN)/burstd $(BIN)/burstctl
	@BUILD=$(BUILD) BIN=$(BIN) $(prove) $(if $(NAME),tests/contract/$(NAME).sh,$(CONTRACTS))

cover: deps ## branch coverage of burstd/; node.c, drift.c and the replay of the journal must be reached whole
	@$(MAKE) --no-print-directory MODE=cover BUILD=$(BUILD)/cover cover-all
	@scripts/dev/cover.sh $(BUILD)/cover
cover-all: $(PROGRAMS) $(UNIT) $(BIN)/sim

e2e: deps all $(BIN)/flood ## end-to-end tests on a private real Slurm
	$(Q)$(prove) tests/e2e/run.sh

# Apart from `make test`: what PyPI's PyTorch wants takes 4.3 GB.
examples: deps all ## the batch scripts of docs/examples with PyTorch, DeepSpeed and Ray themselves (PyPI, 4.3 GB in build/torch), on CPUs
	@scripts/dev/deps.sh examples
	@BUILD=$(BUILD) BIN=$(BIN) $(prove) tests/e2e/examples/real.sh

node: deps ## what runs on a node (stage0, node-init), against hostile clouds
	$(Q)$(prove) tests/node/run.sh

check: test-asan ## compilers, sanitizers, analysers, layers, format, shellcheck
	$(Q)$(prove) $(ASAN) scripts/dev/check.sh

# Files that `make test` need not analyse again: see scripts/dev/unanalysed.sh.
analysed: ## the slow analysers on all files; scripts/dev/analysed then names this commit
	@git diff --quiet HEAD || { echo 'commit first: the analysers vouch for a commit' >&2; exit 2; }
	$(Q)commit=$$(git rev-parse HEAD) && options=$$(scripts/dev/unanalysed.sh --options) && \
		WHOLE=1 ONLY=analysers $(prove) scripts/dev/check.sh && \
		if git diff --quiet $$commit -- burstd providers slurm Makefile; then \
			echo $$commit $$options >scripts/dev/analysed; \
		else echo 'sources have changed meanwhile: again' >&2; exit 1; fi

# Tests that take too long for `make test`; docs/reliability.md has their figures.
soak: ## hours: the analysers on all files, a build by clang, unit tests of the release, every cloud end to end, the examples, 10,000 seeds, the museum, death at every write, fuzzing, 30 minutes of chaos over one cloud and over two
	@$(MAKE) --no-print-directory analysed
	@$(MAKE) --no-print-directory CC=clang WERROR=1 BUILD=$(BUILD)/clang all
	@$(MAKE) --no-print-directory unit
	@ALL=1 $(MAKE) --no-print-directory e2e
	@$(MAKE) --no-print-directory examples
	@$(MAKE) --no-print-directory sim
	@$(MAKE) --no-print-directory museum
	@$(MAKE) --no-print-directory crash
	@$(MAKE) --no-print-directory fuzz SECONDS=60
	@$(MAKE) --no-print-directory chaos MINUTES=30
	@$(MAKE) --no-print-directory chaos MINUTES=30 CLOUDS=2
	@for t in $(LONG); do $(MAKE) --no-print-directory $$t || exit 1; done

# Everything.  First the hook's tests that keep time, on the release: it is another program there, static.  Then two runs of
# prove side by side: the end-to-end tests, node and chaos, which mostly wait, and at a lower priority what computes: the
# unit tests under ASan and UBSan, which are built meanwhile (the hook's that keep time first, at the usual priority), and
# the long ones; the checks begin first, since they are one after the other.  What the first of the two says comes after the
# second's, so that they do not mix.  A shell lets what it starts in the background ignore ^C; and make runs each line with
# its own name in it even by `make -n`.
submake   = $(MAKE)
HOOK_TESTS := $(filter $(B)/tests/unit/hook/%,$(UNIT))
TIMED    := $(filter $(B)/tests/unit/hook/test_hook%,$(HOOK_TESTS))
WAITS    := tests/e2e/run.sh tests/node/run.sh tests/chaos/run.sh
TIMED_ASAN := $(filter $(BUILD)/asan/tests/unit/hook/test_hook%,$(ASAN))
COMPUTES := scripts/dev/check.sh $(filter-out $(TIMED_ASAN),$(ASAN)) $(filter-out $(TIMED),$(HOOK_TESTS)) $(AGENT_TESTS) \
	$(CONTRACTS) tests/sim/run.sh tests/crash/run.sh tests/model/run.sh
test: deps ## every test, unit to end-to-end
	@$(MAKE) --no-print-directory $(all_processors) WERROR=1 test-programs
	$(Q)$(prove) $(TIMED)
	$(Q)log=$(BUILD)/waits.log; \
		env --default-signal=INT,QUIT CMOCKA_MESSAGE_OUTPUT=TAP prove -j3 $(PROVE) --exec tests/unit/tap.sh $(WAITS) >$$log 2>&1 & \
		rc=0; \
		if nice -n 10 $(submake) --no-print-directory $(all_processors) WERROR=1 MODE=asan unit-programs; then \
			env $(prove) $(TIMED_ASAN) || rc=1; \
			nice -n 10 env $(prove) $(COMPUTES) || rc=1; \
		else rc=1; fi; \
		wait $$! || rc=1; cat $$log; \
		if [ $$rc = 0 ]; then echo 'make test: passed'; else echo 'make test: FAILED, see the summaries of all runs above'; fi; exit $$rc

# A make of its own, after deps, so that pkg-config finds what deps installs.
test-asan: deps
	@$(MAKE) --no-print-directory $(all_processors) WERROR=1 MODE=asan unit-programs
unit-programs: all $(UNIT) $(BIN)/sim
	@:
test-programs: all $(HOOK_TESTS) $(BIN)/sim $(BIN)/crash $(BIN)/model $(BIN)/driver $(BIN)/store $(BIN)/flood $(BIN)/focus
	@:

SUITES ?= trixie
test-slurm-matrix: ## the end-to-end tests on other Slurm versions, in chroots: SUITES="trixie sid /opt/slurm"
	@scripts/dev/deps.sh matrix
	@tests/matrix/run.sh $(SUITES)

bare: ## docs/slurm-integration.md, followed to the letter on hosts that have nothing but Debian 12, or Slurm besides; units under systemd
	@scripts/dev/deps.sh
	@scripts/dev/deps.sh matrix
	@prove -v $(PROVE) --exec tests/bare/run.sh tests/bare/*.bats

# The scripts say themselves why they skip; make calls their exit status "Error 77".
or_skipped = || { rc=$$?; [ $$rc != 77 ] || echo "make $@: skipped, nothing is broken; make calls that \"Error 77\"" >&2; exit $$rc; }

# Checked before anything is installed: a machine that refuses namespaces needs no Slurm and no MariaDB.
lab-possible:
	@tests/e2e/lab/enter --possible $(or_skipped)

demo: lab-possible ## the main job on a private real Slurm and simcloud, in less than a minute
	@$(MAKE) --no-print-directory deps
	@$(MAKE) --no-print-directory -s $(all_processors) all
	@scripts/demo.sh $(or_skipped)

lab: lab-possible ## a shell in a private cluster that bursts; KEYS=file|vault: whose machines get munge's key by user-data
	@$(MAKE) --no-print-directory deps
	@$(MAKE) --no-print-directory -s $(all_processors) all
	@tests/e2e/lab/shell $(KEYS) $(or_skipped)

deps-build: ## install the Debian packages for `make` and `make install`: no Slurm, no daemon
	@scripts/dev/deps.sh build

deps: ## install those for tests, demo and lab too (Slurm, MariaDB); starts no service
	@scripts/dev/deps.sh

FUZZERS := $(patsubst %.c,$(B)/%.fuzz,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
SECONDS ?= 60
$(B)/tests/fuzz/%.fuzz: $(B)/tests/fuzz/%.o $(B)/libcli.a $(B)/libslurmconf.a $(B)/libagent.a $(B)/libledger.a $(B)/libdrivers.a $(libparts)
	@echo "  LD    $@"
	$(Q)$(CC) $(ldflags) $(LDFLAGS) -o $@ $^ $(ldlibs)
fuzzers: $(FUZZERS)

# The same harnesses with a main of our own, which any compiler builds: tests/fuzz/replay.c.
REPLAYS := $(patsubst %.c,$(BUILD)/asan/%.replay,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
$(B)/tests/fuzz/%.replay: $(B)/tests/fuzz/%.o $(B)/tests/fuzz/replay.o $(B)/libcli.a $(B)/libslurmconf.a $(B)/libagent.a $(B)/libledger.a $(B)/libdrivers.a $(libparts)
	@$(if $(V),,echo "  LD    $@")
	$(Q)$(CC) $(ldflags) $(LDFLAGS) -o $@ $^ $(ldlibs)
replay: ## every harness on its corpus, and on small changes of it, under ASan and UBSan
	@$(MAKE) --no-print-directory WERROR=1 MODE=asan $(REPLAYS)
	$(Q)rc=0; for r in $(REPLAYS); do n=$${r##*/fuzz_}; $$r tests/fuzz/corpus/$${n%.replay} || rc=1; done; exit $$rc

fuzz: deps ## libFuzzer harnesses, SECONDS=n each; NAME=hostlist only that one
	@$(MAKE) --no-print-directory CC=clang MODE=fuzz PKG_CFLAGS= fuzzers
	@SECONDS_EACH=$(SECONDS) BUILD=$(BUILD) tests/fuzz/run.sh $(NAME)

torture: deps all ## each call of libc fails once: SAMPLE=n ONLY=regex FAULT="..." JOBS=n
	@BUILD=$(BUILD) BIN=$(BIN) SAMPLE='$(SAMPLE)' JOBS='$(JOBS)' ONLY='$(ONLY)' FAULT='$(FAULT)' PROGRESS=1 \
		tests/torture/run.sh

MINUTES ?= 30
chaos: deps all ## a real cluster under kill -9, failover, reclaim and API faults: MINUTES=n SEED=n CLOUDS=2
	@BUILD=$(BUILD) BIN=$(BIN) MINUTES='$(MINUTES)' SEED='$(SEED)' CLOUDS='$(CLOUDS)' tests/chaos/run.sh

# An attack on the node-facing listener, and the listener with the control socket beside it.
$(BIN)/flood: $(call objs,tests/bench/flood/*.c) $(libio)
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LD    $@")
	$(Q)$(CC) $(ldflags) $(LDFLAGS) -o $@ $^ $(ldlibs)

# A page of EC2's list, read by the driver and by expat alone.
$(BIN)/parse: $(call objs,tests/bench/parse/*.c) $(libdrivers)
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LD    $@")
	$(Q)$(CC) $(ldflags) $(LDFLAGS) -o $@ $^ $(shell pkg-config --libs jansson libcrypto expat)

# A decision of burstd's budgets, with few and with many of them.
$(BIN)/decide: $(call objs,tests/bench/decide/*.c) $(libcore)
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LD    $@")
	$(Q)$(CC) $(ldflags) $(LDFLAGS) -o $@ $^ $(ldlibs)

# Jobs that wait for money, few and many, in the engine of the unit tests.
$(BIN)/waits: $(call objs,tests/bench/waits/*.c) $(libparts)
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LD    $@")
	$(Q)$(CC) $(ldflags) $(LDFLAGS) -o $@ $^ $(ldlibs) -lcmocka

bench: deps all $(BIN)/flood $(BIN)/parse $(BIN)/decide $(BIN)/waits ## figures as JSON lines in build/bench.json and as a table; NAME=hook
	@tests/bench/run.sh $(NAME)

# Tests of the code with threads, with ThreadSanitizer, which needs fixed addresses (setarch -R).
TSAN := $(patsubst %,$(BUILD)/tsan/tests/unit/io/%.t,test_node_server test_node_limits test_node_strangers test_mail)
tsan: ## the threads of the node-facing listener and of mails under ThreadSanitizer
	@$(MAKE) --no-print-directory WERROR=1 MODE=tsan $(TSAN)
	$(Q)for t in $(TSAN); do TSAN_OPTIONS=halt_on_error=1 setarch -R $$t || exit 1; done

# --- install ----------------------------------------------------------------------------------

# The documents keep their tree, so that their links hold.  A controller gets those for who runs or uses it; those about the code
# come with `make install DOCS='$(DOCS_ADMIN) $(DOCS_DEVELOPER)'`.  Links to a document that is not installed become text.
DOCS_DEVELOPER := CONTRIBUTING.md $(wildcard docs/design.md docs/museum.md docs/mutation.md docs/reliability.md docs/adr/*.md \
	docs/providers/writing-a-driver.md)
DOCS_ADMIN := README.md CHANGELOG.md SECURITY.md LICENSE VERSION \
	$(filter-out $(DOCS_DEVELOPER),$(wildcard docs/*.md docs/providers/*.md docs/examples/* docs/pictures/*.png))
DOCS     := $(DOCS_ADMIN)
# MODE:FILE:WHERE.  Install and uninstall both go by it.
INSTALL_FILES := \
	755:$(BIN)/burstd:$(sbindir)/burstd \
	755:$(BIN)/burstctl:$(bindir)/burstctl \
	755:$(BIN)/simcloud:$(bindir)/simcloud \
	755:$(BIN)/burst-hook:$(libexecdir)/burstd/burst-hook \
	755:$(BIN)/burst-agent:$(sbindir)/burst-agent \
	755:$(BIN)/burst-ledger:$(sbindir)/burst-ledger \
	$(foreach f,$(filter-out %.nft %.service,$(wildcard scripts/node/burst-*)),755:$(f):$(libexecdir)/burstd/$(notdir $(f))) \
	755:scripts/node/node-init:$(libexecdir)/burstd/node-init \
	755:scripts/node/image-check:$(libexecdir)/burstd/image-check \
	$(foreach f,burst-imds.nft systemd/slurmd.service.d/burst.conf systemd/munge.service.d/burst.conf systemd/burst-keys@.service systemd/burst-mounts.service,644:scripts/node/$(f):$(docdir)/node/$(f)) \
	644:scripts/node/burst-agent.service:$(unitdir)/burst-agent.service \
	644:scripts/pkg/burstd.service:$(unitdir)/burstd.service \
	644:scripts/pkg/burst-ledger.service:$(unitdir)/burst-ledger.service \
	644:scripts/pkg/burstd.tmpfiles:$(tmpfilesdir)/burstd.conf \
	644:scripts/pkg/completions/burstctl.bash:$(bashdir)/burstctl \
	644:scripts/pkg/completions/_burstctl:$(zshdir)/_burstctl \
	644:scripts/pkg/completions/burst-ledger.bash:$(bashdir)/burst-ledger \
	644:scripts/pkg/completions/_burst-ledger:$(zshdir)/_burst-ledger \
	$(foreach f,prolog epilog task-prolog gpu-health,755:slurm/$(f):$(libexecdir)/burstd/$(f)) \
	644:slurm/burst.conf:$(docdir)/slurm/burst.conf \
	644:scripts/pkg/burstd.conf:$(docdir)/burstd.conf \
	644:slurm/job_submit.lua:$(docdir)/slurm/job_submit.lua \
	$(foreach f,$(DOCS),644:$(f):$(docdir)/$(f)) \
	$(foreach f,$(PAGES),644:$(f):$(mandir)/man$(subst .,,$(suffix $(f)))/$(notdir $(f)))
# Our own directories, inner before outer.
INSTALL_DIRS := $(libexecdir)/burstd $(docdir)/docs/adr $(docdir)/docs/providers $(docdir)/docs/examples $(docdir)/docs/pictures $(docdir)/docs $(docdir)/slurm \
	$(addprefix $(docdir)/node/,systemd/slurmd.service.d systemd/munge.service.d systemd) $(docdir)/node $(docdir)

install: all ## install below $(DESTDIR)$(PREFIX); `burstctl init` writes a configuration
	@set -e; for i in $(INSTALL_FILES); do \
		IFS=:; set -- $$i; unset IFS; echo "  INSTALL $(DESTDIR)$$3"; install -D -m "$$1" "$$2" "$(DESTDIR)$$3"; done
	@scripts/site/links-to-text.sh "$(DESTDIR)$(docdir)"
	@sed -i 's|/usr/sbin/burst|$(sbindir)/burst|' "$(DESTDIR)$(unitdir)"/burstd.service "$(DESTDIR)$(unitdir)"/burst-agent.service \
		"$(DESTDIR)$(unitdir)"/burst-ledger.service
	@sed -i 's|/usr/libexec/|$(libexecdir)/|' "$(DESTDIR)$(docdir)/slurm/burst.conf" \
		"$(DESTDIR)$(docdir)/node/systemd/slurmd.service.d/burst.conf" "$(DESTDIR)$(docdir)/node/systemd/burst-mounts.service"
	@for h in $(HOOKS); do ln -sf burst-hook "$(DESTDIR)$(libexecdir)/burstd/$$h"; done

uninstall: ## remove what install put there, with the same variables; never configuration or state
	@for i in $(INSTALL_FILES) $(foreach h,$(HOOKS),::$(libexecdir)/burstd/$(h)) $(foreach f,$(DOCS_ADMIN) $(DOCS_DEVELOPER),::$(docdir)/$(f)); do rm -f "$(DESTDIR)$${i##*:}"; done
	@for d in $(INSTALL_DIRS); do rmdir --ignore-fail-on-non-empty "$(DESTDIR)$$d" 2>/dev/null || true; done

# Targets of one directory, beside what they make.  They add to INSTALL_FILES, to WAITS and COMPUTES (`make test`), and to LONG,
# targets that `make soak` makes.
include $(sort $(wildcard scripts/*/*.mk terraform/*.mk))

# Chroots are root's; --one-file-system in case something is still mounted there.
clean: ## remove build/
	$(if $(wildcard $(BUILD)/chroot),$(if $(filter-out 0,$(shell id -u)),sudo )rm -rf --one-file-system $(BUILD)/chroot)
	rm -rf $(BUILD)

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

-include $(shell find $(B) -name '*.d' 2>/dev/null)

.PHONY: all help deps deps-build demo lab lab-possible contract test quick analysed soak unit-programs test-programs test-asan test-slurm-matrix bare unit e2e examples node check sim model cover cover-all tsan museum museum-page mutate crash chaos bench fuzz fuzzers replay torture install uninstall clean
.SECONDARY:
.DELETE_ON_ERROR:
