import assert from 'node:assert/strict';
import { worstCaseCents, type Rental, type RentalPhase } from '@gpu-rental/client';
import { againSearch } from '../../clients/dashboard/src/pages/rentals/again.js';
import { chargePoints } from '../../clients/dashboard/src/pages/rentals/charge-points.js';
import {
  isReached,
  secondsToLimit,
  usedShare,
} from '../../clients/dashboard/src/pages/rentals/cost-preview.js';
import { fromLocalField, toLocalField } from '../../clients/dashboard/src/pages/rentals/local-time.js';
import { rentalTitle } from '../../clients/dashboard/src/pages/rentals/matching.js';
import { freeText, phaseName, phaseSteps } from '../../clients/dashboard/src/pages/rentals/phase-steps.js';
import { readRentalsSearch } from '../../clients/dashboard/src/pages/rentals/search.js';
import { sshCommand } from '../../clients/dashboard/src/pages/rentals/ssh-command.js';
import { rentalTexts } from '../../clients/dashboard/src/texts/rentals.js';
import { finalCents } from '../../domain/metering/metering.js';

const runningAt = '2026-11-22T10:30:00.000Z';

describe('the preview of a rental’s cost', () => {
  const limited = { pricePerHourCents: 333, runningAt, autoStopAt: null, maxSpendCents: null };

  it('is what the service charges at the limit that is reached first', () => {
    for (const minutes of [1, 7, 59, 90, 43_200]) {
      const autoStopAt = new Date(Date.parse(runningAt) + minutes * 60_000).toISOString();
      for (const maxSpendCents of [null, 5, 400]) {
        assert.equal(
          worstCaseCents({ ...limited, autoStopAt, maxSpendCents }),
          finalCents(333, minutes * 60_000, maxSpendCents),
          `${minutes} min, ${maxSpendCents}`,
        );
      }
    }
  });

  it('is the spending limit alone before it runs, and nothing without a limit', () => {
    assert.equal(worstCaseCents(limited), null);
    assert.equal(worstCaseCents({ ...limited, maxSpendCents: 50 }), 50);
    const early = { ...limited, runningAt: null, autoStopAt: runningAt };
    assert.equal(worstCaseCents(early), null);
  });

  it('tells when a spending limit is reached, unless the machine stops before', () => {
    const nowMs = Date.parse(runningAt);
    const at = (seconds: number) => new Date(nowMs + seconds * 1_000).toISOString();
    const running = { ...limited, pricePerHourCents: 100, maxSpendCents: 50, status: 'running' } as const;
    assert.equal(secondsToLimit(running, 25, nowMs), 900);
    assert.equal(secondsToLimit({ ...running, autoStopAt: at(900) }, 25, nowMs), 900);
    assert.equal(secondsToLimit({ ...running, autoStopAt: at(899) }, 25, nowMs), null);
    assert.equal(secondsToLimit({ ...running, maxSpendCents: null }, 25, nowMs), null);
    assert.equal(secondsToLimit({ ...running, status: 'stopped' }, 25, nowMs), null);
  });

  it('knows limits that have been reached', () => {
    const nowMs = Date.parse(runningAt) + 60_000;
    const at = (ms: number) => new Date(nowMs + ms).toISOString();
    assert(isReached({ ...limited, autoStopAt: at(0) }, 0, nowMs));
    assert(!isReached({ ...limited, autoStopAt: at(1) }, 0, nowMs));
    assert(isReached({ ...limited, maxSpendCents: 5 }, 5, nowMs));
    assert(!isReached({ ...limited, maxSpendCents: 6 }, 5, nowMs));
    assert(!isReached({ ...limited, runningAt: null, maxSpendCents: 1 }, 1, nowMs));
  });

  it('shares out what is used', () => {
    assert.deepEqual([usedShare(1, 4), usedShare(5, 4), usedShare(-1, 4), usedShare(0, 0)], [0.25, 1, 0, 1]);
  });
});

