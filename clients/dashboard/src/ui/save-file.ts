/** Has the browser save a text or bytes as a file. */
export function saveFile(name: string, content: string | ArrayBuffer, type: string): void {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser has taken the text by the next task.
  setTimeout(() => URL.revokeObjectURL(address), 1_000);
}
