import { strFromU8, unzipSync } from 'fflate';

const EXPORT = '/v1/account/export';

/** Asks for the export of an account, as a browser with this session. */
export function askExport(client: {
  readonly url: string;
  readonly sid?: string | undefined;
}): Promise<Response> {
  return fetch(client.url + EXPORT, { headers: { cookie: `sid=${client.sid ?? ''}` } });
}

/** The texts of a ZIP archive by the names of its files. @throws Error where it is not whole */
export function filesIn(bytes: ArrayBuffer): Record<string, string> {
  const files = Object.entries(unzipSync(new Uint8Array(bytes)));
  return Object.fromEntries(files.map(([name, content]) => [name, strFromU8(content)]));
}

/** Downloads the export of an account. @throws Error where it is refused, or not whole */
export async function exportOf(client: Parameters<typeof askExport>[0]): Promise<Record<string, string>> {
  const answer = await askExport(client);
  if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`);
  return filesIn(await answer.arrayBuffer());
}

/** The documents of a file of JSON lines. */
export function linesOf(text: string | undefined): Record<string, unknown>[] {
  return (text ?? '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
