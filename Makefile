# realm-agent: everything a person does with this repository.
#
#   make run           install what is missing, build, and watch two agents sync (Ctrl-C ends it)
#   make run EXIT=1    the same, ends by itself; exit status 0 only if every step held
#   make test          install what is missing, and run every test
#   make deb           build the Debian packages (.build-package/deb)
#   make image         OCI images of both programs from those packages (.build-package/image; root)
#   make repository    a signed apt repository of those packages (.build-package/repository)
#   make pictures      the screenshots of the pages, from a real run
#   make benchmark     build for release and measure the programs (Benchmarks/README.md); make benchmark-compare
#                      says what has become slower since Benchmarks/baseline.json
#   make soak          run the tests that draw lots with 10 000 seeds each (SEEDS=n for others)
#   make test-cluster  the test of two processes for minutes: writes for 60 s, the database away for 60 s
#   make fuzz-replay   the inputs that it begins with, under the address sanitizer
#   make fuzz          feed random bytes to every reader of bytes, for MINUTES=n each (Fuzz/README.md)
#   make endurance     a server, agents and programs for HOURS=n, under kills, full disks, clock jumps and
#                      network faults; every committed write is audited (Tests/Endurance/README.md)
#   make sanitize      run the tests under the thread and address sanitizers (needs 5 GB of disk)
#   make sanitize-bytes    the address sanitizer with modules that handle memory by themselves: minutes, in CI, too
#   make sanitize-threads  the thread sanitizer with modules that threads share: minutes

SWIFT_BUILD_FLAGS ?=
SEEDS ?= 10000
MINUTES ?= 1
HOURS ?= 1
# The same for every debug build: other flags compile everything again.
BUILD = swift build $(SWIFT_BUILD_FLAGS) --explicit-target-dependency-import-check error

# Suites of the server that run on its store in PostgreSQL, too; about two minutes.
POSTGRESQL_SUITES = ServerTests\.(Access|Comparison|Conversation|Convergence|DownloadScan|FlexibleConversation|FlexibleReset|Identification|ModeSwitch|RunTimeRole|LogIn|Quota|Session|SessionWork|Snapshot|Termination|UploadIntegration)Tests|ServerMigrationTests\.(DataExportVector|DataImportVector|ImportHistoryVector|UserImportVector)Tests

THREADS_TESTS = CoordinationTests SQLiteTests PostgreSQLTests
BYTES_TESTS = BSONTests ChangesetsTests DocumentsTests JSONTests SQLiteTests YAMLTests

.PHONY: setup build run test test-cluster soak fuzz fuzz-replay endurance sanitize sanitize-bytes sanitize-threads lint format benchmark benchmark-build benchmark-path \
	benchmark-transfer benchmark-latency benchmark-idle benchmark-capture benchmark-many benchmark-busy benchmark-table \
	benchmark-compare benchmark-short benchmark-cluster benchmark-import deb image repository pictures \
	prove-deb prove-package prove-units prove-image prove-repository prove-quick clean

setup:
	@scripts/setup.sh

build: setup
	$(BUILD)

run: build
	@scripts/demo.sh "$$(swift build $(SWIFT_BUILD_FLAGS) --show-bin-path)" "$(EXIT)"

test: setup
	$(BUILD) --build-tests
	@scripts/test.sh '$(POSTGRESQL_SUITES)' $(SWIFT_BUILD_FLAGS)

test-cluster: setup
	$(BUILD) --build-tests
	REALM_CLUSTER_SECONDS=60 REALM_CLUSTER_ABSENCE=60 \
		swift test $(SWIFT_BUILD_FLAGS) --skip-build --no-parallel --filter '^EndToEndTests\.(Cluster|RollingUpgrade)Tests'

# Hours, for the realm files; the seed of what fails is printed.
soak: setup
	$(BUILD) --build-tests
	REALM_SEEDS=$(SEEDS) swift test $(SWIFT_BUILD_FLAGS) --skip-build \
		--filter '^(SimulationTests|MergeTests|LocalRealmTests)\.'

fuzz: setup
	@scripts/fuzz.sh $(MINUTES)

