import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** An authority of our own, with which the lab's servers and their clients know each other. */
export interface Authority {
  /** The file of its certificate. */
  readonly certPath: string;
  /**
   * Makes a certificate for a name, which is also that of a server at 127.0.0.1.
   * @returns the files of the certificate and of its key
   */
  issue(name: string): Identity;
}

/** What a client of Temporal shows and checks. */
export function shownBy({ certPath }: Pick<Authority, 'certPath'>, identity: Identity) {
  return {
    serverRootCACertificate: readFileSync(certPath),
    clientCertPair: { crt: readFileSync(identity.certPath), key: readFileSync(identity.keyPath) },
  };
}

/** The same as variables of a process. */
export function variablesOf({ certPath }: Pick<Authority, 'certPath'>, identity: Identity) {
  return {
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: certPath,
    TEMPORAL_TLS_CLIENT_CERT_PATH: identity.certPath,
    TEMPORAL_TLS_CLIENT_KEY_PATH: identity.keyPath,
  };
}

/** The files of one certificate, in PEM. */
export interface Identity {
  readonly certPath: string;
  readonly keyPath: string;
}

const DAYS = '2';

/**
 * Makes an authority with openssl, for tests and trials alone.
 * @param folder where its files are written; made where it is missing
 */
export function makeAuthority(folder: string): Authority {
  mkdirSync(folder, { recursive: true });
  const file = (name: string): string => join(folder, name);
  const make = (name: string, ...more: string[]): Identity => {
    const made = { certPath: file(`${name}.crt`), keyPath: file(`${name}.crt.key`) };
    openssl(
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
      ...['-days', DAYS, '-subj', `/CN=${name}`, '-keyout', made.keyPath, '-out', made.certPath],
      ...more,
    );
    return made;
  };
  const authority = make('authority');
  return {
    certPath: authority.certPath,
    issue: (name) =>
      make(
        name,
        ...['-CA', authority.certPath, '-CAkey', authority.keyPath],
        ...['-addext', `subjectAltName=DNS:${name},DNS:localhost,IP:127.0.0.1`],
        ...['-addext', 'basicConstraints=critical,CA:FALSE'],
      ),
  };
}

function openssl(...args: string[]): void {
  execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'], timeout: 30_000 });
}
