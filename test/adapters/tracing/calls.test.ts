import assert from 'node:assert/strict';
import { createLog, logOfPart } from '../../../adapters/log.js';
import type { LevelsOfParts } from '../../../domain/operations/log-parts.js';
import { called, logCalls, type Callee } from '../../../adapters/tracing/calls.js';
import { withinRequest } from '../../../adapters/tracing/origin.js';

describe('a part of the log', () => {
  const written: Record<string, unknown>[] = [];
  const destination = {
    write: (line: string) => void written.push(JSON.parse(line) as Record<string, unknown>),
  };
  const make = (levels: LevelsOfParts) => createLog({ level: 'info', levels, service: 'test', destination });
  const told = () =>
    written.splice(0).map(({ level, part, msg, requestId, fault, ...rest }) => ({
      ...{ level, part, msg, requestId, fault },
      status: rest['http.response.status_code'],
    }));

  afterEach(() => {
    logCalls(undefined);
    written.length = 0;
  });

  it('has a level of its own, and else that of the program', () => {
    for (const [level, levels] of [
      ['quiet', { sql: 'error' }],
      ['loud', { sql: 'debug' }],
      ['as the program', { upstream: 'debug' }],
    ] as const) {
      const sql = logOfPart(make(levels).child({ requestId: 'r-1' }), 'sql');
      sql.debug(`${level}, in detail`);
      sql.info(level);
    }
    make({ sql: 'debug' }).debug('the program itself');
    assert.deepEqual(
      written.map(({ part, msg }) => [part, msg]),
      [
        ['sql', 'loud, in detail'],
        ['sql', 'loud'],
        ['sql', 'as the program'],
      ],
    );
  });

  it('tells each call that is made within its part, and of a failure the kind alone', async () => {
    const log = make({ processor: 'debug' });
    logCalls((part) => logOfPart(log, part));
    const ask = (callee: Callee) =>
      called({ callee, name: 'POST', attributes: { 'server.address': 'api.example.com' } }, (note) => {
        note({ 'http.response.status_code': 402 });
        return Promise.resolve('an answer');
      });
    assert.equal(await withinRequest('r-1', () => ask('processor')), 'an answer');
    assert.equal(await ask('upstream'), 'an answer');
    await assert.rejects(
      called({ callee: 'processor', name: 'GET', attributes: {} }, () =>
        Promise.reject(new TypeError('a secret in words')),
      ),
      /a secret/,
    );
    assert.ok(!JSON.stringify(written).includes('secret'));
    assert.deepEqual(told(), [
      { level: 20, part: 'processor', msg: 'POST', requestId: 'r-1', fault: undefined, status: 402 },
      {
        level: 20,
        part: 'processor',
        msg: 'GET',
        requestId: undefined,
        fault: 'TypeError',
        status: undefined,
      },
    ]);
  });

  it('tells nothing where nobody asked for it', async () => {
    assert.equal(await called({ callee: 'sql', name: 'sql', attributes: {} }, () => Promise.resolve(7)), 7);
    assert.deepEqual(told(), []);
  });
});
