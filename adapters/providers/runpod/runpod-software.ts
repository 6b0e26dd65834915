import type { PodPort } from '../../../domain/rentals/endpoints.js';
import type { SoftwareCapabilities } from '../../../domain/rentals/software.js';
import { findList, fieldsOf, numberField, textField, textsField, type Fields } from '../upstream/fields.js';

/**
 * What a pod, which is a container, can do with own software (RunPod's published OpenAPI description): it has no field
 * for a script, at most ten http ports behind its proxy, and public numbers of tcp ports that it chooses itself.
 */
export const runpodSoftware: SoftwareCapabilities = {
  image: 'machine',
  registryAuth: true,
  startScript: false,
  argsMaxChars: 4_096,
  envValueMaxChars: 32_768,
  envMaxChars: 131_072,
  httpPorts: 10,
  tcpPorts: 10,
  keepsClosed: true,
  diskMaxGb: 200,
};

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
