import { proxyActivities, sleep } from '@temporalio/workflow';

const { meterOne } = proxyActivities<{ meterOne(no: number): Promise<void> }>({ startToCloseTimeout: '10s' });

/** The naive design of metering: one durable timer and one activity per rental and second. */
export async function literalMeter(no: number): Promise<void> {
  for (;;) {
    await sleep(1_000);
    await meterOne(no);
  }
}
