import { useState } from 'react';
import { fileNameOf } from '../../data/key-text.js';
import { keyTexts as t } from '../../texts/keys.js';
import { Button } from '../../ui/button.js';
import { DownloadIcon } from '../../ui/icons.js';
import { OnceDialog } from '../../ui/once-dialog.js';
import { saveFile } from '../../ui/save-file.js';
import { Secret } from '../../ui/secret.js';

interface MadeKeyDialogProps {
  readonly name: string;
  readonly privateKey: string;
  readonly onClose: () => void;
}

/** Shows the private half of a made pair, once. */
export function MadeKeyDialog({ name, privateKey, onClose }: MadeKeyDialogProps) {
  const [isSaved, setSaved] = useState(false);
  const file = fileNameOf(name);
  return (
    <OnceDialog
      title={t.madeTitle}
      description={t.madeText}
      isSaved={isSaved}
      loss={t.notSavedText}
      onClose={onClose}
      actions={
        <Button
          look={isSaved ? 'secondary' : 'primary'}
          onClick={() => {
            saveFile(file, privateKey, 'application/x-pem-file');
            setSaved(true);
          }}
        >
          <DownloadIcon />
          {t.download}
        </Button>
      }
    >
      <Secret
        label={t.privateKey}
        text={privateKey}
        copyLabel={t.copyPrivateKey}
        onCopied={() => setSaved(true)}
      />
      <div>
        <Secret label={t.protect} text={`chmod 600 ${file}`} copyLabel={t.copyCommand} />
        <p className="mt-1.5 text-[13px] text-muted">{t.use(file)}</p>
      </div>
    </OnceDialog>
  );
}
