# SPDX-License-Identifier: GPL-2.0-only
# A tarball, and Debian packages made from it; docs/install.md.

DIST := $(BUILD)/kipt-$(KIPT_VERSION).tar.gz
DEB := $(BUILD)/deb
DEB_TREE := $(DEB)/kipt-$(KIPT_VERSION)
DEB_VERSION ?= $(KIPT_VERSION)

# git sorts the files and gives each the time of the commit.
dist:
	mkdir -p $(BUILD)
	git -c tar.umask=0022 archive --prefix=kipt-$(KIPT_VERSION)/ \
		-o $(DIST:.gz=) HEAD
	gzip -nf9 $(DIST:.gz=)
	@echo "$(DIST)"

deb: dist
	rm -rf $(DEB)
	mkdir -p $(DEB)
	tar -C $(DEB) -xf $(DIST)
	cp -R $(DEB_TREE)/tools/debian $(DEB_TREE)/debian
	{ echo 'kipt ($(DEB_VERSION)) unstable; urgency=medium'; \
		printf '\n  * See CHANGELOG.md in /usr/share/doc/kipt.\n\n'; \
		git log -1 --format=" -- $$(sed -n 's/^Maintainer: //p' \
			tools/debian/control)  %cD"; \
	} >$(DEB_TREE)/debian/changelog
	cd $(DEB_TREE) && MAKEFLAGS= dpkg-buildpackage -us -uc -b
	@ls $(DEB)/*.deb

packages-test:
	selftests/packages

.PHONY: dist deb packages-test
