#!/bin/sh
# Installs Debian's Chromium, which the browser protocol drives and the tests marked `browser` need.
# Needs root.
set -eu
apt-get install -y --no-install-recommends chromium
