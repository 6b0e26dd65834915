/**
 * The mailbox by which mails are counted: the address without its tag (RFC 5233: the text after a plus), and at Gmail
 * without dots, which Gmail ignores. Only counts use it: the whole address identifies a user.
 * @param email in lower case
 */
export function mailboxOf(email: string): string {
  const at = email.lastIndexOf('@');
  const domain = email.slice(at + 1);
  const [untagged = ''] = email.slice(0, at).split('+');
  // A name that is nothing but a tag is no tag.
  const name = untagged === '' ? email.slice(0, at) : untagged;
  if (domain !== 'gmail.com' && domain !== 'googlemail.com') return `${name}@${domain}`;
  return `${name.replaceAll('.', '')}@gmail.com`;
}
