import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { insertKey } from '../../support/money/factories.js';

describe('renting', () => {
  let api: TestApi;
  let user: SignedIn;

  before(async () => {
    // Temporal is away: answers that do not need it must come all the same.
    api = await startApi();
  });
  beforeEach(async () => {
    user = await api.signIn();
  });
  after(() => api.stop());

  describe('POST /v1/rentals', () => {
    const body = { familyId: 'rtx-4090', gpuCount: 1 };

    it('refuses bodies of another shape, naming each field', async () => {
      const wrong: [object, string, string][] = [
        [{ gpuCount: 1 }, 'validation_failed', 'familyId'],
        [{ ...body, familyId: 7 }, 'validation_failed', 'familyId'],
        [{ familyId: 'rtx-4090' }, 'invalid_count', 'gpuCount'],
        [{ ...body, gpuCount: 3 }, 'invalid_count', 'gpuCount'],
        [{ ...body, gpuCount: 0 }, 'invalid_count', 'gpuCount'],
        [{ ...body, gpuCount: -1 }, 'invalid_count', 'gpuCount'],
        [{ ...body, gpuCount: 1.5 }, 'invalid_count', 'gpuCount'],
        [{ ...body, gpuCount: '1' }, 'invalid_count', 'gpuCount'],
        [{ ...body, gpuCount: null }, 'invalid_count', 'gpuCount'],
        [{ ...body, templateId: 'windows' }, 'validation_failed', 'templateId'],
        [{ ...body, region: 'mars' }, 'validation_failed', 'region'],
        [{ ...body, region: 7 }, 'validation_failed', 'region'],
        [{ ...body, name: 'x'.repeat(65) }, 'validation_failed', 'name'],
        [{ ...body, name: 7 }, 'validation_failed', 'name'],
        [{ ...body, name: 'a\u0000' }, 'validation_failed', 'name'],
        [{ ...body, name: '\ud800' }, 'validation_failed', 'name'],
        [{ ...body, autoStopAfterHours: 0 }, 'validation_failed', 'autoStopAfterHours'],
        [{ ...body, autoStopAfterHours: -1 }, 'validation_failed', 'autoStopAfterHours'],
        [{ ...body, autoStopAfterHours: 721 }, 'validation_failed', 'autoStopAfterHours'],
        [{ ...body, autoStopAfterHours: 720.001 }, 'validation_failed', 'autoStopAfterHours'],
        [{ ...body, autoStopAfterHours: '1' }, 'validation_failed', 'autoStopAfterHours'],
        [{ ...body, maxSpendCents: 0 }, 'validation_failed', 'maxSpendCents'],
        [{ ...body, maxSpendCents: 1.5 }, 'validation_failed', 'maxSpendCents'],
        [{ ...body, maxPricePerHourCents: 0 }, 'validation_failed', 'maxPricePerHourCents'],
        [{ ...body, sshKeyIds: 'all' }, 'validation_failed', 'sshKeyIds'],
        [{ ...body, sshKeyIds: [7] }, 'validation_failed', 'sshKeyIds.0'],
        [{ ...body, colour: 'red' }, 'validation_failed', 'colour'],
      ];
      for (const [request, code, field] of wrong) {
        const answer = await user.post('/v1/rentals', request);
        assert.deepEqual([answer.status, answer.body.error], [400, code], JSON.stringify(request));
        const fields = answer.body.details.fields.map((fault) => fault.field);
        assert.deepEqual(fields, [field], JSON.stringify(request));
      }
    });

    it('names all wrong fields at once, under the narrow code', async () => {
      const answer = await user.post('/v1/rentals', { familyId: 7, gpuCount: 3, colour: 'red' });
      assert.equal(answer.body.error, 'invalid_count');
      assert.equal(answer.body.details.fields.length, 3);
    });

    it('takes an image by its tag or digest, and repeats no word of one with credentials', async () => {
      const digest = `sha256:${'0a'.repeat(32)}`;
      for (const image of ['page', 'ghcr.io/you/page:1', `ghcr.io:443/you/page:1@${digest}`]) {
        assert.equal(
          (await user.post('/v1/rentals', { ...body, image })).body.error,
          'temporarily_unavailable',
        );
      }
      for (const image of [
        'you:s3cret@ghcr.io/you/page',
        `page@${digest}0`,
        'page@latest',
        `page@s3cret@${digest}`,
      ]) {
        const answer = await user.post('/v1/rentals', { ...body, image });
        assert.deepEqual([answer.status, answer.body.error], [400, 'validation_failed'], image);
        assert.deepEqual(
          answer.body.details.fields.map(({ field }) => field),
          ['image'],
        );
        assert.doesNotMatch(answer.text, /s3cret|latest|0a0a/);
      }
    });

    it('answers unknown_family for a family that does not exist', async () => {
      for (const familyId of ['rtx-9999', 'constructor', 'RTX-4090']) {
        const answer = await user.post('/v1/rentals', { ...body, familyId });
        assert.deepEqual([answer.status, answer.body.error], [400, 'unknown_family'], familyId);
      }
    });

    it('answers key_not_found for a key of another user', async () => {
      const other = await api.signIn();
      const key = await insertKey(api.db, other.user.id);
      for (const id of [key.id, newId('key'), 'key_1']) {
        const answer = await user.post('/v1/rentals', { ...body, sshKeyIds: [id] });
        assert.deepEqual([answer.status, answer.body.error], [404, 'key_not_found']);
      }
    });

    it('refuses an Idempotency-Key that is too long or not plain text', async () => {
      for (const key of ['x'.repeat(256), 'é']) {
        const answer = await user.post('/v1/rentals', body, { 'Idempotency-Key': key });
        assert.deepEqual([answer.status, answer.body.error], [400, 'validation_failed']);
        assert.equal(answer.body.details.fields[0]!.field, 'Idempotency-Key');
      }
    });

    it('is a 503 at once when Temporal is away: nothing was done', async () => {
      const answer = await user.post('/v1/rentals', body);
      assert.deepEqual([answer.status, answer.body.error], [503, 'temporarily_unavailable']);
      const { rentalId } = answer.body.details;
      assert.match(rentalId, /^rent_/);
      assert.deepEqual(answer.body.details, { rentalId, outcome: 'not_done' });
    });
  });
});
