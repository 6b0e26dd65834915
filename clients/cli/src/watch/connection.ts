import type { StreamItem } from '@gpu-rental/client';
import type { Out } from '../output/out.js';

/** Says beside the events of a stream how its connection is. @param doing what is done while it lasts: "Listening" */
export function tellOfConnection(out: Out, { kind }: StreamItem, doing: string): void {
  if (kind === 'connected') out.note(`${doing}. Press ctrl-C to end.`);
  if (kind === 'reconnecting') out.note('The connection was lost. Trying again; you miss nothing.');
  if (kind === 'resync') out.note('Some events are too old and no longer available.');
}
