#!/bin/sh
# Installs the real servers that tests marked `journey` start on loopback ports of their own: nginx
# (HTTP/2), vsftpd (FTP), tinyproxy and microsocks (proxies). Needs root, and Debian's packages.
# The servers that the packages may start by themselves are left alone.
set -eu
apt-get install -y --no-install-recommends nginx-light vsftpd tinyproxy-bin microsocks
