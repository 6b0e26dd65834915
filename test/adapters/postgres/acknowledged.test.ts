import assert from 'node:assert/strict';
import { acknowledgedAt } from '../../../adapters/postgres/acknowledged.js';

describe('the commits that a process saw acknowledged', () => {
  const answer = (xid: string, timeline: string) => ({
    response: [{ rows: [{ xid, position: '0/1', timeline }] }, { rows: [] }],
  });

  it('are the newest of each timeline: what is written after a failover hides none of before', () => {
    const commits = acknowledgedAt('postgres://ann@acknowledged.test/rental');
    commits.note(answer('1', '00000001'));
    for (let xid = 2; xid < 2_000; xid += 1) commits.note(answer(String(xid), '00000002'));
    commits.note({ response: [{ rows: [{ xid: null, position: '0/1', timeline: '00000002' }] }] });
    const listed = commits.list();
    assert.deepEqual([listed.length, listed[0]?.xid, listed.at(-1)?.xid], [513, '1', '1999']);
  });

  it('are of all logins at one address', () => {
    acknowledgedAt('postgres://ann@shared.test/rental').note(answer('7', '00000001'));
    assert.equal(acknowledgedAt('postgres://bob@shared.test/rental').list().length, 1);
    assert.equal(acknowledgedAt('postgres://ann@other.test/rental').list().length, 0);
  });
});
