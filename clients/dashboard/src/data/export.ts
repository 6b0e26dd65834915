import { exportTexts as t } from '../texts/export.js';
import { api, apiOrigin } from './client.js';
import { PlainError } from './errors.js';
import { useMutation } from './use-mutation.js';

const LOOKS = 5;
const LOOK_EVERY_MS = 1_000;

/**
 * Downloads the archive of the account by a link, so that the browser writes it to disk as it comes. A link tells nothing of
 * its answer: whether it began stands in the audit trail.
 * @param prove makes sure that the sign-in is fresh
 */
export function useExport(prove: () => Promise<void>) {
  return useMutation({
    mutationFn: async () => {
      await prove();
      const before = await newestExport();
      follow(`${apiOrigin}/v1/account/export`);
      for (let look = 0; look < LOOKS; look += 1) {
        await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
        if ((await newestExport()) !== before) return;
      }
      await refusalOfExport();
    },
  });
}

async function newestExport(): Promise<string | undefined> {
  const page = await api.audit.list({ kind: 'account_exported', pageSize: 1 }).firstPage();
  return page.events[0]?.id;
}

function follow(href: string): void {
  const link = document.createElement('a');
  link.href = href;
  link.download = '';
  link.click();
}

/**
 * Why no download began, by the service's own word.
 * @throws ApiError its refusal; PlainError where it refuses nothing
 */
async function refusalOfExport(): Promise<never> {
  const archive = await api.account.export();
  await archive.cancel();
  throw new PlainError(t.notBegun, t.notBegunStep);
}
