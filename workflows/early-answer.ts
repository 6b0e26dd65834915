import { ActivityFailure, ApplicationFailure, log } from '@temporalio/workflow';

/**
 * The result of opening an entity. A workflow that was started to open one answers its caller as soon as this is known,
 * through an update. A refusal ends the workflow quietly: it is an answer, not a failure for operators.
 */
export type EarlyAnswer<T> =
  | { readonly kind: 'opened'; readonly value: T }
  | { readonly kind: 'refused'; readonly failure: ApplicationFailure };

/**
 * Waits for the opening activity. Any failure that stops it for good is a refusal: nothing was opened, or nobody knows.
 */
export async function earlyAnswerOf<T>(activity: Promise<T>): Promise<EarlyAnswer<T>> {
  try {
    return { kind: 'opened', value: await activity };
  } catch (error) {
    const cause = error instanceof ActivityFailure ? error.cause : undefined;
    if (cause instanceof ApplicationFailure && cause.nonRetryable === true) return refused(cause);
    log.error('opening failed for good', { error });
    return refused(
      ApplicationFailure.nonRetryable(
        'The service could not answer in time. Try again.',
        'temporarily_unavailable',
      ),
    );
  }
}

/** Answers the update `open`. */
export async function answerOf<T>(opening: Promise<EarlyAnswer<T>>): Promise<T> {
  const outcome = await opening;
  if (outcome.kind === 'opened') return outcome.value;
  throw outcome.failure;
}

function refused(failure: ApplicationFailure): { kind: 'refused'; failure: ApplicationFailure } {
  return {
    kind: 'refused',
    failure: ApplicationFailure.create({
      type: failure.type ?? 'temporarily_unavailable',
      message: failure.message,
      nonRetryable: true,
      details: failure.details ?? [],
    }),
  };
}
