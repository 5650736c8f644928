# Sourced by the install scripts: where things go, and how to speak.
set -euo pipefail
TOOLS="${XDG_CACHE_HOME:-$HOME/.cache}/headwater/servers"
mkdir -p "$TOOLS"

say() { echo "installing $*" >&2; }

apt_install() { # packages
  local sudo=""
  [ "$(id -u)" = 0 ] || sudo="sudo -n"
  export DEBIAN_FRONTEND=noninteractive
  $sudo apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1 || {
    $sudo apt-get update -qq >/dev/null
    $sudo apt-get install -y -qq --no-install-recommends "$@" >/dev/null
  }
}

# Debian starts a service when its package arrives, unless a policy forbids it; one that was there is kept.
apt_install_stopped() { # packages
  local sudo="" policy=/usr/sbin/policy-rc.d made=""
  [ "$(id -u)" = 0 ] || sudo="sudo -n"
  if [ ! -e "$policy" ]; then
    $sudo sh -c "printf '#!/bin/sh\nexit 101\n' > $policy && chmod 755 $policy"
    made=yes
  fi
  local status=0
  apt_install "$@" || status=$?
  [ -z "$made" ] || $sudo rm -f "$policy"
  return "$status"
}
