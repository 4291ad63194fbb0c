#!/usr/bin/env bash
# docker/aot-cache.sh JAR CACHE [JAVA]
#
# Makes CACHE, with which a start of JAR takes less than half of the processor's time (Java 25 or later):
#   java -XX:AOTCache=CACHE -jar JAR
# It starts the service twice on free ports, as any user: once for a PostgreSQL in a directory for the time being, and
# once as a node of a cluster on it, with the demo merchant. What that one loads and links is written down as it ends.
# A cache fits one build of Java, and one JAR at one path; with any other the JVM says so and starts without.
set -euo pipefail
jar=$(realpath "$1")
cache=$(realpath -m "$2")
java=${3:-java}
for name in ${!STEELYARD_@}; do unset "$name"; done

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
  cat "$directory"/*.log >&2
  echo "aot-cache.sh: $1" >&2
  exit 1
}

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

export STEELYARD_LOG_FORMAT=json STEELYARD_HTTP_PORT=0 STEELYARD_MANAGEMENT_PORT=0 STEELYARD_DEMO_ENABLED=false
start database

port=$(sed -n 4p "$directory/database/data/postgres/postmaster.pid")
password=$(cat "$directory/database/data/postgres.password")
encoded=${password//+/%2B}
encoded=${encoded//\//%2F}
cluster_port=$((20000 + RANDOM % 5000 * 2))
export STEELYARD_DATABASE_URL="postgresql://steelyard:${encoded//=/%3D}@127.0.0.1:$port/steelyard"
export STEELYARD_OPERATOR_TOKEN=$password STEELYARD_DEMO_ENABLED=true
export STEELYARD_SECURITY_ENCRYPTION_KEY=$(cat "$directory/database/data/encryption.key")
export STEELYARD_CLUSTER_ENABLED=true STEELYARD_CLUSTER_SECRET=$password
export STEELYARD_CLUSTER_PORT=$cluster_port STEELYARD_CLUSTER_EVENT_BUS_PORT=$((cluster_port + 1))
made=$directory/steelyard.aot
start node -XX:AOTCacheOutput="$made"
kill -TERM "${pids[1]}"
wait "${pids[1]}" || fail "the node did not end in order"
[ -s "$made" ] || fail "no cache was written: Java 25 or later is needed"
mv "$made" "$cache"
