import { hasOpenSsh, openGpu } from './gpu.js';
import { claimGpus, logIn } from './log-in.js';
import { awaitEnd, awaitMachine, readNewest, rent, stop, type Rental, type Wish } from './rental.js';
import { addKey } from './renter-key.js';
import { step, type Stage } from './stage.js';
import { claim } from './story-error.js';

/** The middle of the story: a machine is rented, entered, used for a while, and stopped. */
type PlayRenting = (
  stage: Stage,
  wish: Wish & { readonly words: string },
  meanwhile: (rental: Rental) => Promise<void>,
) => Promise<Rental>;

/** What the key of `gpu` may spend, in cents: more than the story does. */
const spendCapCents = 5_000;

/** By the command `gpu`; by the API where there is no OpenSSH, without which `gpu` enters no machine. */
export const playRenting: PlayRenting = (stage, wish, meanwhile) =>
  (hasOpenSsh() ? byGpu : byApi)(stage, wish, meanwhile);

const byGpu: PlayRenting = async (stage, { familyId, gpuCount, words }, meanwhile) => {
  const gpu = await step(stage, 'Make a key with a cap for the command gpu', () =>
    openGpu(stage, spendCapCents),
  );
  try {
    await step(stage, `Rent ${words}`, () =>
      gpu.run('rent', familyId, '--gpus', String(gpuCount), '--name', 'demo', '--yes'),
    );
    const rental = await readNewest(stage);
    claim(rental.status === 'running', `the rental is ${rental.status}, and gpu said that it is ready.`);
    await step(stage, 'Log in over SSH', async () =>
      claimGpus(stage, rental, await gpu.run('ssh', 'demo', '--', 'nvidia-smi')),
    );
    await meanwhile(rental);
    return await step(stage, 'Stop it', async () => {
      await gpu.run('stop', 'demo');
      return awaitEnd(stage, rental.id);
    });
  } finally {
    gpu.close();
  }
};

const byApi: PlayRenting = async (stage, { words, ...wish }, meanwhile) => {
  const key = await step(stage, 'Add an SSH key', () => addKey(stage));
  const { id } = await step(stage, `Rent ${words}`, () => rent(stage, wish));
  const rental = await step(stage, 'Wait for the machine', () => awaitMachine(stage, id));
  await step(stage, 'Log in over SSH', () => logIn(stage, rental, key));
  await meanwhile(rental);
  return step(stage, 'Stop it', () => stop(stage, id));
};
