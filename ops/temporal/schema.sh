#!/bin/sh
# Makes Temporal's two databases where they are missing, and brings each to the schema that this version of the server
# wants. A current schema stays as it is. The tool reads SQL_HOST, SQL_PORT, SQL_USER, SQL_PASSWORD and SQL_PLUGIN.
set -eu

for part in temporal:temporal temporal_visibility:visibility; do
  export SQL_DATABASE="${part%%:*}"
  temporal-sql-tool create
  temporal-sql-tool setup-schema -v 0.0
  temporal-sql-tool update-schema --schema-name "postgresql/v12/${part##*:}"
done
