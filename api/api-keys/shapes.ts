import { apiKeyScopes } from '../../domain/accounts/api-keys.js';
import { named, oneOf } from '../http/openapi/json-schema.js';

/** What an API key may do, as the description names it. */
export const apiKeyScope = named('ApiKeyScope', oneOf(apiKeyScopes));
