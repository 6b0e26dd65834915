import { getTemplate } from './database.js';
import { ownPostgres, ownTemporal } from './servers.js';
import type { SharedServers } from './shared-servers.js';

/** The server for the processes of a parallel run, with the template of all databases. */
export async function offerPostgres(): Promise<SharedServers['postgres']> {
  const { url, adminUrl } = await ownPostgres();
  await getTemplate({ url, adminUrl });
  return { url, adminUrl };
}

/** The server for the processes of a parallel run. */
export async function offerTemporal(): Promise<SharedServers['temporal']> {
  const { address } = await ownTemporal();
  return { address };
}
