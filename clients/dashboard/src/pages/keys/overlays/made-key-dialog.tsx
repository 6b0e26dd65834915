import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { meQuery } from '../../../data/account.js';
import type { AddedKey } from '../../../data/add-key.js';
import { fileNameOf } from '../../../data/key-text.js';
import { noteMadeKey } from '../../../data/made-keys.js';
import { keyTexts as t } from '../../../texts/keys.js';
import { Button } from '../../../ui/button.js';
import { DownloadIcon } from '../../../ui/icons.js';
import { OnceDialog } from '../../../ui/once-dialog.js';
import { saveFile } from '../../../ui/save-file.js';
import { Secret } from '../../../ui/secret.js';

interface MadeKeyDialogProps {
  readonly made: AddedKey;
  readonly onClose: () => void;
}

/** Shows the private half of a made pair, once, and has this browser name its file in commands once it was saved. */
export function MadeKeyDialog({ made, onClose }: MadeKeyDialogProps) {
  const [isSaved, setSaved] = useState(false);
  const { data: me } = useSuspenseQuery(meQuery);
  const { id, createdAt, privateKey = '' } = made;
  const file = fileNameOf(made);
  const save = (): void => {
    noteMadeKey({ userId: me.user.id, id, file, createdAt });
    setSaved(true);
  };
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
            save();
          }}
        >
          <DownloadIcon />
          {t.download}
        </Button>
      }
    >
      <Secret label={t.privateKey} text={privateKey} copyLabel={t.copyPrivateKey} onCopied={save} />
      <div>
        <Secret label={t.protect} text={placed(file)} copyLabel={t.copyCommand} />
        <p className="mt-1.5 text-[13px] text-muted">{t.use(file)}</p>
      </div>
    </OnceDialog>
  );
}

/** From where browsers save files to where ssh looks for keys, and readable by their owner alone, or ssh refuses it. */
const placed = (file: string): string =>
  `mkdir -p ~/.ssh && mv -n ~/Downloads/${file} ~/.ssh/ && chmod 600 ~/.ssh/${file}`;