describe('the line of a rental’s cost', () => {
  const seconds = (iso: string): number => Date.parse(iso) / 1_000;
  const until = (iso: string, cents: number) => ({ atMs: Date.parse(iso), cents });
  const charge = (from: string, chargedCents: number, refundedCents = 0) => ({
    ...{ from, chargedCents, refundedCents, entries: 1 },
  });

  it('rises from nothing at the begin, by each hour’s charges, to the present total', () => {
    const charges = [charge('2026-11-22T10:00:00.000Z', 50), charge('2026-11-22T11:00:00.000Z', 100)];
    const points = chargePoints({ charges, interval: 'hour' }, runningAt, until('2026-11-22T11:30:00Z', 151));
    assert.deepEqual(points, [
      { at: seconds(runningAt), cents: 0 },
      { at: seconds('2026-11-22T11:00:00Z'), cents: 50 },
      { at: seconds('2026-11-22T11:30:00Z'), cents: 151 },
    ]);
  });

  it('stays level where hours lie between, and falls by a refund', () => {
    const charges = [charge('2026-11-22T10:00:00.000Z', 50), charge('2026-11-22T13:00:00.000Z', 0, 50)];
    const points = chargePoints({ charges, interval: 'hour' }, runningAt, until('2026-11-22T14:00:00Z', 0));
    assert.deepEqual(
      points.map(({ cents }) => cents),
      [0, 50, 50, 0],
    );
    assert(points.every(({ at }, index) => index === 0 || at > (points[index - 1]?.at ?? 0)));
  });

  it('is none without a charge', () => {
    assert.deepEqual(chargePoints({ charges: [], interval: 'day' }, null, until(runningAt, 0)), []);
  });
});

describe('the phases of a machine', () => {
  it('are done before the present one, and all of them once it is ready', () => {
    assert.deepEqual(
      phaseSteps('booting').map(({ state }) => state),
      ['done', 'done', 'now', 'ahead', 'ahead', 'ahead'],
    );
    assert(phaseSteps('ready').every(({ state }) => state === 'done'));
  });

  it('may be one that this page does not know', () => {
    const newer = 'warming_up' as RentalPhase;
    assert.equal(phaseName(newer), 'warming up');
    assert.equal(phaseName('booting'), rentalTexts.phases.booting);
    assert(phaseSteps(newer).every(({ state }) => state === 'ahead'));
  });

  it('cost nothing until a login, or with own software until what its billing waits for', () => {
    const { free, freeOwn } = rentalTexts.phases;
    const software = { image: 'vllm/vllm-openai:v1' } as Rental['software'];
    assert.deepEqual([freeText({ software: null }), freeText({ software })], [free, freeOwn]);
  });
});

describe('a field of day and time', () => {
  it('shows an instant by the clock of the place, and gives it back to the minute', () => {
    const shown = toLocalField('2026-11-22T14:05:09.000Z');
    assert.match(shown, /^2026-11-2[123]T\d\d:\d5$/);
    assert.equal(fromLocalField(shown), '2026-11-22T14:05:00.000Z');
    assert.deepEqual(['', '2026-11-22', '2026-13-01T00:00'].map(fromLocalField), [
      undefined,
      undefined,
      undefined,
    ]);
  });
});

const rental = {
  ...{ id: 'rent_1', name: 'training', labels: { team: 'a:b' }, status: 'running' },
  ...{ family: 'h100-80gb', familyId: 'h100-80gb', gpuCount: 8, region: 'Dallas, TX', providerCode: 'lab' },
  ...{ templateId: 'vllm', autoStopAt: null, maxSpendCents: null, startedAt: runningAt, runningAt },
  ...{ host: '203.0.113.2', port: 2222, username: 'root' },
} as unknown as Rental;

describe('the list of rentals', () => {
  it('reads its filters out of the address', () => {
    const all = { q: 'training', status: 'running', label: 'team:', sort: 'cost' };
    assert.deepEqual(readRentalsSearch(all), all);
    assert.deepEqual(readRentalsSearch({ q: 8, status: 'gone', label: 'team' }), { q: '8' });
    assert.deepEqual(readRentalsSearch({ q: '', label: 'Team:a', sort: 'newest' }), {});
  });

  it('names what has no name by its machine', () => {
    assert.equal(rentalTitle(rental), 'training');
    assert.equal(rentalTitle({ ...rental, name: null }), '8 × H100 80 GB');
  });
});

describe('a rental', () => {
  it('tells the command that enters it, once there is one', () => {
    assert.equal(sshCommand(rental), 'ssh -p 2222 root@203.0.113.2');
    assert.equal(sshCommand({ ...rental, host: null }), undefined);
  });

  it('is rented again by the same choices, its time limit in hours', () => {
    const autoStopAt = new Date(Date.parse(runningAt) + 5_400_000).toISOString();
    assert.deepEqual(againSearch({ ...rental, autoStopAt, maxSpendCents: 700 }), {
      ...{ gpus: 8, template: 'vllm', name: 'training', hours: 1.5, spend: 700, labels: { team: 'a:b' } },
    });
    assert.deepEqual(againSearch({ ...rental, name: null, labels: {} }), { gpus: 8, template: 'vllm' });
    const idle = { minutes: 45, idleSince: null, stopsAt: null, keepAliveUntil: null };
    const guarded = { ...rental, idleGuard: { ...idle, ignores: ['sessions' as const] } };
    const { idle: minutes, ignoreSessions } = againSearch(guarded);
    assert.deepEqual([minutes, ignoreSessions], [45, true]);
  });
});
