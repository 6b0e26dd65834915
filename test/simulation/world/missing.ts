import { ProcessorError } from '../../../adapters/processor/processor.js';

/** Answers as the processor does when it is asked for something that it does not have. @throws ProcessorError */
export function missing(): never {
  throw new ProcessorError('refused', 'There is no such object.', { code: 'resource_missing', status: 404 });
}
