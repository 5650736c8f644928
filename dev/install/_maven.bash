# Sourced by the scripts of servers that come from Maven.
. "${BASH_SOURCE[0]%/*}/_shared.bash"

maven_jars() { # directory, group:artifact:version…: the jars of these and of all that they need
  maven_jars_without "" "$@"
}

maven_jars_without() { # group:artifact,… that are left out wherever they are needed; directory, group:artifact:version…
  command -v javac >/dev/null || apt_install default-jdk-headless
  command -v mvn >/dev/null || apt_install maven
  local without="$1" directory="$2" coordinates exclusions="" each
  shift 2
  for each in ${without//,/ }; do
    exclusions+="<exclusion><groupId>${each%%:*}</groupId><artifactId>${each#*:}</artifactId></exclusion>"
  done
  {
    echo "<project><modelVersion>4.0.0</modelVersion><groupId>headwater</groupId><artifactId>server</artifactId>"
    echo "<version>1</version><packaging>pom</packaging><dependencies>"
    for coordinates in "$@"; do
      IFS=: read -r group artifact version <<<"$coordinates"
      echo "<dependency><groupId>$group</groupId><artifactId>$artifact</artifactId><version>$version</version>"
      echo "<exclusions>$exclusions</exclusions></dependency>"
    done
    echo "</dependencies></project>"
  } >"$directory/pom.xml"
  mvn --quiet --batch-mode --file "$directory/pom.xml" dependency:copy-dependencies \
    -DincludeScope=runtime "-DoutputDirectory=$directory/lib" >"$directory/log" 2>&1 || {
    tail -20 "$directory/log" >&2
    exit 1
  }
}
