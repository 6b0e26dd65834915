import assert from 'node:assert/strict';
import { countMails } from '../../../adapters/metrics/mails.js';
import { createRegistry } from '../../../adapters/metrics/registry.js';
import { MailError, type Mail } from '../../../adapters/mailer/smtp.js';
import { readMetrics } from '../../support/http/metrics.js';

describe('the count of mails', () => {
  it('tells a mailbox that is dead from a mail server that is', async () => {
    const registry = createRegistry('worker');
    const answers: (Error | undefined)[] = [
      undefined,
      new MailError('550 no such mailbox', false),
      new MailError('the mail server did not take the mail', true),
      new Error('a fault'),
    ];
    const transport = countMails(registry, {
      send: () => {
        const error = answers.shift();
        return error ? Promise.reject(error) : Promise.resolve();
      },
      close: () => undefined,
    });
    const counts = async (): Promise<unknown[]> => {
      const shown = readMetrics(await registry.metrics());
      return ['sent', 'refused', 'failed'].map((outcome) => shown.get('gpu_rental_mails_total', { outcome }));
    };
    assert.deepEqual(await counts(), [0, 0, 0]);
    const send = () => transport.send({} as Mail);
    await send();
    for (let left = 3; left > 0; left -= 1) await assert.rejects(send());
    assert.deepEqual(await counts(), [1, 1, 2]);
  });
});