fuzz-replay: setup
	@scripts/fuzz.sh replay

endurance: benchmark-build
	Tests/Endurance/endurance.py .build-release/release --hours $(HOURS)

# Builds of their own, each as large as .build; the suites that start our programs are left to `test`.
sanitize: setup
	for kind in thread address; do \
		swift build --build-tests --sanitize=$$kind --scratch-path .build-$$kind && \
		TSAN_OPTIONS="suppressions=$(CURDIR)/scripts/thread-sanitizer.suppressions" \
			swift test --sanitize=$$kind --scratch-path .build-$$kind --skip-build \
			--no-parallel --skip '^(EndToEndTests|ArchitectureTests)\.' || exit 1; \
	done

# Package.swift leaves out the rest. What lives as long as the process is not a leak.
sanitize-bytes: setup
	REALM_TESTS="$(BYTES_TESTS)" ASAN_OPTIONS=detect_leaks=0 \
		swift test --sanitize=address --scratch-path .build-address-part --no-parallel

sanitize-threads: setup
	REALM_TESTS="$(THREADS_TESTS)" TSAN_OPTIONS="suppressions=$(CURDIR)/scripts/thread-sanitizer.suppressions" \
		swift test --sanitize=thread --scratch-path .build-thread-part --no-parallel

lint:
	swift format lint --strict --recursive Package.swift Sources Tests
	@scripts/lint.sh

format:
	swift format --in-place --recursive Package.swift Sources Tests

# Both Debian packages, in .build-package/deb: the release build, then dpkg-buildpackage.
deb:
	@scripts/setup.sh deb
	@scripts/make-deb.sh

# Those packages as OCI images, and as an apt repository.
image:
	@scripts/setup.sh image
	@scripts/make-image.sh

repository:
	@scripts/setup.sh repository
	@scripts/make-repository.sh

# docs/pictures, from a real run of both programs and Chromium.
pictures: build
	@scripts/setup.sh browser
	@scripts/pictures.sh "$$(swift build $(SWIFT_BUILD_FLAGS) --show-bin-path)"

# Makes packages of the programs that are built on a Debian 12 with nothing but apt.
prove-deb: build
	@scripts/setup.sh image
	@scripts/prove-deb.sh "$$(swift build $(SWIFT_BUILD_FLAGS) --show-bin-path)"

# Boots a Debian 12 and installs them there; says what this machine does not allow.
prove-package:
	@scripts/prove-package.sh

# What of that costs seconds, for every change.
prove-units:
	@scripts/prove-package.sh --quick

# Run what `make image` and `make repository` have made; say what this machine does not allow.
prove-image:
	@scripts/prove-image.sh

prove-repository:
	@scripts/prove-repository.sh

# What of that costs seconds: a repository of small packages, and images of the programs that are built.
prove-quick: build
	@scripts/setup.sh repository
	@scripts/prove-repository.sh --quick
	@scripts/prove-image.sh --quick "$$(swift build $(SWIFT_BUILD_FLAGS) --show-bin-path)"

# The release build has a folder of its own: other flags would rebuild everything in .build.
benchmark-build: setup
	swift build --configuration release --scratch-path .build-release --product realm-server
	swift build --configuration release --scratch-path .build-release --product realm-agent

# Real processes on loopback: Benchmarks/README.md says what each of them measures.
benchmark: benchmark-table

benchmark-table benchmark-path benchmark-transfer benchmark-latency benchmark-idle benchmark-capture benchmark-many \
benchmark-busy benchmark-cluster benchmark-import: benchmark-%: benchmark-build
	Benchmarks/$*.py .build-release/release $(ARGUMENTS)

benchmark-compare:
	Benchmarks/table.py --compare

# With the programs as they are built for debugging: shows that the benchmarks run, and figures of its own kind.
benchmark-short: build
	Benchmarks/table.py "$$(swift build $(SWIFT_BUILD_FLAGS) --show-bin-path)" --short

clean:
	rm -rf .build .build-release .build-package .build-thread .build-address .build-thread-part .build-address-part \
		.build-fuzz .build-fuzz-address .run
