import { useId, type ReactNode } from 'react';
import { shellTexts } from '../texts/shell.js';
import { Button } from './button.js';
import { Dialog } from './dialog.js';

interface FormDialogProps {
  readonly onClose: () => void;
  readonly title: string;
  readonly description?: ReactNode;
  /** What the button says. */
  readonly submit: string;
  readonly onSubmit: () => void;
  readonly isBusy: boolean;
  readonly isDisabled?: boolean;
  /** `danger` for what can't be undone. */
  readonly look?: 'danger' | 'primary';
  /** Fields, one below the other. */
  readonly children: ReactNode;
  /** What is no part of the form: dialogs that it opens. */
  readonly beside?: ReactNode;
}

/** A form in a dialog, for as long as it is rendered. What was typed stays until it is closed. */
export function FormDialog(props: FormDialogProps) {
  const { onClose, title, description, submit, onSubmit, isBusy, isDisabled, children, beside } = props;
  const form = useId();
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={title}
      description={description}
      actions={
        <>
          <Button onClick={onClose}>{shellTexts.cancel}</Button>
          <Button
            look={props.look ?? 'primary'}
            type="submit"
            form={form}
            isBusy={isBusy}
            disabled={isDisabled}
          >
            {submit}
          </Button>
        </>
      }
    >
      <form
        id={form}
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          // React's events rise through dialogs that a form opens from within.
          event.stopPropagation();
          onSubmit();
        }}
      >
        {children}
      </form>
      {beside}
    </Dialog>
  );
}
