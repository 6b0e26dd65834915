/** What is used of negotiator 1.0: the published types are those of 0.6, without `preferred`. */
declare module 'negotiator' {
  export default class Negotiator {
    constructor(request: { readonly headers: object });
    /** @returns which of some content codings the request wants most; undefined when it wants none of them */
    encoding(
      available: readonly string[],
      options: { readonly preferred: readonly string[] },
    ): string | undefined;
  }
}
