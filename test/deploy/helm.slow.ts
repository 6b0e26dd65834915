import assert from 'node:assert/strict';
import { parseAllDocuments } from 'yaml';
import { monitorPaths } from '../../api/http/middleware/hosts.js';
import { stopWithinMs } from '../../api/server.js';
import { readConfig } from '../../config.js';
import { findHelm, manifestCheck, type Helm, type Manifest } from './helm-program.js';

const chart = 'deploy/helm/gpu-rental';

const least = {
  ...{ 'image.repository': 'registry.example.com/gpu-rental', secretName: 'gpu-rental' },
  'settings.DASHBOARD_URL': 'https://gpu.example.com',
  'settings.TEMPORAL_ADDRESS': 'temporal-frontend.temporal.svc:7233',
};
const digest = `sha256:${'a'.repeat(64)}`;
const most = {
  ...least,
  'image.digest': digest,
  'imagePullSecrets[0].name': 'registry',
  'settings.METER_SHARDS': '100000000',
  'worker.settings.DATABASE_POOL_MAX': '7',
  'api.settings.TRUST_PROXY': 'false',
  'settings.DATABASE_POOL_MAX': '30',
  caConfigMap: 'authorities',
  'api.temporalTlsSecret': 'temporal-api',
  'worker.temporalTlsSecret': 'temporal-worker',
  'api.tolerations[0].operator': 'Exists',
  'worker.nodeSelector.disk': 'fast',
  'ops.enabled': 'false',
  'listener.enabled': 'true',
  'listener.replicas': '3',
  'listener.ingress.enabled': 'true',
  'listener.ingress.host': 'machines.example.com',
  'listener.ingress.tlsSecret': 'machines-tls',
  'networkPolicy.listenerFrom[0].namespaceSelector.matchLabels.name': 'ingress',
  'ingress.enabled': 'true',
  'ingress.host': 'gpu.example.com',
  'ingress.className': 'nginx',
  'ingress.tlsSecret': 'gpu-tls',
  'ingress.annotations.a': 'b',
  'networkPolicy.apiFrom[0].namespaceSelector.matchLabels.name': 'ingress',
  'networkPolicy.metricsFrom[0].namespaceSelector.matchLabels.name': 'monitoring',
  'networkPolicy.database.to[0].ipBlock.cidr': '10.0.0.5/32',
};

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface Container {
  readonly image: string;
  readonly args: readonly string[];
  readonly env: readonly Env[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly lifecycle?: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly startupProbe?: Probe;
  readonly securityContext: object;
  readonly resources: { readonly limits: { readonly memory: string } };
}

interface Env {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef: { readonly key: string; readonly optional?: boolean } };
}

interface Pod {
  readonly terminationGracePeriodSeconds?: number;
  readonly automountServiceAccountToken: boolean;
  readonly securityContext: { readonly runAsNonRoot: boolean };
  readonly containers: readonly [Container];
}

const args = (values: Readonly<Record<string, string>>) =>
  Object.entries(values).flatMap(([name, value]) => ['--set', `${name}=${value}`]);

