# SPDX-License-Identifier: LGPL-3.0-or-later
# The library. A source joins by lying in a room (lib/ROOM/*.c or one folder deeper): no list to edit.

LIB_ROOMS := base task modes graph site dispatch solver shape link io
LIB_SRCS := $(sort $(patsubst $(srcdir)/%,%,$(foreach room,$(LIB_ROOMS),\
              $(wildcard $(srcdir)/lib/$(room)/*.c $(srcdir)/lib/$(room)/*/*.c))))
ifneq ($(with_glpk),yes)
LIB_SRCS := $(filter-out lib/solver/glpk%,$(LIB_SRCS))
endif
PUBLIC_HEADERS := $(patsubst $(srcdir)/%,%,$(wildcard $(srcdir)/include/*.h $(srcdir)/include/ckptdispatch/*.h))

SOVERSION    := $(shell expr $(ABI_CURRENT) - $(ABI_AGE))
LIB_STATIC    = $(BUILD)/libckptdispatch.a
LIB_MAP       = $(srcdir)/lib/libckptdispatch.map
LIB_PIC_OBJS  = $(LIB_SRCS:%.c=$(BUILD)/obj/%.pic.o)
# `make COMPILE_ONCE=yes` makes the archive of the shared library's objects: half the compiling where speed does not matter.
COMPILE_ONCE  =
LIB_OBJS      = $(if $(COMPILE_ONCE),$(LIB_PIC_OBJS),$(LIB_SRCS:%.c=$(BUILD)/obj/%.o))

# Sanitizer runtimes of clang live in the program only, so those builds empty this one.
LD_NO_UNDEFINED = -Wl,--no-undefined
ifeq ($(shlib_kind),macho)
SHLIB_LINK    = libckptdispatch.dylib
SHLIB_SONAME  = libckptdispatch.$(SOVERSION).dylib
SHLIB_REAL    = libckptdispatch.$(SOVERSION).$(ABI_AGE).$(ABI_REVISION).dylib
SHLIB_FLAGS   = -dynamiclib -install_name $(libdir)/$(SHLIB_SONAME) \
                -Wl,-exported_symbols_list,$(BUILD)/exported.list
else
SHLIB_LINK    = libckptdispatch.so
SHLIB_SONAME  = libckptdispatch.so.$(SOVERSION)
SHLIB_REAL    = libckptdispatch.so.$(SOVERSION).$(ABI_AGE).$(ABI_REVISION)
SHLIB_FLAGS   = -shared -Wl,-soname,$(SHLIB_SONAME) -Wl,--version-script,$(LIB_MAP) $(LD_NO_UNDEFINED)
endif
LIB_SHARED    = $(BUILD)/$(SHLIB_LINK)

$(BUILD)/obj/lib/%.pic.o: $(srcdir)/lib/%.c config.mk
	@mkdir -p $(@D)
	$(call run,CC,$@)$(COMPILE.c) -DCKPD_BUILDING -fPIC -c -o $@ $<
$(BUILD)/obj/lib/%.o: $(srcdir)/lib/%.c config.mk
	@mkdir -p $(@D)
	$(call run,CC,$@)$(COMPILE.c) -DCKPD_BUILDING -c -o $@ $<

# The set of objects is remembered, so that a removed source also leaves archive and library.
$(BUILD)/obj/lib.list: FORCE
	@mkdir -p $(@D)
	@echo '$(LIB_SRCS)' | cmp -s - $@ || echo '$(LIB_SRCS)' > $@
.PHONY: FORCE
FORCE:

$(LIB_STATIC): $(LIB_OBJS) $(BUILD)/obj/lib.list
	@rm -f $@
	$(call run,AR,$@)$(AR) rcs $@ $(LIB_OBJS)

# The map is committed and says what is exported. A public function that it lacks would be invisible, so the headers are
# asked first.
$(BUILD)/map.checked: $(LIB_MAP) $(PUBLIC_HEADERS:%=$(srcdir)/%) $(srcdir)/tests/abi/map.sh $(srcdir)/tests/abi/exports.sh
	@mkdir -p $(@D)
	@sh $(srcdir)/tests/abi/map.sh $(srcdir)/include | cmp -s - $(LIB_MAP) || \
	    { echo 'lib/libckptdispatch.map does not list what the headers declare: make update-map'; exit 1; }
	@sed -n 's/^ *\(ckpd_[a-z0-9_]*\);/_\1/p' $(LIB_MAP) > $(BUILD)/exported.list
	@touch $@
.PHONY: update-map
update-map:
	sh $(srcdir)/tests/abi/map.sh $(srcdir)/include > $(LIB_MAP)

$(BUILD)/$(SHLIB_REAL): $(LIB_PIC_OBJS) $(LIB_MAP) $(BUILD)/map.checked $(BUILD)/obj/lib.list
	$(call run,LINK,$@)$(LINK) $(SHLIB_FLAGS) -o $@ $(LIB_PIC_OBJS) $(CKPD_LIBS)
$(BUILD)/$(SHLIB_SONAME): $(BUILD)/$(SHLIB_REAL)
	@ln -sf $(SHLIB_REAL) $@
$(LIB_SHARED): $(BUILD)/$(SHLIB_SONAME)
	@ln -sf $(SHLIB_SONAME) $@

-include $(LIB_OBJS:.o=.d) $(LIB_PIC_OBJS:.o=.d)
