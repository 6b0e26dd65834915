import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, readConfig } from '../config.js';
import { receiverCertificate } from './support/webhooks/certificate.js';

const ENV = {
  DATABASE_URL: 'postgres://u:p@127.0.0.1:5432/db',
  TEMPORAL_ADDRESS: '127.0.0.1:7233',
  DASHBOARD_URL: 'http://127.0.0.1',
  SMTP_URL: 'smtp://127.0.0.1:25',
};
const LAB = { LAB_PROVIDER_URL: 'http://127.0.0.1:9100', LAB_PROVIDER_KEY: 'lab-key' };

describe('the configuration of upstream providers', () => {
  const providersOf = (env: Record<string, string>) =>
    readConfig({ ...ENV, ...env }).providers.map(({ code, dialect, url }) => [code, dialect, url]);

  it('switches each check of addresses off by a switch of its own, and by no other', () => {
    const checks = (env: NodeJS.ProcessEnv) => {
      const { webhooks, allowPrivatePods } = readConfig({ ...ENV, ...env });
      return { webhooks: webhooks.allowPrivate, machines: allowPrivatePods };
    };
    assert.deepEqual(checks(LAB), { webhooks: false, machines: false });
    assert.deepEqual(checks({ ALLOW_PRIVATE_MACHINES: 'true' }), { webhooks: false, machines: true });
    assert.deepEqual(checks({ ALLOW_PRIVATE_WEBHOOKS: 'true' }), { webhooks: true, machines: false });
  });

  it('lets no webhook lead to us: to the API, the dashboard, the listener, or a name that the API answers to', () => {
    const { webhooks } = readConfig({
      ...ENV,
      API_PUBLIC_URL: 'https://api.example.com',
      ALLOWED_ORIGINS: 'https://app.example.com',
      ALLOWED_HOSTS: 'internal.example.com:8443, api.example.com',
      MACHINE_URL: 'https://machines.example.com/',
    });
    assert.deepEqual(webhooks.ownHosts, [
      'api.example.com',
      '127.0.0.1',
      'machines.example.com',
      'app.example.com',
      'internal.example.com',
    ]);
  });

  it('leads machines to the listener by TLS, and only where there is a key for their tokens', () => {
    const INSTALLATION_KEY = Buffer.alloc(32, 1).toString('base64');
    const urlOf = (env: NodeJS.ProcessEnv) => readConfig({ ...ENV, ...env }).ownSoftware.machineUrl;
    const MACHINE_URL = 'https://machines.example.com/';
    assert.equal(urlOf({ INSTALLATION_KEY }), null);
    assert.equal(urlOf({ INSTALLATION_KEY, MACHINE_URL: '' }), null);
    assert.equal(urlOf({ MACHINE_URL }), null);
    assert.equal(urlOf({ INSTALLATION_KEY, MACHINE_URL }), 'https://machines.example.com');
    const plain = { INSTALLATION_KEY, MACHINE_URL: 'http://127.0.0.1:8090' };
    assert.throws(() => urlOf(plain), /MACHINE_URL/);
    assert.equal(urlOf({ ...plain, ALLOW_PRIVATE_MACHINES: 'true' }), plain.MACHINE_URL);
    // It becomes part of a script.
    for (const bad of ["https://a.example/'$(id)'", 'https://a.example/?x=1']) {
      assert.throws(() => urlOf({ INSTALLATION_KEY, MACHINE_URL: bad }), /MACHINE_URL/);
    }
  });

  it('enables each by its key, all at once', () => {
    assert.deepEqual(providersOf({}), []);
    assert.deepEqual(providersOf({ SHADEFORM_API_KEY: '', RUNPOD_API_KEY: ' ' }), []);
    assert.deepEqual(providersOf({ RUNPOD_API_KEY: 'k' }), [['runpod', 'runpod', 'https://api.runpod.io']]);
    assert.deepEqual(
      providersOf({ SHADEFORM_API_KEY: 'k', RUNPOD_API_KEY: 'k', RUNPOD_API_URL: 'http://127.0.0.1:1' }),
      [
        ['shadeform', 'shadeform', 'https://api.shadeform.ai/v1'],
        ['runpod', 'runpod', 'http://127.0.0.1:1'],
      ],
    );
  });

  it('speaks to the lab by each dialect that is asked for, as providers of their own', () => {
    assert.deepEqual(providersOf(LAB), [['lab', 'shadeform', 'http://127.0.0.1:9100']]);
    assert.deepEqual(providersOf({ ...LAB, LAB_PROVIDER_DIALECTS: 'runpod' }), [
      ['lab-runpod', 'runpod', 'http://127.0.0.1:9100'],
    ]);
    assert.deepEqual(
      providersOf({ ...LAB, LAB_PROVIDER_DIALECTS: ' runpod , shadeform,runpod' }).map(([code]) => code),
      ['lab', 'lab-runpod'],
    );
    assert.deepEqual(providersOf({ LAB_PROVIDER_DIALECTS: 'runpod' }), []);
  });

  it('refuses a dialect that it does not know', () => {
    for (const LAB_PROVIDER_DIALECTS of ['vast.ai', 'shadeform;runpod', 'runpod,', 'runpods']) {
      assert.throws(() => providersOf({ ...LAB, LAB_PROVIDER_DIALECTS }), ConfigError);
    }
  });
});

