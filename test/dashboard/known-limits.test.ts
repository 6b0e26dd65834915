import assert from 'node:assert/strict';
import { hoursOf } from '../../clients/dashboard/src/pages/rent/hours.js';
import { idleMinutesOf } from '../../clients/dashboard/src/pages/rentals/idle-guard.js';
import { scopes } from '../../clients/dashboard/src/texts/api-keys.js';
import { idleTexts } from '../../clients/dashboard/src/texts/idle.js';
import { rentTexts } from '../../clients/dashboard/src/texts/rent.js';
import { webhookTexts } from '../../clients/dashboard/src/texts/webhooks.js';
import { apiKeyScopes } from '../../domain/accounts/api-keys.js';
import { MINUTE } from '../../domain/durations.js';
import { idleGuardLimits } from '../../domain/rentals/idle-guard.js';
import { rentalLimits } from '../../domain/rentals/limits.js';
import { webhookLimits } from '../../domain/webhooks/limits.js';

/** The description tells numbers to people alone: no generated type has them. */
describe('the limits that the dashboard knows by heart', () => {
  it('are those of the idle guard', () => {
    const { minutesMin: least, minutesMax: most, warnMs } = idleGuardLimits;
    const read = [least - 1, least, most, most + 1].map((minutes) => idleMinutesOf(String(minutes)));
    assert.deepEqual(read, [undefined, least, most, undefined]);
    assert.match(idleTexts.error, new RegExp(`from ${least} to ${most}$`));
    assert.ok(idleTexts.hint.includes(`warn you ${warnMs / MINUTE} minutes ahead`));
  });

  it('are the most hours of a rental', () => {
    const { autoStopMaxHours: most } = rentalLimits;
    assert.deepEqual([hoursOf(String(most)), hoursOf(String(most + 1))], [most, undefined]);
    assert.ok(rentTexts.limits.hoursError.endsWith(`at most ${most}`));
  });

  it('are the most webhooks of a user', () => {
    assert.equal(webhookTexts.count(3), `3 of ${webhookLimits.perUser}`);
  });

  it('are all scopes of API keys', () => {
    assert.deepEqual(scopes, apiKeyScopes);
  });
});
