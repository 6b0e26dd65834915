import '../styles.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { CardPage } from './card-page.js';

const root = document.getElementById('root');
if (!root) throw new Error('card.html has no element of the id root');
const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <CardPage />
    </QueryClientProvider>
  </StrictMode>,
);
