import assert from 'node:assert/strict';
import { Beats } from './beats.js';

describe('the beats of a simulated activity', () => {
  it('hand a lost try’s details on as far as they were sent', () => {
    const beats = new Beats(5_000);
    assert.equal(beats.begin(), undefined);
    beats.tell({ page: 1 }, 0);
    beats.tell({ page: 2 }, 3_999);
    assert.deepEqual(beats.begin(), { page: 1 });
    beats.tell({ page: 1 }, 10_000);
    beats.tell({ page: 2 }, 14_000);
    beats.tell({ page: 3 }, 14_001);
    assert.deepEqual(beats.begin(), { page: 2 });
  });

  it('hand a failed try’s last details on', () => {
    const beats = new Beats(undefined);
    beats.begin();
    beats.tell({ page: 1 }, 0);
    beats.tell({ page: 2 }, 1);
    beats.send(1);
    assert.deepEqual(beats.begin(), { page: 2 });
    assert.deepEqual(beats.begin(), { page: 2 });
  });
});
