# SPDX-License-Identifier: LGPL-3.0-or-later
# GNU make, not recursive: this file and the module.mk of lib, examples and tests make one graph, safe with -j.
# Values come from config.mk, which configure writes. `make help` lists the goals.

ifeq ($(wildcard config.mk),)
ifneq ($(filter-out help bootstrap distclean maintainer-clean,$(or $(MAKECMDGOALS),all)),)
$(error run ./configure first (or ./bootstrap $(firstword $(MAKECMDGOALS) all), which does everything))
endif
srcdir := .
else
include config.mk
endif

.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules

all:
.PHONY: all

# Everything that make writes goes under $(BUILD); sanitizer builds use a folder of their own below it.
BUILD := build
abs_srcdir := $(abspath $(srcdir))
abs_build = $(abspath $(BUILD))

# 64 bits on 32-bit systems too: sizes of files, inode numbers and times of files, which stat and fopen stumble over otherwise.
LARGE_FILES   = -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64
CKPD_CPPFLAGS = -I$(srcdir)/include -I$(srcdir)/lib -D_POSIX_C_SOURCE=200809L $(LARGE_FILES) $(CKPD_FEATURES) $(JANSSON_CFLAGS)
CKPD_WARNINGS = -Wall -Wextra -Wpedantic -Wconversion -Wshadow $(WERROR)
CKPD_CFLAGS   = -std=c11 -fvisibility=hidden $(FLOAT_CFLAGS) $(CKPD_WARNINGS)
CKPD_LIBS     = $(GLPK_LIBS) $(JANSSON_LIBS) $(CSV_LIBS) $(LIBS) -lpthread -lm
ifeq ($(with_glpk),yes)
CKPD_FEATURES += -DCKPD_HAVE_GLPK
endif
# Flags of a special build (sanitizers, coverage): compile and link.
EXTRA_CFLAGS  =
# Each rule that compiles or links prints one short line; V=1 prints the commands.
V =
run = $(if $(V),,@printf '  %-5s %s\n' '$(1)' '$(2:$(BUILD)/%=%)'; )
COMPILE.c     = $(CC) $(CKPD_CPPFLAGS) $(CPPFLAGS) $(CKPD_CFLAGS) $(CFLAGS) $(EXTRA_CFLAGS) -MMD -MP
COMPILE.cxx   = $(CXX) -I$(srcdir)/include $(CPPFLAGS) -std=c++17 -Wall -Wextra -Wpedantic $(WERROR) $(CXXFLAGS) \
                $(EXTRA_CFLAGS) -MMD -MP
LINK          = $(CC) $(CFLAGS) $(EXTRA_CFLAGS) $(LDFLAGS)

include $(srcdir)/lib/module.mk
include $(srcdir)/examples/module.mk
include $(srcdir)/tests/module.mk
include $(srcdir)/pkgconfig/module.mk

all: $(if $(LIB_SRCS),$(LIB_STATIC) $(LIB_SHARED)) $(TOOL) $(EXAMPLES)

# Remake what configure made when its inputs change.
ifneq ($(wildcard config.mk),)
config.mk: $(srcdir)/config.mk.in config.status
	./config.status config.mk
pkgconfig/ckptdispatch.pc: $(srcdir)/pkgconfig/ckptdispatch.pc.in config.status
	./config.status pkgconfig/ckptdispatch.pc
config.status: $(srcdir)/configure
	./config.status --silent --recheck
$(srcdir)/configure: $(srcdir)/configure.ac
	cd $(srcdir) && autoconf
endif

.PHONY: bootstrap
bootstrap:
	$(srcdir)/bootstrap all

.PHONY: help
help:
	@echo 'all            static and shared library, the ckptdispatch tool, the examples'
	@echo 'demo           the 2048-GPU day: scenarios, plan and picture in out/'
	@echo 'check          every test; T=word runs only the tests whose name holds the word'
	@echo 'check-fail     allocation sweeps and hostile hosts'
	@echo 'check-asan     the suite under AddressSanitizer and UndefinedBehaviorSanitizer'
	@echo 'check-tsan     the suite under ThreadSanitizer'
	@echo 'check-valgrind the suite under valgrind'
	@echo 'check-locale   the suite under a locale with a decimal comma'
	@echo 'check-abi      compare the shared library with the committed ABI baseline'
	@echo 'check-symbols  map = headers = exports; prefixes; forbidden imports'
	@echo 'check-headers  each header alone, twice in one program, C99 and C++17'
	@echo 'check-ffi      bindings against the API list'
	@echo 'fuzz           libFuzzer over every parser and call sequence, 10 minutes each; X=series for one'
	@echo 'installcheck   a pkg-config consumer against a staged install, shared and static'
	@echo 'install, install-strip, uninstall   with DESTDIR and the GNU directory names'
	@echo 'dist, distcheck   reproducible source archive, and the proof that it works'
	@echo 'deb            Debian packages with dpkg-buildpackage, checked with lintian'
	@echo 'bench          benchmarks, about three minutes; B=solvers runs only those whose name holds the word'
	@echo 'bench-full     every instance beside glpsol, cbc and highs, hours; BENCH_OPTIONS=--help lists the options'
	@echo 'docs, format   reference pages, clang-format'
	@echo 'clean, distclean, maintainer-clean'

.PHONY: demo
demo: all
	@test -x $(BUILD)/ckptdispatch || { echo 'demo: the ckptdispatch tool is not built'; exit 1; }
	$(BUILD)/ckptdispatch scenarios $(srcdir)/examples/cases/aidc2048.json --out out

.PHONY: docs format
docs:
	@command -v doxygen >/dev/null || { echo 'docs: doxygen is not installed'; exit 1; }
	$(srcdir)/docs/reference.sh $(srcdir) $(BUILD)/docs
format:
	@command -v clang-format >/dev/null || { echo 'format: clang-format is not installed'; exit 1; }
	cd $(srcdir) && find include lib examples tests -name '*.[ch]' | sort | xargs clang-format -i

.PHONY: clean distclean maintainer-clean
clean:
	rm -rf $(BUILD) out
# A Makefile that configure linked into a build folder goes too; the source's own stays.
distclean: clean
	rm -rf config.mk config.log config.status autom4te.cache pkgconfig/ckptdispatch.pc
	if test -n '$(filter-out .,$(srcdir))'; then rm -f Makefile; rmdir pkgconfig 2>/dev/null || :; fi
maintainer-clean: distclean
	rm -f $(srcdir)/configure $(srcdir)/configure~
