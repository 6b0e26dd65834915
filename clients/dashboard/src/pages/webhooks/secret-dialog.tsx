import { useState, type ReactNode } from 'react';
import { webhookTexts as t } from '../../texts/webhooks.js';
import { OnceDialog } from '../../ui/once-dialog.js';
import { Secret } from '../../ui/secret.js';

interface SecretDialogProps {
  readonly title: string;
  readonly description: string;
  readonly secret: string;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

/** Shows a secret that signs, once. */
export function SecretDialog({ title, description, secret, onClose, children }: SecretDialogProps) {
  const [isSaved, setSaved] = useState(false);
  return (
    <OnceDialog
      title={title}
      description={description}
      isSaved={isSaved}
      loss={t.secretLoss}
      onClose={onClose}
    >
      <Secret label={t.secret} text={secret} copyLabel={t.copySecret} onCopied={() => setSaved(true)} />
      {children}
    </OnceDialog>
  );
}
