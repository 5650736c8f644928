#!/usr/bin/env bash
# rclone: a client of S3 that the tests of the gateway run unchanged.
. "$(dirname "$0")/_shared.bash"

command -v rclone >/dev/null && exit 0
say "rclone"
apt_install rclone
