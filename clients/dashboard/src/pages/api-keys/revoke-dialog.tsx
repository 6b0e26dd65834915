import type { ApiKey } from '@gpu-rental/client';
import { useState } from 'react';
import { useRevokeApiKey } from '../../data/api-keys.js';
import { money } from '../../format/money.js';
import { apiKeyTexts as t } from '../../texts/api-keys.js';
import { ConfirmDialog } from '../../ui/confirm-dialog.js';
import { Checkbox } from '../../ui/field.js';

interface RevokeApiKeyDialogProps {
  readonly apiKey: ApiKey;
  readonly onClose: () => void;
}

/** Revokes a key for good; its machines are stopped, and what it set up is removed, where that is asked for. */
export function RevokeApiKeyDialog({ apiKey, onClose }: RevokeApiKeyDialogProps) {
  const revoke = useRevokeApiKey(apiKey.id);
  const [stopMachines, setStopMachines] = useState(false);
  const [removeMade, setRemoveMade] = useState(false);
  const maySetUp = apiKey.scopes.includes('setup');
  const mayRent = apiKey.scopes.includes('rentals');
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={t.revokeTitle(apiKey.name)}
      description={t.revokeText}
      confirm={t.revoke}
      onConfirm={() => revoke.mutate({ stopMachines, removeMade }, { onSuccess: onClose })}
      isBusy={revoke.isPending}
      error={revoke.error}
    >
      <p className="font-mono text-[13px] text-muted">{t.hint(apiKey.hint)}</p>
      {apiKey.reservedCents > 0 && <p>{t.reservedNow(money(apiKey.reservedCents))}</p>}
      {mayRent && (
        <Checkbox
          label={t.stopMachines}
          hint={t.stopMachinesHint}
          checked={stopMachines}
          onChange={({ target }) => setStopMachines(target.checked)}
        />
      )}
      {maySetUp && (
        <Checkbox
          label={t.removeMade}
          hint={t.removeMadeHint}
          checked={removeMade}
          onChange={({ target }) => setRemoveMade(target.checked)}
        />
      )}
    </ConfirmDialog>
  );
}
