/** How private keys begin: PEM and OpenSSH files, PuTTY's, and the body of an OpenSSH file without its first line. */
const PRIVATE = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY|PuTTY-User-Key-File|^\s*b3BlbnNzaC1rZXkt/m;

/** Tells whether a text holds the private half of a key, which must not leave the browser. */
export function isPrivateKey(text: string): boolean {
  return PRIVATE.test(text);
}

/** The comment of a public key line, which mostly names a person and a computer; undefined where there is none. */
export function commentOf(publicKey: string): string | undefined {
  const [, comment] = /^(?:ssh|ecdsa|sk)-\S+ AAAA[A-Za-z0-9+/]+=* +(\S.*)$/.exec(publicKey.trim()) ?? [];
  return comment?.slice(0, 64);
}

/** The name of a file for a private key: letters, digits and dashes of the key's name, and the end of its id: no other has it. */
export function fileNameOf({ name, id }: { readonly name: string; readonly id: string }): string {
  const plain = `${name}-${id.slice(-6)}`.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  return `${plain.replace(/^-+/, '')}.pem`;
}
