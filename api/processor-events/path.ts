/** The path of the payment processor's events: the only one whose body is read as it comes. */
export const processorEventsPath = '/v1/billing/processor/webhook';
