# SPDX-License-Identifier: LGPL-3.0-or-later
# What leaves the build tree: install, uninstall, the source archive, and the checks of each.

INSTALL_PROGRAM = $(INSTALL) -m 755
INSTALL_DATA    = $(INSTALL) -m 644
PC_FILE         = pkgconfig/ckptdispatch.pc
INSTALLED_DOCS := $(wildcard $(srcdir)/README.md $(srcdir)/CHANGELOG.md $(srcdir)/docs/*.md $(srcdir)/docs/*.json)
MAN1           := $(wildcard $(srcdir)/docs/man/*.1)
MAN3           := $(wildcard $(srcdir)/docs/man/*.3)

# The installed tool finds the library by its place relative to itself, so that a prefix outside the loader's search
# path, or a moved tree, works; in the system's own directories it carries no run path at all.
ifneq ($(filter /usr/bin,$(bindir)),)
TOOL_RPATH =
else ifeq ($(patsubst %/bin,%,$(bindir)),$(patsubst %/lib,%,$(libdir)))
TOOL_RPATH = -Wl,-rpath,'$$ORIGIN/../lib'
else
TOOL_RPATH = -Wl,-rpath,$(libdir)
endif
INSTALLED_TOOL = $(if $(TOOL),$(BUILD)/install/ckptdispatch)
$(BUILD)/install/ckptdispatch: $(TOOL_OBJS) $(LIB_SHARED)
	@mkdir -p $(@D)
	$(call run,LINK,$@)$(LINK) -o $@ $(TOOL_OBJS) -L$(BUILD) -lckptdispatch $(TOOL_RPATH) -lm

.PHONY: install install-strip uninstall
install: all $(INSTALLED_TOOL) $(PC_FILE)
	mkdir -p '$(DESTDIR)$(libdir)' '$(DESTDIR)$(pkgconfigdir)' '$(DESTDIR)$(includedir)/ckptdispatch' '$(DESTDIR)$(docdir)'
	$(INSTALL_DATA) $(LIB_STATIC) '$(DESTDIR)$(libdir)'
	$(INSTALL_PROGRAM) $(BUILD)/$(SHLIB_REAL) '$(DESTDIR)$(libdir)'
	ln -sf $(SHLIB_REAL) '$(DESTDIR)$(libdir)/$(SHLIB_SONAME)'
	ln -sf $(SHLIB_SONAME) '$(DESTDIR)$(libdir)/$(SHLIB_LINK)'
	$(INSTALL_DATA) $(PC_FILE) '$(DESTDIR)$(pkgconfigdir)'
	$(if $(wildcard $(srcdir)/include/*.h),$(INSTALL_DATA) $(wildcard $(srcdir)/include/*.h) '$(DESTDIR)$(includedir)')
	$(INSTALL_DATA) $(wildcard $(srcdir)/include/ckptdispatch/*.h) '$(DESTDIR)$(includedir)/ckptdispatch'
	$(if $(INSTALLED_DOCS),$(INSTALL_DATA) $(INSTALLED_DOCS) '$(DESTDIR)$(docdir)')
	$(if $(TOOL),mkdir -p '$(DESTDIR)$(bindir)' && $(INSTALL_PROGRAM) $(INSTALLED_TOOL) '$(DESTDIR)$(bindir)')
	$(if $(MAN1),mkdir -p '$(DESTDIR)$(mandir)/man1' && $(INSTALL_DATA) $(MAN1) '$(DESTDIR)$(mandir)/man1')
	$(if $(MAN3),mkdir -p '$(DESTDIR)$(mandir)/man3' && $(INSTALL_DATA) $(MAN3) '$(DESTDIR)$(mandir)/man3')
install-strip: install
	$(STRIP) --strip-unneeded '$(DESTDIR)$(libdir)/$(SHLIB_REAL)'
	$(STRIP) --strip-debug '$(DESTDIR)$(libdir)/$(notdir $(LIB_STATIC))'
	$(if $(TOOL),$(STRIP) '$(DESTDIR)$(bindir)/ckptdispatch')
uninstall:
	cd '$(DESTDIR)$(libdir)' && rm -f $(notdir $(LIB_STATIC)) $(SHLIB_REAL) $(SHLIB_SONAME) $(SHLIB_LINK)
	rm -f '$(DESTDIR)$(pkgconfigdir)/ckptdispatch.pc' '$(DESTDIR)$(bindir)/ckptdispatch'
	cd '$(DESTDIR)$(includedir)' && rm -f $(PUBLIC_HEADERS:include/%=%)
	cd '$(DESTDIR)$(docdir)' && rm -f $(notdir $(INSTALLED_DOCS))
	rm -f $(MAN1:$(srcdir)/docs/man/%='$(DESTDIR)$(mandir)/man1/%') $(MAN3:$(srcdir)/docs/man/%='$(DESTDIR)$(mandir)/man3/%')
	rmdir '$(DESTDIR)$(includedir)/ckptdispatch' '$(DESTDIR)$(docdir)' 2>/dev/null || :

.PHONY: installcheck
installcheck: all $(INSTALLED_TOOL)
	rm -rf $(BUILD)/staged
	@$(MAKE) --no-print-directory install DESTDIR=$(abs_build)/staged >/dev/null
	@CC='$(CC)' CFLAGS='$(CFLAGS)' PKG_CONFIG='$(PKG_CONFIG)' sh $(srcdir)/tests/install/consume.sh \
	    $(abs_srcdir) $(abs_build)/staged $(prefix) $(pkgconfigdir)
	rm -rf $(BUILD)/staged

# The archive: what git holds plus configure; the same bytes from a checkout, from a release, today and next year.
DIST_NAME  = $(PACKAGE)-$(VERSION)
DIST_TOP   = CHANGELOG.md CONTRIBUTING.md COPYING COPYING.LESSER Makefile README.md bootstrap config.mk.in configure \
             configure.ac .clang-format .editorconfig .gitignore
DIST_DIRS  = .ci docs examples include lib pkgconfig tests
DIST_EPOCH = $${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct 2>/dev/null || stat -c %Y configure.ac)}
.PHONY: dist distcheck deb
dist: $(srcdir)/configure
	@mkdir -p $(BUILD)
	@cd $(srcdir) && { printf '%s\n' $(DIST_TOP); find $(DIST_DIRS) -name __pycache__ -prune -o -name '*.egg-info' -prune \
	    -o -type f ! -name '*.pyc' ! -name '*.o' ! -name '*~' ! -path pkgconfig/ckptdispatch.pc -print; } | LC_ALL=C sort | \
	    tar --create --format=ustar --no-recursion --files-from=- --transform='s,^,$(DIST_NAME)/,' \
	    --owner=0 --group=0 --numeric-owner --mode=u+rw,go+r,go-w --mtime="@$(DIST_EPOCH)" --file=- | \
	    gzip -n -9 > $(abs_build)/$(DIST_NAME).tar.gz
	@echo '$(BUILD)/$(DIST_NAME).tar.gz'
distcheck: dist
	sh $(srcdir)/tests/install/distcheck.sh '$(MAKE)' $(abs_build)/$(DIST_NAME).tar.gz $(abs_build)/distcheck $(DIST_NAME)
deb: dist
	DEB_BUILD_OPTIONS='$(DEB_BUILD_OPTIONS)' sh $(srcdir)/docs/packaging/build-deb.sh \
	    $(abs_build)/$(DIST_NAME).tar.gz $(abs_build)/deb
