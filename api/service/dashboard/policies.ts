/** What the policies depend on. */
export interface PolicyFacts {
  /** The API's origin, where it is not the dashboard's own. */
  readonly apiOrigin: string | undefined;
  /** Whether cards are entered in the payment processor's own form, and not on a page of its simulator. */
  readonly takesCards: boolean;
}

/**
 * The policy of the dashboard: scripts and styles are files of its own origin, and it talks to the API alone. With
 * Trusted Types no text becomes a script or markup but by the one policy that the dashboard makes.
 */
export function dashboardPolicy({ apiOrigin }: Pick<PolicyFacts, 'apiOrigin'>): string {
  return written({ ...own(apiOrigin), ...trustedTypes });
}

/**
 * The policy of the document in which a card is entered: the one place where something of the processor is run
 * (https://docs.stripe.com/security/guide#content-security-policy). Its script writes style attributes, and knows
 * nothing of our Trusted Types. Where the card is entered on a page elsewhere, this document is like the others.
 */
export function cardPolicy({ apiOrigin, takesCards }: PolicyFacts): string {
  if (!takesCards) return dashboardPolicy({ apiOrigin });
  const { 'script-src': scripts, 'connect-src': connections, ...others } = own(apiOrigin);
  return written({
    ...others,
    'script-src': [...scripts, ...processorScripts],
    'connect-src': [...connections, 'https://api.stripe.com'],
    'style-src-attr': ["'unsafe-inline'"],
    'frame-src': [...processorScripts, 'https://hooks.stripe.com'],
  });
}

const processorScripts = ['https://js.stripe.com', 'https://*.js.stripe.com'];

const trustedTypes = {
  'require-trusted-types-for': ["'script'"],
  // The name that the dashboard gives its policy (clients/dashboard/src).
  'trusted-types': ['default'],
};

function own(apiOrigin: string | undefined) {
  return {
    'default-src': ["'none'"],
    'script-src': ["'self'"],
    'style-src': ["'self'"],
    'img-src': ["'self'"],
    'connect-src': ["'self'", ...(apiOrigin === undefined ? [] : [apiOrigin])],
    'base-uri': ["'none'"],
    'form-action': ["'self'"],
    'frame-ancestors': ["'none'"],
  };
}

function written(directives: Readonly<Record<string, readonly string[]>>): string {
  return Object.entries(directives)
    .map(([name, values]) => [name, ...values].join(' '))
    .join('; ');
}
