import assert from 'node:assert/strict';
import type { InvoiceId } from '../../../domain/ids.js';
import type { SignedIn } from '../../support/http/api.js';
import { Invoicing } from '../../support/story/invoicing.js';
import type { KilledWorker } from '../../support/service/killed-worker.js';
import type { TestService } from '../../support/service/living-service.js';
import { endSleepers } from '../../support/servers/sleepers.js';
import { until } from '../../support/until.js';

export function describeInvoice(world: KilledWorker): void {
  describe('a worker that is killed in the middle of an invoice', () => {
    let service: TestService;
    let invoicing: Invoicing;
    let user: SignedIn;

    before(() => {
      ({ service } = world);
      invoicing = new Invoicing(service);
    });
    beforeEach(async () => {
      user = await service.signIn();
    });

    /** Starts another worker, and asserts that the invoice is open with one mirror and its user was told once. */
    async function assertOneMirror(id: InvoiceId): Promise<void> {
      await invoicing.clearFaults();
      await world.startWorker();
      await until('it is open', async () => (await invoicing.invoice(id)).status === 'open');
      assert.deepEqual(await invoicing.mirrors(id), ['open']);
      assert.deepEqual(await invoicing.mails(user), ['You have an invoice for $9.00']);
    }

    it('before the mirror is made: the next one makes it', async () => {
      await invoicing.order('faults', { kind: 'hang', method: 'POST', path: '/v1/invoices' });
      const id = await invoicing.draft(user, 900);
      await invoicing.start(id);
      await until('it is asked for', async () => {
        const faults = await invoicing.faults();
        return !faults.some(({ kind }) => kind === 'hang');
      });
      await world.kill();
      assert.deepEqual(await invoicing.mirrors(id), []);
      await assertOneMirror(id);
    });

    it('after the mirror is made and before its id is kept: the next one finds the same', async () => {
      await invoicing.order('faults', {
        ...{ kind: 'lost', silent: true, method: 'POST', path: '/v1/invoiceitems' },
      });
      const id = await invoicing.draft(user, 900);
      await invoicing.start(id);
      await until('it is made', async () => (await invoicing.mirrors(id)).length === 1);
      await world.kill();
      assert.equal((await invoicing.invoice(id)).processor_invoice_id, null);
      await assertOneMirror(id);
    });

    it('after it was opened there and before it is here', async () => {
      await invoicing.order('faults', { kind: 'event_drop', times: 20 });
      const id = await invoicing.draft(user, 900);
      await service.db.raw(`create or replace function wait_long() returns trigger language plpgsql as
        $$ begin perform pg_sleep(60); return new; end $$`);
      await service.db.raw(`create trigger wait_long before update on invoices for each row
        when (new.status = 'open' and old.status = 'draft') execute function wait_long()`);
      await invoicing.start(id);
      await until('it is open there', async () => (await invoicing.mirrors(id))[0] === 'open');
      await world.kill();
      // The database would notice only later that the statement's client is gone.
      await endSleepers(service.db);
      await service.db.raw('drop trigger wait_long on invoices');
      assert.equal((await invoicing.invoice(id)).status, 'draft');
      await assertOneMirror(id);
    });

    it('after it was paid and before that was heard: credited once', async () => {
      const id = await invoicing.draft(user, 2_000, 'topup_failed');
      await invoicing.start(id);
      const { hosted_invoice_url: url } = await invoicing.awaitInvoice(id, 'open');
      await world.kill();
      await invoicing.pay(url!);
      await world.startWorker();
      await invoicing.awaitAvailable(user, 2_000);
      await invoicing.awaitHandled();
      assert.deepEqual(await invoicing.entries(user), [['processor_topup', 2_000]]);
    });
  });
}