describe('the configuration of Temporal', () => {
  const folder = mkdtempSync(join(tmpdir(), 'temporal-config-'));
  const temporalOf = (env: NodeJS.ProcessEnv) => readConfig({ ...ENV, ...env }).temporal();
  const faultOf = (env: NodeJS.ProcessEnv): string => {
    try {
      temporalOf(env);
    } catch (error) {
      if (error instanceof ConfigError) return error.message;
    }
    return 'it was taken';
  };
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  after(() => rmSync(folder, { recursive: true }));

  it('is an address without encryption as long as nothing else is said', () => {
    const { address, namespace, tls, apiKey } = temporalOf({ TEMPORAL_TLS: '', TEMPORAL_API_KEY: '' });
    assert.deepEqual([address, namespace, tls, apiKey], ['127.0.0.1:7233', 'default', undefined, undefined]);
    assert.equal(temporalOf({ TEMPORAL_TLS: 'false' }).tls, false);
  });

  it('turns TLS on for an API key, as Temporal Cloud wants it', () => {
    const { tls, apiKey } = temporalOf({ TEMPORAL_API_KEY: 'k' });
    assert.deepEqual([tls, apiKey], [true, 'k']);
  });

  it('never reads a file in somebody’s home', () => {
    mkdirSync(join(folder, 'temporalio'));
    write('temporalio/temporal.toml', '[profile.default]\napi_key = "mine"\n');
    assert.equal(temporalOf({ XDG_CONFIG_HOME: folder }).apiKey, undefined);
  });

  it('lets a variable win over the profile of the file', () => {
    const file = write('t.toml', '[profile.default]\naddress = "cloud:7233"\nnamespace = "ours.abc"\n');
    const env = { TEMPORAL_CONFIG_FILE: file, TEMPORAL_ADDRESS: '' };
    assert.equal(temporalOf(env).address, 'cloud:7233');
    assert.equal(temporalOf({ ...env, TEMPORAL_NAMESPACE: 'theirs' }).namespace, 'theirs');
  });

  it('names the variable whose file can’t be used, and what to do', () => {
    const missing = join(folder, 'none.pem');
    const { key, cert } = receiverCertificate;
    const paths = { cert: write('c.pem', cert), key: write('k.pem', key), junk: write('j.pem', 'junk') };
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const other = write('o.pem', privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
    for (const [env, said] of [
      [
        { TEMPORAL_TLS_SERVER_CA_CERT_PATH: missing },
        /"TEMPORAL_TLS_SERVER_CA_CERT_PATH".*ENOENT.*Name a PEM/,
      ],
      [{ TEMPORAL_TLS_SERVER_CA_CERT_PATH: paths.junk }, /"TEMPORAL_TLS_SERVER_CA_CERT_PATH".*PEM/],
      [{ TEMPORAL_TLS_CLIENT_CERT_PATH: paths.cert }, /"TEMPORAL_TLS_CLIENT_KEY_PATH" is required/],
      [{ TEMPORAL_TLS_CLIENT_KEY_DATA: 'junk' }, /"TEMPORAL_TLS_CLIENT_KEY_DATA" can't be used/],
      [
        { TEMPORAL_TLS_CLIENT_CERT_PATH: paths.cert, TEMPORAL_TLS_CLIENT_KEY_PATH: other },
        /the key is another/,
      ],
      [{ TEMPORAL_TLS_SERVER_NAME: 'x', TEMPORAL_CONFIG_FILE: missing }, /"TEMPORAL_CONFIG_FILE".*ENOENT/],
      [{ TEMPORAL_CONFIG_FILE: paths.junk, TEMPORAL_PROFILE: 'p' }, /"TEMPORAL_CONFIG_FILE"/],
      [
        { TEMPORAL_CONFIG_FILE: write('p.toml', '[profile.q]'), TEMPORAL_PROFILE: 'p' },
        /"TEMPORAL_CONFIG_FILE": .*p/,
      ],
      [{ TEMPORAL_PROFILE: 'p' }, /"TEMPORAL_CONFIG_FILE": is required/],
      [
        { TEMPORAL_CONFIG_FILE: write('e.toml', '[profile.q]'), TEMPORAL_ADDRESS: '' },
        /"TEMPORAL_ADDRESS" is required/,
      ],
      [{ TEMPORAL_CONFIG_FILE: write('z.toml', '') }, /z.toml has no table/],
      [{ TEMPORAL_CONFIG_FILE: write('x.toml', '[profile.default]\nadress = "x:1"') }, /adress/],
    ] as const) {
      assert.match(faultOf(env), said);
    }
    assert.throws(() => readConfig({ ...ENV, TEMPORAL_TLS: 'perhaps' }), /"TEMPORAL_TLS" must be a boolean/);
    assert.ok(
      temporalOf({ TEMPORAL_TLS_CLIENT_CERT_PATH: paths.cert, TEMPORAL_TLS_CLIENT_KEY_PATH: paths.key }),
    );
  });

  it('is read by none who needs the database alone', () => {
    assert.ok(readConfig({ ...ENV, TEMPORAL_TLS_SERVER_CA_CERT_PATH: '/none.pem' }).database);
  });
});

describe('the configuration of signing in elsewhere', () => {
  const OIDC = { OIDC_CLIENT_ID: 'o', OIDC_CLIENT_SECRET: 's', OIDC_ISSUER_URL: 'https://id.example.com' };
  const identityOf = (env: Record<string, string>) => readConfig({ ...ENV, ...env }).identity;

  it('disables each provider that has no client id', () => {
    const none = { google: null, github: null, oidc: null };
    assert.deepEqual(identityOf({}), none);
    assert.deepEqual(
      identityOf({ GOOGLE_CLIENT_ID: '', GOOGLE_CLIENT_SECRET: '', OIDC_CLIENT_ID: ' ' }),
      none,
    );
    assert.deepEqual(identityOf({ GITHUB_CLIENT_ID: 'g', GITHUB_CLIENT_SECRET: 's' }), {
      ...none,
      github: { clientId: 'g', clientSecret: 's' },
    });
    assert.deepEqual(identityOf(OIDC).oidc, {
      ...{ clientId: 'o', clientSecret: 's', issuerUrl: 'https://id.example.com', name: 'Single sign-on' },
    });
  });

  it('refuses half a provider, and names what is missing', () => {
    for (const [missing, env] of [
      ['GOOGLE_CLIENT_SECRET', { GOOGLE_CLIENT_ID: 'g' }],
      ['GITHUB_CLIENT_SECRET', { GITHUB_CLIENT_ID: 'g', GITHUB_CLIENT_SECRET: ' ' }],
      ['OIDC_CLIENT_SECRET', { ...OIDC, OIDC_CLIENT_SECRET: '' }],
      ['OIDC_ISSUER_URL', { ...OIDC, OIDC_ISSUER_URL: '' }],
    ] as const) {
      assert.throws(() => identityOf(env), new RegExp(missing));
    }
  });

  it('takes an issuer over http on loopback only', () => {
    for (const issuer of [
      'http://127.0.0.1:4000',
      'http://localhost/id',
      'http://[::1]:4000',
      'https://x.example',
    ]) {
      assert.equal(identityOf({ ...OIDC, OIDC_ISSUER_URL: issuer }).oidc?.issuerUrl, issuer);
    }
    for (const issuer of [
      'http://id.example.com',
      'http://127.0.0.1.example.com',
      'http://localhost@x.example',
      'x',
    ]) {
      assert.throws(() => identityOf({ ...OIDC, OIDC_ISSUER_URL: issuer }), ConfigError, issuer);
    }
  });

  it('sends people back to the API’s public address; default: where it listens', () => {
    const publicUrlOf = (env: Record<string, string>) => readConfig({ ...ENV, ...env }).api.publicUrl;
    assert.equal(publicUrlOf({}), 'http://127.0.0.1:8080');
    assert.equal(publicUrlOf({ API_HOST: '::1', API_PORT: '9000' }), 'http://[::1]:9000');
    assert.equal(publicUrlOf({ API_PUBLIC_URL: 'https://api.example.com/' }), 'https://api.example.com');
  });
});

describe('the configuration of the payment processor', () => {
  const keys = { STRIPE_PUBLISHABLE_KEY: 'pk', STRIPE_WEBHOOK_SECRETS: 'whsec' };
  const processorOf = (env: NodeJS.ProcessEnv) => readConfig({ ...ENV, ...env }).processor;

  it('is off without a secret key, and names what is missing beside one', () => {
    assert.equal(processorOf({ STRIPE_SECRET_KEY: '' }).secretKey, '');
    assert.equal(processorOf({ ...keys, STRIPE_SECRET_KEY: 'sk' }).publishableKey, 'pk');
    for (const missing of Object.keys(keys)) {
      for (const value of ['', ' ', undefined])
        assert.throws(
          () => processorOf({ ...keys, STRIPE_SECRET_KEY: 'sk', [missing]: value }),
          new RegExp(missing),
        );
    }
  });
});

describe('the configuration of support', () => {
  const contactOf = (SUPPORT_CONTACT: string) => readConfig({ ...ENV, SUPPORT_CONTACT }).supportContact;

  it('names a mail address, an https address, or nobody', () => {
    assert.equal(readConfig(ENV).supportContact, null);
    assert.equal(contactOf(''), null);
    for (const contact of ['help@example.com', 'https://example.com/help']) {
      assert.equal(contactOf(contact), contact);
    }
  });

  it('refuses anything else, and says what to set', () => {
    for (const wrong of [
      'help',
      'http://example.com',
      'javascript:alert(1)',
      'a@b@c',
      'mailto:a@b.example',
    ]) {
      assert.throws(
        () => contactOf(wrong),
        /"SUPPORT_CONTACT" must be an email address or an https:\/\/ address/,
        wrong,
      );
    }
  });
});

describe('the levels of the log', () => {
  const logOf = (env: Record<string, string>) => readConfig({ ...ENV, ...env }).log;
  const fault = (LOG_LEVELS: string) => {
    try {
      logOf({ LOG_LEVELS });
      return 'none';
    } catch (error) {
      return (error as Error).message.split('\n').at(-1)!.trim();
    }
  };

  it('are one for the program, and others by the names of parts', () => {
    assert.deepEqual(logOf({}), { level: 'info', levels: {} });
    assert.deepEqual(logOf({ LOG_LEVEL: 'warn', LOG_LEVELS: ' upstream=debug , sql = trace ' }), {
      level: 'warn',
      levels: { upstream: 'debug', sql: 'trace' },
    });
    assert.deepEqual(logOf({ LOG_LEVELS: '' }).levels, {});
  });

  it('are refused in words when nothing has such a name', () => {
    assert.equal(
      fault('upstreem=debug'),
      '- "LOG_LEVELS" names "upstreem", which is no part of the log: take requests, activities, temporal, streams, upstream, processor or sql',
    );
    assert.equal(
      fault('sql=debug,upstream=verbose'),
      '- "LOG_LEVELS" gives "upstream" the level "verbose": take fatal, error, warn, info, debug, trace or silent',
    );
    assert.equal(
      fault('debug'),
      '- "LOG_LEVELS" has "debug", which is no pair of a part and its level: write upstream=debug, or set LOG_LEVEL for all of the log',
    );
  });
});
