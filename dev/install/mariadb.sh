#!/usr/bin/env bash
# MariaDB's server programs, from the distribution. No database is made and nothing is left running.
. "$(dirname "$0")/_shared.bash"

command -v mariadbd >/dev/null && exit 0
say "mariadb"
apt_install_stopped mariadb-server
