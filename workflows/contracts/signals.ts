import { defineSignal } from '@temporalio/workflow';

/** Something about the row changed in the database: look again. Signals rentals and operators' orders. */
export const lookSignal = defineSignal('look');

/**
 * An event of the processor was stored, or the row waits: look again. Signals all workflows that follow the processor's
 * objects.
 */
export const processorEventSignal = defineSignal('processor-event');
