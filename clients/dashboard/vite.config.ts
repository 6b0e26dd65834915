import { fileURLToPath } from 'node:url';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { servedAddresses, serviceProxy } from './build/dev-server.js';
import { earlyPage } from './build/early-page.js';
import { precompress } from './build/precompress.js';
import { wordsOfSignIn } from './build/words-of-sign-in.js';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Builds two documents: the dashboard, and the page on which a card is entered. */
export default defineConfig({
  base: '/app/',
  plugins: [
    react({ jsxImportSource: '#jsx' }),
    tailwindcss(),
    earlyPage(here('./src/app/routes.ts')),
    wordsOfSignIn(),
    precompress(),
    servedAddresses(),
  ],
  resolve: {
    alias: {
      // Radix hides the page's scroll bar by an injected <style>, which the policy forbids.
      'react-style-singleton': here('./src/ui/style-singleton.ts'),
      // React has what the shim brings to older versions.
      'use-sync-external-store/shim/with-selector': 'use-sync-external-store/with-selector',
    },
  },
  server: {
    host: '127.0.0.1',
    strictPort: true,
    // npm run dashboard:dev names the service.
    proxy: serviceProxy(process.env['DASHBOARD_DEV_API'] ?? 'http://127.0.0.1:8080'),
  },
  build: {
    outDir: here('../../dist/dashboard'),
    emptyOutDir: true,
    manifest: true,
    // The texts of the licences go where the code goes.
    license: { fileName: 'licences.txt' },
    target: 'es2022',
    // The policy allows no data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: { input: { index: here('./index.html'), card: here('./card.html') } },
  },
});
