import type Stripe from 'stripe';
import type { World } from '../http/endpoint.js';
import { newId } from '../ids.js';
import type { InvoiceItemRow } from '../tables.js';

const nothingDue = {
  amount_due: 0,
  amount_overpaid: 0,
  amount_paid: 0,
  amount_paid_off_stripe: 0,
  amount_remaining: 0,
  amount_shipping: 0,
  post_payment_credit_notes_amount: 0,
  pre_payment_credit_notes_amount: 0,
  starting_balance: 0,
  subtotal: 0,
  subtotal_excluding_tax: 0,
  total: 0,
  total_excluding_tax: 0,
};

const nothingSaid = {
  custom_fields: null,
  default_payment_method: null,
  default_source: null,
  description: null,
  due_date: null,
  effective_at: null,
  ending_balance: null,
  footer: null,
  from_invoice: null,
};

/** A draft without lines, before any field of its request. */
export function blankInvoice(world: World, customer: Stripe.Customer): Stripe.Invoice {
  const id = newId('in');
  const createdAt = world.now();
  return {
    id,
    object: 'invoice',
    ...nothingDue,
    ...nothingSaid,
    account_country: 'US',
    account_name: 'GPU rental lab',
    account_tax_ids: null,
    application: null,
    attempt_count: 0,
    attempted: false,
    auto_advance: false,
    automatic_tax: { disabled_reason: null, enabled: false, liability: null, provider: null, status: null },
    automatically_finalizes_at: null,
    billing_reason: 'manual',
    collection_method: 'charge_automatically',
    created: createdAt,
    currency: 'usd',
    customer: customer.id,
    customer_account: null,
    customer_address: null,
    customer_email: customer.email,
    customer_name: customer.name ?? null,
    customer_phone: null,
    customer_shipping: null,
    customer_tax_exempt: 'none',
    customer_tax_ids: [],
    default_tax_rates: [],
    discounts: [],
    hosted_invoice_url: null,
    invoice_pdf: null,
    issuer: { type: 'self' },
    last_finalization_error: null,
    latest_revision: null,
    lines: { object: 'list', data: [], has_more: false, url: `/v1/invoices/${id}/lines` },
    livemode: false,
    metadata: {},
    next_payment_attempt: null,
    number: null,
    on_behalf_of: null,
    parent: null,
    payment_settings: { default_mandate: null, payment_method_options: null, payment_method_types: ['card'] },
    period_end: createdAt,
    period_start: createdAt,
    receipt_number: null,
    rendering: null,
    shipping_cost: null,
    shipping_details: null,
    statement_descriptor: null,
    status: 'draft',
    status_transitions: {
      finalized_at: null,
      marked_uncollectible_at: null,
      paid_at: null,
      voided_at: null,
    },
    test_clock: null,
    total_discount_amounts: [],
    total_pretax_credit_amounts: [],
    total_taxes: [],
    webhooks_delivered_at: null,
  };
}

/** An item in the form of a line on its invoice. */
export function lineOf(item: InvoiceItemRow, invoiceId: string): Stripe.InvoiceLineItem {
  return {
    id: item.id.replace(/^ii_/, 'il_'),
    object: 'line_item',
    amount: item.amount,
    currency: item.currency,
    description: item.description,
    discount_amounts: [],
    discountable: item.discountable,
    discounts: [],
    invoice: invoiceId,
    livemode: false,
    metadata: item.metadata ?? {},
    parent: {
      invoice_item_details: {
        invoice_item: item.id,
        proration: false,
        proration_details: null,
        subscription: null,
      },
      subscription_item_details: null,
      type: 'invoice_item_details',
    },
    period: item.period,
    pretax_credit_amounts: [],
    pricing: null,
    quantity: 1,
    quantity_decimal: null,
    subscription: null,
    subtotal: item.amount,
    taxes: [],
  };
}
