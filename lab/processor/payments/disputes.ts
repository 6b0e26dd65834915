import type Stripe from 'stripe';
import { invalidRequest, noSuch } from '../http/errors.js';
import type { Call, Endpoint, World } from '../http/endpoint.js';
import { closeWarnings } from './fraud-warnings.js';
import { idOf, newId } from '../ids.js';
import { page } from '../http/listing.js';

/** The processor's fee for a dispute (stripe.com/pricing: "$15.00 per dispute received"). */
const feeCents = 1500;
const evidenceDueS = 9 * 24 * 3600;

/** @throws ApiError `resource_missing` */
export function getDispute(world: World, id: string): Stripe.Dispute {
  const dispute = world.store.find('disputes', id);
  if (dispute === undefined) throw noSuch('dispute', id);
  return dispute;
}

/**
 * Lets a card's owner dispute a charge. The dispute takes the money at once, unless it is only an inquiry of the bank.
 * @param details.amount may differ from the charge's
 * @param details.withdrawsLater the money is taken by a later `withdraw`
 */
export function openDispute(
  world: World,
  charge: Stripe.Charge,
  details: {
    amount?: number | undefined;
    reason?: string | undefined;
    inquiry?: boolean | undefined;
    withdrawsLater?: boolean | undefined;
  } = {},
): Stripe.Dispute {
  const isInquiry = details.inquiry === true;
  const opened = world.store.put('disputes', {
    id: newId('du'),
    object: 'dispute',
    amount: details.amount ?? charge.amount,
    balance_transactions: [],
    charge: charge.id,
    created: world.now(),
    currency: charge.currency,
    enhanced_eligibility_types: [],
    evidence: noEvidence,
    evidence_details: {
      due_by: world.now() + evidenceDueS,
      enhanced_eligibility: {},
      has_evidence: false,
      past_due: false,
      submission_count: 0,
    },
    is_charge_refundable: isInquiry,
    livemode: false,
    metadata: {},
    payment_intent: idOf(charge.payment_intent),
    reason: details.reason ?? 'fraudulent',
    status: isInquiry ? 'warning_needs_response' : 'needs_response',
  });
  world.store.put('charges', { ...charge, disputed: true });
  world.emit('charge.dispute.created', opened);
  closeWarnings(world, charge.id);
  return isInquiry || details.withdrawsLater === true ? opened : withdraw(world, opened);
}

/** Takes the disputed amount and the fee. */
export function withdraw(world: World, dispute: Stripe.Dispute): Stripe.Dispute {
  const withdrawn = world.store.put('disputes', {
    ...dispute,
    balance_transactions: [
      ...dispute.balance_transactions,
      moveOf(world, dispute, -dispute.amount, feeCents),
    ],
  });
  world.emit('charge.dispute.funds_withdrawn', withdrawn);
  return withdrawn;
}

/** The bank turns an inquiry into a dispute, which takes the money. */
export function escalateDispute(world: World, dispute: Stripe.Dispute): Stripe.Dispute {
  if (dispute.status !== 'warning_needs_response')
    throw invalidRequest('Only an inquiry can be taken further.');
  const escalated = world.store.put('disputes', {
    ...dispute,
    status: 'needs_response',
    is_charge_refundable: false,
  });
  world.emit('charge.dispute.updated', escalated);
  return withdraw(world, escalated);
}

/** The bank looks at the evidence. */
export function reviewDispute(world: World, dispute: Stripe.Dispute): Stripe.Dispute {
  const reviewed = world.store.put('disputes', { ...dispute, status: 'under_review' });
  world.emit('charge.dispute.updated', reviewed);
  return reviewed;
}

/**
 * Decides a dispute. A won dispute gives its money back.
 * @param reinstatesLater the money comes back by a later `reinstate`
 */
export function decideDispute(
  world: World,
  dispute: Stripe.Dispute,
  won: boolean,
  reinstatesLater = false,
): Stripe.Dispute {
  if (['won', 'lost', 'warning_closed'].includes(dispute.status)) {
    throw invalidRequest(`This dispute is ${dispute.status} already.`);
  }
  const isInquiry = dispute.status.startsWith('warning_');
  const status = isInquiry ? 'warning_closed' : won ? 'won' : 'lost';
  const decided = world.store.put('disputes', { ...dispute, status });
  const closed = status === 'won' && !reinstatesLater ? reinstate(world, decided) : decided;
  world.emit('charge.dispute.closed', closed);
  return closed;
}

