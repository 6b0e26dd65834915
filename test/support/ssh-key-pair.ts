import ssh2 from 'ssh2';

/**
 * A pair of Ed25519 keys as OpenSSH writes them. ssh2 drops a leading zero byte of about one public key in 300, which
 * nobody can read then, itself included: such a pair is made again.
 */
export function newSshKeyPair(comment = ''): { readonly public: string; readonly private: string } {
  for (;;) {
    const pair = ssh2.utils.generateKeyPairSync('ed25519', { comment });
    if (!(ssh2.utils.parseKey(pair.public) instanceof Error)) return pair;
  }
}
