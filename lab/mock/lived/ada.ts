import { DAY, HOUR, MINUTE } from '../../../domain/durations.js';
import type { MockServer } from '../server.js';
import type { SteeredClock } from '../steered-clock.js';
import { Person } from './person.js';

/** How long ago the story begins. */
export const livedMs = 41 * DAY;

/** What the story leaves, by its ids: a machine that runs, one that has ended, a webhook. */
export interface LivedAccount {
  readonly email: string;
  readonly runningId: string;
  readonly endedId: string;
  readonly webhookId: string;
}

const browsers = {
  laptop:
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  phone:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
  old: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
};

/**
 * Lets one user, Ada, live through six weeks: rentals of each fate, payments that succeeded and one that did not, keys,
 * webhooks, a budget. It ends with the clock `livedMs` later, with three machines that run and one that boots.
 */
export async function liveThrough(mock: MockServer, clock: SteeredClock): Promise<LivedAccount> {
  const startedAt = clock.now().getTime();
  const email = 'ada@example.com';
  const ada = await new Person(mock, clock, email, browsers.laptop).signIn();
  /** Lets time pass until so long before the story's end. */
  const goTo = (beforeEndMs: number, tickEveryMs?: number): void =>
    ada.pass(startedAt + livedMs - beforeEndMs - clock.now().getTime(), tickEveryMs);
  await beginAccount(ada);
  goTo(38 * DAY);
  const endedId = await rentForTheFirstTime(ada);
  goTo(30 * DAY);
  await meetMisfortunes(ada);
  goTo(20 * DAY);
  const webhookId = await setUpTools(ada);
  goTo(9 * DAY);
  await fineTune(ada);
  goTo(5 * DAY);
  await loseTheCard(ada);
  await signInElsewhere(mock, clock, email);
  goTo(2 * DAY + 3 * HOUR);
  await ada.prove();
  await ada.api.rentals.create({
    ...{ familyId: 'rtx-4090', gpuCount: 1, templateId: 'ollama' },
    name: 'embedding-service-eu-production-with-a-rather-long-name',
    labels: { team: 'search', env: 'production' },
  });
  goTo(6 * HOUR, 10 * MINUTE);
  const runningId = await ada.rent({
    ...{ familyId: 'h100-80gb', gpuCount: 8, templateId: 'pytorch', name: 'llama-pretrain' },
    ...{ autoStopAfterHours: 12, maxSpendCents: 40_000 },
    labels: { team: 'research', project: 'llama' },
  });
  // It must go on for as long as somebody may look at it.
  goTo(15 * MINUTE);
  await ada.rent({
    ...{ familyId: 'b200', gpuCount: 1, templateId: 'vllm', name: 'notebook' },
    ...{ autoStopAfterHours: 1, labels: { team: 'research' } },
  });
  goTo(1_100, MINUTE);
  await ada.rent({ familyId: 'l40s', gpuCount: 1, name: 'render' }, 'runs', 1_100);
  return { email, runningId, endedId, webhookId };
}

const publicKeys = {
  laptop: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIILHUBtNJZvdOw5S9jRC4uP/itkkFhI+AU/6rNAi8aVp ada@laptop',
  workstation:
    'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIL4Q0L9rqhTHZmdEKddbSXNdIjShMlVd17zGgpCXjdFU ada@workstation',
  farm: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBhs2fyljRejQsEtnLXR+A4z8pRsGvTw19DjyCMcn34n deploy@build-farm-7.eu-central.internal',
};

/** The first day: a key, money by the hosted page, a card. */
async function beginAccount(ada: Person): Promise<void> {
  ada.pass(3 * MINUTE);
  await ada.api.sshKeys.add({ name: 'laptop', publicKey: publicKeys.laptop });
  ada.pass(6 * MINUTE);
  await ada.payOnPage(2_500);
  ada.pass(2 * HOUR);
  await ada.saveCard('pays');
}

/** A short first rental, and a long one that its limit ended. @returns the id of the long one */
async function rentForTheFirstTime(ada: Person): Promise<string> {
  const first = await ada.rent({ familyId: 'rtx-4090', gpuCount: 1, name: 'first try' });
  ada.pass(27 * MINUTE);
  await ada.stop(first);
  ada.pass(DAY);
  await ada.api.checkout.create({ amountCents: 12_000 });
  const long = await ada.rent({
    ...{ familyId: 'h100-80gb', gpuCount: 8, templateId: 'pytorch', name: 'pretrain-0' },
    ...{ autoStopAfterHours: 3.5, labels: { team: 'research', project: 'llama' } },
  });
  ada.pass(HOUR);
  await ada.api.rentals.change(long, { name: 'pretrain-0-warmup' });
  ada.pass(3 * HOUR);
  return long;
}

