import assert from 'node:assert/strict';
import { heardServiceTime, serviceTimeAt } from '../../../clients/dashboard/src/live/service-clock.js';

const service = Date.parse('2026-11-22T12:00:00.000Z');
const told = (ms: number): string => new Date(service + ms).toISOString();

describe('the service’s clock', () => {
  it('is this computer’s until the service has told its own, and goes on from there', () => {
    assert.equal(serviceTimeAt(1_000), 1_000);
    // This computer is ten minutes ahead, and the word took 80 ms.
    const here = service + 600_000;
    heardServiceTime(told(0), here + 80);
    assert.equal(serviceTimeAt(here + 80), service);
    // A slower word changes nothing, a faster one tells it better.
    heardServiceTime(told(1_000), here + 1_900);
    assert.equal(serviceTimeAt(here + 1_080), service + 1_000);
    heardServiceTime(told(2_000), here + 2_010);
    assert.equal(serviceTimeAt(here + 2_010), service + 2_000);
    // Nobody tells anything for an hour.
    assert.equal(serviceTimeAt(here + 3_600_010), service + 3_600_000);
  });

  it('follows a clock that is set', () => {
    const here = service - 3_600_000;
    heardServiceTime(told(0), here);
    assert.equal(serviceTimeAt(here), service);
    heardServiceTime(told(60_000), here + 70_000);
    assert.equal(serviceTimeAt(here + 70_000), service + 60_000);
  });
});
