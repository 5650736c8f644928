# Sourced by the scripts of servers that are built with Go.
. "$(dirname "$0")/_shared.bash"

go_install() { # target, package@version: the program appears under its final name only when it is whole
  command -v go >/dev/null || apt_install golang-go
  local building
  building="$(mktemp -d "$TOOLS/.go.XXXXXX")"
  trap "rm -rf '$building'" EXIT
  GOBIN="$building" CGO_ENABLED=0 go install "$2" >"$building/log" 2>&1 || { tail -20 "$building/log" >&2; exit 1; }
  rm "$building/log"
  mv "$building"/* "$1"
}
