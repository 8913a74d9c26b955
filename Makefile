# PickerSync: one form, many terminals.
#
#   make run       build and show the main job
#   make test      after each change: what runs in a few minutes
#   make check     everything else
#   make install   PREFIX=/usr/local DESTDIR=
#   make help      every target

PREFIX ?= /usr/local
DESTDIR ?=
SWIFT ?= swift
BUILD ?= .build
JOBS ?= $(shell nproc)

sysconfdir ?= /etc
# Debian's package says /lib for its system's units.
systemunits ?= $(PREFIX)/lib/systemd/system
bindir = $(DESTDIR)$(PREFIX)/bin
systemdsystem = $(DESTDIR)$(systemunits)
systemduser = $(DESTDIR)$(PREFIX)/lib/systemd/user
sysusers = $(DESTDIR)$(PREFIX)/lib/sysusers.d
configuration = $(DESTDIR)$(sysconfdir)/pickersync/pickersyncd.yaml
sharedir = $(DESTDIR)$(PREFIX)/share/pickersync
docdir = $(DESTDIR)$(PREFIX)/share/doc/pickersync
mandir = $(DESTDIR)$(PREFIX)/share/man
bashcompletions = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
# Debian's zsh looks for packages' functions and for an administrator's in different folders.
zshfunctions = $(if $(filter /usr,$(PREFIX)),vendor-completions,site-functions)
zshcompletions = $(DESTDIR)$(PREFIX)/share/zsh/$(zshfunctions)
fishcompletions = $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
release = $(BUILD)/release
# Every release build has these flags, as other flags would rebuild everything. Exclusive access is
# checked at run time in debug builds, where the tests run, and in the fuzzers. In a release, these
# checks would make each edit slower. Each function has a section of its own, so that the linker can
# place those of packaging/order together. Without the local rpath, the loader does not look for each
# library beside the program first. Without frame pointers, which debuggers do not need, each
# function has fewer instructions. The flags are not in Package.swift, because SwiftPM refuses a
# dependency by version that has unsafe flags.
BUILD_RELEASE = $(SWIFT) build --build-path $(BUILD) -c release --disable-local-rpath \
    --omit-frame-pointers \
    -Xswiftc -enforce-exclusivity=unchecked -Xswiftc -Xfrontend -Xswiftc -function-sections

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
build: dependencies $(BUILD)/static/libstdc++.a ## a release build of daemon and command line
	$(BUILD_RELEASE) --product pickersyncd -Xlinker -L$(abspath $(BUILD))/static
	$(BUILD_RELEASE) --product pickerctl
	$(BUILD_RELEASE) --product pickersync-link

# A directory with the archive and without the shared library, so that the daemon contains what it
# uses of it. Looking up the symbols of the shared library would slow its start.
$(BUILD)/static/libstdc++.a:
	@mkdir -p $(@D)
	ln -sf "$$($(CC) -print-file-name=libstdc++.a)" $@

.PHONY: run
run: build ## a private daemon with an example form, shown; LINK=1: the form on two hosts
	@PICKERSYNC_BIN=$(release) scripts/$(if $(LINK),demo-link,demo)

# Suites that take minutes, each a target of `make check`: a pattern of their names.
TERMINALS = LiveTerminalTests
PROMISES = TortureTests
# What `swift test` runs, without the lock that it has on SwiftPM's folder until its end: suites run
# beside each other and beside builds.
RUN_TESTS = scripts/run-tests $(BUILD)/$@.log $(BUILD)/debug/PickerSyncPackageTests.xctest \
    --testing-library swift-testing

.PHONY: build-tests
build-tests: test-dependencies
	$(SWIFT) build --build-path $(BUILD) --build-tests

# Tests of whole programs wait for these on each of the few threads that a process has for tests,
# so they have processes of their own.
COMMAND_LINE = ^PickerctlTests\.
SYSTEM = ^(SystemTests|PickerSyncTests|PackageTests)\.
TEST_PARTS = test-modules test-system test-command-line

.PHONY: test
test: build-tests ## after each change; ONLY=Causality runs the suites whose names match
	$(if $(ONLY),$(RUN_TESTS) --filter '$(ONLY)',@$(MAKE) --no-print-directory --keep-going \
	    -j$(words $(TEST_PARTS)) --assume-old=build-tests $(TEST_PARTS))

.PHONY: $(TEST_PARTS)
test-modules: build-tests
	$(RUN_TESTS) --skip '$(COMMAND_LINE)' --skip '$(SYSTEM)' --skip '$(TERMINALS)' --skip '$(PROMISES)'
test-system: build-tests
	$(RUN_TESTS) --filter '$(SYSTEM)'
test-command-line: build-tests
	$(RUN_TESTS) --filter '$(COMMAND_LINE)' --skip '$(TERMINALS)'