describe('the Helm chart, rendered', () => {
  let helm: Helm;
  let faultsOf: (manifest: Manifest) => string[];

  function render(values: Readonly<Record<string, string>>): Manifest[] {
    const { ok, stdout, stderr } = helm(
      'template',
      'gpu',
      chart,
      '--kube-version',
      '1.37.0',
      ...args(values),
    );
    assert.ok(ok, stderr);
    const documents = parseAllDocuments(stdout);
    assert.deepEqual(
      documents.flatMap(({ errors }) => errors),
      [],
    );
    return documents.map((document) => document.toJS() as Manifest);
  }

  const podOf = (manifests: readonly Manifest[], process: string): Pod => {
    const found = manifests.find(
      ({ kind, metadata }) => ['Deployment', 'Job'].includes(kind) && metadata.name === `gpu-${process}`,
    );
    assert.ok(found, process);
    return (found.spec['template'] as { spec: Pod }).spec;
  };

  before(async function () {
    // Helm is built once on each machine.
    this.timeout(25 * 60_000);
    const found = await findHelm();
    // Without Go on this machine nothing builds it.
    if (found === undefined) return this.skip();
    helm = found;
    faultsOf = manifestCheck();
  });

  it('is well by Helm’s own rules', () => {
    for (const values of [least, most]) {
      const { ok, stdout, stderr } = helm('lint', '--strict', chart, ...args(values));
      assert.ok(ok, stdout + stderr);
    }
  });

  it('is what Kubernetes takes, field by field', () => {
    for (const values of [least, most]) {
      const manifests = render(values);
      assert.deepEqual(manifests.flatMap(faultsOf), []);
      assert.ok(manifests.length >= 10, String(manifests.length));
    }
    const [manifest] = render(least);
    assert.notDeepEqual(faultsOf({ ...manifest!, spec: { ...manifest!.spec, polcyTypes: [] } }), []);
  });

  it('gives each process all that it can’t start without, by the Secret’s required keys alone', () => {
    const manifests = render({ ...least, 'listener.enabled': 'true' });
    for (const process of ['migrate', 'api', 'worker', 'ops', 'listener']) {
      const [{ env }] = podOf(manifests, process).containers;
      const read = readConfig(Object.fromEntries(env.flatMap(given)));
      assert.equal(read.database.url, `postgres://x@${process}/x`);
      assert.equal(read.mail.smtpUrl === 'smtp://mail', process === 'worker', process);
      assert.equal(read.deployment, 'prod');
      const names = env.map(({ name }) => name);
      assert.equal(new Set(names).size, names.length, process);
    }
  });

  it('lets a process have a setting of its own, and writes numbers as they are', () => {
    const manifests = render(most);
    const valueOf = (process: string, variable: string) =>
      podOf(manifests, process).containers[0].env.find(({ name }) => name === variable)?.value;
    assert.equal(valueOf('worker', 'DATABASE_POOL_MAX'), '7');
    assert.equal(valueOf('api', 'DATABASE_POOL_MAX'), '30');
    assert.equal(valueOf('api', 'TRUST_PROXY'), 'false');
    const [{ env: usual }] = podOf(render(least), 'api').containers;
    assert.equal(
      usual.find(({ name }) => name === 'TRUST_PROXY')?.value,
      'false',
      'anybody reaches the API by default',
    );
    assert.equal(valueOf('api', 'METER_SHARDS'), '100000000');
    assert.equal(valueOf('worker', 'TEMPORAL_TLS_CLIENT_CERT_PATH'), '/etc/gpu-rental/temporal/tls.crt');
    const trusting = render({ ...most, 'settings.TEMPORAL_TLS_SERVER_CA_CERT_PATH': '' });
    const authority = podOf(trusting, 'api').containers[0].env.find(({ name }) => name.includes('SERVER_CA'));
    assert.equal(authority?.value, '');
  });

  it('locks each container, and bounds its memory', () => {
    const manifests = render({ ...least, 'listener.enabled': 'true' });
    for (const process of ['migrate', 'api', 'worker', 'ops', 'listener']) {
      const { securityContext, automountServiceAccountToken, containers } = podOf(manifests, process);
      assert.equal(securityContext.runAsNonRoot, true);
      assert.equal(automountServiceAccountToken, false);
      assert.deepEqual(containers[0].securityContext, {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      assert.match(containers[0].resources.limits.memory, /^\d+[MG]i$/);
    }
  });

  it('asks each process where it answers, and gives it the time that it takes to end', () => {
    const manifests = render({ ...least, 'listener.enabled': 'true' });
    const api = podOf(manifests, 'api');
    const worker = podOf(manifests, 'worker');
    for (const [pod, port] of [
      [api, 'http'],
      [podOf(manifests, 'listener'), 'http'],
      [worker, 'metrics'],
    ] as const) {
      const [{ livenessProbe, readinessProbe, startupProbe, ports }] = pod.containers;
      assert.deepEqual(livenessProbe?.httpGet, { path: monitorPaths.alive, port });
      assert.deepEqual(startupProbe?.httpGet, { path: monitorPaths.alive, port });
      assert.deepEqual(readinessProbe?.httpGet, { path: monitorPaths.ready, port });
      assert.ok(ports?.some(({ name }) => name === port));
    }
    const pauseMs = api.containers[0].lifecycle!.preStop.sleep.seconds * 1_000;
    assert.ok(api.terminationGracePeriodSeconds! * 1_000 >= pauseMs + stopWithinMs + 10_000);
    assert.ok(worker.terminationGracePeriodSeconds! >= 20, 'it ends its activities by force after 10 s');
  });

  it('lets the listener reach the database alone, has it under a host of its own, and leaves it out by default', () => {
    const isOf = ({ metadata }: Manifest) => metadata.name === 'gpu-listener';
    assert.deepEqual(render(least).filter(isOf), []);
    const manifests = render(most).filter(isOf);
    assert.deepEqual(manifests.map(({ kind }) => kind).toSorted(), [
      ...['Deployment', 'Ingress', 'NetworkPolicy', 'PodDisruptionBudget', 'Service'],
    ]);
    const specOf = (kind: string) => manifests.find((each) => each.kind === kind)?.spec;
    const egress = specOf('NetworkPolicy')?.['egress'] as { ports: { port: number }[]; to?: unknown }[];
    assert.deepEqual(
      egress.map(({ ports, to }) => [ports.map(({ port }) => port), to]),
      [
        [[53, 53], undefined],
        [[5432], [{ ipBlock: { cidr: '10.0.0.5/32' } }]],
      ],
    );
    const rules = specOf('Ingress')?.['rules'] as {
      host: string;
      http: { paths: { backend: { service: object } }[] };
    }[];
    assert.deepEqual(
      rules.map(({ host, http }) => [host, http.paths[0]?.backend.service]),
      [['machines.example.com', { name: 'gpu-listener', port: { name: 'http' } }]],
    );
    const { env } = podOf(render(most), 'listener').containers[0];
    const keys = env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef.key ?? []);
    assert.deepEqual(keys, ['LISTENER_DATABASE_URL']);
  });

  it('migrates first, behind a policy that is there before', () => {
    const hooks = render(least).filter(
      ({ metadata }) => metadata.annotations?.['helm.sh/hook'] !== undefined,
    );
    assert.deepEqual(
      hooks.map(({ kind, metadata: { name, annotations } }) => [
        kind,
        name,
        annotations!['helm.sh/hook-weight'],
      ]),
      [
        ['NetworkPolicy', 'gpu-migrate', '-1'],
        ['Job', 'gpu-migrate', undefined],
      ],
    );
    for (const { metadata } of hooks)
      assert.equal(metadata.annotations!['helm.sh/hook'], 'pre-install,pre-upgrade');
  });

  it('runs one image, by its digest where there is one; the API another, while workers go first', () => {
    const imageOf = (values: Readonly<Record<string, string>>, process: string) =>
      podOf(render(values), process).containers[0].image;
    assert.match(imageOf(least, 'worker'), /^registry.example.com\/gpu-rental:\d+\.\d+\.\d+$/);
    assert.equal(imageOf(most, 'migrate'), `registry.example.com/gpu-rental@${digest}`);
    const upgrading = { ...most, 'api.tag': '0.2.0' };
    assert.equal(imageOf(upgrading, 'api'), 'registry.example.com/gpu-rental:0.2.0');
    assert.equal(imageOf(upgrading, 'worker'), `registry.example.com/gpu-rental@${digest}`);
  });

  it('refuses values without what must be set, and what is misspelt or no setting, by its name', () => {
    const refusal = (values: Readonly<Record<string, string>>) => {
      const { ok, stderr } = helm('template', 'gpu', chart, ...args(values));
      assert.equal(ok, false);
      return stderr;
    };
    const nothing = refusal({});
    for (const name of ['secretName', 'repository', 'DASHBOARD_URL', 'TEMPORAL_ADDRESS']) {
      assert.ok(nothing.includes(name), name);
    }
    assert.match(refusal({ ...least, 'settings.LOG_LEVLE': 'info' }), /LOG_LEVLE/);
    assert.match(refusal({ ...least, 'settings.STRIPE_SECRET_KEY': 'sk' }), /STRIPE_SECRET_KEY/);
    assert.match(refusal({ ...least, 'api.replica': '3' }), /replica/);
    assert.match(refusal({ ...least, 'ingress.enabled': 'true' }), /host/);
  });
});

/** The variable as a pod gets it from a Secret that has the required keys alone. */
function given({ name, value, valueFrom }: Env): [string, string][] {
  if (valueFrom === undefined) return [[name, value ?? '']];
  const { key, optional } = valueFrom.secretKeyRef;
  if (optional === true) return [];
  const [, process] = /^(\w+)_DATABASE_URL$/.exec(key) ?? [];
  return [[name, process === undefined ? 'smtp://mail' : `postgres://x@${process.toLowerCase()}/x`]];
}
