import { request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Fleet } from './fleet.js';

const PATH = /^\/proxy\/([\da-f-]{36})-(\d+)(\/.*)?$/;

/** The address of a pod's http port, below the lab's own. */
export const proxyPath = '/proxy/{pod}-{port}/';

/**
 * Passes a request on to an http port of a pod, as RunPod's proxy does: anybody may ask, and where nothing listens the
 * answer is 502.
 * @returns false for a request to something else
 */
export function proxied(fleet: Fleet, asked: IncomingMessage, answer: ServerResponse): boolean {
  const [, podId, port, path = '/'] = PATH.exec(asked.url ?? '') ?? [];
  if (podId === undefined || port === undefined) return false;
  const pod = fleet.find(podId);
  if (pod?.status !== 'active' || !(pod.ports ?? []).includes(`${port}/http`)) {
    answer.writeHead(404).end('no such pod or port');
    return true;
  }
  const { method, headers } = asked;
  const inside = fleet.portInside(pod, Number(port));
  const answering = request({ host: fleet.host, port: inside, path, method, headers }, (found) => {
    // On the real proxy each port has a host of its own.
    const { location } = found.headers;
    const inPlace = location?.startsWith('/') && { location: `/proxy/${podId}-${port}${location}` };
    answer.writeHead(found.statusCode ?? 502, { ...found.headers, ...inPlace });
    found.pipe(answer);
  });
  answering.on('error', () => {
    if (!answer.headersSent) answer.writeHead(502);
    answer.end();
  });
  asked.pipe(answering);
  return true;
}
