import type { ApiKeyScope, CreatedApiKey } from '@gpu-rental/client';
import { useState } from 'react';
import { apiOrigin } from '../../data/client.js';
import { apiKeyTexts as t } from '../../texts/api-keys.js';
import { OnceDialog } from '../../ui/once-dialog.js';
import { Secret } from '../../ui/secret.js';

interface CreatedApiKeyDialogProps {
  readonly created: CreatedApiKey;
  readonly onClose: () => void;
}

/** Shows a new key, once, and how it is used. */
export function CreatedApiKeyDialog({ created, onClose }: CreatedApiKeyDialogProps) {
  const [isSaved, setSaved] = useState(false);
  return (
    <OnceDialog
      title={t.createdTitle}
      description={t.createdText}
      isSaved={isSaved}
      loss={t.notSavedText}
      onClose={onClose}
    >
      <Secret label={t.key} text={created.key} copyLabel={t.copyKey} onCopied={() => setSaved(true)} />
      <div>
        <Secret label={t.example} text={exampleOf(created.scopes)} copyLabel={t.copyExample} />
        <p className="mt-1.5 text-[13px] text-muted">{t.exampleHint}</p>
      </div>
    </OnceDialog>
  );
}

/** What a key of these scopes may ask; the key itself stays out of the shell's history. */
function exampleOf(scopes: readonly ApiKeyScope[]): string {
  const [path, command] = scopes.includes('read')
    ? ['/v1/rentals', 'gpu ls']
    : scopes.includes('billing')
      ? ['/v1/billing/balance', 'gpu balance']
      : ['/v1/quotes', undefined];
  const body =
    command === undefined ? ` -H 'Content-Type: application/json' -d '{"familyId":"h100-80gb"}'` : '';
  return [
    'read -rs GPU_API_KEY && export GPU_API_KEY',
    ...(command === undefined ? [] : [`GPU_API_URL=${apiOrigin} ${command}`]),
    `curl -H "Authorization: Bearer $GPU_API_KEY"${body} ${apiOrigin}${path}`,
  ].join('\n');
}
