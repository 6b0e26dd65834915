import type { ReactNode } from 'react';
import { shellTexts } from '../texts/shell.js';
import { Button } from './button.js';
import { Dialog } from './dialog.js';
import { ErrorNote } from './states.js';

interface ConfirmDialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: string;
  /** What it will do, and what it will cost. */
  readonly description: ReactNode;
  /** What the button says: the act itself, not “OK”. */
  readonly confirm: string;
  readonly onConfirm: () => void;
  readonly isBusy: boolean;
  /** Why it failed; null: it did not. */
  readonly error: unknown;
  /** `primary` for what can be undone. */
  readonly look?: 'danger' | 'primary';
  /** What is to be chosen before. */
  readonly children?: ReactNode;
}

/** Asks once before something is done that can't be undone. It stays open until the service has said that it is done. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { isOpen, onClose, title, description, confirm, onConfirm, isBusy, error, children } = props;
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={title}
      description={description}
      actions={
        <>
          <Button onClick={onClose}>{shellTexts.cancel}</Button>
          <Button look={props.look ?? 'danger'} isBusy={isBusy} onClick={onConfirm}>
            {confirm}
          </Button>
        </>
      }
    >
      {(children !== undefined || error !== null) && (
        <div className="flex flex-col gap-4">
          {children}
          {error !== null && <ErrorNote error={error} />}
        </div>
      )}
    </Dialog>
  );
}