# The longest first. Those that use release programs come after all of these are built: SwiftPM locks
# its folder, and a machine of check-systemd must not find that folder while it changes.
RELEASE_CHECKS = check-package check-systemd check-cost check-simulation
CHECKS = check-promises build-checks check-library check-terminals $(RELEASE_CHECKS) check-docs \
    check-units

# Promises and terminals wait more than they compute.
.PHONY: check
check: build-tests ## everything that `make test` leaves out, several at once
	@$(MAKE) --no-print-directory --keep-going -j$$(($(JOBS) + 1)) --output-sync=target \
	    --assume-old=build-tests CHECKING=1 $(CHECKS)

.PHONY: build-checks
build-checks: deb tarball
	$(BUILD_RELEASE) --product HotPaths
	$(BUILD_RELEASE) --product simulate

ifdef CHECKING
$(RELEASE_CHECKS) docs: build-checks
endif

.PHONY: check-terminals
check-terminals: build-tests ## the live form in real terminals
	$(RUN_TESTS) --filter '$(TERMINALS)'

.PHONY: check-promises
check-promises: build-tests ## the rows of `make torture`, a few seconds each
	$(RUN_TESTS) --filter '$(PROMISES)'

.PHONY: screens
screens: ## the golden screens of the live form as pictures, into .build/screens and docs/pictures
	@scripts/dependencies screens
	@scripts/screens $(BUILD)/screens Tests/PickerctlTests/Live/Goldens/*.ansi
	@mkdir -p docs/pictures
	@for name in conflict-100x30-truecolor gallery-96x86-truecolor keys-100x30-truecolor \
	    runbook-100x30-truecolor; do \
	    cp $(BUILD)/screens/$$name.png docs/pictures/$${name%%-*}.png; done
	@scripts/screens --controls docs/pictures/controls \
	    Tests/PickerctlTests/Live/Goldens/gallery-96x86-truecolor.ansi segmented=Segmented \
	    inline=Inline radio-group='Radio group' menu=Menu navigation-link='Navigation link' \
	    wheel=Wheel palette=Flags toggle='All lights' slider=Speed stepper=Count date='Egg timer' \
	    date-graphical='Start Date' date-wheel=Alarm text=Username secure=Password \
	    gauge='Battery Level' gauge-circular=BPM button='[ ↑ Sign In ]'

.PHONY: test-asan
test-asan: test-dependencies ## every test under the address sanitizer
	$(SWIFT) build --build-path $(BUILD)-asan --build-tests --sanitize=address -Xswiftc -use-ld=lld
	LSAN_OPTIONS=suppressions=$(CURDIR)/Tests/lsan.supp:print_suppressions=0 \
	    $(SWIFT) test --build-path $(BUILD)-asan --skip-build --disable-xctest --sanitize=address -Xswiftc -use-ld=lld

.PHONY: test-tsan
test-tsan: test-dependencies ## every test under the thread sanitizer
	$(SWIFT) build --build-path $(BUILD)-tsan --build-tests --sanitize=thread -Xswiftc -use-ld=lld
	TSAN_OPTIONS=suppressions=$(CURDIR)/Tests/tsan.supp \
	    $(SWIFT) test --build-path $(BUILD)-tsan --skip-build --disable-xctest --sanitize=thread -Xswiftc -use-ld=lld

.PHONY: fuzz
fuzz: dependencies ## every fuzzer for SECONDS=60 each; TARGETS="json keys" names some
	BUILD=$(BUILD) SECONDS_EACH=$(or $(SECONDS),60) TARGETS="$(TARGETS)" scripts/fuzz

.PHONY: simulate
simulate: dependencies ## the long search: CAUSALITY=1000000 ENGINE=5000 FLEET=3000 JOINS=3000 LINK=3000 LINK_STEPS=1000 (steps each) VERBS=1000 STORIES=1000000 (steps) STORY=100 (steps each) FIRST=1
	$(BUILD_RELEASE) --product simulate
	$(release)/simulate causality $${FIRST:-1} $${CAUSALITY:-1000000}
	$(release)/simulate engine $${FIRST:-1} $${ENGINE:-5000}
	$(release)/simulate fleet $${FIRST:-1} $${FLEET:-3000}
	$(release)/simulate joins $${FIRST:-1} $${JOINS:-3000}
	$(release)/simulate link $${FIRST:-1} $${LINK:-3000} $$LINK_STEPS
	$(release)/simulate verbs $${FIRST:-1} $${VERBS:-1000}
	$(release)/simulate stories $${FIRST:-1} $$(($${STORIES:-1000000} / $${STORY:-100})) $${STORY:-100}
	@if [ $${COMMANDS:-0} -gt 0 ]; then \
	    $(BUILD_RELEASE) --product pickersyncd && $(BUILD_RELEASE) --product pickerctl && \
	    $(release)/simulate commands $${FIRST:-1} $$(($$COMMANDS / 40)); fi

# Longer than the searches of `make test`, which are of a debug build.
.PHONY: check-simulation
check-simulation: dependencies ## the searches of `make simulate`, a few seconds each, and every known bug put in
	@$(MAKE) --no-print-directory simulate FIRST=1 CAUSALITY=4000 ENGINE=400 FLEET=250 JOINS=300 \
	    LINK=120 VERBS=60 STORIES=10000 COMMANDS=0
	$(release)/simulate faults 301 60

.PHONY: check-stories-find
check-stories-find: dependencies ## stories must find the bugs in Tests/Stories/Bugs when they are put back
	@BUILD=$(BUILD) SWIFT=$(SWIFT) scripts/check-stories-find

.PHONY: torture
torture: test-dependencies package-dependencies machine-dependencies build ## every promise, tried hard: ROWS=1,8 SECONDS=60 SEED=1
	$(BUILD_RELEASE) --product torture
	$(BUILD_RELEASE) --product simulate
	@$(release)/torture --bin $(release) --sources Torture \
	    $(if $(ROWS),--rows $(ROWS)) $(if $(SECONDS),--seconds $(SECONDS)) \
	    $(if $(SEED),--seed $(SEED)) $(if $(SCRATCH),--scratch $(SCRATCH))

.PHONY: check-cost
check-cost: test-dependencies ## instructions and allocations of the hot paths, against Benchmarks/cost.tsv
	$(BUILD_RELEASE) --product HotPaths
	@scripts/check-cost $(release)/HotPaths

.PHONY: renew-cost
renew-cost: test-dependencies ## updates Benchmarks/cost.tsv
	$(BUILD_RELEASE) --product HotPaths
	@scripts/check-cost $(release)/HotPaths --renew

.PHONY: bench
bench: build ## side by side with others, into docs/benchmarks.md, and then bench-link; QUICK=1 in minutes
	@scripts/dependencies build bench
	@mkdir -p $(BUILD)/bench
	$(CC) -O2 -std=gnu11 -Wall -Wextra -Werror -o $(BUILD)/bench/load Benchmarks/load/*.c
	$(CC) -O2 -std=gnu11 -Wall -Wextra -Werror -o $(BUILD)/bench/relay Benchmarks/relay.c \
	    $$(pkg-config --cflags --libs libuv)
	$(CC) -O2 -std=gnu11 -Wall -Wextra -Werror -o $(BUILD)/bench/keys Benchmarks/keys.c -lutil
	@python3 Benchmarks/bench.py --release $(release) --build $(BUILD)/bench $(if $(QUICK),--quick)
	@$(MAKE) --no-print-directory bench-link

.PHONY: bench-keys
bench-keys: build ## a key in one live form to the cells of another, beside a relay; QUICK=1
	@scripts/dependencies build bench
	@mkdir -p $(BUILD)/bench
	$(CC) -O2 -std=gnu11 -Wall -Wextra -Werror -o $(BUILD)/bench/keys Benchmarks/keys.c -lutil
	@python3 Benchmarks/key-to-cells.py --release $(release) --build $(BUILD)/bench $(if $(QUICK),--quick)

.PHONY: bench-link
bench-link: build test-dependencies ## a set on one host to a watcher on another, beside JetStream alone, into docs/benchmarks/link.md; QUICK=1
	@mkdir -p $(BUILD)/bench
	$(CC) -O2 -std=gnu11 -Wall -Wextra -Werror -o $(BUILD)/bench/load Benchmarks/load/*.c
	@python3 Benchmarks/link.py --release $(release) --build $(BUILD)/bench $(if $(QUICK),--quick,--page docs/benchmarks/link.md)

.PHONY: docs check-docs
check-docs: docs
docs: dependencies ## the Swift library's pages, into .build/docs; a warning fails
	@scripts/dependencies docs
	@SWIFT=$(SWIFT) BUILD=$(BUILD) scripts/docs $(BUILD)/docs/PickerSync

.PHONY: check-library
check-library: build-tests ## the Swift library from a package that depends on it by version
	@SWIFT=$(SWIFT) scripts/check-library $(BUILD)/debug

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
	@test -x $(release)/pickersyncd -a -x $(release)/pickerctl -a -x $(release)/pickersync-link || \
	    $(MAKE) build
	install -D -m 755 -s $(release)/pickersyncd $(bindir)/pickersyncd
	install -D -m 755 -s $(release)/pickerctl $(bindir)/pickerctl
	install -D -m 755 -s $(release)/pickersync-link $(bindir)/pickersync-link
	install -d $(systemdsystem) $(systemduser)
	@for unit in systemd/*.service systemd/*.socket; do \
	    sed 's|@bindir@|$(PREFIX)/bin|g' $$unit > $(systemdsystem)/$${unit##*/} || exit 1; \
	done
	@for unit in systemd/user/*.service systemd/user/*.socket; do \
	    sed 's|@bindir@|$(PREFIX)/bin|g' $$unit > $(systemduser)/$${unit##*/} || exit 1; \
	done
	install -d $(sysusers)
	install -m 644 systemd/sysusers.d/*.conf $(sysusers)/
	@test -e $(configuration) || install -D -m 644 packaging/pickersyncd.yaml $(configuration)
	install -d $(sharedir)/forms $(sharedir)/schema $(docdir)/examples
	install -m 644 Examples/forms/*.yaml $(sharedir)/forms/
	install -m 644 docs/schema/form.schema.json $(sharedir)/schema/
	install -m 644 docs/protocol.openrpc.json $(sharedir)/schema/
	install -m 644 Examples/*.py $(docdir)/examples/
	install -m 644 README.md CHANGELOG.md LICENSE $(docdir)/
	@cd docs && find . -path './observability/*' -name '*.[jy]*' -exec install -D -m 644 {} $(abspath $(docdir))/{} \;
	@cd docs && find . -mindepth 1 -name '*.md' ! -path ./README.md -exec install -D -m 644 {} $(abspath $(docdir))/{} \;
	scripts/generate-manual $(release) $(mandir)
	@$(MAKE) --no-print-directory install-completions
	@scripts/after-install "$(DESTDIR)" $(sysusers)/pickersync.conf $(sysusers)/pickersync-link.conf

.PHONY: install-completions
install-completions:
	install -d $(bashcompletions) $(zshcompletions) $(fishcompletions)
	$(release)/pickerctl completions bash | sed "1{/^#!/d}" > $(bashcompletions)/pickerctl
	$(release)/pickerctl completions zsh > $(zshcompletions)/_pickerctl
	$(release)/pickerctl completions fish > $(fishcompletions)/pickerctl.fish

.PHONY: uninstall
uninstall: ## what install put there; the store and a changed configuration stay
	@[ -n "$(DESTDIR)" ] || [ ! -d /run/systemd/system ] || \
	    systemctl disable --now pickersync-link.service pickersyncd.socket pickersyncd.service || \
	    true
	rm -f $(bindir)/pickersyncd $(bindir)/pickerctl $(bindir)/pickersync-link
	rm -f $(systemdsystem)/pickersync-link.service $(sysusers)/pickersync-link.conf
	rm -f $(systemdsystem)/pickersyncd.service $(systemdsystem)/pickersyncd.socket
	rm -f $(systemduser)/pickersyncd.service $(systemduser)/pickersyncd.socket
	rm -f $(sysusers)/pickersync.conf
	rm -f $(bashcompletions)/pickerctl $(zshcompletions)/_pickerctl $(fishcompletions)/pickerctl.fish
	rm -f $(mandir)/man1/pickerctl.1 $(mandir)/man1/pickerctl-*.1 $(mandir)/man1/pickersyncd.1
	rm -f $(mandir)/man1/pickersync-link.1
	rm -f $(mandir)/man5/pickersync-*.5 $(mandir)/man5/pickersyncd.yaml.5
	rm -f $(mandir)/man7/pickersync-protocol.7
	rm -rf $(sharedir) $(docdir)
	@if cmp -s packaging/pickersyncd.yaml $(configuration); then \
	    rm $(configuration) && rmdir --ignore-fail-on-non-empty $(dir $(configuration)); fi

.PHONY: package-dependencies
package-dependencies:
	@scripts/dependencies build package

.PHONY: deb
deb: package-dependencies build ## a Debian package, in $(BUILD)/dist
	@packaging/build-deb $(BUILD) $(BUILD)/dist

.PHONY: tarball
tarball: package-dependencies build ## the static pickerctl alone, in $(BUILD)/dist
	@packaging/build-tarball $(BUILD) $(BUILD)/dist

.PHONY: check-package
check-package: deb tarball ## lintian, and what is in them against make install
	@packaging/check-package $(BUILD) $(BUILD)/dist

.PHONY: machine-dependencies
machine-dependencies:
	@scripts/dependencies machine

# The short version; a machine that cannot do it reports that, which does not fail.
.PHONY: check-systemd
check-systemd: deb machine-dependencies ## the package and the pages in a clean Debian with systemd
	@BUILD=$(BUILD) scripts/test-systemd || [ $$? -eq 77 ]

.PHONY: test-systemd
test-systemd: deb machine-dependencies ## the same at length: the watchdog as shipped, more restarts
	@BUILD=$(BUILD) scripts/test-systemd --long

.PHONY: clean
clean: ## all that was built
	rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-tsan $(BUILD)-fuzz
