import assert from 'node:assert/strict';
import type { Event, LiveMeter } from '@gpu-rental/client';
import { liveStore } from '../../../clients/dashboard/src/live/store.js';

describe('what the stream of a page has said', () => {
  const at = (seconds: number) => new Date(Date.UTC(2026, 10, 28, 9, 0, seconds)).toISOString();
  const rentalId = 'rent_01KADV6E5TR5X9K0S4V1B2N3M4';
  const meter: LiveMeter = {
    ...{ rentalId, status: 'running', pricePerHourCents: 3_600, chargedCents: 10, holdCents: 3_590 },
    ...{ runningAt: at(0), endedAt: null, readAt: at(10) },
  };
  const eventOf = (type: string, data: object) =>
    ({ type, data, seq: 7, entityId: rentalId, createdAt: at(40) }) as Event;
  beforeEach(() => {
    liveStore.clear();
    liveStore.take({ kind: 'meter', meter }, 1_000);
  });
  after(() => liveStore.clear());
  const told = () => liveStore.read().meters[rentalId];

  it('ends a machine by its event, which is all that a stream hears of it after a gap', () => {
    const data = { reason: 'auto_stop', stoppedAt: at(40), chargedCents: 40, refundedCents: 5 };
    liveStore.take({ kind: 'event', event: eventOf('rental.stopped', data) }, 2_000);
    const { status, chargedCents, holdCents, endedAt } = told()!;
    assert.deepEqual([status, chargedCents, holdCents, endedAt], ['stopped', 35, 0, at(40)]);
    assert.equal(liveStore.read().lastSeq, 7);
  });

  it('ends one that failed without a charge', () => {
    const data = { code: 'boot_timeout', message: 'late', refundedCents: 10 };
    liveStore.take({ kind: 'event', event: eventOf('rental.failed', data) }, 2_000);
    assert.deepEqual([told()?.status, told()?.chargedCents], ['failed', 0]);
  });

  it('leaves it by any other event', () => {
    liveStore.take({ kind: 'event', event: eventOf('rental.stopping', { reason: 'user' }) }, 2_000);
    assert.equal(told()?.status, 'running');
  });

  it('forgets all where events are lost', () => {
    liveStore.take({ kind: 'resync', lastSeq: 9 }, 2_000);
    assert.deepEqual([told(), liveStore.read().lastSeq], [undefined, 9]);
  });
});
