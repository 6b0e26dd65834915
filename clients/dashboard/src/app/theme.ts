import { useSyncExternalStore } from 'react';

export type Theme = 'system' | 'light' | 'dark';

export const themes = ['system', 'light', 'dark'] as const satisfies Theme[];

const watchers = new Set<() => void>();

/** The chosen theme; public/theme.js reads the same key before the first paint. */
function readTheme(): Theme {
  try {
    const theme = localStorage.getItem('theme');
    return theme === 'light' || theme === 'dark' ? theme : 'system';
  } catch {
    return 'system';
  }
}

/** Shows the theme, and keeps it in this browser. */
export function saveTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
  try {
    if (theme === 'system') localStorage.removeItem('theme');
    else localStorage.setItem('theme', theme);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
  for (const watcher of watchers) watcher();
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** The chosen theme, wherever it is chosen. */
export const useTheme = (): Theme => useSyncExternalStore(watch, readTheme);
