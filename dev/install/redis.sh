#!/usr/bin/env bash
# Redis, from the distribution. Nothing is left running.
. "$(dirname "$0")/_shared.bash"

command -v redis-server >/dev/null && exit 0
say "redis"
apt_install_stopped redis-server
