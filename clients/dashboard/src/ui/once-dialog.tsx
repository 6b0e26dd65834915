import { useState, type ReactNode } from 'react';
import { onceTexts as t } from '../texts/once.js';
import { Callout } from './badge.js';
import { Button } from './button.js';
import { Dialog } from './dialog.js';

interface OnceDialogProps {
  readonly title: string;
  readonly description: ReactNode;
  /** Whether it was copied or saved: before that, closing takes a second word. */
  readonly isSaved: boolean;
  /** What is lost with it. */
  readonly loss: string;
  readonly onClose: () => void;
  /** Ways to save it, beside the button that closes. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** Shows what is shown this once. It closes when it was saved, or after a warning. */
export function OnceDialog({
  title,
  description,
  isSaved,
  loss,
  onClose,
  actions,
  children,
}: OnceDialogProps) {
  const [isWarned, setWarned] = useState(false);
  const close = (): void => (isSaved ? onClose() : setWarned(true));
  return (
    <Dialog
      isOpen
      onClose={close}
      title={title}
      description={description}
      actions={
        <>
          {actions}
          <Button look={isSaved ? 'primary' : 'secondary'} onClick={close}>
            {t.done}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        {children}
        {isWarned && !isSaved && (
          <Callout
            role="alert"
            tone="warn"
            title={t.notSaved}
            actions={
              <Button size="small" onClick={onClose}>
                {t.closeAnyway}
              </Button>
            }
          >
            {loss}
          </Callout>
        )}
      </div>
    </Dialog>
  );
}
