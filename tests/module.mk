# SPDX-License-Identifier: LGPL-3.0-or-later
# The suite. A test joins by its place and name:
#   tests/unit/**/test_*.c, tests/golden/**, tests/fail/**   one Check program each, static archive, internals visible
#   tests/api/**/test_*.c                                    one Check program each, shared library only
#   tests/**/test_*.sh, tests/**/test_*.py                   scripts: exit 0 passed, 77 skipped, else failed
#   examples                                                 each is run once and has to exit 0
# Every program runs in a scratch folder of its own. `make check T=word` picks tests by name.

find_tests = $(sort $(patsubst $(srcdir)/%,%,$(foreach d,$(1),$(wildcard $(srcdir)/tests/$(d)/$(2) \
               $(srcdir)/tests/$(d)/*/$(2) $(srcdir)/tests/$(d)/*/*/$(2)))))
STATIC_TEST_SRCS := $(call find_tests,unit golden fail,test_*.c)
SHARED_TEST_SRCS := $(call find_tests,api cli,test_*.c)
SCRIPT_TESTS     := $(call find_tests,abi api cli fail ffi fuzz golden unit,test_*.sh) \
                    $(call find_tests,abi api cli fail ffi fuzz golden unit,test_*.py)
STATIC_TESTS  = $(STATIC_TEST_SRCS:%.c=$(BUILD)/%)
SHARED_TESTS  = $(SHARED_TEST_SRCS:%.c=$(BUILD)/%)
SUPPORT_SRCS := $(patsubst $(srcdir)/%,%,$(wildcard $(srcdir)/tests/support/*.c))
SUPPORT_OBJS  = $(SUPPORT_SRCS:%.c=$(BUILD)/obj/%.o)

TEST_CPPFLAGS = -I$(srcdir)/tests $(CHECK_CFLAGS) -DSRC_DIR='"$(abs_srcdir)"' -DBUILD_DIR='"$(abs_build)"' \
                -DSHARED_DIR='"$(abspath $(srcdir)/../shared)"'

$(BUILD)/obj/tests/%.o: $(srcdir)/tests/%.c config.mk
	@mkdir -p $(@D)
	$(COMPILE.c) $(TEST_CPPFLAGS) -c -o $@ $<
$(STATIC_TESTS): $(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(SUPPORT_OBJS) $(LIB_STATIC)
	@mkdir -p $(@D)
	$(LINK) -o $@ $< $(SUPPORT_OBJS) $(LIB_STATIC) $(CKPD_LIBS) $(CHECK_LIBS)
$(SHARED_TESTS): $(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(SUPPORT_OBJS) $(LIB_SHARED)
	@mkdir -p $(@D)
	$(LINK) -o $@ $< $(SUPPORT_OBJS) $(LINK_SHARED) $(CHECK_LIBS) -lpthread -lm
.SECONDARY: $(SUPPORT_OBJS) $(STATIC_TEST_SRCS:%.c=$(BUILD)/obj/%.o) $(SHARED_TEST_SRCS:%.c=$(BUILD)/obj/%.o)

# One result file per test, made anew each time; the last step adds them up.
T =
TEST_NAMES   := $(patsubst tests/%,%,$(STATIC_TEST_SRCS:.c=) $(SHARED_TEST_SRCS:.c=) $(SCRIPT_TESTS)) \
                $(patsubst %.c,%,$(EXAMPLE_SRCS)) $(patsubst %.cc,%,$(if $(CXX),$(EXAMPLE_CXX_SRCS)))
TESTS_TO_RUN  = $(if $(T),$(foreach n,$(TEST_NAMES),$(if $(findstring $(T),$(n)),$(n))),$(TEST_NAMES))
RESULTS       = $(TESTS_TO_RUN:%=$(BUILD)/results/%)
TEST_WRAPPER  =
RUN_TEST      = TEST_WRAPPER='$(TEST_WRAPPER)' SRC_DIR='$(abs_srcdir)' BUILD_DIR='$(abs_build)' CC='$(CC)' CXX='$(CXX)' \
                NM='$(NM)' PYTHON3='$(PYTHON3)' sh $(srcdir)/tests/run.sh

$(STATIC_TEST_SRCS:tests/%.c=$(BUILD)/results/%) $(SHARED_TEST_SRCS:tests/%.c=$(BUILD)/results/%): \
$(BUILD)/results/%: $(BUILD)/tests/% FORCE
	@$(RUN_TEST) $* $@ $(abs_build)/tests/$*
$(SCRIPT_TESTS:tests/%=$(BUILD)/results/%): $(BUILD)/results/%: $(srcdir)/tests/% $(LIB_STATIC) $(LIB_SHARED) $(TOOL) FORCE
	@$(RUN_TEST) $* $@ $(abs_srcdir)/tests/$*
$(EXAMPLES:$(BUILD)/%=$(BUILD)/results/%): $(BUILD)/results/examples/%: $(BUILD)/examples/% FORCE
	@$(RUN_TEST) examples/$* $@ $(abs_build)/examples/$*

.PHONY: check check-fail check-symbols check-headers check-ffi check-build
check-build: $(STATIC_TESTS) $(SHARED_TESTS) $(EXAMPLES) $(TOOL)
ifeq ($(have_check),yes)
check: $(RESULTS)
	@sh $(srcdir)/tests/summary.sh $(RESULTS)
else
check:
	@echo 'check: the unit-test library Check was not found (Debian: package check); install it and run ./configure again'
	@exit 1
endif
check-fail check-symbols check-headers check-ffi:
	@$(MAKE) --no-print-directory check T=$(or $(CHECK_WORD_$(@:check-%=%)),$(@:check-%=%))
CHECK_WORD_fail = fail/

-include $(STATIC_TEST_SRCS:%.c=$(BUILD)/obj/%.d) $(SHARED_TEST_SRCS:%.c=$(BUILD)/obj/%.d) $(SUPPORT_OBJS:.o=.d)
