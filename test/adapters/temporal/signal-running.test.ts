import assert from 'node:assert/strict';
import { WorkflowNotFoundError, type WorkflowClient } from '@temporalio/client';
import type { SignalDefinition } from '@temporalio/common';
import { newId } from '../../../adapters/ids.js';
import { signalRunning } from '../../../adapters/temporal/signal-workflow.js';
import { webhookWorkflowId } from '../../../domain/webhooks/webhook.js';

describe('signals to many running workflows', () => {
  /** Temporal's client as far as this needs it. */
  class Workflows {
    readonly signalled = new Map<string, string>();
    readonly deadlines: number[] = [];
    most = 0;
    #now = 0;

    constructor(private readonly answer: (id: string) => Promise<void> = () => Promise.resolve()) {}

    readonly client = {
      withDeadline: (deadline: number, work: () => Promise<void>) => {
        this.deadlines.push(deadline);
        return work();
      },
      getHandle: (id: string) => ({ signal: (signal: SignalDefinition) => this.#signal(id, signal) }),
    } as unknown as WorkflowClient;

    async #signal(id: string, { name }: SignalDefinition): Promise<void> {
      this.#now += 1;
      this.most = Math.max(this.most, this.#now);
      await new Promise(setImmediate);
      this.#now -= 1;
      await this.answer(id);
      this.signalled.set(id, name);
    }
  }

  it('go to each by the signal that it looks at', async () => {
    const temporal = new Workflows();
    const [rental, order, topup, user] = [newId('rent'), newId('op'), newId('top'), newId('usr')];
    const ids = [rental, order, topup, webhookWorkflowId(newId('wh')), `closing:${user}`, 're_1'];
    await signalRunning(temporal.client, ids);
    assert.deepEqual(
      ids.map((id) => temporal.signalled.get(id)),
      ['look', 'look', 'processor-event', 'look', 'processor-event', 'processor-event'],
    );
  });

  it('are several at a time, each with a deadline of its own', async () => {
    const temporal = new Workflows();
    const ids = Array.from({ length: 300 }, () => newId('rent'));
    await signalRunning(temporal.client, ids);
    assert.equal(temporal.signalled.size, 300);
    assert.equal(temporal.deadlines.length, 300);
    assert.ok(temporal.most > 1 && temporal.most <= 10, String(temporal.most));
  });

  it('leave out one that has ended, and one that fails keeps no other from its own', async () => {
    const ids = Array.from({ length: 30 }, () => newId('rent'));
    const temporal = new Workflows((id) => {
      if (id === ids[0]) return Promise.reject(new WorkflowNotFoundError('ended', id, undefined));
      return id === ids[1] ? Promise.reject(new Error('unavailable')) : Promise.resolve();
    });
    await assert.rejects(signalRunning(temporal.client, ids), {
      message: '1 of 30 were not signalled: unavailable',
    });
    assert.equal(temporal.signalled.size, 28);
  });

  it('end where Temporal answers none', async () => {
    const ids = Array.from({ length: 300 }, () => newId('rent'));
    const temporal = new Workflows(() => Promise.reject(new Error('unavailable')));
    await assert.rejects(signalRunning(temporal.client, ids), {
      message: '300 of 300 were not signalled: unavailable',
    });
    assert.ok(temporal.deadlines.length < 50, String(temporal.deadlines.length));
  });
});
