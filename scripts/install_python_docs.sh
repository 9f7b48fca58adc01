#!/bin/sh
# Installs what scripts/python_docs_check.py serves and serves it with: Debian's python3-doc and
# nginx. Needs root. The nginx that the package may start is left alone; the check starts its own.
set -eu
apt-get install -y --no-install-recommends python3-doc nginx
