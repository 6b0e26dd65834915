import type { LabEvent } from '../../../lab/processor/tables.js';
import type { Chance } from '../kernel/chance.js';

/** An event that the processor never sent, and what must become of it. */
export interface Forgery {
  readonly what: string;
  readonly id: string;
  readonly body: string;
  /** What its signature was made of. */
  readonly signedBody: string;
  /** The secret that signs it. */
  readonly secret: string;
  /** How long before its arrival it says that it was signed, in seconds; negative: after. */
  readonly ageSeconds: number;
  /** Whether it must be refused and nothing of it kept. */
  readonly mustBeRefused: boolean;
}

/** What a forger knows of the truth. */
interface Known {
  readonly event: LabEvent;
  readonly userIds: readonly string[];
  readonly secret: string;
  readonly no: number;
}

type Change = Partial<Omit<Forgery, 'what' | 'id'>> & {
  readonly kind?: string;
  readonly object?: Record<string, unknown>;
};

/** The ways to forge an event after a true one. */
const ways: Readonly<Record<string, (known: Known, chance: Chance) => Change>> = {
  // Strangers know the path and no secret.
  'another secret': () => ({ secret: 'whsec_of_a_stranger', mustBeRefused: true }),
  'a body changed on its way': ({ event }) => ({
    object: { ...event.data.object, amount: 1_000_000 },
    signedBody: JSON.stringify(event),
    mustBeRefused: true,
  }),
  // A delivery that somebody wrote down, and one that is signed for later (reference "payments": 300 s).
  'an old signature': (_known, chance) => ({ ageSeconds: 302 + chance.below(100_000), mustBeRefused: true }),
  'a future signature': (_known, chance) => ({
    ageSeconds: -302 - chance.below(100_000),
    mustBeRefused: true,
  }),
  // The processor's own signature, and an object of another account or mode, or one that was deleted.
  'an object that is not there': ({ event, no }) => ({
    object: { ...event.data.object, id: `${String(Reflect.get(event.data.object, 'id'))}none${no}` },
  }),
  'an object of somebody else': ({ event, userIds }, chance) => ({
    object: { ...event.data.object, metadata: metadataOf(event, { user_id: chance.pick(userIds) }) },
  }),
  'a stray payment': ({ userIds, no }, chance) => ({
    kind: 'payment_intent.succeeded',
    object: { id: `pi_none${no}`, object: 'payment_intent', metadata: { user_id: chance.pick(userIds) } },
  }),
  'no event at all': ({ no }) => ({ body: `{"id":"evt_odd${no}"}` }),
};

/** Forges an event after a true one. The id is never that of a true event. */
export function forge(known: Known, chance: Chance): Forgery {
  const what = chance.pick(Object.keys(ways));
  const { event, no, secret } = known;
  const change = ways[what]?.(known, chance) ?? {};
  const id = `evt_forged${no}`;
  const content = {
    ...{ id, type: change.kind ?? event.type, created: event.created },
    ...{
      livemode: chance.perMille(500),
      api_version: null,
      data: { object: change.object ?? event.data.object },
    },
  };
  const body = change.body ?? JSON.stringify(content);
  return {
    ...{ what, id, body, signedBody: change.signedBody ?? body, secret: change.secret ?? secret },
    ...{ ageSeconds: change.ageSeconds ?? 0, mustBeRefused: change.mustBeRefused ?? false },
  };
}

function metadataOf(event: LabEvent, change: object): object {
  return { ...(Reflect.get(event.data.object, 'metadata') as object | undefined), ...change };
}
