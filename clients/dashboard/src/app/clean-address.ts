/**
 * Cleans the address with which the payment processor's form leads back, before anything else reads it: its secret must
 * stay in no history, and go into no other request. What the page needs is how it ended.
 */
export function cleanedAddress(href: string): string | undefined {
  const url = new URL(href);
  const { searchParams: search } = url;
  const isReturn = [...search.keys()].some((name) => secrets.includes(name));
  if (!isReturn) return undefined;
  const how = search.get('redirect_status');
  for (const name of [...secrets, 'redirect_status']) search.delete(name);
  if (how !== null) search.set('setup', how === 'failed' ? 'failed' : 'succeeded');
  return `${url.pathname}${url.search}${url.hash}`;
}

const secrets: readonly string[] = [
  'setup_intent',
  'setup_intent_client_secret',
  'payment_intent',
  'payment_intent_client_secret',
];

if (typeof location === 'object') {
  const cleaned = cleanedAddress(location.href);
  if (cleaned !== undefined) history.replaceState(history.state, '', cleaned);
}
