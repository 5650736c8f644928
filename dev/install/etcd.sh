#!/usr/bin/env bash
# etcd, from the distribution. Nothing is left running.
. "$(dirname "$0")/_shared.bash"

command -v etcd >/dev/null && exit 0
say "etcd"
apt_install_stopped etcd-server
