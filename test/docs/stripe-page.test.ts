import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { processorApiVersion } from '../../adapters/processor/stripe.js';
import { newId } from '../../adapters/ids.js';
import { declineKinds } from '../../domain/payments/declines.js';
import { routeOf, sentKinds } from '../../domain/payments/processor-routes.js';

const read = (...path: string[]): string => readFileSync(join(...path), 'utf8');

/** The beginnings of the kinds that our code may name. */
const kinds =
  /'((?:checkout\.session|payment_intent|setup_intent|payment_method|refund|charge|radar|invoice)\.[a-z_.]*[a-z_])'/g;

describe('docs/operations/stripe.md', () => {
  const page = read('docs', 'operations', 'stripe.md');
  const section = (title: string): string => page.split(`## ${title}`)[1]?.split('\n## ')[0] ?? '';
  const rows = (title: string): string[][] =>
    [...section(title).matchAll(/^\| `([\w.]+)` +\| (.*?) +\|$/gm)].map(([, ...cells]) => cells);

  it('names the version of the API that the code speaks and reads', () => {
    assert.ok(section('Which events').includes(`\`${processorApiVersion}\``), processorApiVersion);
  });

  it('lists no event that nobody acts on, and each one that the code names', () => {
    const listed = rows('Which events').map(([kind = '']) => kind);
    assert.deepEqual(listed, [...sentKinds]);
    const counted = new Set<string>(declineKinds);
    assert.deepEqual(
      listed.filter((kind) => routeOf(sampleOf(kind)) === null && !counted.has(kind)),
      [],
      'no workflow acts on these, and nobody counts them',
    );
    const folders = [join('domain', 'payments'), join('activities', 'payments'), join('money', 'payments')];
    const named = folders.flatMap((folder) =>
      readdirSync(folder).flatMap((file) =>
        [...read(folder, file).matchAll(kinds)].map(([, kind = '']) => kind),
      ),
    );
    assert.deepEqual(
      [...new Set(named)].filter((kind) => !listed.some((one) => `${one}.`.startsWith(`${kind}.`))),
      [],
    );
  });

  it('lists the right that each of our calls takes, no more and no less', () => {
    const rights = new Map<string, 'read' | 'write'>();
    const folder = join('adapters', 'processor');
    for (const file of readdirSync(folder)) {
      const code = read(folder, file).replace(/\s+(?=\.\w+\()/g, '');
      for (const [, resource = '', call = ''] of code.matchAll(/\bstripe\.((?:\w+\.)*\w+)\.(\w+)\(/g)) {
        const isRead = call === 'retrieve' || call === 'list';
        if (rights.get(resource) !== 'write') rights.set(resource, isRead ? 'read' : 'write');
      }
    }
    const listed = rows('Which rights').map(([resource, right]) => [resource, right]);
    assert.deepEqual(listed, [...rights].toSorted());
  });
});

/** An event of this kind about something of ours. */
function sampleOf(kind: string): Parameters<typeof routeOf>[0] {
  const object = kind.startsWith('charge.dispute') ? 'dispute' : kind.split('.').slice(0, -1).join('.');
  const metadata = { topup_id: newId('top'), user_id: newId('usr'), invoice_id: newId('inv') };
  return { kind, object: { object, id: 'id_1', payment_method: 'pm_1', payment_intent: 'pi_1', metadata } };
}
