import assert from 'node:assert/strict';
import { ConfigError, readConfig } from '../config.js';

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
    for (const LAB_PROVIDER_DIALECTS of ['vast', 'shadeform;runpod', 'runpod,', 'runpods']) {
      assert.throws(() => providersOf({ ...LAB, LAB_PROVIDER_DIALECTS }), ConfigError);
    }
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
