import type { RegistryAuth } from '../../../domain/rentals/software.js';
import { fieldsOf, textField } from '../upstream/fields.js';
import type { KeptCredential, KeptCredentials, Wait } from '../provider.js';
import type { Upstream } from '../upstream/upstream.js';
import { isGone } from '../upstream/upstream.js';
import { errorOfAnswer, throwBeforeBuying } from '../upstream/upstream-errors.js';

/** RunPod refuses to remove a credential while a pod pulls by it (400): the next sweep asks again. */
const IN_USE = 400;

/**
 * Keeps the renter's credentials in our account while a machine pulls its image, under the machine's tag.
 * @returns the credential's id
 * @throws ProviderError, never `unknown`: nothing was bought
 */
export async function addRegistry(
  upstream: Upstream,
  tag: string,
  { username, password }: RegistryAuth,
  wait: Wait,
): Promise<string> {
  const what = 'keeping the credentials of a registry';
  try {
    const answer = await upstream.call(what, {
      method: 'POST',
      path: '/v2/registries',
      body: { name: tag, username, password },
      ...wait,
    });
    const id = textField(fieldsOf(answer.body), 'id');
    if (id !== null) return id;
    throw errorOfAnswer(`${what}: no id in the answer`, 'buys_nothing', answer);
  } catch (error) {
    return throwBeforeBuying(error);
  }
}

/** The credentials that were made under tags of ours. */
export function registriesOf(upstream: Upstream, tagPrefix: string): KeptCredentials {
  return {
    list: () =>
      upstream.list('listing the credentials of registries', {
        path: '/v2/registries',
        name: 'registries',
        read: (value) => [readRegistry(value)].filter(({ tag }) => tag.startsWith(tagPrefix)),
      }),
    async remove(id) {
      await upstream.call('removing the credentials of a registry', {
        method: 'DELETE',
        path: `/v2/registries/${encodeURIComponent(id)}`,
        repeatable: true,
        accepts: (status) => isGone(status) || status === IN_USE,
      });
    },
  };
}

function readRegistry(value: unknown): KeptCredential {
  const fields = fieldsOf(value);
  return { id: textField(fields, 'id') ?? '', tag: textField(fields, 'name') ?? '' };
}
