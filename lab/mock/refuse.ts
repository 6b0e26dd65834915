import { exampleRefusal } from '../../api/http/openapi/refusals.js';
import { Refusal, type RefusalCode, type RefusalDetails } from '../../domain/refusal.js';

/** Makes a refusal in the words of the API's description. */
export function refusalByCode(code: RefusalCode, details?: RefusalDetails): Refusal {
  return new Refusal(code, exampleRefusal(code).message, details);
}
