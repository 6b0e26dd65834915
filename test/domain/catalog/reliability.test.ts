import assert from 'node:assert/strict';
import { reliabilityOf, type ReliabilityCounts } from '../../../domain/catalog/reliability.js';

const HOUR = 3_600_000;
const counts = (over: Partial<ReliabilityCounts> = {}): ReliabilityCounts => ({
  created: 19,
  notCreated: 1,
  sshP50Seconds: 40,
  sshP90Seconds: 90,
  losses: 1,
  machineMs: 400 * HOUR,
  ...over,
});

describe('what is told of an upstream’s reliability', () => {
  it('is nothing below 20 machines that were asked for', () => {
    assert.equal(reliabilityOf(counts({ created: 18 })), null);
    assert.equal(reliabilityOf(counts({ created: 0, notCreated: 19 })), null);
  });

  it('is the share that came up, how long SSH took, and the losses, each from 20 samples of its own on', () => {
    const told = { createSuccess: 0.95, samples: 20, days: 30, lossesPer1000Hours: 2.5 };
    assert.deepEqual(reliabilityOf(counts()), { ...told, timeToSshSeconds: null });
    const { timeToSshSeconds } = reliabilityOf(counts({ created: 20 })) ?? {};
    assert.deepEqual(timeToSshSeconds, { p50: 40, p90: 90 });
    assert.equal(reliabilityOf(counts({ machineMs: 20 * HOUR - 1 }))?.lossesPer1000Hours, null);
    assert.equal(reliabilityOf(counts({ machineMs: 20 * HOUR }))?.lossesPer1000Hours, 50);
  });

  it('never calls it a whole success when one failed', () => {
    assert.equal(reliabilityOf(counts({ created: 9_999, notCreated: 1 }))?.createSuccess, 0.999);
    assert.equal(reliabilityOf(counts({ created: 20, notCreated: 0 }))?.createSuccess, 1);
    const never = counts({
      created: 0,
      notCreated: 40,
      sshP50Seconds: null,
      sshP90Seconds: null,
      machineMs: 0,
    });
    assert.deepEqual(reliabilityOf({ ...never, losses: 0 }), {
      createSuccess: 0,
      timeToSshSeconds: null,
      lossesPer1000Hours: null,
      samples: 40,
      days: 30,
    });
  });
});
