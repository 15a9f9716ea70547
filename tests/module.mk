# SPDX-License-Identifier: LGPL-3.0-or-later
# The suite. A test joins by its place and name:
#   tests/unit/**/test_*.c, tests/golden/**, tests/fail/**   one Check program each, static archive, internals visible
#   tests/api/**/test_*.c                                    one Check program each, shared library only
#   tests/bench/bench_*.c, tests/bench/solvers.py            benchmarks, not part of the suite
#   tests/fuzz/fuzz_*.c                                      one fuzz target each, replayed over its corpus
#   tests/**/test_*.sh, tests/**/test_*.py                   scripts: exit 0 passed, 77 skipped, else failed
#   examples                                                 each is run once and has to exit 0
# Every program runs in a scratch folder of its own. `make check T='word word'` picks tests by name.

find_tests = $(sort $(patsubst $(srcdir)/%,%,$(foreach d,$(1),$(wildcard $(srcdir)/tests/$(d)/$(2) \
               $(srcdir)/tests/$(d)/*/$(2) $(srcdir)/tests/$(d)/*/*/$(2)))))
STATIC_TEST_SRCS := $(call find_tests,unit golden fail,test_*.c)
SHARED_TEST_SRCS := $(call find_tests,api cli,test_*.c)
SCRIPT_TESTS     := $(call find_tests,abi api bench cli fail ffi fuzz golden unit,test_*.sh) \
                    $(call find_tests,abi api bench cli fail ffi fuzz golden unit,test_*.py)
