/** Copies a text. Pages that came by plain http have no clipboard of their own, and copy as somebody would by the keyboard. */
export async function copyText(text: string): Promise<void> {
  if ('clipboard' in navigator) return navigator.clipboard.writeText(text);
  const put = (event: ClipboardEvent): void => {
    event.clipboardData?.setData('text/plain', text);
    event.preventDefault();
  };
  document.addEventListener('copy', put, { once: true });
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- nothing newer copies without the clipboard's API
  const isCopied = document.execCommand('copy');
  document.removeEventListener('copy', put);
  if (!isCopied) throw new Error('the browser did not copy');
}

/** Copies a text that is still being read: some browsers copy only if they are asked while a press is handled. */
export async function copyLater(text: Promise<string>): Promise<void> {
  if (!('clipboard' in navigator) || !('ClipboardItem' in globalThis)) return copyText(await text);
  const blob = text.then((read) => new Blob([read], { type: 'text/plain' }));
  await navigator.clipboard.write([new ClipboardItem({ 'text/plain': blob })]);
}
