import { getTemplate } from './database.js';
import { ownPostgres, ownTemporal } from './servers.js';
import type { SharedServers } from './shared-servers.js';

/** For the processes of a parallel run: the server, with the template that all databases are cloned from. */
export async function offerPostgres(): Promise<SharedServers['postgres']> {
  const { url, adminUrl } = await ownPostgres();
  await getTemplate({ url, adminUrl });
  return { url, adminUrl };
}

/** For the processes of a parallel run. */
export async function offerTemporal(): Promise<SharedServers['temporal']> {
  const { address } = await ownTemporal();
  return { address };
}
