#!/bin/sh
# Installs Debian's vsftpd, which the tests marked `journey` start on loopback ports of their own.
# Needs root. The server that the package may start is left alone.
set -eu
apt-get install -y --no-install-recommends vsftpd
