import type { TemplateId } from '../catalog/templates.js';
import type { SoftwareOutline, SoftwarePort } from './software.js';

/** The template whose port asks for a token of ours (decision 168, "Notebook tokens"). */
export const notebookTemplateId = 'jupyter' satisfies TemplateId;

/** The port of Jupyter, on the machine. */
export const notebookPort: SoftwarePort = { name: 'notebook', port: 8888, kind: 'http', public: false };

/** What sets the token of a notebook, at one upstream or another. */
export const notebookVariables: readonly string[] = ['JUPYTER_TOKEN', 'JUPYTER_PASSWORD'];

/** Tells whether a rental's template asks for a token of ours. */
export function isNotebook(templateId: string): boolean {
  return templateId === notebookTemplateId;
}

/** Lists the named ports of a rental: those of its own software, and the one that its template brings along. */
export function portsOf(
  templateId: string,
  software: Pick<SoftwareOutline, 'ports'> | null,
): readonly SoftwarePort[] {
  const own = software?.ports ?? [];
  const isThere = own.some(({ port }) => port === notebookPort.port);
  return isNotebook(templateId) && !isThere ? [notebookPort, ...own] : own;
}

/** Tells what of a renter's ports is in the notebook's way; undefined: nothing. */
export function notebookFault(ports: readonly SoftwarePort[]): string | undefined {
  const { name, port } = notebookPort;
  const own = ports.find((each) => each.port === port);
  if (own && own.kind !== 'http') return `ports may have ${port} as http alone: it is the notebook’s`;
  if (ports.some((each) => each.name === name && each !== own)) {
    return `ports may not call another port ${name}: it is the name of the notebook’s port ${port}`;
  }
  return undefined;
}
