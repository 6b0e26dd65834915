import type { Rental } from '@gpu-rental/client';
import { Outlet } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { LiveProvider } from '../live/live-provider.js';
import { shellTexts } from '../texts/shell.js';
import { lazyPart } from '../ui/lazy-part.js';
import { ClosingNote } from './closing-note.js';
import { useShortcuts } from './keys.js';
import { useFocusOnNavigation } from './navigated.js';
import { PhoneTabBar, PhoneTopBar } from './phone-bars.js';
import { ProgressLine } from './progress-line.js';
import { Sidebar } from './sidebar.js';
import { ToastProvider } from './toasts.js';

/** What lies over the page; a rental: the question whether to stop it. */
type Overlay = 'palette' | 'shortcuts' | 'more' | Rental;

/** The frame around all pages of who is signed in: the navigation beside them, above and below them on phones. */
export function Layout() {
  return (
    <LiveProvider>
      <ToastProvider>
        <Frame />
      </ToastProvider>
    </LiveProvider>
  );
}

function Frame() {
  const [overlay, setOverlay] = useState<Overlay>();
  const search = (): void => setOverlay('palette');
  useShortcuts({ onPalette: search, onHelp: () => setOverlay('shortcuts') });
  useFocusOnNavigation();
  return (
    <div className="flex min-h-dvh flex-col lg:flex-row">
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-md focus:bg-raised focus:px-3 focus:py-2"
      >
        {shellTexts.skipToContent}
      </a>
      <ProgressLine />
      <PhoneTopBar onSearch={search} />
      <Sidebar onSearch={search} />
      <main
        id="content"
        tabIndex={-1}
        className="min-w-0 flex-1 px-4 pt-5 pb-[calc(5rem+env(safe-area-inset-bottom))] outline-none sm:px-6 lg:py-8"
      >
        <ClosingNote />
        <Outlet />
      </main>
      <PhoneTabBar onMore={() => setOverlay('more')} />
      {overlay && (
        <Suspense>
          <Opened overlay={overlay} onOpen={setOverlay} />
        </Suspense>
      )}
    </div>
  );
}

const Palette = lazyPart(() => import('./overlays/palette.js'), 'Palette');
const Shortcuts = lazyPart(() => import('./overlays/shortcuts.js'), 'Shortcuts');
const StopDialog = lazyPart(() => import('../pages/rentals/overlays/stop-dialog.js'), 'StopDialog');
const MoreSheet = lazyPart(() => import('./overlays/more-sheet.js'), 'MoreSheet');

interface OpenedProps {
  readonly overlay: Overlay;
  readonly onOpen: (overlay: Overlay | undefined) => void;
}

function Opened({ overlay, onOpen }: OpenedProps) {
  const onClose = (): void => onOpen(undefined);
  if (overlay === 'palette')
    return <Palette onClose={onClose} onHelp={() => onOpen('shortcuts')} onStop={onOpen} />;
  if (typeof overlay === 'object') return <StopDialog rental={overlay} onClose={onClose} />;
  if (overlay === 'shortcuts') return <Shortcuts onClose={onClose} />;
  return <MoreSheet onClose={onClose} />;
}