/** One that reached its limit of money, one that never came up, and one that was lost at its start. */
async function meetMisfortunes(ada: Person): Promise<void> {
  await ada.rent({ familyId: 'a100-80gb', gpuCount: 1, maxSpendCents: 500, name: 'eval' });
  ada.pass(5 * HOUR);
  await ada.rent({ familyId: 'l40s', gpuCount: 1, name: 'render' }, 'fails');
  ada.pass(9 * HOUR);
  await ada.rent({ familyId: 'rtx-5090', gpuCount: 1 }, 'is_lost', MINUTE);
  ada.pass(8 * HOUR);
  const unlucky = await ada.rent({ familyId: 'a100-80gb', gpuCount: 2, labels: { team: 'search' } });
  ada.pass(2 * HOUR + 13 * MINUTE);
  await ada.stop(unlucky);
}

/** Keys for programs, webhooks, auto-topup, a budget, mails. @returns the id of the first webhook */
async function setUpTools(ada: Person): Promise<string> {
  const { api } = ada;
  await ada.prove();
  await api.sshKeys.add({ name: 'workstation', publicKey: publicKeys.workstation });
  await api.sshKeys.add({
    name: 'deploy key of the build farm in Frankfurt',
    publicKey: publicKeys.farm,
  });
  await api.autoTopup.save({
    ...{ enabled: true, thresholdCents: 2_000, topupAmountCents: 5_000, dailyCapCents: 20_000 },
  });
  const hook = await api.webhooks.add({
    url: 'https://hooks.example.com/gpu-rental',
    types: [],
    description: 'Everything, to the chat',
  });
  await api.webhooks.add({
    url: 'https://billing.internal.example.com/v2/receivers/gpu-rental/ledger-and-invoices',
    types: ['invoice.opened', 'invoice.paid', 'topup.succeeded', 'topup.failed'],
    description: '',
  });
  ada.pass(MINUTE, MINUTE);
  for (let time = 0; time < 5; time += 1) {
    await api.webhooks.ping(hook.id);
    ada.pass(MINUTE, MINUTE);
  }
  await ada.prove();
  const ci = await api.apiKeys.create({
    ...{ name: 'ci', scopes: ['read', 'rentals'], spendCapCents: 4_000 },
    allowedCidrs: ['127.0.0.0/8', '198.51.100.0/24'],
  });
  await api.apiKeys.create({ name: 'grafana of the platform team, read only', scopes: ['read', 'billing'] });
  const old = await api.apiKeys.create({ name: 'old notebook', scopes: ['read', 'rentals', 'billing'] });
  await api.wallet.saveBudget({ monthlyCents: 60_000, hard: false });
  await api.notices.save({ kinds: { rental_auto_stop: false } });
  await ada.rentByKey(ci.key);
  ada.pass(DAY);
  await api.apiKeys.revoke(old.id);
  return hook.id;
}

/** A long rental, for which the card is charged by itself. */
async function fineTune(ada: Person): Promise<void> {
  const id = await ada.rent({
    ...{ familyId: 'h100-80gb', gpuCount: 2, templateId: 'pytorch', name: 'fine-tune' },
    labels: { team: 'research', project: 'llama', run: '2026-11-llama-8b-lora-r64-lr2e-4' },
  });
  ada.pass(11 * HOUR + 20 * MINUTE);
  await ada.stop(id);
}

/** The card is declined twice, which leaves invoices, of which the newer one is paid; then another card pays. */
async function loseTheCard(ada: Person): Promise<void> {
  const { api } = ada;
  await ada.saveCard('declines');
  const id = await ada.rent({ familyId: 'b200', gpuCount: 1, name: 'try a B200' });
  ada.pass(8 * HOUR + 40 * MINUTE);
  await api.autoTopup.save({ enabled: true, thresholdCents: 2_000 });
  ada.pass(10 * MINUTE);
  await ada.stop(id);
  const open = await api.invoices.list({ status: 'open' });
  for (const invoice of open) await ada.payInvoice(invoice.id);
  await api.checkout.create({ amountCents: 10_000 }).catch(() => undefined);
  ada.pass(HOUR);
  await ada.saveCard('pays');
  await api.checkout.create({ amountCents: 4_000 });
  ada.pass(DAY);
  await api.checkout.create({ amountCents: 40_000 });
  await api.autoTopup.save({ enabled: true, thresholdCents: 2_000 });
}

async function signInElsewhere(mock: MockServer, clock: SteeredClock, email: string): Promise<void> {
  await new Person(mock, clock, email, browsers.old).signIn();
  clock.advance(DAY);
  await new Person(mock, clock, email, browsers.phone).signIn();
}
