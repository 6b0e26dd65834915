import '../styles.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from '../data/query-client.js';
import { CardPage } from './card-page.js';

const root = document.getElementById('root');
if (!root) throw new Error('card.html has no element of the id root');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <CardPage />
    </QueryClientProvider>
  </StrictMode>,
);
