# SPDX-License-Identifier: LGPL-3.0-or-later
# The command-line tool (examples/ckptdispatch*.c and examples/cli/*.c: one program) and the small programs
# (every other examples/*.c and *.cc: one program each). All see the public headers and the shared library only.

TOOL_SRCS := $(patsubst $(srcdir)/%,%,$(wildcard $(srcdir)/examples/ckptdispatch*.c $(srcdir)/examples/cli/*.c))
TOOL_OBJS  = $(TOOL_SRCS:%.c=$(BUILD)/obj/%.o)
TOOL       = $(if $(TOOL_SRCS),$(BUILD)/ckptdispatch)

EXAMPLE_SRCS := $(filter-out $(TOOL_SRCS),$(patsubst $(srcdir)/%,%,$(wildcard $(srcdir)/examples/*.c)))
EXAMPLE_CXX_SRCS := $(patsubst $(srcdir)/%,%,$(wildcard $(srcdir)/examples/*.cc))
EXAMPLES = $(EXAMPLE_SRCS:examples/%.c=$(BUILD)/examples/%) \
           $(if $(CXX),$(EXAMPLE_CXX_SRCS:examples/%.cc=$(BUILD)/examples/%))

# From the build tree a program finds the library beside it; installed it is linked again (pkgconfig/module.mk).
LINK_SHARED = -L$(BUILD) -lckptdispatch -Wl,-rpath,$(abs_build)

$(BUILD)/obj/examples/%.o: $(srcdir)/examples/%.c config.mk
	@mkdir -p $(@D)
	$(call run,CC,$@)$(filter-out -I$(srcdir)/lib,$(COMPILE.c)) -c -o $@ $<
$(BUILD)/obj/examples/%.cxx.o: $(srcdir)/examples/%.cc config.mk
	@mkdir -p $(@D)
	$(call run,CXX,$@)$(COMPILE.cxx) -c -o $@ $<

$(BUILD)/ckptdispatch: $(TOOL_OBJS) $(LIB_SHARED)
	$(call run,LINK,$@)$(LINK) -o $@ $(TOOL_OBJS) $(LINK_SHARED) -lm
$(BUILD)/examples/%: $(BUILD)/obj/examples/%.o $(LIB_SHARED)
	@mkdir -p $(@D)
	$(call run,LINK,$@)$(LINK) -o $@ $< $(LINK_SHARED) -lpthread -lm
$(BUILD)/examples/%: $(BUILD)/obj/examples/%.cxx.o $(LIB_SHARED)
	@mkdir -p $(@D)
	$(call run,LINK,$@)$(CXX) $(CXXFLAGS) $(EXTRA_CFLAGS) $(LDFLAGS) -o $@ $< $(LINK_SHARED) -lpthread -lm
# The tables of docs/case-format.md and the JSON Schema follow the field tables of the library.
.PHONY: update-format
update-format: $(TOOL)
	$(PYTHON3) $(srcdir)/docs/make_format.py $(srcdir) $(TOOL) --write
.SECONDARY: $(EXAMPLE_SRCS:%.c=$(BUILD)/obj/%.o) $(EXAMPLE_CXX_SRCS:%.cc=$(BUILD)/obj/%.cxx.o)

-include $(TOOL_OBJS:.o=.d) $(EXAMPLE_SRCS:%.c=$(BUILD)/obj/%.d) $(EXAMPLE_CXX_SRCS:%.cc=$(BUILD)/obj/%.cxx.d)
