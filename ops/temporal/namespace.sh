#!/bin/sh
# Makes the namespace where it is missing, and registers the attributes by which operators filter workflows
# (workflows/search-attributes.ts). Existing ones stay. The tool reads TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE.
set -eu

# The front end answers before it takes changes: a minute of tries.
retry() {
  tries=30
  until "$@"; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || return 1
    sleep 2
  done
}

has_namespace() {
  temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1
}

ensure_namespace() {
  has_namespace || temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention 24h || has_namespace
}

register() {
  temporal operator search-attribute create --namespace "$TEMPORAL_NAMESPACE" \
    --name UserId --type Keyword \
    --name EntityStatus --type Keyword \
    --name Provider --type Keyword \
    --name PricePerHourCents --type Int \
    --name AmountCents --type Int
}

retry ensure_namespace
retry register
