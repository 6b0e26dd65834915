import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Goal } from '../../bench/goals.js';
import type { Conditions, Figure } from '../../bench/report.js';
import { readReported, runBench, type Outcome } from '../../bench/table/run.js';
import {
  isMet,
  marks,
  mergeOutcomes,
  renderTable,
  replaceBetweenMarks,
  rowsOf,
} from '../../bench/table/table.js';

const conditions: Conditions = {
  cores: 2,
  cpu: 'AMD EPYC',
  memoryGiB: 24,
  loadBefore: 0.3,
  node: 'v20.20.2',
  postgres: { server_version: '18.4', shared_buffers: '6GB' },
  date: '2026-11-22',
};

const read: Figure = {
  id: 'read.rental',
  what: 'GET a rental',
  ours: 790,
  unit: '/s',
  peer: { what: 'bare handler', value: 1_000 },
};

function outcome(bench: string, figures: readonly Figure[], other: Partial<Conditions> = {}): Outcome {
  const reported = [{ bench, figures, conditions: { ...conditions, ...other } }];
  return { bench, ended: 'passed', seconds: 1, commit: 'abc1234', reported };
}

const goal = (of: Goal['of'], limits: Partial<Goal>): Goal => ({ figure: 'read.rental', of, ...limits });

describe('the table of all benchmarks', () => {
  it('compares our value or the ratio with the goal, whose limit still keeps it', () => {
    assert.equal(isMet(read, goal('ratio', { atLeast: 0.8 })), false);
    assert.equal(isMet(read, goal('ratio', { atLeast: 0.79 })), true);
    assert.equal(isMet(read, goal('ours', { atMost: 790 })), true);
    assert.equal(isMet(read, goal('ours', { atMost: 789 })), false);
  });

  it('meets no goal by what was not measured', () => {
    const lost = JSON.parse(JSON.stringify({ ...read, ours: Number.NaN })) as Figure;
    assert.equal(isMet(lost, goal('ours', { atMost: 1 })), false);
    assert.equal(isMet(lost, goal('ratio', { atMost: 1 })), false);
    const alone: Figure = { id: 'read.rental', what: 'GET a rental', ours: 790, unit: '/s' };
    assert.equal(isMet(alone, goal('ratio', { atMost: 1 })), false);
    assert.match(renderTable([outcome('bench:read', [lost])], []), /\| not measured \|/);
  });

  it('shows a figure with its peer, its ratio, its goals and whether it meets all of them', () => {
    const goals = [goal('ratio', { atLeast: 0.8 }), goal('ours', { atLeast: 500 })];
    const table = renderTable([outcome('bench:read', [read])], goals);
    assert.match(
      table,
      /^\| GET a rental \| 790\/s \| 1,000\/s \(bare handler\) \| 0.79 \| ≥ 0.8 times, ≥ 500\/s \| \*\*no\*\* \|$/m,
    );
    assert.match(renderTable([outcome('bench:read', [read])], goals.slice(1)), /\| ≥ 500\/s \| yes \|$/m);
    assert.match(renderTable([outcome('bench:read', [read])], []), /\| 0.79 \|\s+\|\s+\|$/m);
  });

  it('tells the conditions once for the benchmarks that share them, with the range of the load', () => {
    const postgres = { server_version: '18.4', shared_buffers: '12GB' };
    const other = outcome('bench:api', [read], { loadBefore: 1.2, postgres });
    const table = renderTable([outcome('bench:read', [read]), other], []);
    const told =
      'bench:read, bench:api: 2026-11-22, commit abc1234; 2 cores of AMD EPYC, 24 GiB; Node 20.20.2; ' +
      'PostgreSQL 18.4 with shared_buffers 6GB to 12GB; load average before 0.3 to 1.2.';
    assert.ok(table.includes(told), table);
    const later = renderTable([other, { ...other, commit: 'def5678' }], []);
    assert.ok(later.includes('commit abc1234') && later.includes('commit def5678'));
    const none = renderTable([outcome('bench:start', [read], { postgres: undefined })], []);
    assert.ok(!none.includes('PostgreSQL'));
  });

  it('names what it does not tell: benchmarks without figures, and goals of none', () => {
    const failed: Outcome = { ...outcome('bench:api', []), ended: 'failed', why: 'exit 1' };
    const without: Outcome = { ...outcome('bench:blnk', []), ended: 'left out', why: 'no Go here' };
    const table = renderTable([failed, without], [goal('ours', { atMost: 1 })]);
    assert.match(table, /^- bench:api \*\*failed\*\*: exit 1$/m);
    assert.match(table, /^- bench:blnk was left out: no Go here$/m);
    assert.match(table, /Goals without a figure: `read.rental`\./);
  });

  it('tells machines the ratio and the verdict, which is open without a goal', () => {
    const [row] = rowsOf([outcome('bench:read', [read])], [goal('ratio', { atLeast: 0.5 })]);
    assert.deepEqual([row?.bench, row?.ratio, row?.met], ['bench:read', 0.79, true]);
    const [open] = rowsOf([outcome('bench:read', [{ id: 'x', what: 'x', ours: 1, unit: '' }])], []);
    assert.deepEqual([open?.ratio, open?.met], [null, null]);
  });

  it('keeps the outcomes of before where a benchmark did not run again, in the usual order', () => {
    const [old, renewed] = [outcome('bench:api', []), outcome('bench:api', [read])];
    const kept = outcome('bench:read', [read]);
    assert.deepEqual(mergeOutcomes([kept, old], [renewed], ['bench:api', 'bench:read']), [renewed, kept]);
  });

  it('stands between two marks of bench/README.md and leaves the rest alone', () => {
    const document = `# Title\n\n${marks.begin}\n\nold\n\n${marks.end}\n\nthe rest\n`;
    const renewed = replaceBetweenMarks(document, '| new |\n');
    assert.equal(renewed, `# Title\n\n${marks.begin}\n\n| new |\n\n${marks.end}\n\nthe rest\n`);
    assert.throws(() => replaceBetweenMarks('# Title', '| new |'), /lacks/);
    const readme = readFileSync(new URL('../../bench/README.md', import.meta.url), 'utf8');
    assert.doesNotThrow(() => replaceBetweenMarks(readme, ''));
  });
});

