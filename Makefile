# PickerSync: one form, many terminals.
#
#   make run       build and show the main job
#   make test      install what tests need and run them all
#   make install   PREFIX=/usr/local DESTDIR=
#   make help      every target

PREFIX ?= /usr/local
DESTDIR ?=
SWIFT ?= swift
BUILD ?= .build
JOBS ?= $(shell nproc)

bindir = $(DESTDIR)$(PREFIX)/bin
systemdsystem = $(DESTDIR)$(PREFIX)/lib/systemd/system
systemduser = $(DESTDIR)$(PREFIX)/lib/systemd/user
sysusers = $(DESTDIR)$(PREFIX)/lib/sysusers.d
tmpfiles = $(DESTDIR)$(PREFIX)/lib/tmpfiles.d
sharedir = $(DESTDIR)$(PREFIX)/share/pickersync
docdir = $(DESTDIR)$(PREFIX)/share/doc/pickersync
bashcompletions = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
zshcompletions = $(DESTDIR)$(PREFIX)/share/zsh/vendor-completions
fishcompletions = $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
release = $(BUILD)/release

.PHONY: help
help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

.PHONY: dependencies
dependencies:
	@scripts/dependencies build

.PHONY: test-dependencies
test-dependencies:
	@scripts/dependencies build test

.PHONY: build
build: dependencies ## a release build of daemon and command line
	$(SWIFT) build --build-path $(BUILD) -c release --product pickersyncd
	$(SWIFT) build --build-path $(BUILD) -c release --product pickerctl

.PHONY: run
run: build ## a private daemon with an example form, shown
	@PICKERSYNC_BIN=$(release) scripts/demo

.PHONY: test
test: test-dependencies ## every test, the short searches among them
	$(SWIFT) build --build-path $(BUILD) --build-tests
	$(SWIFT) test --build-path $(BUILD) --skip-build --disable-xctest
	@$(MAKE) --no-print-directory check-units

.PHONY: test-asan
test-asan: test-dependencies ## every test under the address sanitizer
	$(SWIFT) build --build-path $(BUILD)-asan --build-tests --sanitize=address -Xswiftc -use-ld=lld
	LSAN_OPTIONS=suppressions=$(CURDIR)/Tests/lsan.supp:print_suppressions=0 \
	    $(SWIFT) test --build-path $(BUILD)-asan --skip-build --disable-xctest --sanitize=address -Xswiftc -use-ld=lld

.PHONY: fuzz
fuzz: dependencies ## every fuzzer for SECONDS=60 each; TARGETS="json keys" names some
	BUILD=$(BUILD) SECONDS_EACH=$(or $(SECONDS),60) TARGETS="$(TARGETS)" scripts/fuzz

.PHONY: simulate
simulate: dependencies ## the long search: CAUSALITY=1000000 ENGINE=5000 FIRST=1
	$(SWIFT) build --build-path $(BUILD) -c release --product simulate
	$(release)/simulate causality $${FIRST:-1} $${CAUSALITY:-1000000}
	$(release)/simulate engine $${FIRST:-1} $${ENGINE:-5000}

.PHONY: torture
torture: test-dependencies build ## every promise, tried hard: ROWS=1,8 SECONDS=60 SEED=1
	$(SWIFT) build --build-path $(BUILD) -c release --product torture
	$(SWIFT) build --build-path $(BUILD) -c release --product simulate
	@$(release)/torture --bin $(release) --sources Torture \
	    $(if $(ROWS),--rows $(ROWS)) $(if $(SECONDS),--seconds $(SECONDS)) \
	    $(if $(SEED),--seed $(SEED)) $(if $(SCRATCH),--scratch $(SCRATCH))

.PHONY: bench
bench: build ## side by side with others, into docs/benchmarks.md; QUICK=1 in under three minutes
	@scripts/dependencies build bench
	@mkdir -p $(BUILD)/bench
	$(CC) -O2 -std=gnu11 -Wall -Wextra -Werror -o $(BUILD)/bench/load Benchmarks/load/*.c
	$(CC) -O2 -std=gnu11 -Wall -Wextra -Werror -o $(BUILD)/bench/relay Benchmarks/relay.c \
	    $$(pkg-config --cflags --libs libuv)
	@python3 Benchmarks/bench.py --release $(release) --build $(BUILD)/bench $(if $(QUICK),--quick)

.PHONY: lint
lint: ## the style, strictly
	$(SWIFT) format lint --strict --configuration .swift-format -r Package.swift Sources Tests Torture Benchmarks Fuzz

.PHONY: format
format: ## mends what can be mended of it
	$(SWIFT) format -i --configuration .swift-format -r Package.swift Sources Tests Torture Benchmarks Fuzz

.PHONY: check-units
check-units: ## systemd-analyze over the shipped units
	@scripts/check-units

.PHONY: install
install: ## into DESTDIR and PREFIX; builds first unless it was built
	@test -x $(release)/pickersyncd -a -x $(release)/pickerctl || $(MAKE) build
	install -D -m 755 -s $(release)/pickersyncd $(bindir)/pickersyncd
	install -D -m 755 -s $(release)/pickerctl $(bindir)/pickerctl
	install -d $(systemdsystem) $(systemduser) $(sysusers) $(tmpfiles)
	@for unit in systemd/*.service systemd/*.socket; do \
	    sed 's|@bindir@|$(PREFIX)/bin|g' $$unit > $(systemdsystem)/$${unit##*/} || exit 1; \
	done
	@for unit in systemd/user/*.service systemd/user/*.socket; do \
	    sed 's|@bindir@|$(PREFIX)/bin|g' $$unit > $(systemduser)/$${unit##*/} || exit 1; \
	done
	@for file in systemd/sysusers.d/*.conf; do install -m 644 $$file $(sysusers)/; done
	@for file in systemd/tmpfiles.d/*.conf; do \
	    [ -e $$file ] && install -m 644 $$file $(tmpfiles)/ || true; done
	install -d $(sharedir)/forms $(sharedir)/schema $(docdir)
	install -m 644 Examples/forms/*.yaml $(sharedir)/forms/
	install -m 644 docs/schema/form.schema.json $(sharedir)/schema/
	install -m 644 README.md CHANGELOG.md LICENSE docs/*.md $(docdir)/
	install -d $(bashcompletions) $(zshcompletions) $(fishcompletions)
	$(release)/pickerctl completions bash > $(bashcompletions)/pickerctl
	$(release)/pickerctl completions zsh > $(zshcompletions)/_pickerctl
	$(release)/pickerctl completions fish > $(fishcompletions)/pickerctl.fish

.PHONY: uninstall
uninstall: ## what install put there
	rm -f $(bindir)/pickersyncd $(bindir)/pickerctl
	rm -f $(systemdsystem)/pickersyncd.service $(systemdsystem)/pickersyncd.socket
	rm -f $(systemduser)/pickersyncd.service $(systemduser)/pickersyncd.socket
	rm -f $(sysusers)/pickersync.conf $(tmpfiles)/pickersync.conf
	rm -f $(bashcompletions)/pickerctl $(zshcompletions)/_pickerctl $(fishcompletions)/pickerctl.fish
	rm -rf $(sharedir) $(docdir)

.PHONY: clean
clean: ## all that was built
	rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-fuzz
