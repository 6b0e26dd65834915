/** Where the payment processor delivers its events: the one path whose body is read as it comes. */
export const webhookPath = '/v1/billing/processor/webhook';
