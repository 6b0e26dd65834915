/** What a build may be told. */
interface ImportMetaEnv {
  /** The API's origin, where it is not that of the page. */
  readonly VITE_API_URL?: string;
}
