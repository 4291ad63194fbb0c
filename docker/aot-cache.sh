#!/usr/bin/env bash
# docker/aot-cache.sh [--jar-stays] JAR CACHE [JAVA]
#
# Makes CACHE, with which a start of JAR takes less than half of the processor's time (Java 25 or later):
#   java -XX:AOTCache=CACHE -jar JAR
# It starts the service twice, as any user: once for a PostgreSQL in a directory for the time being, and once as a node of
# a cluster on it, with the demo merchant. What that one loads and links is written down as it ends.
# A cache fits one build of Java, and one JAR at one path with one time of change; with any other the JVM starts without.
# Java 25.0.0 to 25.0.3 and 26.0.0 do not look at the JAR (JDK-8377932): with a newer one at its path they would run the
# classes of the old one. They are refused unless --jar-stays says that the JAR never changes, as in an image.
set -euo pipefail
jar_stays=
if [ "${1-}" = --jar-stays ]; then
  jar_stays=yes
  shift
fi
jar=$(realpath "${1:?the jar}")
cache=$(realpath -m "${2:?the cache to make}")
java=${3:-java}
# What is set for others must not reach these.
for name in ${!STEELYARD_@} JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS JDK_AOT_VM_OPTIONS; do unset "$name"; done

directory=$(mktemp -d)
pids=()
end() {
  for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
    kill -TERM "${pids[i]}" 2>/dev/null || true
    wait "${pids[i]}" || true
  done
  rm -rf "$directory"
}
trap end EXIT

fail() {
  cat "$directory"/*.log >&2 2>/dev/null || true
  echo "aot-cache.sh: $1" >&2
  exit 1
}

"$java" -XshowSettings:properties -version > "$directory/java.log" 2>&1 || fail "$java does not run"
version=$(sed -n 's/^ *java\.version = //p' "$directory/java.log")
case $version in
  25 | 25.0.[0-3] | 25.0.[0-3].* | 26 | 26.0.0*)
    [ -n "$jar_stays" ] || fail "Java $version would not notice that the jar has changed and run its old classes: take\
 25.0.4 or later, or say --jar-stays where it never changes"
    ;;
esac

made=$directory/steelyard.aot
"$java" -XX:AOTCacheOutput="$made" -version > "$directory/java.log" 2>&1 || fail "Java 25 or later is needed"

# start NAME OPTION...: the service, until it is ready.
start() {
  local name=$1
  shift
  mkdir "$directory/$name"
  (cd "$directory/$name" && exec "$java" "$@" -Xmx320m -jar "$jar") > "$directory/$name.log" 2>&1 &
  pids+=($!)
  for ((i = 0; i < 600; i++)); do
    if grep -q '"Steelyard is ready"' "$directory/$name.log"; then return; fi
    kill -0 $! 2>/dev/null || fail "$name has ended"
    sleep 0.2
  done
  fail "$name is not ready after 120 s"
}

# free_port: one that nobody listens on. The service itself can be told to take any but those of the cluster.
free_port() {
  local port
  while true; do
    port=$((20000 + RANDOM % 10000))
    if ! (exec 3<> "/dev/tcp/127.0.0.1/$port") 2>/dev/null; then break; fi
  done
  echo "$port"
}

export STEELYARD_LOG_FORMAT=json STEELYARD_HTTP_PORT=0 STEELYARD_MANAGEMENT_PORT=0 STEELYARD_DEMO_ENABLED=false
start database

port=$(sed -n 4p "$directory/database/data/postgres/postmaster.pid")
password=$(cat "$directory/database/data/postgres.password")
encryption_key=$(cat "$directory/database/data/encryption.key")
encoded=${password//+/%2B}
encoded=${encoded//\//%2F}
export STEELYARD_DATABASE_URL="postgresql://steelyard:${encoded//=/%3D}@127.0.0.1:$port/steelyard"
export STEELYARD_OPERATOR_TOKEN=$password STEELYARD_SECURITY_ENCRYPTION_KEY=$encryption_key STEELYARD_DEMO_ENABLED=true
export STEELYARD_CLUSTER_ENABLED=true STEELYARD_CLUSTER_SECRET=$password
STEELYARD_CLUSTER_PORT=$(free_port)
STEELYARD_CLUSTER_EVENT_BUS_PORT=$(free_port)
export STEELYARD_CLUSTER_PORT STEELYARD_CLUSTER_EVENT_BUS_PORT
start node -XX:AOTCacheOutput="$made"
kill -TERM "${pids[1]}"
wait "${pids[1]}" || fail "the node did not end in order"
# Where it is wanted and does not fit, Java ends.
"$java" -XX:AOTMode=on -XX:AOTCache="$made" -jar "$jar" --version > "$directory/check.log" 2>&1 \
  || fail "the cache does not fit"
# Whole or not at all.
mv "$made" "$cache.unfinished"
mv "$cache.unfinished" "$cache"
