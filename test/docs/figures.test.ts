import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stopWithinMs } from '../../api/server.js';
import { readConfig } from '../../config.js';
import { machineCallLimits } from '../../domain/machines/calls.js';
import { meteringLimits } from '../../domain/metering/limits.js';
import { sizeDatabase } from '../../domain/operations/database-size.js';
import { upkeepDuties } from '../../domain/operations/upkeep.js';
import { requestLimits } from '../../domain/requests/limits.js';

const projectDir = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string) => readFileSync(join(projectDir, file), 'utf8');

const scale = 'docs/scale.md';
const deploying = 'docs/operations/deploying.md';
const bench = 'bench/README.md';

/** PostgreSQL's default, which the compose file leaves as it is. */
const POSTGRES_CONNECTIONS = 100;

/** The pages repeat figures of the code and of the benchmarks: each is computed here, and must stand in its page. */
describe('the figures of the pages on scale and deploying', () => {
  /** A missing text is told as it should be. */
  function says(page: string, ...texts: string[]): void {
    const whole = unbroken(read(page));
    const missing = texts.filter((text) => !whole.includes(text));
    assert.deepEqual(missing, [], `${page} should say this`);
  }

  it('connections follow from the pools that each process opens', () => {
    const { worker, api } = { worker: poolsOf('worker/index.ts'), api: poolsOf('api/index.ts') };
    const [perWorker, perApi] = [sum(worker), sum(api)];
    const counted = `${perWorker} connections (${worker.join(' + ')})`;
    const together = 2 * perWorker + perApi;
    assert.ok(together > POSTGRES_CONNECTIONS, 'the pages say that they are more than PostgreSQL takes');
    assert.ok(!read('docker-compose.yml').includes('max_connections'), 'the compose file leaves its default');
    says(
      scale,
      `Each API process takes up to ${perApi} connections (${api.join(' + ')})`,
      `Each takes up to ${counted}`,
      `**two workers and one API are ${together}**, more than PostgreSQL's ${POSTGRES_CONNECTIONS}`,
    );
    const [ofPool, ofOpen, , ...others] = worker;
    says(
      deploying,
      `\`DATABASE_POOL_MAX\` (${ofPool}), \`DATABASE_OPEN_POOL_MAX\` (${ofOpen}), \`DATABASE_METER_POOL_MAX\` (shards + 1) and ${sum(others)}`,
      `per API \`DATABASE_POOL_MAX\` and ${sum(api.slice(1))}`,
      `a worker is ${perWorker} and an API ${perApi}: two workers and one API are ${together}`,
    );
  });

  it('slots and rates are those of the code', () => {
    const code = /const slots = \{(.+?)\}/.exec(read('worker/workers.ts'))?.[1] ?? '';
    const slots = (queue: string): string =>
      number(Number(new RegExp(`${queue}: ([\\d_]+)`).exec(code)?.[1]?.replaceAll('_', '')));
    const { beltRoundsPerSecond: rounds } = meteringLimits;
    says(
      scale,
      `${slots('rentals')} activities that move money, ${slots('upstream')} machines that are waited for, ${slots('meter')} loops, ${slots('mail')} mails, ${slots('webhooks')} endpoints`,
      `never more than ${rounds} rounds a second`,
      `more than ${rounds} × 3,600 = ${number(rounds * 3_600)} rentals`,
      `${rounds} rounds of ${events('a round of the second belt more')} events are ${rounds * events('a round of the second belt more')} events a second`,
      `one user gets ${requestLimits.requestsAtOnce} for reads and ${requestLimits.requestsAtOnce} for changes`,
    );
  });

  it('measured loads are those of the table of the benchmarks', () => {
    const reads = perSecond('GET /v1/rentals/:id by a session');
    says(
      scale,
      `100,000 running rentals: p99 ${ours('tick of 100,000 rentals, realistic, p99')}, ${ours('ticks of 100,000 rentals, realistic')}`,
      `850,000: p99 ${ours('tick of 850,000 rentals, realistic, p99')}`,
      `1,000,000: p99 ${ours('tick of 1,000,000 rentals, realistic, p99')}`,
      `${number(perSecond('entries a second, 100,000 rentals'))} entries a second`,
      `${perSecond('rentals opened a second, dev server')} a second, p50 ${ours('POST /v1/rentals, p50, dev server')}`,
      `${perSecond('rentals opened a second, Temporal v1.29.1 over PostgreSQL')} over PostgreSQL`,
      `${number(reads)} rentals a second, or ${number(perSecond('GET /v1/billing/ledger by a session'))} pages of the ledger`,
      `some ${number(Math.floor((reads * 5) / 100) * 100)} clients that look`,
      `a page takes ${ours('a page of a ledger of 10,000,000 entries, p50')} at 10 million entries`,
      `${number(perSecond('webhooks accepted a second'))} a second; from paid to in the balance p99 ${ours('paid until in the balance, p99')}`,
      `1,000 at once: worker ${ours('worker while 1,000 machines refuse')}`,
      // The last table says these again.
      `${perSecond('rentals opened a second, dev server')} a second (measured)`,
      `${number(perSecond('entries a second, 100,000 rentals'))} entries a second (measured)`,
      `${number(reads)} a second on 2 (measured)`,
    );
  });

  it('a million rental-hours cost what follows from the measured ones', () => {
    const text = unbroken(read(bench));
    const log = Number(/An entry is \d+ to (\d+) bytes of the database's log/.exec(text)?.[1]);
    const disk = Number(/and \d+ to (\d+) on disk, its primary key included/.exec(text)?.[1]);
    const denseLog = Number(/\| log an entry, every second, B \| +\d+ \| +\d+ \| +(\d+) \|/.exec(text)?.[1]);
    const [ofHandler, ofPostgres] = cores(/\| a rental \|(?:[^|]*\|){4} +([\d,]+) \+ ([\d,]+) \|/.exec(text));
    const [ofWorker, ofTicks] = cores(
      /\| 10,000 \| realistic[^|]*\|(?:[^|]*\|){3} +([\d.]+) \+ ([\d.]+) \|/.exec(text),
    );
    const entries = 210;
    const owed = Math.round((100_000 * entries) / 3_600);
    const ticks = Number.parseFloat(ours('ticks of 100,000 rentals, realistic'));
    const look = (ofHandler + ofPostgres) / 1_000;
    const lookHours = (look * 720 * 1_000) / 3_600;
    const dense = perSecond('entries a second, 100,000 rentals');
    says(
      scale,
      `ledger 210 million × ${disk} bytes = ${round(entries * disk * 1e-3, 1)} GB`,
      `log 210 million × ${log} bytes = ${round(entries * log * 1e-3, 0)} GB`,
      `100,000 rentals: ${number(owed)} × ${log} = ${round(owed * log * 1e-6, 1)} MB a second; ${number(dense)} entries a second: ${round(dense * denseLog * 1e-6, 0)} MB a second, at ${denseLog} bytes each`,
      `100,000 rentals ${ticks} cores × 10 h = ${round(ticks * 10, 1)} core-hours`,
      `10,000 rentals (${ofWorker} + ${ofTicks}) cores × 100 h = ${round((ofWorker + ofTicks) * 100, 1)} core-hours`,
      `${ofHandler} + ${ofPostgres} µs = ${round(look, 2)} core-milliseconds a look`,
      `720 an hour × ${round(look, 2)} ms = ${round(look * 0.72, 2)} core-seconds per rental-hour`,
      `1,000,000 × ${round(look * 0.72, 2)} s ÷ 3,600 = ${round(lookHours, 0)} core-hours`,
    );
    assert.ok(lookHours > 30 * (ofWorker + ofTicks) * 100, 'polling costs tens of times the metering');
  });

  it('a sealed ledger keeps what follows from the measured bytes', () => {
    const text = unbroken(read(bench));
    const [, kept = '', small = ''] =
      /A sealed entry keeps ([\d.]+) bytes for good, and ([\d.]+) where/.exec(text) ?? [];
    const [, rowLog, sealedLog] = /Log: (\d+) bytes an entry without sealing, (\d+) with it/.exec(text) ?? [];
    const disk = Number(/and \d+ to (\d+) on disk, its primary key included/.exec(text)?.[1]);
    const [row, sealed] = [210 * disk, 210 * Number(kept)].map((bytes) => bytes / 1_000);
    const year = 8_760 * 1e-3;
    says(
      scale,
      `an entry keeps ${kept} bytes, by \`bench:seals\``,
      `one machine of $0.20 an hour keeps ${small}. A sealed entry costs ${Number(sealedLog) - Number(rowLog)} bytes more log`,
      `ledger 210 million × ${kept} bytes = ${round(0.21 * Number(kept), 1)} GB`,
      `210 × ${disk} = ${round(row!, 1)} kB 210 × ${kept} = ${round(sealed!, 1)} kB`,
      `= ${round(year * row!, 0)} GB 1,000 × 8,760 × ${round(sealed!, 1)} kB = ${round(year * sealed!, 0)} GB`,
      `a year of 100,000 ${round(year * row! * 0.1, 1)} TB ${round(year * sealed! * 0.1, 1)} TB`,
      `sealing it: ${round(0.21 * Number(kept), 1)} GB`,
    );
  });

  it('a rental costs Temporal the events that its workflow is tested to have', () => {
    const page = unbroken(read(scale));
    const counted = [...page.matchAll(/\| ([a-z][^|]+?) \| +(\d+) \|/g)]
      .map(([, life = '', count]) => [life, Number(count)] as const)
      .filter(([life]) => eventsOf().has(life));
    assert.deepEqual(new Map(counted), eventsOf());
    const round6 = events('a round of the second belt more');
    const life = events('stopped by a limit, which nobody told') - round6;
    const [many, few] = [0.114, 1.05].map((rounds) => millions(rounds * round6));
    says(scale, `without its rounds: ${life + round6} − ${round6} = ${life} events`);
    says(scale, `1 million × … × ${round6} ${few} million ${many} million`);
    says(scale, `100,000 × ${life} ${millions(life / 10)} million ${millions(life / 10)} million`);
  });

  it('loops, index steps and waits are those of the code', () => {
    const loops = 1 + 4 + 3 + upkeepDuties.length;
    const inLoops = loops * 4 * events('a round of the second belt more');
    says(
      scale,
      `The ${loops} loops (a meter, four watchers, the mailer, the sequencer, the waker of webhooks, ${upkeepDuties.length} duties of the upkeep)`,
      `run four activities an hour each, ${inLoops} events`,
      `schedules and loops ${312 + inLoops} an hour`,
    );
    const besides = readdirSync(join(projectDir, 'migrations'))
      .filter(
        (file) => file.endsWith('.sql') && /create index concurrently/i.test(read(`migrations/${file}`)),
      )
      .map((file) => file.slice(0, 3));
    says(
      deploying,
      `The steps ${besides.slice(0, -1).join(', ')} and ${besides.at(-1)} build indexes beside those who write`,
      `which may call ${number(machineCallLimits.perMinuteOfAddress)} times a minute`,
      `lets requests under way end, for ${stopWithinMs / 1_000} s at most`,
    );
  });

  it('the settings of PostgreSQL are those that are computed', () => {
    const gb = 2 ** 30;
    const sized = (memoryGb: number, freeGb: number, isAlone = true) => {
      const machine = { memoryBytes: memoryGb * gb, cores: 16, freeBytes: freeGb * gb, isAlone };
      const settings = sizeDatabase(machine);
      return (name: string): number => Number.parseInt(settings[name] ?? '', 10);
    };
    const [large, small] = [sized(1_024, 4_096), sized(1, 1)];
    says(
      deploying,
      `above ${large('shared_buffers') / 1_024} GB a stop takes long`,
      `a quarter of the free disk, ${small('max_wal_size') / 1_024} to ${large('max_wal_size') / 1_024} GB; an eighth`,
      `1/32 of the memory, ${small('maintenance_work_mem')} MB to ${large('maintenance_work_mem') / 1_024} GB`,
      `\`checkpoint_timeout\` | ${large('checkpoint_timeout')} min`,
      `${large('autovacuum_naptime')} s, ${large('autovacuum_vacuum_cost_limit')} (default`,
    );
    assert.equal(sized(16, 4_096)('shared_buffers'), 4_096, 'a quarter of the memory');
    assert.equal(sized(24, 4_096, false)('shared_buffers'), 4_096, 'a sixth beside the stack');
  });
});

/** The connections of each pool that a program opens, by the defaults of the configuration. */
function poolsOf(file: string): number[] {
  const text = read(file);
  const { database } = readConfig({
    ...{ DATABASE_URL: 'postgres://localhost/gpu_rental', TEMPORAL_ADDRESS: '127.0.0.1:7233' },
    ...{ DASHBOARD_URL: 'http://127.0.0.1', SMTP_URL: 'smtp://127.0.0.1:25' },
  });
  const sizes = [...text.matchAll(/openDatabase\(\s*url,\s*(\w+),/g)].map(([, size = '']) => {
    if (/^\d+$/.test(size)) return Number(size);
    if (size in database) return database[size as 'poolMax'];
    return Number(new RegExp(`const ${size} = (\\d+);`).exec(text)?.[1]);
  });
  assert.ok(sizes.length > 1 && sizes.every((size) => size > 0), `the pools of ${file}: ${sizes.join(', ')}`);
  return sizes;
}

/** A figure of the benchmarks' table, as it stands there. */
function ours(figure: string): string {
  const row = read(bench)
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .find((cells) => cells[1] === figure);
  assert.ok(row?.[2], `${bench} has no figure "${figure}"`);
  return row[2];
}

function perSecond(figure: string): number {
  return Number(/^([\d,.]+)\/s$/.exec(ours(figure))?.[1]?.replaceAll(',', ''));
}

/** How many events each way of life has, as test/workflows/rental-events.test.ts holds it. */
function eventsOf(): Map<string, number> {
  const table = /const eventsOf = \{([^}]+)\}/.exec(read('test/workflows/rental-events.test.ts'))?.[1] ?? '';
  return new Map(
    [...table.matchAll(/^ +'?([^':\n]+)'?: (\d+),$/gm)].map(([, life = '', count]) => [life, Number(count)]),
  );
}

function events(life: string): number {
  const count = eventsOf().get(life);
  assert.ok(count, `no test counts the events of: ${life}`);
  return count;
}

function cores(found: RegExpExecArray | null): [number, number] {
  const [, first = '', second = ''] = found ?? [];
  return [Number(first.replaceAll(',', '')), Number(second.replaceAll(',', ''))];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

function round(value: number, digits: number): string {
  return value.toFixed(digits);
}

function millions(value: number): string {
  return round(value, 1);
}

function number(value = NaN): string {
  return value.toLocaleString('en-US');
}

/** A page without its line breaks and the padding of its tables and sums. */
function unbroken(text: string): string {
  return text.replace(/\s+/g, ' ');
}
