import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { stopWithinMs } from '../../api/server.js';
import { readConfig, readListenerConfig } from '../../config.js';
import { allocatorSettings, sizeDatabase } from '../../domain/operations/database-size.js';
import { findOnPath } from '../../lab/servers/temporal-cli-binary.js';
import { temporalServerVersion } from '../../lab/servers/temporal-server-build.js';
import { readComposeFile } from '../../tools/compose/compose-file.js';
import { searchAttributes } from '../../workflows/contracts/search-attributes.js';
import { composeSchema, type ComposeFile } from './compose-schema.js';

const projectDir = fileURLToPath(new URL('../..', import.meta.url));
const text = readFileSync(`${projectDir}/docker-compose.yml`, 'utf8');
const { services, volumes, networks } = parse(text, { merge: true }) as ComposeFile;
const environmentOf = (name: string): NonNullable<(typeof services)[string]['environment']> =>
  services[name]?.environment ?? {};
const membersOf = (network: string): string[] =>
  Object.entries(services)
    .filter(([, service]) => service.networks.includes(network))
    .map(([name]) => name)
    .sort();

/** The variables that the file requires, by `${NAME:?…}`. */
const needed = [...new Set([...text.matchAll(/\$\{([A-Z_]+):\?/g)].map(([, name = '']) => name))];
const given = Object.fromEntries(needed.map((name) => [name, `of-${name.toLowerCase()}`]));
const tool = findOnPath('docker-compose', process.env['PATH'] ?? '');

function config(env: Record<string, string>): { status: number | null; stderr: string } {
  return spawnSync(tool ?? '', ['config', '--quiet'], {
    cwd: projectDir,
    env: { PATH: process.env['PATH'], ...env },
    encoding: 'utf8',
    timeout: 30_000,
  });
}

describe('docker-compose.yml', () => {
  it('has no key that the project’s own description of such a file lacks', () => {
    const validate = new Ajv({ allErrors: true }).compile(composeSchema);
    assert.ok(validate(parse(text, { merge: true })), JSON.stringify(validate.errors));
    const typo = text.replace('healthcheck:', 'healtcheck:');
    assert.equal(validate(parse(typo, { merge: true })), false, 'a misspelt key is found');
  });

  if (tool === undefined) {
    it('was checked by that description alone: there is no docker-compose here to check it too', () => {
      assert.ok(needed.length > 5);
    });
  } else {
    it('is taken by docker-compose config', () => {
      const { status, stderr } = config(given);
      assert.equal(status, 0, stderr);
    });

    for (const name of needed) {
      it(`is refused by docker-compose config without ${name}`, () => {
        const others = Object.fromEntries(Object.entries(given).filter(([other]) => other !== name));
        const { status, stderr } = config(others);
        assert.notEqual(status, 0);
        assert.match(stderr, new RegExp(name));
      });
    }
  }

  it('has every part: databases, Temporal with its schema, namespace and UI, our processes, mails', () => {
    assert.deepEqual(Object.keys(services).sort(), [
      ...['api', 'listener', 'mailpit', 'migrate', 'ops', 'postgres', 'temporal', 'temporal-namespace'],
      ...['temporal-postgres', 'temporal-schema', 'temporal-ui', 'worker'],
    ]);
  });

  it('starts again what ends, and says of each service when it is well or that it runs once', () => {
    for (const [name, { restart, healthcheck }] of Object.entries(services)) {
      assert.ok(restart !== undefined, name);
      const runsOnce = ['migrate', 'temporal-schema', 'temporal-namespace', 'ops'].includes(name);
      assert.equal(healthcheck !== undefined, !runsOnce, name);
      assert.equal(restart === 'unless-stopped', !runsOnce, name);
    }
  });

  it('waits for services that exist, in a state that they can reach', () => {
    for (const [name, { depends_on: waits = {} }] of Object.entries(services)) {
      for (const [other, { condition }] of Object.entries(waits)) {
        const awaited = services[other];
        assert.ok(awaited !== undefined, `${name} waits for ${other}`);
        if (condition === 'service_healthy') assert.ok(awaited.healthcheck, `${name} waits for ${other}`);
        else assert.notEqual(awaited.restart, 'unless-stopped', `${name} waits for the end of ${other}`);
      }
    }
  });

  it('gives each of our processes its own login, and the schema’s owner to the migrations alone', () => {
    const userOf = (name: string): string =>
      /postgres:\/\/([^:]+):/.exec(String(environmentOf(name)['DATABASE_URL']))?.[1] ?? '';
    assert.deepEqual(['migrate', 'api', 'worker', 'ops', 'listener'].map(userOf), [
      'gpu_rental',
      'gpu_rental_api_login',
      'gpu_rental_worker_login',
      'gpu_rental_ops_login',
      'gpu_rental_machine_login',
    ]);
  });

  it('gives each of our processes all that it can’t start without', () => {
    const addresses = { DASHBOARD_URL: 'https://gpu.example.com', SMTP_URL: 'smtp://mail.example.com' };
    const file = readComposeFile(text, { ...given, ...addresses, MACHINE_DATABASE_PASSWORD: 'of-machines' });
    const givenTo = (name: string) => file.services[name]?.environment ?? {};
    for (const name of ['migrate', 'api', 'worker', 'ops']) {
      assert.equal(readConfig(givenTo(name)).temporal().address, 'temporal:7233', name);
    }
    const { database, listener } = readListenerConfig(givenTo('listener'));
    assert.match(database.url, /^postgres:\/\/gpu_rental_machine_login:of-machines@/);
    assert.deepEqual(listener, { host: '0.0.0.0', port: 8090 });
  });

  it('gives the listener, which strangers’ machines call, no key of anything', () => {
    const names = Object.keys(environmentOf('listener'));
    assert.deepEqual(
      names.filter((name) => /KEY|SECRET|PASSWORD|TEMPORAL/.test(name)),
      [],
    );
    assert.deepEqual(services['listener']?.profiles, ['machines']);
  });

  it('gives our image the tag of this release, so that the one before stays to go back to', () => {
    const tag = /image: gpu-rental:(.+)/.exec(text)?.[1];
    const newest = /^## \[(\d+\.\d+\.\d+)\]/m.exec(readFileSync('CHANGELOG.md', 'utf8'))?.[1] ?? '';
    assert.ok(
      tag !== undefined && tag.localeCompare(newest, 'en', { numeric: true }) >= 0,
      `${tag}, ${newest}`,
    );
  });

  it('carries no secret: each password and key comes from the environment', () => {
    for (const [name, { environment = {} }] of Object.entries(services)) {
      for (const [variable, value] of Object.entries(environment)) {
        // The variable is passed on only when it is set.
        if (value === null || !/PASSWORD|PWD|SECRET|KEY|DATABASE_URL/.test(variable)) continue;
        assert.match(String(value), /\$\{[A-Z_]+:[?-]/, `${name}: ${variable}`);
      }
    }
  });

  it('gives the keys of the upstreams and the mail server’s address to the worker alone', () => {
    for (const variable of ['SHADEFORM_API_KEY', 'RUNPOD_API_KEY', 'LAB_PROVIDER_KEY']) {
      const holders = Object.keys(services).filter((name) => variable in environmentOf(name));
      assert.deepEqual(holders, ['worker'], variable);
    }
    const senders = Object.keys(services).filter((name) =>
      String(environmentOf(name)['SMTP_URL']).startsWith('${SMTP_URL:'),
    );
    assert.deepEqual(senders, ['worker']);
  });

  it('hands on every variable that .env.example documents, and names none that it does not', () => {
    const [ofService = '', ofLocalStack = '', ofCompose = ''] = readFileSync(
      `${projectDir}/.env.example`,
      'utf8',
    )
      .split(/^# --- .*$/m)
      .slice(1);
    const documented = [...`${ofService}${ofCompose}`.matchAll(/^#?([A-Z][A-Z0-9_]*)=/gm)].map(
      ([, name = '']) => name,
    );
    assert.ok(documented.length > 40, 'the file is read');
    // Values that only the file itself knows: inner addresses, and a login of its own for each process.
    const own = [
      ...['API_HOST', 'DATABASE_ROLE', 'DATABASE_URL', 'MACHINE_HOST', 'METRICS_HOST', 'METRICS_PORT'],
    ];
    const environments = Object.keys(services).map(environmentOf);
    const handedOn = new Set([
      ...[...text.matchAll(/\$\{([A-Z][A-Z0-9_]*)/g)].map(([, name = '']) => name),
      ...environments.flatMap((all) => Object.keys(all).filter((name) => all[name] === null)),
    ]);
    assert.deepEqual(
      documented.filter((name) => !own.includes(name) && !handedOn.has(name)),
      [],
    );
    assert.deepEqual(
      [...handedOn].filter((name) => !documented.includes(name)),
      [],
    );
    assert.ok(own.every((name) => documented.includes(name) && !handedOn.has(name)));
    assert.ok(ofLocalStack.includes('LAB_DATA_DIR'), 'the sections are where they were');
  });

  it('hands each of those to a process that reads it, under its own name', () => {
    const ofAll = Object.keys(services).map(environmentOf);
    const onlyInside = [
      'POSTGRES_PASSWORD',
      'TEMPORAL_DATABASE_PASSWORD',
      'TEMPORAL_UI_PORT',
      'MAILPIT_PORT',
    ];
    for (const [, name = ''] of text.matchAll(/\$\{([A-Z][A-Z0-9_]*)/g)) {
      if (onlyInside.includes(name)) continue;
      assert.ok(
        ofAll.some((environment) => name in environment),
        name,
      );
    }
  });

  it('publishes the API alone, and nothing beyond loopback', () => {
    for (const [name, { ports = [], profiles }] of Object.entries(services)) {
      for (const port of ports) assert.match(port, /^127\.0\.0\.1:/, name);
      assert.equal(ports.length > 0 && profiles === undefined, name === 'api', name);
    }
  });

  it('has the mail catcher and Temporal’s UI in a profile only, the UI without write actions', () => {
    assert.deepEqual(services['mailpit']?.profiles, ['mail']);
    assert.deepEqual(services['temporal-ui']?.profiles, ['ui']);
    assert.equal(environmentOf('temporal-ui')['TEMPORAL_DISABLE_WRITE_ACTIONS'], 'true');
  });

  it('locks every container: no capabilities, no new rights, a root that nobody writes to, bounded memory', () => {
    for (const [name, service] of Object.entries(services)) {
      assert.deepEqual([service.security_opt, service.cap_drop], [['no-new-privileges:true'], ['ALL']], name);
      assert.equal(service.read_only, true, name);
      assert.ok(service.tmpfs?.includes('/tmp'), name);
      assert.match(service.mem_limit ?? '', /^\d+[mg]$/, name);
    }
  });

  it('keeps both databases where nobody on the API’s side of the front, and nothing outside, reaches them', () => {
    assert.deepEqual(membersOf('front'), ['api']);
    assert.deepEqual(membersOf('machines'), ['listener']);
    assert.deepEqual(membersOf('database'), ['api', 'listener', 'migrate', 'ops', 'postgres', 'worker']);
    assert.deepEqual(membersOf('temporal-database'), ['temporal', 'temporal-postgres', 'temporal-schema']);
    for (const name of ['postgres', 'temporal-postgres', 'temporal', 'migrate', 'ops']) {
      const open = (services[name]?.networks ?? []).filter((network) => networks[network]?.internal !== true);
      assert.deepEqual(open, [], name);
    }
  });

  it('keeps Temporal’s data in a PostgreSQL and a volume that are not the service’s', () => {
    assert.deepEqual(Object.keys(volumes), ['postgres', 'temporal-postgres', 'closed-accounts']);
    assert.deepEqual(services['postgres']?.volumes, ['postgres:/var/lib/postgresql']);
    assert.deepEqual(services['temporal-postgres']?.volumes, ['temporal-postgres:/var/lib/postgresql']);
    for (const name of ['temporal', 'temporal-schema']) {
      assert.equal(environmentOf(name)['SQL_HOST'], 'temporal-postgres');
    }
  });

  it('keeps the numbers of closed accounts on a volume of the worker’s own, which its user may write', () => {
    const folder = '/var/lib/gpu-rental';
    assert.deepEqual(services['worker']?.volumes, [`closed-accounts:${folder}`]);
    assert.ok(String(environmentOf('worker')['CLOSED_ACCOUNTS_FILE']).includes(`${folder}/`));
    const image = readFileSync(`${projectDir}/Dockerfile`, 'utf8');
    assert.ok(image.includes(`COPY --from=dependencies --chown=1000:1000 ${folder} ${folder}`));
    assert.match(
      readFileSync(`${projectDir}/.env.example`, 'utf8'),
      /^#CLOSED_ACCOUNTS_FILE=\/var\/lib\/gpu-rental\//m,
    );
  });

  it('sizes PostgreSQL to the memory that its container may use', () => {
    const { command = [], mem_limit: limit = '', stop_grace_period: grace } = services['postgres'] ?? {};
    const memoryBytes = Number(/^(\d+)g$/.exec(limit)?.[1]) * 2 ** 30;
    const settings = {
      ...sizeDatabase({ memoryBytes, cores: 2, freeBytes: 16 * 2 ** 30, isAlone: true }),
      wal_compression: 'lz4',
    };
    const words = Object.entries(settings).map(([name, value]) => `--${name}=${value}`);
    assert.deepEqual(command, ['postgres', ...words]);
    assert.equal(grace, '120s', 'its end writes all buffers');
    for (const [name, value] of Object.entries(allocatorSettings)) {
      assert.equal(environmentOf('postgres')[name], value);
    }
  });

  it('runs the Temporal server that the lab builds, and nothing of the deprecated auto-setup', () => {
    const version = temporalServerVersion.replace('v', '');
    assert.equal(services['temporal']?.image, `temporalio/server:${version}`);
    for (const name of ['temporal-schema', 'temporal-namespace']) {
      assert.match(services[name]?.image ?? '', new RegExp(`^temporalio/admin-tools:${version}-`));
    }
    assert.ok(!text.includes('auto-setup'));
  });

  it('registers the search attributes that the workflows set', () => {
    const script = readFileSync(`${projectDir}/ops/temporal/namespace.sh`, 'utf8');
    const registered = [...script.matchAll(/--name (\w+) --type (\w+)/g)].map(([, name, type]) => [
      name,
      type,
    ]);
    assert.deepEqual(
      registered,
      searchAttributes.map(({ name, type }) => [name, type === 'INT' ? 'Int' : 'Keyword']),
    );
  });

  it('has Temporal’s parts listen inside their container, but for the front end', () => {
    const config = parse(readFileSync(`${projectDir}/ops/temporal/server.yaml`, 'utf8')) as {
      services: Record<string, { rpc: { bindOnLocalHost?: boolean; bindOnIP?: string } }>;
    };
    const open = Object.entries(config.services).filter(([, { rpc }]) => rpc.bindOnLocalHost !== true);
    assert.deepEqual(
      open.map(([name]) => name),
      ['frontend'],
    );
  });

  it('gives the API more time to stop than it gives its requests', () => {
    const graceMs = Number(/^(\d+)s$/.exec(services['api']?.stop_grace_period ?? '')?.[1]) * 1000;
    assert.ok(graceMs >= stopWithinMs + 10_000, `${graceMs} ms against ${stopWithinMs} ms`);
  });
});

describe('Dockerfile', () => {
  const lines = readFileSync(`${projectDir}/Dockerfile`, 'utf8').split('\n');
  const last = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')));

  it('ends in an image that does not run as root and has no tools for building', () => {
    // The user is a number, so that the platform can see that it is not root.
    assert.deepEqual(
      last.filter((line) => line.startsWith('USER ')),
      ['USER 1000:1000'],
    );
    assert.ok(lines.some((line) => line.startsWith('RUN npm ci --omit=dev')));
    assert.ok(!last.some((line) => line.startsWith('RUN')));
    assert.ok(last.includes('COPY --from=dependencies /app/sbom.cdx.json ./'), 'it says what is in it');
  });

  it('stands on a Node whose security fixes have not ended: 24 or newer, of an even number', () => {
    const majors = lines.flatMap((line) => /^FROM node:(\d+)-slim/.exec(line)?.[1] ?? []).map(Number);
    assert.equal(majors.length, 3);
    for (const major of majors) assert.ok(major >= 24 && major % 2 === 0, String(major));
  });

  it('installs what the dashboard is built of in the building stage alone', () => {
    const stages = lines
      .join('\n')
      .split(/^FROM /m)
      .slice(1);
    const [building = '', dependencies = ''] = stages;
    const installed = building.slice(0, building.indexOf('npm ci'));
    for (const client of ['dashboard', 'typescript']) {
      assert.ok(installed.includes(`COPY clients/${client}/package.json clients/${client}/`), client);
    }
    assert.ok(!dependencies.includes('clients/'));
  });

  it('gets only the build’s sources through .dockerignore', () => {
    const build = JSON.parse(readFileSync(`${projectDir}/tsconfig.build.json`, 'utf8')) as {
      include: string[];
    };
    const ignore = readFileSync(`${projectDir}/.dockerignore`, 'utf8').split('\n');
    const letIn = ignore.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
    const dashboard = ['clients/dashboard', 'clients/typescript'];
    for (const path of [...build.include, ...dashboard]) assert.ok(letIn.includes(path), path);
    assert.equal(
      ignore.filter((line) => line !== '').at(-1),
      '**/node_modules',
      'a later line would let some in',
    );
    assert.ok(ignore.includes('*'));
  });
});
