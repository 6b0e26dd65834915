import { Dialog as Radix } from 'radix-ui';
import { useRef, type ReactNode } from 'react';
import { shellTexts } from '../texts/shell.js';
import { IconButton } from './button.js';
import { focusAgain, placeOf, type FocusPlace } from './focus-place.js';
import { CloseIcon } from './icons.js';

interface DialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: string;
  /** What it is about, also for screen readers. */
  readonly description?: ReactNode;
  /** The buttons, the main one last. */
  readonly actions?: ReactNode;
  readonly children?: ReactNode;
}

/**
 * A window over the page, a sheet from below on phones. It keeps the focus inside, Escape closes it, and then the focus
 * is where it was.
 */
export function Dialog({ isOpen, onClose, title, description, actions, children }: DialogProps) {
  const before = useRef<FocusPlace>(undefined);
  return (
    <Radix.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-50 bg-shade" />
        <Radix.Content
          {...(description === undefined && { 'aria-describedby': undefined })}
          onOpenAutoFocus={(event) => {
            const { activeElement } = document;
            if (activeElement instanceof HTMLElement && activeElement !== document.body) {
              before.current = placeOf(activeElement);
            }
            focusFirstField(event);
          }}
          onCloseAutoFocus={(event) => {
            // Left to itself, it looks for a trigger of its own, which there is none of here.
            event.preventDefault();
            focusAgain(before.current);
          }}
          className="fixed inset-x-0 bottom-0 z-50 flex max-h-[92dvh] flex-col rounded-t-xl border border-line bg-raised shadow-xl sm:inset-x-auto sm:top-1/2 sm:bottom-auto sm:left-1/2 sm:w-[min(32rem,calc(100vw-2rem))] sm:-translate-x-1/2 sm:-translate-y-1/2 sm:rounded-xl"
        >
          <div className="flex items-start justify-between gap-3 px-5 pt-4">
            <div className="min-w-0">
              <Radix.Title className="text-base font-semibold break-words">{title}</Radix.Title>
              {description !== undefined && (
                <Radix.Description asChild>
                  <div className="mt-1 text-muted">{description}</div>
                </Radix.Description>
              )}
            </div>
            <Radix.Close asChild>
              <IconButton label={shellTexts.close} className="-mt-1 -mr-2">
                <CloseIcon />
              </IconButton>
            </Radix.Close>
          </div>
          <div className="min-h-0 overflow-y-auto px-5 py-4">{children}</div>
          {actions !== undefined && (
            <div className="flex flex-wrap justify-end gap-2 border-t border-line px-5 py-3">{actions}</div>
          )}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** What is to be filled in comes before the button that closes. */
function focusFirstField(event: Event): void {
  const content = event.currentTarget ?? event.target;
  if (!(content instanceof HTMLElement)) return;
  const field = content.querySelector<HTMLElement>(
    '[data-autofocus], input:not([type=hidden]), textarea, select',
  );
  if (!field) return;
  event.preventDefault();
  field.focus();
}
