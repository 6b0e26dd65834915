import assert from 'node:assert/strict';
import { exitCodes } from '../../../clients/cli/src/exit-codes.js';
import { widthOf } from '../../../clients/cli/src/output/text.js';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { until } from '../../support/until.js';
import { GpuUser } from './support/gpu.js';
import { Person } from './support/person.js';

interface Card {
  readonly pmId: string | null;
  readonly last4: string | null;
}

interface AutoTopup {
  readonly enabled: boolean;
  readonly thresholdCents: number | null;
  readonly topupAmountCents: number | null;
  readonly dailyCapCents: number | null;
  readonly disabledReason: string | null;
}

describe('the card of gpu, and its automatic charges', () => {
  let mock: MockServer;
  let ann: Person;

  before(async () => {
    mock = await startMock({ port: 0, durations: { provisionMs: 20, endMs: 20, cardMs: 10 } });
  });
  after(() => mock.stop());
  beforeEach(async () => {
    ann = await Person.at(mock);
  });

  const cardOf = async (): Promise<Card> =>
    (await ann.elsewhere.get('/v1/billing/card')).body as unknown as Card;
  const settingsOf = async (): Promise<AutoTopup> => (await ann.elsewhere.get('/v1/billing/auto-topup')).body;

  async function saveCard(): Promise<void> {
    await ann.elsewhere.post('/v1/billing/setup-intent');
    await until('the card is saved', async () => (await cardOf()).pmId !== null);
  }

  describe('gpu card', () => {
    it('says that there is none, then which one there is', async () => {
      assert.equal((await ann.type('card')).out, 'You have no saved card. Save one with: gpu card add\n');
      await saveCard();
      assert.match((await ann.type('card')).out, /^Visa ending in 4242, valid until 12\/\d{4}\n$/);
      const told = await ann.json<Card>('card');
      assert.deepEqual(told, JSON.parse(JSON.stringify(await cardOf())));
    });

    it('shows the page on which a card is saved, and opens it where somebody looks', async () => {
      const opened: string[] = [];
      const run = (program: string, args: readonly string[]) => {
        opened.push([program, ...args].join(' '));
        return Promise.resolve({ code: 0, stdout: '', stderr: '' });
      };
      const page = `${mock.url}/app/billing`;
      const env = { BROWSER: 'firefox' };
      const { code, err } = await ann.type('card add', { run, env, types: {} });
      assert.deepEqual([code, opened], [0, [`firefox ${page}`]]);
      assert.equal(err, `Save your card on this page:\n\n${page}\n\n`);
      await ann.type('card add --no-browser', { run, env, types: {} });
      await ann.type('card add', { run, env });
      assert.equal(opened.length, 1, 'not when it is not wanted, and not where nobody looks');
      assert.deepEqual(await ann.json('card add', { run }), { url: page });
    });

    it('removes the card after a mailed code, and says that automatic top-ups are off by it', async () => {
      await saveCard();
      await ann.withCode('topup auto on --below 10 --amount 25');
      const { code, out, err } = await ann.withCode('card remove', { columns: 100 });
      assert.equal(code, 0, err);
      assert.match(
        err,
        /^To remove your card \(Visa ending in 4242, valid until 12\/\d{4}\), confirm that it’s you\.\n/,
      );
      assert.match(
        out,
        /^Removed: Visa ending in 4242, valid until 12\/\d{4}\nAutomatic top-ups are now off\.\n$/,
      );
      assert.equal((await cardOf()).pmId, null);
      assert.match(
        (await ann.type('topup auto')).out,
        /^Automatic top-ups are off \(the card was removed\)\./,
      );
    });

    it('removes a card that pays for nothing, and tells it as JSON', async () => {
      await saveCard();
      assert.match((await ann.withCode('card remove')).out, /^Removed: [^\n]+\n$/);
      await saveCard();
      assert.deepEqual(JSON.parse((await ann.withCode('card remove --json')).out), { removed: true });
    });

    it('asks for no code where there is no card, and removes none where nobody can type', async () => {
      const none = await ann.withCode('card remove');
      assert.deepEqual([none.code, none.err], [exitCodes.notFound, 'You have no saved card.\n']);
      await saveCard();
      const piped = await ann.type('card remove --json');
      assert.deepEqual([piped.code, piped.out], [exitCodes.refused, '']);
      assert.match((JSON.parse(piped.err) as { next: string }).next, /^Run it in a terminal/);
      assert.notEqual((await cardOf()).pmId, null);
    });

    it('is not for a key without the scope', async () => {
      const asked = { name: 'reader', scopes: ['read'] };
      const { key } = (await ann.elsewhere.post('/v1/api-keys', asked)).body as unknown as { key: string };
      for (const line of ['card', 'card remove', 'topup auto']) {
        const { code, err } = await new GpuUser(mock.url, key).type(line);
        assert.equal(code, exitCodes.refused, line);
        assert.match(err, /Use a key that can do this: gpu keys/);
      }
    });
  });

  describe('gpu topup auto', () => {
    it('is switched on and off after a mailed code, and keeps the daily cap until it is said otherwise', async () => {
      await saveCard();
      assert.match((await ann.type('topup auto')).out, /^Automatic top-ups are off\. Turn them on: /);
      const on = await ann.withCode('topup auto on --below 10 --amount 25 --daily-cap 100', { columns: 100 });
      assert.equal(on.code, 0, on.err);
      const sentence =
        'When less than $10.00 is available, we charge your card $25.00, at most $100.00 a day.\n';
      assert.equal(on.out, sentence);
      assert.match(on.err, /^To change automatic top-ups, confirm that it’s you\.\n/);
      assert.equal((await ann.type('topup auto')).out, sentence);
      await ann.withCode('topup auto on --below 12.50 --amount 30');
      const { thresholdCents, topupAmountCents, dailyCapCents } = await settingsOf();
      assert.deepEqual([thresholdCents, topupAmountCents, dailyCapCents], [1_250, 3_000, 10_000]);
      await ann.withCode('topup auto on --below 12.50 --amount 30 --no-daily-cap');
      assert.equal((await settingsOf()).dailyCapCents, null);
      const off = await ann.withCode('topup auto off');
      assert.equal(off.code, 0, off.err);
      assert.match(off.out, /^Automatic top-ups are off\./);
      assert.equal((await settingsOf()).enabled, false);
    });

    it('is told as JSON', async () => {
      await saveCard();
      const { out } = await ann.withCode('topup auto on --below 10 --amount 25 --json');
      const { warnings, ...set } = JSON.parse(out) as AutoTopup & { warnings: string[] };
      assert.deepEqual([warnings, set.enabled, set.topupAmountCents], [[], true, 2_500]);
      assert.deepEqual(await ann.json('topup auto'), set);
      const off = JSON.parse((await ann.withCode('topup auto off --json')).out) as AutoTopup;
      assert.equal(off.enabled, false);
    });

    it('warns, in dollars and by its option, when the amount is too small for what runs', async () => {
      await ann.pay(1_000);
      await saveCard();
      for (let machine = 0; machine < 5; machine += 1) await ann.rent('b200 --gpus 8');
      const { code, out } = await ann.withCode('topup auto on --below 10 --amount 10', { columns: 200 });
      assert.equal(code, 0);
      assert.match(
        out.replace(/\s+/g, ' '),
        / Note: Your machines use \$\d+\.\d\d in \d+ minutes, .*: raise --amount above \$\d+\.\d\d\. $/,
      );
    });

    it('refuses in the words of the command line, and changes nothing', async () => {
      const noCard = await ann.withCode('topup auto on --below 10 --amount 25', { columns: 100 });
      assert.equal(noCard.code, exitCodes.refused);
      assert.match(noCard.err, /You have no saved card, or it has expired\.\nSave one first: gpu card add\n/);
      await saveCard();
      const wrong: Readonly<Record<string, RegExp>> = {
        'topup auto on': /^Required option '--below <dollars>' not specified\./,
        'topup auto on --below 10': /^Required option '--amount <dollars>' not specified\./,
        'topup auto on --below x --amount 25': /^Option '--below <dollars>' argument 'x' is invalid\./,
        'topup auto on --below 10 --amount 5': /--amount must be at least \$10\.00\.\n/,
        'topup auto on --below 10 --amount 25 --daily-cap 20':
          /--daily-cap must be at least --amount, which is \$25\.00\.\n/,
      };
      for (const [line, message] of Object.entries(wrong)) {
        const { code, out, err } = await ann.withCode(line, { columns: 200 });
        assert.deepEqual([code, out], [exitCodes.usage, ''], line);
        assert.match(err, message);
      }
      const piped = await ann.type('topup auto off');
      assert.deepEqual([piped.code, piped.out], [exitCodes.refused, '']);
      assert.equal((await settingsOf()).thresholdCents, null);
    });
  });

  it('fits terminals of 40 and 100 columns', async () => {
    await saveCard();
    const lines = ['card', 'card add', 'topup auto on --below 10 --amount 25 --daily-cap 100', 'topup auto'];
    const helps = ['card --help', 'card add --help', 'topup auto on --help', 'topup auto off --help'];
    for (const columns of [40, 100]) {
      for (const line of [...lines, ...helps]) {
        const { code, out } = await ann.withCode(line, { columns });
        assert.equal(code, 0, line);
        assert.deepEqual(
          out.split('\n').filter((each) => widthOf(each) > columns),
          [],
          line,
        );
      }
    }
  });
});
