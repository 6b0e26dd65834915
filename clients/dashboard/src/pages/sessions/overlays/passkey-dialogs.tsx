import type { Passkey } from '@gpu-rental/client';
import { useState } from 'react';
import { useFreshProof } from '../../../app/fresh-proof.js';
import { useToasts } from '../../../app/toasts.js';
import { fieldError } from '../../../data/errors.js';
import { useAddPasskey, useRemovePasskey, useRenamePasskey } from '../../../data/passkeys.js';
import { passkeyTexts as t } from '../../../texts/passkeys.js';
import { ConfirmDialog } from '../../../ui/confirm-dialog.js';
import { FormDialog } from '../../../ui/form-dialog.js';
import { NameField } from '../../../ui/name-field.js';
import { ErrorNote } from '../../../ui/states.js';

/** What the user may do to their passkeys. */
export type PasskeyAct =
  | { readonly act: 'add' }
  | { readonly act: 'rename' | 'remove'; readonly passkey: Passkey };

interface Props {
  readonly asked: PasskeyAct;
  readonly onClose: () => void;
}

/** The dialog of what the user does to a passkey. */
export function PasskeyDialog({ asked, onClose }: Props) {
  if (asked.act === 'add') return <AddDialog onClose={onClose} />;
  const Dialog = asked.act === 'rename' ? RenameDialog : RemoveDialog;
  return <Dialog passkey={asked.passkey} onClose={onClose} />;
}

function AddDialog({ onClose }: Pick<Props, 'onClose'>) {
  const [name, setName] = useState(deviceName);
  const { run, dialog } = useFreshProof();
  const toasts = useToasts();
  const add = useAddPasskey(run);
  const fault = fieldError(add.error, 'name');
  const submit = (): void =>
    add.mutate(name, {
      onSuccess: (added) => {
        toasts.show({ tone: 'good', title: t.added(added.name) });
        onClose();
      },
    });
  return (
    <FormDialog
      onClose={onClose}
      title={t.add}
      description={t.addText}
      submit={t.goOn}
      onSubmit={submit}
      isBusy={add.isPending}
      isDisabled={name.trim() === ''}
      beside={dialog}
    >
      <NameField label={t.name} hint={t.nameHint} value={name} error={fault} onChange={setName} />
      {add.isError && fault === undefined && <ErrorNote error={add.error} />}
    </FormDialog>
  );
}

const devices = ['iPhone', 'iPad', 'Android', 'Mac', 'Windows', 'Linux'];

/** What this device is, as its browser says; empty where it does not. */
function deviceName(): string {
  return devices.find((device) => navigator.userAgent.includes(device)) ?? '';
}

interface OfOne {
  readonly passkey: Passkey;
  readonly onClose: () => void;
}

function RenameDialog({ passkey, onClose }: OfOne) {
  const [name, setName] = useState(passkey.name);
  const rename = useRenamePasskey();
  const fault = fieldError(rename.error, 'name');
  return (
    <FormDialog
      onClose={onClose}
      title={t.renameTitle}
      submit={t.save}
      onSubmit={() => rename.mutate({ id: passkey.id, name }, { onSuccess: onClose })}
      isBusy={rename.isPending}
      isDisabled={name.trim() === ''}
    >
      <NameField label={t.name} hint={t.nameHint} value={name} error={fault} onChange={setName} />
      {rename.isError && fault === undefined && <ErrorNote error={rename.error} />}
    </FormDialog>
  );
}

function RemoveDialog({ passkey, onClose }: OfOne) {
  const remove = useRemovePasskey();
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={t.removeTitle(passkey.name)}
      description={t.removeText}
      confirm={t.remove}
      onConfirm={() => remove.mutate(passkey.id, { onSuccess: onClose })}
      isBusy={remove.isPending}
      error={remove.error}
    />
  );
}
