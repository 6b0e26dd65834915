import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { findOnPath } from '../../lab/servers/temporal-cli-binary.js';
import { composeSchema, type ComposeFile } from './compose-schema.js';

const projectDir = fileURLToPath(new URL('../..', import.meta.url));
const text = readFileSync(`${projectDir}/docker-compose.yml`, 'utf8');
const { services, volumes } = parse(text, { merge: true }) as ComposeFile;

/** What the file says must be set, by `${NAME:?…}`. */
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
  it('says nothing that the project’s own description of such a file does not know', () => {
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

  it('has every part: PostgreSQL, Temporal with its UI, migrations, API, worker, operators’ tool, mails', () => {
    assert.deepEqual(Object.keys(services).sort(), [
      ...['api', 'mailpit', 'migrate', 'ops', 'postgres'],
      ...['temporal', 'temporal-attributes', 'temporal-ui', 'worker'],
    ]);
  });

  it('starts again what ends, and says of each service when it is well or that it runs once', () => {
    for (const [name, { restart, healthcheck }] of Object.entries(services)) {
      assert.ok(restart !== undefined, name);
      // These have nothing to ask; a worker that can't go on ends.
      const unasked = ['migrate', 'temporal-attributes', 'ops', 'worker', 'temporal-ui'].includes(name);
      assert.equal(healthcheck !== undefined, !unasked, name);
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
      /postgres:\/\/([^:]+):/.exec(services[name]?.environment?.['DATABASE_URL'] ?? '')?.[1] ?? '';
    assert.deepEqual(['migrate', 'api', 'worker', 'ops'].map(userOf), [
      'gpu_rental',
      'gpu_rental_api_login',
      'gpu_rental_worker_login',
      'gpu_rental_ops_login',
    ]);
  });

  it('carries no secret: each password and key comes from the environment', () => {
    for (const [name, { environment = {} }] of Object.entries(services)) {
      for (const [variable, value] of Object.entries(environment)) {
        // Taken away from a process that does not need it.
        if (value === '' || !/PASSWORD|PWD|SECRET|KEY|DATABASE_URL/.test(variable)) continue;
        assert.match(value, /\$\{[A-Z_]+:[?-]/, `${name}: ${variable}`);
      }
    }
  });

  it('gives the keys of the upstreams to the worker alone', () => {
    for (const variable of ['SHADEFORM_API_KEY', 'RUNPOD_API_KEY']) {
      assert.equal(services['api']?.environment?.[variable], '');
      assert.match(services['worker']?.environment?.[variable] ?? '', /^\$\{/);
    }
  });

  it('opens ports on loopback only, and lets our image gain no rights', () => {
    for (const [name, { ports = [], image, security_opt: options, cap_drop: dropped }] of Object.entries(
      services,
    )) {
      for (const port of ports) assert.match(port, /^127\.0\.0\.1:/, name);
      if (!image.startsWith('gpu-rental:')) continue;
      assert.deepEqual([options, dropped], [['no-new-privileges:true'], ['ALL']], name);
    }
  });

  it('keeps the database in a volume', () => {
    assert.deepEqual(Object.keys(volumes), ['postgres']);
  });
});

describe('Dockerfile', () => {
  const lines = readFileSync(`${projectDir}/Dockerfile`, 'utf8').split('\n');
  const last = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')));

  it('ends in an image that does not run as root and has no tools for building', () => {
    assert.deepEqual(
      last.filter((line) => line.startsWith('USER ')),
      ['USER node'],
    );
    assert.ok(lines.some((line) => line.startsWith('RUN npm ci --omit=dev')));
    assert.ok(!last.some((line) => line.startsWith('RUN')));
  });

  it('is given by .dockerignore what the build compiles, and no more', () => {
    const build = JSON.parse(readFileSync(`${projectDir}/tsconfig.build.json`, 'utf8')) as {
      include: string[];
    };
    const ignore = readFileSync(`${projectDir}/.dockerignore`, 'utf8').split('\n');
    const letIn = ignore.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
    for (const path of build.include) assert.ok(letIn.includes(path), path);
    assert.ok(ignore.includes('*'));
  });
});
