import type { PodPort } from '../../../domain/rentals/endpoints.js';
import type { Software, SoftwareCapabilities } from '../../../domain/rentals/software.js';
import { startCommandOf } from '../../../domain/rentals/start-command.js';
import { ProviderError, type AllocationRequest } from '../provider.js';
import { ownScriptLines } from '../startup-script.js';
import { runpodTemplates } from './runpod-templates.js';
import { findList, fieldsOf, numberField, textField, textsField, type Fields } from '../upstream/fields.js';

/** The most characters of a pod's start command. */
const MOST_ARGS = 4_096;

/**
 * What a pod, which is a container, can do with own software (RunPod's published OpenAPI description): it has no field
 * for a script, at most ten http ports behind its proxy, and public numbers of tcp ports that it chooses itself.
 */
export const runpodSoftware: SoftwareCapabilities = {
  image: 'machine',
  entrypoint: true,
  registryAuth: true,
  startScript: false,
  scriptMaxBytes: 1_024,
  argsMaxChars: MOST_ARGS,
  envTemplates: [...runpodTemplates.keys()],
  envValueMaxChars: 32_768,
  envMaxChars: 131_072,
  httpPorts: 10,
  tcpPorts: 10,
  keepsClosed: true,
  diskMaxGb: 200,
};

/**
 * Makes a pod's start command (RunPod's guide to templates).
 * @returns undefined: that of the image
 * @throws ProviderError no_capacity when it is too long: another upstream takes it
 */
export function commandOf(software: Software, bootstrap: AllocationRequest['bootstrap']): string | undefined {
  const { args, entrypoint } = software;
  if (entrypoint === 'keep' && args.length === 0) return undefined;
  const command = startCommandOf(wordsOf(software, bootstrap), entrypoint);
  if (command.length <= MOST_ARGS) return command;
  throw new ProviderError(
    'no_capacity',
    `the start command has ${command.length} characters, and a pod takes ${MOST_ARGS}`,
    { unfitOrder: true },
  );
}

/** What an image's entrypoint is given, or what runs in its place. Variables are the pod's own. */
function wordsOf(software: Software, bootstrap: AllocationRequest['bootstrap']): readonly string[] {
  const isScripted = bootstrap !== undefined || software.startScript !== null;
  if (software.entrypoint === 'keep' || !isScripted) return software.args;
  return ['sh', '-c', (bootstrap ?? ownScriptLines({ ...software, env: {} })).join('\n')];
}

/** Each http port of a pod has a name of its own below this domain. `{pod}` and `{port}` stand for its own. */
export const runpodProxyUrl = 'https://{pod}-{port}.proxy.runpod.net/';

/** Reads where a pod's ports are open. A tcp port gets another number whenever the pod starts anew. */
export function portsOf(pod: Fields, proxyUrl: string): PodPort[] {
  const podId = textField(pod, 'id') ?? '';
  const http = textsField(pod, 'ports').flatMap((text) => httpPort(text, podId, proxyUrl));
  const mapped = (findList(fieldsOf(pod['runtime']), 'ports') ?? []).flatMap(tcpPort);
  return [...http, ...mapped];
}

function httpPort(text: string, podId: string, proxyUrl: string): PodPort[] {
  const port = /^(\d+)\/http$/.exec(text)?.[1];
  if (port === undefined) return [];
  const url = proxyUrl.replace('{pod}', encodeURIComponent(podId)).replace('{port}', port);
  return [{ port: Number(port), url, host: null, hostPort: null, changesOnRestart: false }];
}

function tcpPort(value: unknown): PodPort[] {
  const fields = fieldsOf(value);
  const [port, hostPort] = [numberField(fields, 'private'), numberField(fields, 'public')];
  const host = textField(fields, 'ip');
  if (fields['type'] !== 'tcp' || port === null || hostPort === null || host === null) return [];
  return [{ port, url: null, host, hostPort, changesOnRestart: true }];
}
