import './trusted-types.js';
import './app/clean-address.js';
import './styles.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { router } from './app/routes.js';
import { queryClient } from './data/query-client.js';

preloadPage();

const root = document.getElementById('root');
if (!root) throw new Error('index.html has no element of the id root');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);

// Come after the first load; without them the page does as browsers have it.
guard().catch(() => undefined);

async function guard(): Promise<void> {
  (await import('./app/focus-guard.js')).guardFocus();
  (await import('./app/press-guard.js')).guardPresses();
}

/** A part that is loaded when it is first looked at, or asked for. */
interface Lazy {
  readonly preload?: () => Promise<unknown> | undefined;
}

/** Asks for the page's own part beside asking who is signed in, and not after. */
function preloadPage(): void {
  const [matched] = router.getMatchedRoutes(location.pathname);
  for (const { options } of matched) {
    const { component } = options as { readonly component?: Lazy };
    // One that can't be had is asked for again, and answered for, when the page opens.
    component?.preload?.()?.catch(() => undefined);
  }
}
