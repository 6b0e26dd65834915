import { ProofCancelled } from '../data/errors.js';
import { freshProofTexts as t } from '../texts/fresh-proof.js';

/** A question that is open: one at a time, whoever asks. */
interface OpenProof {
  /** The hook whose component shows it. */
  readonly owner: string;
  readonly proved: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (reason: Error) => void;
}

let open: OpenProof | undefined;

/** The question that is open now. */
export const openProof = (): OpenProof | undefined => open;

const listeners = new Set<() => void>();

function setOpen(proof: OpenProof | undefined): void {
  open = proof;
  for (const listener of listeners) listener();
}

/** Calls back when a question is opened or answered. Returns how to stop that. */
export function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Asks whoever sits there to show who they are; a question that is open already answers this one as well. */
export function askProof(owner: string): Promise<void> {
  if (open) return open.proved;
  let resolve: () => void = () => undefined;
  let reject: (reason: Error) => void = () => undefined;
  const proved = new Promise<void>((onProved, onFailed) => {
    resolve = onProved;
    reject = onFailed;
  });
  setOpen({ owner, proved, resolve, reject });
  return proved;
}

/** Answers a question; one that is answered already stays so. */
export function endProof(proof: OpenProof, how: 'proved' | 'cancelled'): void {
  if (open !== proof) return;
  setOpen(undefined);
  if (how === 'proved') proof.resolve();
  else proof.reject(new ProofCancelled(t.cancelled, t.cancelledStep));
}
