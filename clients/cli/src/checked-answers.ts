import { Failure } from './failure.js';
import { cut, plain } from './output/text.js';

/** The fields of answers that name a thing of the service. What an upstream or the processor names is told, never used. */
const idFields: ReadonlySet<string> = new Set([
  ...['id', 'rentalId', 'quoteId', 'topupId', 'changeId', 'invoiceId', 'operationId'],
  ...['apiKeyId', 'sshKeyId', 'eventId', 'entityId'],
]);
/** Lists whose ids are words of the catalog: they become a part of nothing. */
const wordLists: ReadonlySet<string> = new Set(['templates']);
/** Of whatever kind: a newer service may know more kinds, and longer ids. */
const idForm = /^[a-z]{2,5}_[0-9A-Za-z]{20,40}$/;

/** Tells whether a text can be an id of the service: it becomes a part of file names, arguments and addresses. */
export function isServiceId(text: string): boolean {
  return idForm.test(text);
}

/** The failure of an id that is none. */
export function oddId(text: string): Failure {
  return new Failure(
    'server',
    `"${cut(plain(text), 60)}" is not an id of the service.`,
    'Something else may be answering in its place: check --url.',
  );
}

/**
 * Checks the ids of an answer as it comes in. A row of a list that holds an id that is none is taken out of it.
 * @param leaveOut is told why
 * @throws Failure where no row holds it
 */
export function checkAnswer<T>(answer: T, leaveOut: (why: string) => void): T {
  if (Array.isArray(answer)) return answer.filter((row) => isSound(row, leaveOut)) as T;
  if (typeof answer !== 'object' || answer === null) return answer;
  for (const [name, value] of Object.entries(answer)) {
    if (wordLists.has(name)) continue;
    if (idFields.has(name) && typeof value === 'string' && !isServiceId(value)) throw oddId(value);
    Object.assign(answer, { [name]: checkAnswer<unknown>(value, leaveOut) });
  }
  return answer;
}

function isSound(row: unknown, leaveOut: (why: string) => void): boolean {
  try {
    checkAnswer(row, leaveOut);
    return true;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    leaveOut(error.message);
    return false;
  }
}
