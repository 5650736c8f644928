#!/usr/bin/env bash
# PostgreSQL's server programs, from the distribution. No cluster is made and nothing is left running.
. "$(dirname "$0")/_shared.bash"

shopt -s nullglob
found=(/usr/lib/postgresql/*/bin/postgres)
[ ${#found[@]} -gt 0 ] && exit 0
say "postgresql"

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }

# Debian makes and starts a cluster on port 5432 when the package arrives, unless it is told before.
no_cluster=/etc/postgresql-common/createcluster.d/headwater-tests.conf
as_root mkdir -p "${no_cluster%/*}"
as_root sh -c "echo 'create_main_cluster = false' > $no_cluster"
trap 'as_root rm -f "$no_cluster"' EXIT
apt_install postgresql
