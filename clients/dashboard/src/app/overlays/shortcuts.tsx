import type { ReactNode } from 'react';
import { paletteTexts } from '../../texts/palette.js';
import { Dialog } from '../../ui/dialog.js';
import { pageKeys } from '../keys.js';
import { navigation } from '../pages.js';

const { shortcuts } = paletteTexts;

/** The list of keyboard shortcuts. */
export function Shortcuts({ onClose }: { readonly onClose: () => void }) {
  const pages = navigation.flatMap((group) => group.pages);
  return (
    <Dialog isOpen onClose={onClose} title={shortcuts.title}>
      <dl className="grid grid-cols-[1fr_auto] gap-x-6 gap-y-2.5">
        <Shortcut does={shortcuts.palette}>
          <Key>{'Ctrl'}</Key> <Key>{'K'}</Key>
        </Shortcut>
        <Shortcut does={shortcuts.help}>
          <Key>{'?'}</Key>
        </Shortcut>
        {Object.entries(pageKeys).map(([key, to]) => (
          <Shortcut key={key} does={shortcuts.page(pages.find((page) => page.to === to)?.title ?? to)}>
            <Key>{'G'}</Key> <span className="text-xs text-muted">{shortcuts.then}</span>{' '}
            <Key>{key.toUpperCase()}</Key>
          </Shortcut>
        ))}
      </dl>
    </Dialog>
  );
}

function Shortcut({ does, children }: { readonly does: string; readonly children: ReactNode }) {
  return (
    <>
      <dt className="text-soft">{does}</dt>
      <dd className="text-right whitespace-nowrap">{children}</dd>
    </>
  );
}

function Key({ children }: { readonly children: string }) {
  return (
    <kbd className="inline-block min-w-6 rounded border border-line-strong bg-surface px-1.5 text-center font-sans text-xs leading-5">
      {children}
    </kbd>
  );
}
