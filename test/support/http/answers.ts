import type { UserId } from '../../../domain/ids.js';

/** An answer of the API, as received. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: AnswerBody;
  /** The body as it was sent. */
  readonly text: string;
}

/** The bodies of all endpoints in one type. The tests check which fields are present and what they hold. */
export interface AnswerBody extends Item {
  readonly message: string;
  readonly requestId: string;
  readonly details: AnswerDetails;
  readonly ok: boolean;

  readonly user: { readonly id: UserId; readonly email: string; readonly createdAt: string };
  readonly created: boolean;

  readonly sshKeys: readonly Item[];
  readonly listings: readonly Item[];
  readonly listing: { readonly providerCode: string };
  readonly quoteId: string;
  readonly ownSoftware: unknown;
  readonly families: readonly Item[];
  readonly templates: readonly Item[];
  readonly rentals: readonly Item[];
  readonly entries: readonly Item[];
  readonly topups: readonly Item[];
  readonly nextCursor: string | null;
  readonly balanceCents: number;
  readonly range?: { readonly oldestSeq: number; readonly newestSeq: number };

  readonly data: readonly Item[];
  readonly url: string | null;

  readonly enabled: boolean;
  readonly thresholdCents: number | null;
  readonly topupAmountCents: number | null;
  readonly dailyCapCents: number | null;
  readonly disabledReason: string | null;
  readonly nextAttemptAt: string | null;
  readonly declineCode: string | null;
  readonly warnings: readonly string[];

  readonly availableCents: number;
  readonly reservedCents: number;
  readonly totalCents: number;
  readonly openInvoicesCents: number;
  readonly openInvoiceCount: number;
  readonly burnPerHourCents: number;
  readonly runwaySeconds: number | null;
  readonly updatedAt: string;

  readonly checks: {
    readonly postgres: string;
    readonly schema: string;
    readonly temporal: string;
    readonly brakes: readonly string[];
  };
}

/** One row of a list, or the whole body of a single resource. */
export interface Item {
  readonly id: string;
  readonly status: string;
  readonly error: string;
  readonly createdAt: string;
  readonly startedAt: string;
  readonly runningAt: string;
  readonly expiresAt: string;

  readonly name: string;
  readonly publicKey: string;
  readonly privateKey: string;
  readonly fingerprint: string;

  readonly family: string;
  readonly isDefault: boolean;

  readonly host: string | null;
  readonly port: number | null;
  readonly username: string | null;
  readonly hostKeyFingerprint: string | null;
  readonly templateId: string;
  readonly software: Readonly<Record<string, unknown>>;
  readonly endpoints: readonly Readonly<Record<'url' | 'host' | 'name', string> & Record<string, unknown>>[];
  readonly phase: string | null;
  readonly phaseSince: string | null;
  readonly attempt: number | null;
  readonly expectedReadyAt: string | null;
  readonly pricePerHourCents: number;
  readonly totalChargedCents: number;
  readonly writtenOffCents: number;
  readonly warnings: readonly string[];

  readonly rentalId: string;
  readonly secondsBilled: number;
  readonly chargedCents: number;
  readonly pendingMillicents: number;
  readonly holdCents: number;
  readonly lastTickAt: string;
  readonly finalChargedCents: number | null;
  readonly refundedCents: number | null;

  readonly type: string;
  readonly amountCents: number;
  readonly balanceAfterCents: number;
  readonly processorChargeId: string;

  readonly topupId: string;
  readonly sessionId: string;
  readonly checkoutUrl: string;
  readonly creditedCents: number | null;
  readonly receiptUrl: string | null;
}

export interface AnswerDetails {
  readonly fields: readonly { readonly field: string; readonly message: string }[];
  readonly rentalId: string;
  readonly topupId: string;
  readonly outcome: string;
  readonly availableCents: number;
  readonly requiredCents: number;
  readonly reason: string;
  readonly misfits: readonly Readonly<Record<'field' | 'providerCode', string> & { limit: number }>[];
}
