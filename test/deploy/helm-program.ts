import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv, type ValidateFunction } from 'ajv';
import { placeInCache } from '../../lab/servers/cache.js';
import { goInstall } from '../../lab/servers/go-install.js';
import { findOnPath, isExecutable } from '../../lab/servers/temporal-cli-binary.js';
import { readStackSettings } from '../../lab/stack/settings.js';

const helmVersion = 'v4.3.1';
/** Its source carries the description of its API. */
const kubernetes = 'k8s.io/kubernetes@v1.37.2';
const buildLimitMs = 20 * 60_000;
const downloadLimitMs = 300_000;

/** Runs Helm; never throws. */
export type Helm = (...args: string[]) => {
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
};

/** A manifest as it was rendered. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: Record<string, unknown>;
}

/** Finds Helm in the cache or builds it, some minutes once. @returns undefined without Go on this machine */
export async function findHelm(): Promise<Helm | undefined> {
  const { searchPath, cacheDir } = readStackSettings().cliPlaces;
  const go = findOnPath('go', searchPath);
  if (go === undefined) return undefined;
  const program = join(cacheDir, `helm-${helmVersion}`);
  if (!isExecutable(program)) {
    const goPackage = `helm.sh/helm/v4/cmd/helm@${helmVersion}`;
    await placeInCache(program, async (folder) => {
      await goInstall({
        ...{ go, goPackage, folder, what: 'building Helm', log: () => undefined, limitMs: buildLimitMs },
      });
      return join(folder, 'helm');
    });
  }
  return (...args) => {
    const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', timeout: 60_000 });
    return { ok: status === 0, stdout, stderr };
  };
}

interface Definition {
  type?: string | readonly string[];
  format?: string;
  properties?: object;
  additionalProperties?: unknown;
  'x-kubernetes-group-version-kind'?: readonly { group: string; version: string; kind: string }[];
}

/**
 * Makes the check of a manifest by Kubernetes' own description of its API, in which no field may be misspelt.
 * @returns the faults of a manifest, in words
 */
export function manifestCheck(): (manifest: Manifest) => string[] {
  const go = findOnPath('go', process.env['PATH'] ?? '')!;
  const module = execFileSync(go, ['mod', 'download', '-json', kubernetes], {
    encoding: 'utf8',
    timeout: downloadLimitMs,
  });
  const { Dir: folder } = JSON.parse(module) as { Dir: string };
  const { definitions } = JSON.parse(
    readFileSync(join(folder, 'api', 'openapi-spec', 'swagger.json'), 'utf8'),
  ) as { definitions: Record<string, Definition> };
  for (const [name, definition] of Object.entries(definitions)) {
    if (definition.properties) definition.additionalProperties = false;
    if (definition.format === 'int-or-string') definition.type = ['integer', 'string'];
    if (name.endsWith('.Quantity')) definition.type = ['number', 'string'];
  }
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false }).addSchema(
    { definitions },
    'k8s',
  );
  const checks = new Map<string, ValidateFunction>();
  return (manifest) => {
    const kind = `${manifest.apiVersion} ${manifest.kind}`;
    const check = checks.get(kind) ?? ajv.compile({ $ref: `k8s#/definitions/${nameOf(kind, definitions)}` });
    checks.set(kind, check);
    return check(manifest) ? [] : (check.errors ?? []).map((error) => `${kind} ${ajv.errorsText([error])}`);
  };
}

function nameOf(kind: string, definitions: Readonly<Record<string, Definition>>): string | undefined {
  return Object.entries(definitions).find(([, { 'x-kubernetes-group-version-kind': kinds = [] }]) =>
    kinds.some((it) => `${it.group === '' ? '' : `${it.group}/`}${it.version} ${it.kind}` === kind),
  )?.[0];
}
