import type { LivedAccount } from '../mock/lived/ada.js';

/** A way to open a dialog: a box that is checked before its button, a key, or the first line of a list that a text leads to. */
export type DialogOpener =
  | { readonly checks: string; readonly button: string }
  | { readonly presses: string }
  | { readonly follows: string; readonly chooses: 'row' };

/** A page of the dashboard, as the walks over all pages and the pictures see it. */
export interface WalkedPage {
  /** Its route, as src/app/routes.ts writes it; below /app but for the sign-in. */
  readonly route: string;
  /** Names its pictures. */
  readonly name: string;
  readonly address: (lived: LivedAccount) => string;
  /** The buttons that open a dialog, by their names. Each is pressed by the walks. */
  readonly opens?: readonly string[];
  /** The dialogs that open by something else than a button, as the walk over all pages opens them. */
  readonly opensBy?: readonly DialogOpener[];
  /** Shown before anybody has signed in. */
  readonly isPublic?: true;
}

const at = (route: string, name: string, opens: WalkedPage['opens'] = []): WalkedPage => ({
  ...{ route, name, opens },
  address: () => `/app${route === '/' ? '' : route}`,
});

/** Every page. A route without a line here fails a test (test/dashboard/walk/walk.slow.ts). */
export const pages: readonly WalkedPage[] = [
  { route: '/login', name: 'login', address: () => '/login', isPublic: true },
  { ...at('/', 'home'), opensBy: [{ presses: 'Control+k' }, { presses: '?' }] },
  at('/rent', 'rent'),
  {
    route: '/rent/$familyId',
    name: 'rent-family',
    address: () => '/app/rent/h100-80gb',
    opens: ['Add a key'],
  },
  { ...at('/rentals', 'rentals'), opensBy: [{ checks: 'Select all', button: 'Stop 4 machines' }] },
  {
    route: '/rentals/$rentalId',
    name: 'rental',
    address: ({ runningId }) => `/app/rentals/${runningId}`,
    opens: ['Edit details', 'Change limits', 'Stop'],
  },
  {
    route: '/rentals/$rentalId',
    name: 'rental-ended',
    address: ({ endedId }) => `/app/rentals/${endedId}`,
  },
  at('/billing', 'billing', ['Remove']),
  { ...at('/ledger', 'ledger'), opensBy: [{ follows: 'All entries', chooses: 'row' }] },
  at('/statements', 'statements'),
  at('/invoices', 'invoices'),
  at('/budget', 'budget'),
  at('/keys', 'keys', ['Add a key', 'Remove the key laptop']),
  at('/api-keys', 'api-keys', ['Create a key', 'Change the key ci', 'Revoke the key ci']),
  at('/webhooks', 'webhooks', ['Add a webhook']),
  {
    route: '/webhooks/$webhookId',
    name: 'webhook',
    address: ({ webhookId }) => `/app/webhooks/${webhookId}`,
    opens: ['Change', 'New secret', 'Remove', 'Send again'],
  },
  at('/sessions', 'sessions', ['End all others']),
  at('/notices', 'notices'),
  at('/activity', 'activity'),
  at('/account', 'account', ['Close your account']),
];