describe('one benchmark of all', () => {
  const line = JSON.stringify({ rentals: 5, bench: 'read', figures: [read], conditions });

  async function play(script: string, limitSeconds = 60): Promise<{ outcome: Outcome; shown: string }> {
    const chunks: string[] = [];
    const done = await runBench({
      bench: 'bench:read',
      command: [process.execPath, '-e', script],
      limitSeconds,
      commit: 'abc1234',
      signal: new AbortController().signal,
      show: (text) => chunks.push(text),
    });
    return { outcome: done, shown: chunks.join('') };
  }

  it('gives its figures, which it prints among other lines', async () => {
    const { outcome: done, shown } = await play(
      `console.log('read: fast'); console.error('busy'); console.log(${JSON.stringify(line)}); console.log('{"no')`,
    );
    assert.equal(done.ended, 'passed');
    assert.deepEqual(done.reported[0]?.figures, [read]);
    assert.match(shown, /busy/);
  });

  it('fails when it ends badly, late or without a word, and keeps what it had told', async () => {
    const print = `console.log(${JSON.stringify(line)})`;
    const { outcome: bad } = await play(`${print}; process.exitCode = 3`);
    assert.deepEqual([bad.ended, bad.why, bad.reported.length], ['failed', 'exit 3', 1]);
    const { outcome: late } = await play(`${print}; setInterval(() => {}, 1_000)`, 1);
    assert.deepEqual([late.ended, late.why], ['failed', 'it did not end within 1 s']);
    const { outcome: silent } = await play('');
    assert.deepEqual([silent.ended, silent.why], ['failed', 'it reported nothing']);
  });

  it('is left out, with its last line as the reason, when it says that it cannot run here', async () => {
    const { outcome: out } = await play(`console.error('looking\\nno Go here'); process.exitCode = 75`);
    assert.deepEqual([out.ended, out.why], ['left out', 'no Go here']);
  });

  it('takes no other line of JSON for figures', () => {
    assert.deepEqual(readReported('{"bench":"x"}\n{"figures":[]}\n[1]\n{}\nnull'), []);
  });
});
