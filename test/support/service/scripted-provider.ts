import { createHash, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export type Json = Record<string, unknown>;

export interface ScriptedAnswer {
  readonly status?: number;
  readonly body: unknown;
  readonly headers?: Record<string, string>;
}

/** A request, as received. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly form: URLSearchParams;
}

/** An HTTP server on loopback that answers scripted JSON. */
export class ScriptedServer {
  readonly asked: Asked[] = [];
  /**
   * The answers, by path. 'never' takes the request and sends nothing, 'stalls' sends half of its answer and no more,
   * 'breaks' sends half of it and hangs up.
   */
  answers: Record<
    string,
    ScriptedAnswer | 'never' | 'stalls' | 'breaks' | ((asked: Asked) => ScriptedAnswer)
  > = {};

  protected constructor(private readonly server: Server) {
    server.on('request', (request, response) => void this.answer(request, response));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  static async listen(): Promise<Server> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return server;
  }

  static async start(): Promise<ScriptedServer> {
    return new ScriptedServer(await ScriptedServer.listen());
  }

  async stop(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? '/', 'http://x').pathname;
    const form = new URLSearchParams(await text(request));
    const asked = { method: request.method ?? '', path, headers: request.headers, form };
    this.asked.push(asked);
    const scripted = this.answers[path] ?? { status: 404, body: {} };
    if (scripted === 'never') return;
    if (scripted === 'stalls' || scripted === 'breaks') {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{"half":', () => {
        if (scripted === 'breaks') response.destroy();
      });
      return;
    }
    const { status = 200, body, headers } = typeof scripted === 'function' ? scripted(asked) : scripted;
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  }
}

/** An OpenID Connect issuer that signs whatever a test scripts, as a real one never does. */
export class ScriptedIssuer extends ScriptedServer {
  private readonly keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
  /** Replaces claims of the next ID token; undefined removes a claim. */
  claims: Json = {};
  signWith: KeyObject = this.keys.privateKey;
  header: Json = { alg: 'RS256', kid: 'test' };
  /** The nonce of the current sign-in, as the provider's page received it. */
  nonce = '';
  codeChallenge = '';

  static override async start(): Promise<ScriptedIssuer> {
    const issuer = new ScriptedIssuer(await ScriptedServer.listen());
    issuer.reset();
    return issuer;
  }

  /** Makes the issuer answer correctly again. */
  reset(): void {
    this.claims = {};
    this.signWith = this.keys.privateKey;
    this.header = { alg: 'RS256', kid: 'test' };
    this.asked.length = 0;
    this.answers = {
      '/.well-known/openid-configuration': { body: this.metadata() },
      '/jwks': {
        body: { keys: [{ ...this.keys.publicKey.export({ format: 'jwk' }), kid: 'test', alg: 'RS256' }] },
      },
      '/token': ({ form }) => {
        const challenge = createHash('sha256').update(form.get('code_verifier') ?? '');
        if (challenge.digest('base64url') !== this.codeChallenge) {
          return { status: 400, body: { error: 'invalid_grant' } };
        }
        return {
          body: { access_token: 'token-of-the-issuer', token_type: 'Bearer', id_token: this.idToken() },
        };
      },
    };
  }

  /** Makes the userinfo endpoint alone return the address. */
  tellByUserInfo(answer: ScriptedAnswer): void {
    this.claims = { email: undefined, email_verified: undefined };
    const body = { ...this.metadata(), userinfo_endpoint: `${this.url}/userinfo` };
    this.answers['/.well-known/openid-configuration'] = { body };
    this.answers['/userinfo'] = answer;
  }

  metadata(): Json {
    return {
      issuer: this.url,
      authorization_endpoint: `${this.url}/authorize`,
      token_endpoint: `${this.url}/token`,
      jwks_uri: `${this.url}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
    };
  }

  private idToken(): string {
    const seconds = Math.floor(Date.now() / 1000);
    const claims = {
      ...{ iss: this.url, aud: 'client', sub: 'ann', iat: seconds, exp: seconds + 60, nonce: this.nonce },
      ...{ email: 'ann@example.com', email_verified: true },
      ...this.claims,
    };
    const signed = [this.header, claims]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    const signature = sign('sha256', Buffer.from(signed), this.signWith).toString('base64url');
    return `${signed}.${signature}`;
  }
}