/** Gives the money of a dispute that was won back. */
export function reinstate(world: World, dispute: Stripe.Dispute): Stripe.Dispute {
  const reinstated = world.store.put('disputes', {
    ...dispute,
    is_charge_refundable: true,
    balance_transactions: [
      ...dispute.balance_transactions,
      moveOf(world, dispute, dispute.amount, -feeCents),
    ],
  });
  world.emit('charge.dispute.funds_reinstated', reinstated);
  return reinstated;
}

function moveOf(
  world: World,
  dispute: Stripe.Dispute,
  amount: number,
  fee: number,
): Stripe.BalanceTransaction {
  return {
    id: newId('txn'),
    object: 'balance_transaction',
    amount,
    available_on: world.now(),
    balance_type: 'payments',
    created: world.now(),
    currency: dispute.currency,
    description: null,
    exchange_rate: null,
    fee,
    fee_details: [
      {
        amount: fee,
        application: null,
        currency: dispute.currency,
        description: 'Dispute fee',
        type: 'stripe_fee',
      },
    ],
    net: amount - fee,
    reporting_category: amount < 0 ? 'dispute' : 'dispute_reversal',
    source: dispute.id,
    status: 'available',
    type: 'adjustment',
  };
}

/** The texts that decide a test dispute (docs.stripe.com/testing, "Evidence"). */
const decisions = new Map([
  ['winning_evidence', true],
  ['losing_evidence', false],
]);

function update({ world, params, id }: Call): Stripe.Dispute {
  const dispute = getDispute(world, id);
  const text = params.child('evidence')?.string('uncategorized_text');
  const submit = params.boolean('submit') ?? true;
  const metadata = params.metadata();
  const updated = world.store.put('disputes', {
    ...dispute,
    metadata: { ...dispute.metadata, ...metadata },
    evidence: { ...dispute.evidence, uncategorized_text: text ?? dispute.evidence.uncategorized_text },
    evidence_details: {
      ...dispute.evidence_details,
      has_evidence: text !== undefined || dispute.evidence_details.has_evidence,
      submission_count: dispute.evidence_details.submission_count + (submit ? 1 : 0),
    },
  });
  world.emit('charge.dispute.updated', updated);
  const won = submit && text !== undefined ? decisions.get(text) : undefined;
  return won === undefined ? updated : decideDispute(world, updated, won);
}

function list(call: Call): object {
  const charge = call.params.string('charge');
  const intent = call.params.string('payment_intent');
  const disputes = call.world.store
    .list('disputes')
    .filter((dispute) => charge === undefined || idOf(dispute.charge) === charge)
    .filter((dispute) => intent === undefined || idOf(dispute.payment_intent) === intent);
  return page(call, disputes);
}

const noEvidence: Stripe.Dispute.Evidence = {
  access_activity_log: null,
  billing_address: null,
  cancellation_policy: null,
  cancellation_policy_disclosure: null,
  cancellation_rebuttal: null,
  customer_communication: null,
  customer_email_address: null,
  customer_name: null,
  customer_purchase_ip: null,
  customer_signature: null,
  duplicate_charge_documentation: null,
  duplicate_charge_explanation: null,
  duplicate_charge_id: null,
  enhanced_evidence: {},
  product_description: null,
  receipt: null,
  refund_policy: null,
  refund_policy_disclosure: null,
  refund_refusal_explanation: null,
  service_date: null,
  service_documentation: null,
  shipping_address: null,
  shipping_carrier: null,
  shipping_date: null,
  shipping_documentation: null,
  shipping_tracking_number: null,
  uncategorized_file: null,
  uncategorized_text: null,
};

export const disputeEndpoints: readonly Endpoint[] = [
  { method: 'get', path: '/disputes', handle: list },
  { method: 'get', path: '/disputes/:id', handle: ({ world, id }) => getDispute(world, id) },
  { method: 'post', path: '/disputes/:id', handle: update },
  {
    method: 'post',
    path: '/disputes/:id/close',
    handle: ({ world, id }) => decideDispute(world, getDispute(world, id), false),
  },
];
