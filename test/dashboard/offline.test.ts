import assert from 'node:assert/strict';
import { MutationObserver, onlineManager, QueryObserver } from '@tanstack/react-query';
import { queryClient } from '../../clients/dashboard/src/data/query-client.js';
import { until } from '../support/until.js';

describe('while the browser says that it is offline', () => {
  const silence = (): Promise<never> => Promise.reject(new Error('no answer'));
  beforeEach(() => onlineManager.setOnline(false));
  afterEach(() => {
    onlineManager.setOnline(true);
    queryClient.clear();
  });

  it('a press is tried and fails at once, and nothing of it is sent later', async () => {
    let sent = 0;
    const press = new MutationObserver(queryClient, {
      mutationFn: () => {
        sent += 1;
        return silence();
      },
    });
    press.mutate().catch(() => undefined);
    await until('it has failed', () => press.getCurrentResult().isError);
    onlineManager.setOnline(true);
    await queryClient.resumePausedMutations();
    assert.equal(sent, 1);
  });

  it('what a page reads fails as well, and is read again once the browser is back', async () => {
    let answer: () => Promise<string> = silence;
    const read = new QueryObserver(queryClient, { queryKey: ['read'], queryFn: () => answer() });
    const stop = read.subscribe(() => undefined);
    await until('it has failed', () => read.getCurrentResult().isError);
    queryClient.mount();
    answer = () => Promise.resolve('told');
    onlineManager.setOnline(true);
    await until('it is there', () => read.getCurrentResult().data === 'told');
    queryClient.unmount();
    stop();
  });
});
