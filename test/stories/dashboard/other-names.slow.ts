import assert from 'node:assert/strict';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { findFreePorts } from '../../../lab/stack/ports.js';
import { buildDashboard } from '../../support/dashboard/built.js';
import { visit, type Visitor } from '../../support/dashboard/dashboard.js';
import { ofStrangers } from '../../support/dashboard/failures.js';
import {
  addKey,
  fillPaymentPage,
  mailedCode,
  payFifty,
  signInByCode,
  stopIt,
} from '../../support/dashboard/story-steps.js';
import { startApi } from '../../support/http/api.js';
import { startService } from '../../support/service/living-service.js';
import { newSshKeyPair } from '../../support/ssh-key-pair.js';

/** Chromium's lines about headers that count in a secure context alone. */
const ofSecureContextsAlone =
  /Cross-Origin-Opener-Policy header has been ignored|Origin-Agent-Cluster header/;

/** Pages by names other than 127.0.0.1. The browser of the tests finds this machine by each name below `.test`. */
describe('the dashboard by another name', function () {
  this.timeout(120_000);
  let dashboardFolder: string;
  const visitors: Visitor[] = [];
  before(async () => {
    dashboardFolder = await buildDashboard();
  });
  afterEach(async () => {
    await Promise.all(visitors.splice(0).map((visitor) => visitor.close()));
  });

  /** Somebody with a telephone, who types an address. */
  const open = async (origin: string): Promise<Visitor> => {
    const visitor = await visit(origin, { viewport: { width: 390, height: 844 } });
    visitors.push(visitor);
    return visitor;
  };

  const agreesWith = ({ complaints, outside, refusals }: Visitor): void => {
    const meant = complaints.filter((line) => !ofSecureContextsAlone.test(line));
    assert.deepEqual([meant, outside], [[], []]);
    assert.deepEqual(
      refusals.filter((refusal) => !ofStrangers.includes(refusal)),
      [],
    );
  };

  describe('from memory', () => {
    const { public: publicKey } = newSshKeyPair();
    let mock: MockServer;
    let port: number;
    const start = async (name?: string): Promise<void> => {
      [port = 0] = await findFreePorts(1);
      const dashboardUrl = name === undefined ? undefined : `http://${name}:${port}`;
      mock = await startMock({
        ...{ port, dashboardFolder, durations: { provisionMs: 500, endMs: 100 } },
        ...(dashboardUrl !== undefined && { dashboardUrl, allowedOrigins: [dashboardUrl] }),
      });
    };
    afterEach(() => mock.stop());

    /** The whole way: signs in, pays, rents, sees it run, and stops it. */
    const goThrough = async (visitor: Visitor, home: string): Promise<void> => {
      const { page } = visitor;
      await page.goto('/');
      await page.waitForURL(({ origin, pathname }) => origin === home && pathname === '/login');
      await signInByCode(page, 'ann@example.com', () => Promise.resolve('123456'));
      await addKey(page, publicKey);
      await payFifty(page);
      await page.goto('/app/rent/rtx-4090');
      await page.getByRole('button', { name: /^Rent for/ }).click();
      await page.waitForURL(/\/app\/rentals\/rent_/);
      await page.getByText('Running', { exact: true }).first().waitFor();
      await stopIt(page);
      assert.equal(new URL(page.url()).origin, home);
      agreesWith(visitor);
    };

    it('leads from localhost to its own address, where somebody signs in, pays, rents and stops', async () => {
      await start();
      await goThrough(await open(`http://localhost:${port}`), mock.url);
    });

    it('does all that by plain http on a name, where a page has no secure context', async () => {
      await start('rent.test');
      const visitor = await open(`http://rent.test:${port}`);
      await goThrough(visitor, `http://rent.test:${port}`);
      assert.deepEqual(
        await visitor.page.evaluate("[isSecureContext, 'randomUUID' in crypto, 'clipboard' in navigator]"),
        [false, false, false],
      );
    });

    it('refuses a name that it does not know, and says which it knows', async () => {
      await start();
      const { page } = await open(`http://other.test:${port}`);
      const answer = await page.goto('/app');
      assert.equal(answer?.status(), 421);
      assert.equal(
        await page.locator('body').innerText(),
        `This service is not available as other.test:${port}. Open 127.0.0.1:${port}.`,
      );
    });
  });

  it('takes a sign-in and a payment of the whole service as the local stack sets it, and comes back to the name', async () => {
    const service = await startService({ dashboardFolder, dashboardName: 'rent.test' });
    try {
      const home = `http://rent.test:${new URL(service.api.url).port}`;
      const visitor = await open(home);
      const { page } = visitor;
      await page.goto('/');
      await signInByCode(page, 'ann@example.com', () => mailedCode(service.inbox.url, 'ann@example.com'));
      await payFifty(page, () => fillPaymentPage(page));
      assert.equal(new URL(page.url()).origin, home);
      assert.equal((await service.db('wallets').first())?.available_cents, 5_000);
      agreesWith(visitor);
    } finally {
      await service.stop();
    }
  });

  it('says “use https” where the service is behind TLS and the page came without it', async () => {
    const [port = 0] = await findFreePorts(1);
    const home = `https://rent.test:${port}`;
    const api = await startApi({
      ...{ port, dashboardFolder },
      settings: { secureCookie: true, dashboardUrl: home, publicUrl: home, allowedOrigins: [home] },
    });
    try {
      const visitor = await open(`http://rent.test:${port}`);
      const { page } = visitor;
      await page.goto('/app');
      await page.getByLabel('Email address').fill('ann@example.com');
      await page.getByRole('button', { name: 'Email me a code' }).click();
      await page.getByText('Use https', { exact: true }).waitFor();
      const link = page.getByRole('link', { name: 'Open the page with https' });
      assert.equal(await link.getAttribute('href'), `${home}/app`);
    } finally {
      await api.stop();
    }
  });
});
