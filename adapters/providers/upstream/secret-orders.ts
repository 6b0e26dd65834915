import { ProviderError, type Provider } from '../provider.js';

/**
 * Keeps a renter's secrets out of the failures of their orders: an upstream that refuses own software may repeat
 * variables, scripts and credentials in its words or its code, and failures are logged and kept in rows (decision 154,
 * "Sealed software"). What stays is the step, the kind and the status.
 */
export function withoutRepeatedSecrets(allocate: Provider['allocate']): Provider['allocate'] {
  return async (request) => {
    try {
      return await allocate(request);
    } catch (error) {
      const mayRepeat = request.software !== undefined && error instanceof ProviderError;
      throw mayRepeat ? withoutWords(error) : error;
    }
  };
}

function withoutWords(error: ProviderError): ProviderError {
  const { step } = error.details;
  const message = step === undefined ? error.message : `${step}: ${error.briefly}`;
  const details = { ...error.details };
  delete details.code;
  return new ProviderError(error.kind, message, details);
}
