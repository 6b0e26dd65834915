/**
 * The one policy by which markup and script addresses may be made from texts, imported before everything else. Nothing
 * of ours makes markup; a script address may only be of this origin (a worker, a lazily loaded page).
 */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { readonly createScriptURL: (address: string) => string | null },
  ): unknown;
}

const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypes };

trustedTypes?.createPolicy('default', {
  createScriptURL: (address) => (new URL(address, location.href).origin === location.origin ? address : null),
});
