import { createContext, use, useMemo, useState, type ReactNode } from 'react';
import { shellTexts } from '../texts/shell.js';
import type { Tone } from '../ui/badge.js';
import { IconButton } from '../ui/button.js';
import { classes } from '../ui/classes.js';
import { CloseIcon } from '../ui/frame-icons.js';

export interface Toast {
  readonly tone: Tone;
  readonly title: string;
  readonly text?: string;
}

interface Toasts {
  /** Tells something that needs no answer, for some seconds; a failure stays until it is closed. */
  readonly show: (toast: Toast) => void;
}

const ToastContext = createContext<Toasts>({ show: () => undefined });

/** How to tell that something was done. */
export const useToasts = (): Toasts => use(ToastContext);

const STAYS_MS = 6_000;
const MOST = 3;

interface ShownToast extends Toast {
  readonly id: number;
}

let lastId = 0;

/** Keeps the toasts of all pages below it, told to screen readers politely. */
export function ToastProvider({ children }: { readonly children: ReactNode }) {
  const [shown, setShown] = useState<readonly ShownToast[]>([]);
  const toasts = useMemo<Toasts>(
    () => ({
      show: (toast) => {
        lastId += 1;
        const id = lastId;
        setShown((others) => [...others.slice(1 - MOST), { ...toast, id }]);
        if (toast.tone !== 'bad') setTimeout(() => setShown((others) => without(others, id)), STAYS_MS);
      },
    }),
    [],
  );
  return (
    <ToastContext value={toasts}>
      {children}
      <div
        role="status"
        className="no-print pointer-events-none fixed inset-x-0 bottom-[calc(4.5rem+env(safe-area-inset-bottom))] z-60 flex flex-col items-center gap-2 px-4 lg:bottom-4 lg:items-end"
      >
        {shown.map((toast) => (
          <ToastCard
            key={toast.id}
            toast={toast}
            onClose={() => setShown((others) => without(others, toast.id))}
          />
        ))}
      </div>
    </ToastContext>
  );
}

const without = (toasts: readonly ShownToast[], id: number): readonly ShownToast[] =>
  toasts.filter((toast) => toast.id !== id);

const edges: Readonly<Record<Tone, string>> = {
  neutral: 'border-l-line-strong',
  good: 'border-l-good',
  warn: 'border-l-warn',
  bad: 'border-l-bad',
  info: 'border-l-info',
};

function ToastCard({ toast, onClose }: { readonly toast: Toast; readonly onClose: () => void }) {
  const { tone, title, text } = toast;
  return (
    <div
      className={classes(
        'pointer-events-auto flex w-full max-w-sm items-start gap-3 rounded-lg border border-l-4 border-line bg-raised py-2.5 pr-1.5 pl-3.5 shadow-lg',
        edges[tone],
      )}
    >
      <div className="min-w-0 flex-1 py-1">
        <p className="font-medium break-words">{title}</p>
        {text !== undefined && <p className="text-[13px] break-words text-muted">{text}</p>}
      </div>
      <IconButton label={shellTexts.close} onClick={onClose}>
        <CloseIcon />
      </IconButton>
    </div>
  );
}
