/** The address to open for help: a page, or a mail to write. */
export function supportHref(contact: string): string {
  return contact.includes('://') ? contact : `mailto:${contact}`;
}
