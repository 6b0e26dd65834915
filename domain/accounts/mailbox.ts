/**
 * What counts as one mailbox when mails are counted: the address without its tag (RFC 5233: what follows a plus), and at
 * Gmail without dots, which it ignores. It is counted by and nothing else: who somebody is goes by the whole address.
 * @param email in lower case
 */
export function mailboxOf(email: string): string {
  const at = email.lastIndexOf('@');
  const domain = email.slice(at + 1);
  const [untagged = ''] = email.slice(0, at).split('+');
  // One that is nothing but a tag is no tag.
  const name = untagged === '' ? email.slice(0, at) : untagged;
  if (domain !== 'gmail.com' && domain !== 'googlemail.com') return `${name}@${domain}`;
  return `${name.replaceAll('.', '')}@gmail.com`;
}
