import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const folder = 'clients/dashboard/src';

/** The parts that are dialogs, but for those of ui/, which they are made of. */
const dialogs = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.tsx') && !file.startsWith('ui/'))
  .filter((file) =>
    /<(?:Form|Confirm|Once|Secret)?Dialog\b|<Radix\.Root\b/.test(readFileSync(join(folder, file), 'utf8')),
  )
  .map((file) => relative(folder, join(folder, file)));

/** Opened by the walk over all pages, which looks for barriers in each (opens and opensBy of lab/dashboard/pages.ts). */
const walked = [
  'app/overlays/palette.tsx',
  'app/overlays/shortcuts.tsx',
  'pages/account/overlays/close-dialog.tsx',
  'pages/api-keys/change-dialog.tsx',
  'pages/api-keys/create-dialog.tsx',
  'pages/api-keys/revoke-dialog.tsx',
  'pages/billing/saved-card.tsx',
  'pages/keys/keys-page.tsx',
  'pages/keys/overlays/add-key-dialog.tsx',
  'pages/ledger/overlays/explain-dialog.tsx',
  'pages/rentals/overlays/limits-dialog.tsx',
  'pages/rentals/overlays/naming-dialog.tsx',
  'pages/rentals/overlays/stop-dialog.tsx',
  'pages/rentals/overlays/stop-many-dialog.tsx',
  'pages/sessions/sessions-page.tsx',
  'pages/webhooks/add-dialog.tsx',
  'pages/webhooks/change-dialogs.tsx',
  'pages/webhooks/redeliver-dialog.tsx',
];

/** Opened by the walk over what follows only once something was made or asked for (walk/following.slow.ts). */
const following = [
  'app/fresh-proof.tsx',
  'app/overlays/more-sheet.tsx',
  'pages/api-keys/created-dialog.tsx',
  'pages/keys/overlays/made-key-dialog.tsx',
  'pages/sessions/overlays/passkey-dialogs.tsx',
  'pages/webhooks/secret-dialog.tsx',
];

describe('the dialogs of the dashboard', () => {
  it('are each opened by one of the two walks', () => {
    assert.deepEqual(dialogs.toSorted(), [...walked, ...following].toSorted());
  });
});
