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

# `make fmu`: examples/fmu as build/ckptdispatch.fmu, an FMI 2.0 co-simulation FMU. The library is part of its binary; what the
# library itself needs (Jansson, libcsv, GLPK unless --without-glpk) has to be on the machine that loads it.
FMU         = $(BUILD)/ckptdispatch.fmu
FMU_CASE    = $(srcdir)/examples/fmu/case.json
FMU_SOURCES = fmu planner
FMU_OBJS    = $(FMU_SOURCES:%=$(BUILD)/fmu/%.o)
.PHONY: fmu
fmu: $(FMU)
$(BUILD)/fmu/guid.h: $(FMU_CASE) $(srcdir)/examples/fmu/describe.py $(srcdir)/examples/fmu/variables.h config.mk
	@mkdir -p $(@D)
	@$(PYTHON3) $(srcdir)/examples/fmu/describe.py describe $(FMU_CASE) $(@D) $(VERSION)
$(FMU_OBJS): $(BUILD)/fmu/%.o: $(srcdir)/examples/fmu/%.c $(BUILD)/fmu/guid.h
	$(call run,CC,$@)$(filter-out -I$(srcdir)/lib,$(COMPILE.c)) -I$(BUILD)/fmu -fPIC -c -o $@ $<
# Only the functions of FMI are seen from outside.
$(BUILD)/fmu/ckptdispatch.so: $(FMU_OBJS) $(LIB_PIC_OBJS) $(srcdir)/examples/fmu/fmi2.map
	$(call run,LINK,$@)$(LINK) -shared -Wl,--version-script,$(srcdir)/examples/fmu/fmi2.map $(LD_NO_UNDEFINED) -o $@ \
	    $(FMU_OBJS) $(LIB_PIC_OBJS) $(CKPD_LIBS)
$(FMU): $(BUILD)/fmu/ckptdispatch.so
	$(call run,ZIP,$@)$(PYTHON3) $(srcdir)/examples/fmu/describe.py pack $(FMU_CASE) $(BUILD)/fmu $< $@ \
	    $(srcdir)/COPYING $(srcdir)/COPYING.LESSER
-include $(FMU_OBJS:.o=.d)