ifeq ($(SPECIAL_BUILD),coverage)
# The counters are symbols of their own; a consumer and another version are built against the build folder itself.
SCRIPT_TESTS  := $(filter-out tests/abi/test_symbols.sh tests/abi/test_two_versions.py tests/bench/% tests/ffi/test_cmake.sh tests/ffi/test_pip.sh,$(SCRIPT_TESTS))
else ifneq ($(SPECIAL_BUILD),)
# Scripts that load the library into an interpreter: a sanitizer would have to be loaded before it. Scripts that measure.
SCRIPT_TESTS  := $(filter-out tests/abi/% tests/bench/% tests/ffi/% tests/unit/%,$(SCRIPT_TESTS))
endif
STATIC_TESTS  = $(STATIC_TEST_SRCS:%.c=$(BUILD)/%)
SHARED_TESTS  = $(SHARED_TEST_SRCS:%.c=$(BUILD)/%)
SUPPORT_SRCS := $(patsubst $(srcdir)/%,%,$(wildcard $(srcdir)/tests/support/*.c))
SUPPORT_OBJS  = $(SUPPORT_SRCS:%.c=$(BUILD)/obj/%.o)
SUPPORT_LIB   = $(BUILD)/tests/libsupport.a

TEST_CPPFLAGS = -I$(srcdir)/tests $(CHECK_CFLAGS) -DSRC_DIR='"$(abs_srcdir)"' -DBUILD_DIR='"$(abs_build)"' \
                -DSHARED_DIR='"$(abspath $(srcdir)/../shared)"' \
                -DCONFIGURED_VERSION='"$(VERSION)"' -DCONFIGURED_SOVERSION=$(SOVERSION)

# Tests that need a solver for linear programs leave their cases out of a build without one.
ifneq ($(with_glpk),yes)
TEST_CPPFLAGS += -Wno-unused-variable -Wno-unused-function
endif

$(BUILD)/obj/tests/%.o: $(srcdir)/tests/%.c config.mk
	@mkdir -p $(@D)
	$(call run,CC,$@)$(COMPILE.c) $(TEST_CPPFLAGS) -c -o $@ $<
$(SUPPORT_LIB): $(SUPPORT_OBJS)
	@mkdir -p $(@D)
	@rm -f $@
	$(call run,AR,$@)$(AR) rcs $@ $(SUPPORT_OBJS)
$(STATIC_TESTS): $(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(SUPPORT_LIB) $(LIB_STATIC)
	@mkdir -p $(@D)
	$(call run,LINK,$@)$(LINK) -o $@ $< $(SUPPORT_LIB) $(LIB_STATIC) $(CKPD_LIBS) $(CHECK_LIBS)
$(SHARED_TESTS): $(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(SUPPORT_LIB) $(LIB_SHARED)
	@mkdir -p $(@D)
	$(call run,LINK,$@)$(LINK) -o $@ $< $(SUPPORT_LIB) $(LINK_SHARED) $(CHECK_LIBS) -lpthread -lm
.SECONDARY: $(SUPPORT_OBJS) $(FUZZ_SRCS:%.c=$(BUILD)/obj/%.o) $(BUILD)/obj/tests/fuzz/driver.o $(STATIC_TEST_SRCS:%.c=$(BUILD)/obj/%.o) $(SHARED_TEST_SRCS:%.c=$(BUILD)/obj/%.o)

# Fuzz targets: tests/fuzz/fuzz_X.c, replayed over tests/fuzz/corpus/X in the suite.
FUZZ_SRCS    := $(patsubst $(srcdir)/%,%,$(wildcard $(srcdir)/tests/fuzz/fuzz_*.c))
FUZZ_TESTS    = $(FUZZ_SRCS:%.c=$(BUILD)/%)
$(FUZZ_TESTS): $(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(BUILD)/obj/tests/fuzz/driver.o $(LIB_STATIC)
	@mkdir -p $(@D)
	$(call run,LINK,$@)$(LINK) -o $@ $< $(BUILD)/obj/tests/fuzz/driver.o $(LIB_STATIC) $(CKPD_LIBS)
$(FUZZ_SRCS:tests/%.c=$(BUILD)/results/%): $(BUILD)/results/fuzz/fuzz_%: $(BUILD)/tests/fuzz/fuzz_% FORCE
	@$(RUN_TEST) fuzz/fuzz_$* $(BUILD)/results/fuzz/fuzz_$* $(abs_build)/tests/fuzz/fuzz_$* \
	    $(abs_srcdir)/tests/fuzz/corpus/$*
# `make fuzz` searches with every target, `make fuzz X=series` with one; what it finds goes to build/fuzz/X/.
X            = $(FUZZ_SRCS:tests/fuzz/fuzz_%.c=%)
FUZZ_SECONDS = 600
FUZZ_FLAGS   = -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined
.PHONY: fuzz
fuzz: $(X:%=fuzz-%)
.PHONY: $(X:%=fuzz-%)
$(X:%=fuzz-%): fuzz-%:
	@mkdir -p $(BUILD)/fuzz/$*
	clang $(CKPD_CPPFLAGS) $(TEST_CPPFLAGS) $(CKPD_CFLAGS) -DCKPD_BUILDING $(FUZZ_FLAGS) -o $(BUILD)/fuzz/fuzz_$* \
	    $(srcdir)/tests/fuzz/fuzz_$*.c $(LIB_SRCS:%=$(srcdir)/%) $(CKPD_LIBS)
	cd $(BUILD)/fuzz && ./fuzz_$* -max_total_time=$(FUZZ_SECONDS) -timeout=20 -artifact_prefix=$*/ $* \
	    $(abs_srcdir)/tests/fuzz/corpus/$*

# Benchmarks: tests/bench/bench_*.c, one program each, and tests/bench/solvers.py, which times solvers with the help of
# BENCH_TOOLS; `make bench B=word` runs those whose name holds the word, BENCH_OPTIONS goes to solvers.py.
B =
BENCH_OPTIONS =
BENCH_SRCS   := $(patsubst $(srcdir)/%,%,$(wildcard $(srcdir)/tests/bench/bench_*.c))
# Whether B asks for a name: the empty word, which is in no name for make, asks for all.
bench_wanted  = $(if $(B),$(findstring $(B),$(1)),$(1))
BENCHES       = $(foreach n,$(BENCH_SRCS:%.c=$(BUILD)/%),$(if $(call bench_wanted,$(n)),$(n)))
$(BENCH_SRCS:%.c=$(BUILD)/%): $(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(SUPPORT_LIB) $(LIB_STATIC)
	@mkdir -p $(@D)
	$(call run,LINK,$@)$(LINK) -o $@ $< $(SUPPORT_LIB) $(LIB_STATIC) $(CKPD_LIBS) $(CHECK_LIBS)
BENCH_TOOLS   = $(BUILD)/tests/bench/measure $(BUILD)/tests/bench/solve_trace
$(BUILD)/tests/bench/measure: $(BUILD)/obj/tests/bench/measure.o
	@mkdir -p $(@D)
	$(call run,LINK,$@)$(LINK) -o $@ $<
$(BUILD)/tests/bench/solve_trace: $(BUILD)/obj/tests/bench/solve_trace.o $(LIB_SHARED)
	@mkdir -p $(@D)
	$(call run,LINK,$@)$(LINK) -o $@ $< $(LINK_SHARED) -lm
BENCH_SOLVERS = SRC_DIR='$(abs_srcdir)' BUILD_DIR='$(abs_build)' $(PYTHON3) -B $(srcdir)/tests/bench/solvers.py
.PHONY: bench bench-full
bench: $(BENCHES) $(if $(call bench_wanted,tests/bench/solvers),$(BENCH_TOOLS) $(TOOL))
	@test -n '$(strip $(BENCHES) $(call bench_wanted,tests/bench/solvers))' || echo 'bench: no such benchmark'
	@for program in $(BENCHES); do DAYS=$${DAYS:-10} $$program || exit 1; done
	$(if $(call bench_wanted,tests/bench/solvers),@$(BENCH_SOLVERS) $(BENCH_OPTIONS))
bench-full: $(BENCH_TOOLS) $(TOOL)
	@$(BENCH_SOLVERS) --full $(BENCH_OPTIONS)

# One result file per test, made anew each time; the last step adds them up.
T =
SPECIAL_BUILD =
TEST_NAMES   := $(patsubst tests/%,%,$(STATIC_TEST_SRCS:.c=) $(SHARED_TEST_SRCS:.c=) $(FUZZ_SRCS:.c=) $(SCRIPT_TESTS)) \
                $(patsubst %.c,%,$(EXAMPLE_SRCS)) $(patsubst %.cc,%,$(if $(CXX),$(EXAMPLE_CXX_SRCS)))
# The longest begin first: one that began last would leave the other processors idle.
LONGEST       = unit/shape/test_sensitivity cli/test_advice.py unit/solver/test_native_random unit/shape/test_plan cli/test_real_days.py \
                fail/test_alloc_solver fail/test_alloc_dispatch fail/test_worker cli/test_exchange.py unit/shape/test_bands \
                unit/dispatch/test_warm unit/solver/test_native_limits fail/test_glpk_guest
TESTS_CHOSEN  = $(if $(T),$(sort $(foreach w,$(T),$(foreach n,$(TEST_NAMES),$(if $(findstring $(w),$(n)),$(n))))),$(TEST_NAMES))
TESTS_TO_RUN  = $(filter $(LONGEST),$(TESTS_CHOSEN)) $(filter-out $(LONGEST),$(TESTS_CHOSEN))
RESULTS       = $(TESTS_TO_RUN:%=$(BUILD)/results/%)
TEST_WRAPPER  =
RUN_TEST      = TEST_WRAPPER='$(TEST_WRAPPER)' SRC_DIR='$(abs_srcdir)' BUILD_DIR='$(abs_build)' CC='$(CC)' CXX='$(CXX)' \
                NM='$(NM)' PYTHON3='$(PYTHON3)' sh $(srcdir)/tests/run.sh

$(STATIC_TEST_SRCS:tests/%.c=$(BUILD)/results/%) $(SHARED_TEST_SRCS:tests/%.c=$(BUILD)/results/%): \
$(BUILD)/results/%: $(BUILD)/tests/% $(LIB_SHARED) $(TOOL) FORCE
	@$(RUN_TEST) $* $@ $(abs_build)/tests/$*
$(SCRIPT_TESTS:tests/%=$(BUILD)/results/%): $(BUILD)/results/%: $(srcdir)/tests/% $(LIB_STATIC) $(LIB_SHARED) $(TOOL) FORCE
	@$(RUN_TEST) $* $@ $(abs_srcdir)/tests/$*
$(filter $(BUILD)/results/bench/%,$(SCRIPT_TESTS:tests/%=$(BUILD)/results/%)): $(BENCH_TOOLS)
$(filter %/test_fmu.py,$(SCRIPT_TESTS:tests/%=$(BUILD)/results/%)): $(FMU)
$(EXAMPLES:$(BUILD)/%=$(BUILD)/results/%): $(BUILD)/results/examples/%: $(BUILD)/examples/% FORCE
	@$(RUN_TEST) examples/$* $@ $(abs_build)/examples/$*

.PHONY: check check-build
check-build: $(STATIC_TESTS) $(SHARED_TESTS) $(FUZZ_TESTS) $(EXAMPLES) $(TOOL) $(BENCH_TOOLS)
ifeq ($(have_check),yes)
check: $(RESULTS)
	@sh $(srcdir)/tests/summary.sh $(RESULTS)
else
check:
	@echo 'check: the unit-test library Check was not found (Debian: package check); install it and run ./configure again'
	@exit 1
endif

# Parts of the suite by name.
.PHONY: check-fail check-symbols check-headers check-ffi check-long
check-fail:
	@$(MAKE) --no-print-directory check T=fail/
check-symbols:
	@$(MAKE) --no-print-directory check T=test_symbols
check-headers:
	@$(MAKE) --no-print-directory check T=test_headers
check-ffi:
	@$(MAKE) --no-print-directory check T=ffi/
# The suite with the loops of the hostile-host tests at full length.
check-long:
	@CKPD_TEST_LONG=1 CK_DEFAULT_TIMEOUT=3600 $(MAKE) --no-print-directory check

# The suite again, built or run in another way. Scripts that read symbols or run other tools have nothing to say
# about a sanitizer build and are left out of it (SPECIAL_BUILD).
.PHONY: check-asan check-tsan check-valgrind check-locale check-coverage
SPECIAL = $(MAKE) --no-print-directory SPECIAL_BUILD=yes COMPILE_ONCE=yes LD_NO_UNDEFINED=
ASAN_FLAGS = -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
TSAN_FLAGS = -O1 -g -fsanitize=thread -fno-omit-frame-pointer
VALGRIND_FLAGS = -q --suppressions=$(abs_srcdir)/tests/support/valgrind.supp --error-exitcode=99 --leak-check=full --show-leak-kinds=definite,indirect \
                 --errors-for-leak-kinds=definite,indirect
check-asan:
	+@CKPD_TEST_FAST=1 CK_TIMEOUT_MULTIPLIER=5 ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 \
	    UBSAN_OPTIONS=print_stacktrace=1 $(SPECIAL) BUILD=$(BUILD)/asan EXTRA_CFLAGS='$(ASAN_FLAGS)' check
check-tsan:
	+@CKPD_TEST_FAST=1 CK_TIMEOUT_MULTIPLIER=10 TSAN_OPTIONS=halt_on_error=0:exitcode=66 \
	    $(SPECIAL) BUILD=$(BUILD)/tsan EXTRA_CFLAGS='$(TSAN_FLAGS)' check
check-valgrind:
	@command -v valgrind >/dev/null || { echo 'check-valgrind: valgrind is not installed'; exit 1; }
	+@CKPD_TEST_FAST=1 CK_TIMEOUT_MULTIPLIER=40 $(MAKE) --no-print-directory SPECIAL_BUILD=yes check \
	    TEST_WRAPPER='valgrind $(VALGRIND_FLAGS)'
# The locale is made here from the system's definition files; the test programs (the hosts) switch to it.
COMMA_LOCALE = de_DE.UTF-8
$(BUILD)/locale/$(COMMA_LOCALE):
	@mkdir -p $(@D)
	localedef --no-archive -i de_DE -f UTF-8 $@
check-locale: $(BUILD)/locale/$(COMMA_LOCALE)
	@LOCPATH=$(abs_build)/locale LC_ALL=$(COMMA_LOCALE) CKPD_TEST_LOCALE=$(COMMA_LOCALE) $(MAKE) --no-print-directory check
# Coverage of lib/, and of its allocation calls by the sweeps: what the suite reaches, a sweep has to fail.
COVERAGE_LIMITS = 90 80 95
check-coverage:
	@find $(BUILD)/coverage -name '*.gcda' -exec rm -f {} + 2>/dev/null || :
	@mkdir -p $(BUILD)/coverage && : > $(BUILD)/coverage/swept
	+@CKPD_TEST_FAST=1 CK_TIMEOUT_MULTIPLIER=5 CKPD_TEST_SWEPT=$(abs_build)/coverage/swept $(SPECIAL:yes=coverage) BUILD=$(BUILD)/coverage \
	    CFLAGS='-O0 -g' EXTRA_CFLAGS=--coverage check
	@$(PYTHON3) $(srcdir)/tests/coverage.py $(abs_srcdir) $(abs_build)/coverage/obj $(BUILD)/coverage/swept $(COVERAGE_LIMITS)
# The library's sources against another C library, compiled only: Debian has no GLPK or Jansson for musl to link with.
.PHONY: check-musl
check-musl:
	@command -v musl-gcc >/dev/null || { echo 'check-musl: musl-gcc is not installed (Debian: musl-tools)'; exit 1; }
	@for f in $(LIB_SRCS); do \
	    musl-gcc $(CKPD_CPPFLAGS) $(CKPD_CFLAGS) -Werror -DCKPD_BUILDING -idirafter /usr/include \
	        -idirafter /usr/include/$$($(CC) -dumpmachine) -fsyntax-only $(srcdir)/$$f || exit 1; done
	@echo 'check-musl: $(words $(LIB_SRCS)) files compile'

# ABI: the committed baseline against what was just built. abidiff answers 4 for a changed parameter list as well as for an
# addition, so only 0 is accepted; --no-added-syms lets additions be. What is opaque is no part of the ABI, but abigail
# goes by the base names of headers, which the rooms share with the public ones: so the handles are named to it.
ABI_BASELINE = $(srcdir)/tests/abi/libckptdispatch.abi
ABI_FLAGS = --suppressions $(BUILD)/opaque.suppr --exported-interfaces-only
.PHONY: check-abi update-abi
$(BUILD)/opaque.suppr: $(PUBLIC_HEADERS:%=$(srcdir)/%)
	@mkdir -p $(@D)
	@{ cat $^ | sed -n 's/^typedef struct \(ckpd_[a-z0-9_]*\) \1;.*/\1/p' | LC_ALL=C sort; echo 'ckpd__.*|glp_.*|json_.*'; } | \
	    sed 's/.*/[suppress_type]\n  name_regexp = ^(&)$$\n  drop = yes\n/' > $@
check-abi: $(LIB_SHARED) $(BUILD)/opaque.suppr
	@command -v abidiff >/dev/null || { echo 'check-abi: abidiff is not installed (Debian: abigail-tools)'; exit 1; }
	abidiff --no-added-syms $(ABI_FLAGS) $(ABI_BASELINE) $(BUILD)/$(SHLIB_REAL)
update-abi: $(LIB_SHARED) $(BUILD)/opaque.suppr
	abidw $(ABI_FLAGS) --no-elf-needed --no-corpus-path --no-comp-dir-path --no-show-locs \
	    --out-file $(ABI_BASELINE) $(BUILD)/$(SHLIB_REAL)

# The interface as data, for bindings (practice 40).
.PHONY: check-api check-man update-api update-errors update-man
check-api:
	@CC='$(CC)' $(PYTHON3) $(srcdir)/tests/abi/api.py $(srcdir) --check
update-api:
	@CC='$(CC)' $(PYTHON3) $(srcdir)/tests/abi/api.py $(srcdir) > $(BUILD)/api.json
	@cp $(BUILD)/api.json $(srcdir)/docs/api.json
	@$(PYTHON3) $(srcdir)/examples/python/generate.py $(srcdir)/docs/api.json > $(BUILD)/declarations.py
	@cp $(BUILD)/declarations.py $(srcdir)/examples/python/ckptdispatch/_declarations.py
check-man:
	@CC='$(CC)' $(PYTHON3) $(srcdir)/docs/man/make.py $(srcdir)
update-man:
	@CC='$(CC)' $(PYTHON3) $(srcdir)/docs/man/make.py $(srcdir) $(srcdir)/docs/man
update-errors:
	@sh $(srcdir)/tests/abi/errors.sh $(srcdir)/include/ckptdispatch/base.h > $(srcdir)/docs/errors.md

-include $(STATIC_TEST_SRCS:%.c=$(BUILD)/obj/%.d) $(SHARED_TEST_SRCS:%.c=$(BUILD)/obj/%.d) $(BENCH_TOOLS:$(BUILD)/%=$(BUILD)/obj/%.d) $(SUPPORT_OBJS:.o=.d) $(FUZZ_SRCS:%.c=$(BUILD)/obj/%.d)
